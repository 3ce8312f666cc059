"""The kinds of change of a row, as numbers: those of :class:`~flintstream.common.RowKind`."""

from __future__ import annotations

from flintstream.common.types import RowKind

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = (
    kind.value for kind in (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
)
RETRACTIONS = frozenset({UPDATE_BEFORE, DELETE})
"""The kinds that take a row away; loops over records ask ``kind in RETRACTIONS``, which costs no call."""


def is_insert_like(kind: int) -> bool:
    """Return whether a change adds a row.

    >>> is_insert_like(UPDATE_AFTER), is_insert_like(DELETE)
    (True, False)
    """
    return kind not in RETRACTIONS
