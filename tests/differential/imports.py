"""Imports names from any module that PyFlink 2.3 has them in, as programs do."""

from __future__ import annotations

import json
import random
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

SURFACE = Path(__file__).parents[1] / "parity" / "surface.json"


@cache
def modules_of(name: str) -> list[str]:
    """Return the modules of PyFlink 2.3 that the name can be imported from."""
    names = json.loads(SURFACE.read_text(encoding="utf-8"))["names"]
    return sorted(
        module
        for module, by_versions in names.items()
        for versions, text in by_versions.items()
        if "2.3" in versions.split() and name in text.split()
    )


def drawn(names: Iterable[str], seed: str) -> dict[str, Any]:
    """Import each name from a module that the seed draws."""
    draw = random.Random(seed)
    return {name: getattr(import_module(draw.choice(modules_of(name))), name) for name in names}
