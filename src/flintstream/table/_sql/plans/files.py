"""Files with compiled plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.options.tables import RECOMPILES
from flintstream.table._sql.plans.contents import PlanFileError

if TYPE_CHECKING:
    from pathlib import Path


def write_plan(path: Path, text: str, *, lenient: bool, replaces: bool) -> None:
    """Write a plan into a file, which other users can read if the umask lets them.

    Args:
        path: The file; folders above it are made.
        text: The plan as JSON.
        lenient: Whether a file that is there stays as it is.
        replaces: Whether it is replaced.

    Raises:
        PlanFileError: There is such a file, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if replaces and not lenient else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if lenient:
            return
        raise PlanFileError(
            f"Cannot overwrite the plan file '{path}'. Either manually remove the file or, if you're debugging your "
            f"job, set the option '{RECOMPILES.key}' to true."
        ) from None
    except OSError as error:
        raise PlanFileError(f"Cannot write the compiled plan to file '{path}': {error}") from error
