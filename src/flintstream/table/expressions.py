"""Factories of expressions; mirrors ``pyflink.table.expressions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._expressions import syntax as s
from flintstream.table.expression import Expression, apply, syntax_of

if TYPE_CHECKING:
    from flintstream.common._datatypes import DataType

__all__ = ["and_", "call", "coalesce", "col", "concat", "if_then_else", "lit", "not_", "null_of", "or_", "row_interval"]


def col(name: str) -> Expression:
    """Return a column.

    >>> col("price")
    Expression(price)
    """
    return Expression(s.Name(None, (name,)) if name != "*" else s.Star(None))


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    """Return a value, of a type if given.

    >>> lit(1)
    Expression(1)
    """
    found = syntax_of(v)
    return Expression(found if data_type is None else s.Convert(None, found, data_type))


def call(f: Any, *args: Any) -> Expression:
    """Return a call of a function by name, or of one that ``udf`` made.

    >>> call("upper", col("name"))
    Expression(upper(name))
    """
    if isinstance(f, str):
        return apply(f, *args)
    made: Expression = f(*args)
    return made


def and_(first: Any, second: Any, *others: Any) -> Expression:
    """Return whether all conditions hold.

    >>> and_(col("a"), col("b"))
    Expression(AND(a, b))
    """
    return apply("AND", first, second, *others)


def or_(first: Any, second: Any, *others: Any) -> Expression:
    """Return whether a condition holds.

    >>> or_(col("a"), col("b"))
    Expression(OR(a, b))
    """
    return apply("OR", first, second, *others)


def not_(expression: Any) -> Expression:
    """Return whether a condition does not hold.

    >>> not_(col("a"))
    Expression(NOT(a))
    """
    return apply("NOT", expression)


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression:
    """Return one of two values.

    >>> if_then_else(col("a"), 1, 2)
    Expression(IF(a, 1, 2))
    """
    return apply("IF", condition, if_true, if_false)


def coalesce(*args: Any) -> Expression:
    """Return the first value that is not None.

    >>> coalesce(col("a"), 0)
    Expression(COALESCE(a, 0))
    """
    return apply("COALESCE", *args)


def concat(first: Any, *others: Any) -> Expression:
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
