"""Files with compiled plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flintstream.options.tables import RECOMPILES
from flintstream.table._compiled.contents import PlanFileError

if TYPE_CHECKING:
    from pathlib import Path

    from flintstream.table._compiled.contents import StoredPlan


def write_plan(path: Path, plan: StoredPlan, *, lenient: bool, replaces: bool) -> None:
    """Write a plan into a file. Other users can read it if the umask lets them, unless it has passwords.

    Args:
        path: The file; folders above it are made.
        plan: The plan.
        lenient: Whether a file that is there stays as it is.
        replaces: Whether it is replaced.

    Raises:
        PlanFileError: There is such a file, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if plan.has_secrets() else 0o666
        replaced = os.O_TRUNC if replaces and not lenient else os.O_EXCL
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | replaced, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if plan.has_secrets():
                os.fchmod(descriptor, mode)  # of a file that was there
            file.write(plan.json())
    except FileExistsError:
        if lenient:
            return
        raise PlanFileError(
            f"Cannot overwrite the plan file '{path}'. Either manually remove the file or, if you're debugging your "
            f"job, set the option '{RECOMPILES.key}' to true."
        ) from None
    except OSError as error:
        raise PlanFileError(f"Cannot write the compiled plan to file '{path}': {error}") from error
