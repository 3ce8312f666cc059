"""Compiled forms of the loops that every record passes, in Cython.

Each replaces Python code that stays where it is: that code is the reference in the tests, and runs in an installation
without compiled modules. Code that uses one asks :func:`load` for it, and gets the same results and errors from it.
Nothing that crosses a process depends on these modules, so a driver with them and workers without them work together.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

__all__ = ["IN_TRACEBACKS", "PURE_PYTHON", "load"]

IN_TRACEBACKS = "flintstream/compiled/"
"""Prefix of the file names of compiled modules in tracebacks."""

PURE_PYTHON = "FLINTSTREAM_PURE_PYTHON"
"""Environment variable that leaves the compiled modules out if it is set and not empty."""


def load(name: str) -> Any:
    """Return the compiled module of this name, or None if there is none, or if :data:`PURE_PYTHON` is set.

    >>> load("of something else") is None
    True
    """
    if os.environ.get(PURE_PYTHON) or sys.byteorder != "little" or sys.implementation.name != "cpython":
        return None
    try:
        return import_module(f"{__name__}._{name}")
    except ImportError:
        return None
