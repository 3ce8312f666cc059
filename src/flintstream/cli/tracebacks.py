"""Shows a program's failure with the program's own lines only."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

HINT = "(run with --verbose for the whole traceback)\n"


def _machinery() -> tuple[str, ...]:
    """Where the code lies that a program's author did not write and need not see."""
    prefixes = [str(Path(__file__).resolve().parents[1]), "<frozen "]
    for package in ("pyspark", "py4j", "click", "cloudpickle", "runpy", "importlib", "concurrent.futures"):
        module = sys.modules.get(package)
        spec = module.__spec__ if module is not None else importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            prefixes.append(str(origin.parent if origin.name == "__init__.py" else origin))
    return tuple(prefixes)


def _keep_user_frames(told: traceback.TracebackException, machinery: tuple[str, ...]) -> None:
    seen: set[int] = set()
    pending: list[traceback.TracebackException | None] = [told]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        users = [frame for frame in current.stack if not frame.filename.startswith(machinery)]
        current.stack = traceback.StackSummary.from_list(users)
        pending += [current.__cause__, current.__context__, *(current.exceptions or ())]


def describe(error: BaseException, *, verbose: bool = False) -> str:
    """Return the traceback of an exception, without ``verbose`` only with frames of the program itself."""
    told = traceback.TracebackException.from_exception(error)
    if verbose:
        return "".join(told.format())
    _keep_user_frames(told, _machinery())
    return "".join(told.format()) + HINT
