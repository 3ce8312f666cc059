"""The modules in Python that compiled ones replace."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import flintstream.compiled

if TYPE_CHECKING:
    from types import ModuleType


def plain(name: str) -> ModuleType:
    """Return a module of ``flintstream.compiled`` as it is without compiled modules."""
    base = "flintstream.compiled.base"
    spec = spec_from_file_location(f"plain_{name}", Path(flintstream.compiled.__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with patch.dict(sys.modules, {base: sys.modules[base] if name == "base" else plain("base")}):
        spec.loader.exec_module(module)
    return module
