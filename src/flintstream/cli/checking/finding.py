"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ERROR", "NOTE", "Finding"]

ERROR = "error"
NOTE = "note"


@dataclass(frozen=True, order=True)
class Finding:
    """A line of a program that does not work here (``ERROR``), or works in another way (``NOTE``)."""

    line: int
    kind: str
    text: str
