"""Serves ``import pyflink`` in the processes that ``multiprocessing`` starts afresh (``spawn``, ``forkserver``), too.

Such a process imports the program again, before any line of it could call ``install()``.
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

# It runs before the child has the search path of its parent, from which flintstream may have come.
_IN_CHILD = """
import sys
sys.path[:] = search_path
from flintstream.compat.pyflink import install
from flintstream.compat.processes import enter
install()
enter(*defaults)
"""


class _Entry:
    """What makes a process a child of this one as soon as it unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        known = get_defaults()
        defaults = (dict(known.config), known.master, known.parallelism, list(known.py_files))
        return exec, (_IN_CHILD, {"search_path": list(sys.path), "defaults": defaults})


def enter(config: dict[str, str], master: str | None, parallelism: int | None, py_files: list[str]) -> None:
    """Make this process one that a program has started: what the command line says holds here as well."""
    set_defaults(config, master, parallelism, py_files)


def serve_child_processes(serves: Callable[[], bool]) -> None:
    """Let processes that ``multiprocessing`` starts be like this one while ``serves()``; twice does no harm."""
    spawn: Any = multiprocessing.spawn
    prepare = spawn.get_preparation_data
    if hasattr(prepare, "serves_pyflink"):
        return

    @functools.wraps(prepare)
    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        # First, as the rest may refer to modules; a name that multiprocessing does not know does no harm.
        return {"flintstream": _Entry(), **data} if serves() else data

    get_preparation_data.serves_pyflink = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
