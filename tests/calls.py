"""How often a program calls: work that is the same on every machine, unlike the time it takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def calls_of(work: Callable[[], Any]) -> int:
    """Return how many functions are called in this thread while ``work`` runs, those in C too."""
    count = 0

    def called(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
