"""Support for ``import pyflink`` in processes that ``multiprocessing`` starts with ``spawn`` or ``forkserver``.

Such a process imports the program again before it could call ``install()``.
"""

from __future__ import annotations

import functools
import multiprocessing.spawn
import sys
from typing import TYPE_CHECKING, Any

from flintstream.options.command_line import get_defaults, set_defaults

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["enter", "serve_child_processes"]

# Runs before the child has its parent's search path, from which flintstream may have been imported.
_IN_CHILD = """
import sys
sys.path[:] = search_path
from flintstream.compat.pyflink import install
from flintstream.compat.processes import enter
install()
enter(*defaults)
"""


class _Entry:
    """Sets up a process as a child of this one when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        known = get_defaults()
        defaults = (dict(known.config), known.master, known.parallelism, list(known.py_files))
        return exec, (_IN_CHILD, {"search_path": list(sys.path), "defaults": defaults})


def enter(config: dict[str, str], master: str | None, parallelism: int | None, py_files: list[str]) -> None:
    """Set up this process as one that a program has started, with the settings of the command line."""
    set_defaults(config, master, parallelism, py_files)


def serve_child_processes(serves: Callable[[], bool]) -> None:
    """Make child processes of multiprocessing like this one while ``serves()``. Calling this twice has no effect."""
    spawn: Any = multiprocessing.spawn
    prepare = spawn.get_preparation_data
    if hasattr(prepare, "serves_pyflink"):
        return

    @functools.wraps(prepare)
    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        # First, because other entries may refer to modules; multiprocessing ignores unknown names.
        return {"flintstream": _Entry(), **data} if serves() else data

    get_preparation_data.serves_pyflink = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
