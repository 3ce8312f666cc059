"""What all methods of DataFrames share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flintstream.table._owners import environment_of
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import Expression, syntax_of
from flintstream.table.expressions import col

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Self

    from flintstream.table.table import Table

ColumnLike: TypeAlias = "str | Expression"
"""A column by its name, or an expression."""


class Frame:
    """Has a table, which it never changes."""

    def __init__(self, table: Table) -> None:
        """Wrap a table; programs call ``from_table`` and the other functions of this package."""
        self._table = table

    def _with(self, table: Table) -> Self:
        return type(self)(table)

    def _query(self, sql: str) -> Self:
        return self._with(environment_of(self._table).sql_query(sql))

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, "ann")], schema=["id", "name"]).columns
        ['id', 'name']
        """
        return list(self._table.get_resolved_schema().get_column_names())


def quote(name: str) -> str:
    """Return a name as SQL writes it.

    >>> quote("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def list_names(names: Iterable[str], table: str = "") -> str:
    """Return names as a list of SQL.

    >>> list_names(["a", "b"], "t")
    't.`a`, t.`b`'
    """
    prefix = f"{table}." if table else ""
    return ", ".join(prefix + quote(name) for name in names)


def find_unused(base: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it.

    >>> find_unused("a", {"a"})
    'a_'
    """
    while base in taken:
        base += "_"
    taken.add(base)
    return base


def column_of(value: object, name: str, kinds: str = "column name or expression") -> Expression:
    """Return a column by its name, or an expression.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, str):
        return col(value)
    if isinstance(value, Expression):
        return value
    raise TypeError(f"{name} must be a {kinds}")


def keys_of(value: object, name: str) -> list[ColumnLike] | None:
    """Return the keys of an order: a column, an expression, or a list of them; None if there are none.

    Raises:
        TypeError: It is none of these.
        ValueError: The list is empty.
    """
    if value is None:
        return None
    values: Sequence[object] = value if isinstance(value, (list, tuple)) else [value]
    keys = [item for item in values if isinstance(item, (str, Expression))]
    if len(keys) != len(values):
        raise TypeError(f"{name} must be a string, an expression, or a list or tuple of them")
    if not keys:
        raise ValueError(f"{name} must not be empty")
    return keys


def flags_of(value: object, count: int, name: str) -> list[bool]:
    """Return a bool for each of the keys of an order.

    Raises:
        TypeError: The argument is neither a bool nor a list of them.
        ValueError: The list has another length.
    """
    if isinstance(value, bool):
        return [value] * count
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a boolean or a list of booleans")
    found = [item for item in value if isinstance(item, bool)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as the sort keys")
    if len(found) != count:
        raise TypeError(f"{name} must be a boolean or a list of booleans")
    return found


def check_column(name: str, columns: Sequence[str], argument: str) -> None:
    """Check that there is a column.

    Raises:
        ValueError: There is none of this name.
    """
    if name not in columns:
        raise ValueError(f"{argument} column '{name}' does not exist, available columns: {list(columns)}")


def aliases_of(expression: Expression) -> tuple[str, ...]:
    """Return the names that an expression gives to its values."""
    syntax = syntax_of(expression)
    return syntax.names if isinstance(syntax, s.Alias) else ()


def names_in(expression: Expression) -> tuple[str, ...]:
    """Return the name of a column; nothing of another expression."""
    syntax = syntax_of(expression)
    return syntax.parts[-1:] if isinstance(syntax, s.Name) else ()
