"""Kinds of changes; mirrors ``pyflink.table.changelog_mode``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.types import RowKind

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ChangelogMode"]


class ChangelogMode:
    """The kinds of changes that a stream has.

    >>> ChangelogMode.upsert()
    ChangelogMode([INSERT, UPDATE_AFTER, DELETE])

    >>> ChangelogMode.insert_only() == ChangelogMode.all()
    False
    """

    def __init__(self, kinds: Iterable[RowKind]) -> None:
        """Take the kinds; programs call :meth:`insert_only`, :meth:`upsert` or :meth:`all`."""
        self._kinds = frozenset(kinds)

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of streams that only add rows."""
        return ChangelogMode([RowKind.INSERT])

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode of streams with a key, whose updates come without the old row."""
        return ChangelogMode([RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE])

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of streams with all kinds of changes."""
        return ChangelogMode(RowKind)

    @property
    def _upserts(self) -> bool:
        """Whether updates come without the old row."""
        return RowKind.UPDATE_AFTER in self._kinds and RowKind.UPDATE_BEFORE not in self._kinds

    @property
    def _inserts_only(self) -> bool:
        """Whether rows are only added."""
        return self._kinds == {RowKind.INSERT}

    def __eq__(self, other: object) -> bool:
        """Return whether the kinds are the same."""
        return isinstance(other, ChangelogMode) and self._kinds == other._kinds

    def __hash__(self) -> int:
        """Return the hash of the kinds."""
        return hash(self._kinds)

    def __repr__(self) -> str:
        """Return the kinds."""
        return f"ChangelogMode([{', '.join(item.name for item in RowKind if item in self._kinds)}])"
