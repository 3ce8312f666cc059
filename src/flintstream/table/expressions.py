"""Factories of expressions; mirrors ``pyflink.table.expressions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._public import publish
from flintstream.table._factories import json as _json
from flintstream.table._factories import times as _times
from flintstream.table._factories import values as _values
from flintstream.table._factories.json import *  # noqa: F403 - a list of names for each subject
from flintstream.table._factories.times import *  # noqa: F403
from flintstream.table._factories.values import *  # noqa: F403
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import Expression, apply, syntax_of
from flintstream.table.schema import syntax_of_text

if TYPE_CHECKING:
    from flintstream.common._types.data_types import DataType

_OWN = (
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "if_then_else",
    "lit",
    "not_",
    "null_of",
    "or_",
    "range_",
    "row_interval",
    "with_all_columns",
    "with_columns",
    "without_columns",
)
if not TYPE_CHECKING:  # mypy reads only lists, and would give a star import no names
    __all__ = [*_OWN, *_json.__all__, *_times.__all__, *_values.__all__]  # noqa: PLE0604 - they are texts

UNBOUNDED_ROW = Expression(s.Apply(None, "UNBOUNDED_ROW", ()))
"""All rows before the current one, for ``preceding()``."""
UNBOUNDED_RANGE = Expression(s.Apply(None, "UNBOUNDED_RANGE", ()))
"""All rows before the current one, and those of its time, for ``preceding()``."""
CURRENT_ROW = Expression(s.Apply(None, "CURRENT_ROW", ()))
"""The current row, for ``following()``."""
CURRENT_RANGE = Expression(s.Apply(None, "CURRENT_RANGE", ()))
"""The rows of the time of the current one, for ``following()``."""


def col(name: str) -> Expression:
    """Return a column.

    >>> col("price")
    Expression(price)
    """
    return Expression(s.Name(None, (name,)) if name != "*" else s.Star(None))


def lit(v: object, data_type: DataType | None = None) -> Expression:
    """Return a value, of a type if given.

    >>> lit(1)
    Expression(1)
    """
    found = syntax_of(v)
    return Expression(found if data_type is None else s.Convert(None, found, data_type))


def call(f: Any, *args: object) -> Expression:
    """Return a call of a function by name, or of one that ``udf`` made.

    >>> call("upper", col("name"))
    Expression(upper(name))
    """
    if isinstance(f, str):
        return apply(f, *args)
    made: Expression = f(*args)
    return made


def and_(predicate0: object, predicate1: object, *predicates: object) -> Expression:
    """Return whether all conditions hold.

    >>> and_(col("a"), col("b"))
    Expression(AND(a, b))
    """
    return apply("AND", predicate0, predicate1, *predicates)


def or_(predicate0: object, predicate1: object, *predicates: object) -> Expression:
    """Return whether a condition holds.

    >>> or_(col("a"), col("b"))
    Expression(OR(a, b))
    """
    return apply("OR", predicate0, predicate1, *predicates)


def not_(expression: object) -> Expression:
    """Return whether a condition does not hold.

    >>> not_(col("a"))
    Expression(NOT(a))
    """
    return apply("NOT", expression)


def if_then_else(condition: object, if_true: object, if_false: object) -> Expression:
    """Return one of two values.

    >>> if_then_else(col("a"), 1, 2)
    Expression(IF(a, 1, 2))
    """
    return apply("IF", condition, if_true, if_false)


def coalesce(*args: object) -> Expression:
    """Return the first value that is not None.

    >>> coalesce(col("a"), 0)
    Expression(COALESCE(a, 0))
    """
    return apply("COALESCE", *args)


def concat(first: object, *others: object) -> Expression:
    """Return all texts in one.

    >>> concat(col("a"), "x")
    Expression(CONCAT(a, 'x'))
    """
    return apply("CONCAT", first, *others)


def row_interval(rows: int) -> Expression:
    """Return a number of rows, as the size of a window.

    >>> row_interval(5)
    Expression(5)
    """
    made: Expression = lit(rows).rows
    return made


def null_of(data_type: DataType) -> Expression:
    """Return None of a type.

    >>> from flintstream.table import DataTypes
    >>> null_of(DataTypes.INT())
    Expression(Convert)
    """
    return lit(None, data_type)


def call_sql(sql_expression: str) -> Expression:
    """Return an expression that is written in SQL.

    >>> call_sql("UPPER(name)")
    Expression(UPPER(name))
    """
    return SqlExpression(sql_expression)


class SqlExpression(Expression):
    """An expression that is written in SQL; it shows as its text."""

    def __init__(self, text: str) -> None:
        """Read the text."""
        super().__init__(syntax_of_text(text))
        self._text = text

    def __str__(self) -> str:
        """Return the text in brackets."""
        return f"[{self._text}]"


def range_(start: str | int, end: str | int) -> Expression:
    """Return the columns from one to another, by name or position from 1 on, for ``with_columns()``.

    >>> range_("b", "d")
    Expression(Columns)
    """
    return Expression(s.Columns(None, ((start, end),)))


def _choose(given: tuple[Any, ...], *, without: bool) -> Expression:
    chosen: list[Any] = []
    for item in given:
        syntax = syntax_of(item)
        if isinstance(syntax, s.Columns):
            chosen += syntax.chosen
        elif isinstance(syntax, s.Name):
            chosen.append(syntax.parts[-1])
        elif isinstance(syntax, s.Value) and isinstance(syntax.value, (int, str)):
            chosen.append(syntax.value)
        else:
            raise TypeError(f"columns are chosen by name, position or range_(), but got {item!r}")
    return Expression(s.Columns(None, tuple(chosen), without))


def with_columns(head: object, *tails: object) -> Expression:
    """Return columns by name, position from 1 on, or range.

    >>> with_columns(range_(1, 3), col("z"))
    Expression(Columns)

    Raises:
        TypeError: An argument is an expression that names no column.
    """
    return _choose((head, *tails), without=False)


def without_columns(head: object, *tails: object) -> Expression:
    """Return all columns but some.

    >>> without_columns(col("z"))
    Expression(Columns)

    Raises:
        TypeError: An argument is an expression that names no column.
    """
    return _choose((head, *tails), without=True)


def with_all_columns() -> Expression:
    """Return all columns.

    >>> with_all_columns()
    Expression(Star)
    """
    return Expression(s.Star(None))


if not TYPE_CHECKING:
    publish(__name__, __all__, globals())
