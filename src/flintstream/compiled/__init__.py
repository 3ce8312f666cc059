"""The loops that every record passes, and what programs call for each record.

Most are Python modules. Those with types beside them, such as ``state.py`` with ``_state.pxd``, run as they are in an
installation without compiled modules, and Cython compiles the same text. What C does in another form (columns of a
block, hashes, rows of RocksDB) is in ``.pyx`` files; code that uses one asks :func:`load` for it, and has a plain form
as well, which is the reference in the tests.

Nothing that crosses a process depends on whether modules are compiled, so a driver with compiled ones and workers
without them work together.
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


for _name in ("base", "state", "keyed", "fused", "joined", "ranked"):
    if (_module := load(_name)) is not None:  # in the place of the module in Python
        sys.modules[f"{__name__}.{_name}"] = _module
