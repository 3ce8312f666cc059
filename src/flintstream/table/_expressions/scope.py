"""The names that an expression can read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import ColumnNotFoundError, SqlError, at, nearest, unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._expressions.expr import Column
    from flintstream.table._syntax import scalar as s

HIDDEN = "$q"
"""How the names of columns begin that ``*`` does not show."""


@dataclass(frozen=True)
class Scope:
    """The columns of a table, and the scope of the query around it."""

    columns: tuple[Column, ...]
    tables: tuple[str, ...] = ()
    """The table (or alias) of each column; empty if columns have no table names."""
    functions: Mapping[str, Any] = field(default_factory=dict)
    """The functions of the program, by name in lower case."""
    zone: str = "UTC"
    database: str = "default_database"
    strict: bool = False
    """Whether what only flintstream accepts is refused."""
    parent: Scope | None = None
    """The names of the query around this one, which its own ones hide."""
    barrier: str = ""
    """What an error calls an expression that reads the outer query where it cannot; empty where it can."""

    def of(self, columns: tuple[Column, ...], tables: tuple[str, ...] | None = None) -> Scope:
        """Return the scope of other columns at the same place; by default, those that come last have hidden tables."""
        if tables is None:
            tables = (*self.tables, *([HIDDEN] * (len(columns) - len(self.tables)))) if self.tables else ()
        return replace(self, columns=columns, tables=tables)

    def find(self, name: s.Name) -> tuple[int, tuple[str, ...]]:
        """Return the position of a column of these, and the names of fields within it.

        Raises:
            ColumnNotFoundError: There is no such column.
            SqlError: There are several.
            UnsupportedClauseError: It is a column of the query around this one.
        """
        found = self._find_own(name)
        if found is not None:
            return found
        parts = name.parts
        if self.parent is not None and self.parent.levels_up(name) >= 0:
            barrier = self.barrier or "a subquery within another one that reads"
            what = f"{barrier} the column '{'.'.join(parts)}' of the outer query,"
            raise unsupported(what, name.place, "read it in the WHERE of a plain SELECT, or use a JOIN")
        known = dict.fromkeys(column.name for column in self.columns)
        wanted = parts[1] if len(parts) > 1 and parts[0] in self.tables else parts[0]
        raise ColumnNotFoundError(parts, at(name.place), nearest(wanted, known))

    def find_outer(self, name: s.Name) -> tuple[Column, int, tuple[str, ...]] | None:
        """Return a column of the query around this one, its position, and the names of fields within it.

        None means that an expression here cannot read it, or that it is a column of these.
        """
        if self.parent is None or self.barrier or self._find_own(name) is not None:
            return None
        found = self.parent._find_own(name)
        return None if found is None else (self.parent.columns[found[0]], *found)

    def levels_up(self, name: s.Name) -> int:
        """Return how many queries further out a column is found: 0 in this one, -1 in none."""
        level, scope = 0, self
        while scope._find_own(name) is None:
            if scope.parent is None:
                return -1
            level, scope = level + 1, scope.parent
        return level

    def _find_own(self, name: s.Name) -> tuple[int, tuple[str, ...]] | None:
        parts = name.parts
        if len(parts) > 1 and parts[0] in self.tables:
            found = [i for i, item in enumerate(self.columns) if self.tables[i] == parts[0] and item.name == parts[1]]
            rest = parts[2:]
        else:
            found = [i for i, item in enumerate(self.columns) if item.name == parts[0]]
            rest = parts[1:]
        if len(found) > 1:
            raise SqlError(f"Column '{'.'.join(parts)}'{at(name.place)} is ambiguous: name its table as well")
        return (found[0], rest) if found else None
