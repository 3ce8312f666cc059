"""What a statement inserts, and what becomes of rows with the same primary key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._logical.nodes import Node

ConflictStrategy = Literal["DEDUPLICATE", "ERROR", "NOTHING"]
CONFLICTS: dict[str, ConflictStrategy] = {"DEDUPLICATE": "DEDUPLICATE", "ERROR": "ERROR", "NOTHING": "NOTHING"}


@dataclass(frozen=True)
class Insert:
    """Rows for a table."""

    node: Node
    name: tuple[str, ...]
    columns: tuple[str, ...] = ()
    """The columns that the rows have; all if empty."""
    conflict: ConflictStrategy | None = None
    """What ON CONFLICT says about rows with different keys in the query and the same primary key in the table."""
    overwrite: bool = False
    """Whether the rows replace what the table, or each partition that gets rows, has had."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What the hint OPTIONS says."""
