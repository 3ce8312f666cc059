"""What a check finds."""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["ERROR", "NOTE", "UNREAD", "Finding", "Found"]

ERROR = "error"
NOTE = "note"
UNREAD = "not checked"


@dataclass(frozen=True, order=True)
class Finding:
    """A line of a program that fails here (``ERROR``), works in another way (``NOTE``), or is not read (``UNREAD``)."""

    line: int
    kind: str
    text: str


Found = tuple[ast.AST, Finding]
"""A finding with the part of the program that it is about."""
