"""Factories of arrays, rows, maps, numbers and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._methods.methods import without_none
from flintstream.table.expression import apply

if TYPE_CHECKING:
    from flintstream.table.expression import Expression

__all__ = [
    "array",
    "atan2",
    "concat_ws",
    "current_database",
    "descriptor",
    "e",
    "lag",
    "lead",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "object_of",
    "pi",
    "rand",
    "rand_integer",
    "row",
    "uuid",
]


def array(head: object, *tail: object) -> Expression:
    """Return an array.

    >>> array(1, 2)
    Expression(ARRAY(1, 2))
    """
    return apply("ARRAY", head, *tail)


def row(head: object, *tail: Any) -> Expression:
    """Return a row.

    >>> row(1, "a")
    Expression(ROW(1, 'a'))
    """
    return apply("ROW", head, *tail)


def map_(key: object, value: object, *tail: object) -> Expression:
    """Return a map of keys and values in turn.

    >>> map_("a", 1)
    Expression(MAP('a', 1))
    """
    return apply("MAP", key, value, *tail)


def map_from_arrays(key: object, value: object) -> Expression:
    """Return a map of an array of keys and one of values.

    >>> map_from_arrays(col("k"), col("v"))
    Expression(MAP_FROM_ARRAYS(k, v))
    """
    return apply("MAP_FROM_ARRAYS", key, value)


def object_of(class_name: str, *args: object) -> Expression:
    """Return an object: the name of its class, which need not exist, and its attributes, each a name and a value.

    >>> object_of("geo.Point", "x", 1, "y", 2)
    Expression(OBJECT_OF('geo.Point', 'x', 1, 'y', 2))
    """
    return apply("OBJECT_OF", class_name, *args)


def descriptor(*column_names: str) -> Expression:
    """Return names of columns as an argument of a function; it raises an error when the query is planned.

    >>> descriptor("time")
    Expression(DESCRIPTOR('time'))
    """
    return apply("DESCRIPTOR", *column_names)


def pi() -> Expression:
    """Return the number pi.

    >>> pi()
    Expression(PI())
    """
    return apply("PI")


def e() -> Expression:
    """Return the base of the natural logarithm.

    >>> e()
    Expression(E())
    """
    return apply("E")


def rand(seed: object = None) -> Expression:
    """Return a random number from 0 up to 1; a seed has no effect.

    >>> rand()
    Expression(RAND())
    """
    return apply("RAND", *without_none(seed))


def rand_integer(bound: object, seed: object = None) -> Expression:
    """Return a random integer from 0 up to a bound; a seed has no effect.

    >>> rand_integer(10)
    Expression(RAND_INTEGER(10))
    """
    return apply("RAND_INTEGER", *without_none(seed), bound)


def atan2(y: object, x: object) -> Expression:
    """Return the angle of a point.

    >>> atan2(1, 2)
    Expression(ATAN2(1, 2))
    """
    return apply("ATAN2", y, x)


def negative(v: object) -> Expression:
    """Return ``-v``.

    >>> negative(col("a"))
    Expression(-(a))
    """
    return apply("-", v)


def log(v: object, base: object = None) -> Expression:
    """Return the logarithm, the natural one by default.

    >>> log(col("a"))
    Expression(LOG(a))
    """
    return apply("LOG", *without_none(base), v)


def concat_ws(separator: object, first: object, *others: object) -> Expression:
    """Return all texts in one, with a separator between them; None is left out.

    >>> concat_ws("-", col("a"), "x")
    Expression(CONCAT_WS('-', a, 'x'))
    """
    return apply("CONCAT_WS", separator, first, *others)


def uuid() -> Expression:
    """Return a random UUID as text.

    >>> uuid()
    Expression(UUID())
    """
    return apply("UUID")


def lag(expr: object, offset: object = 1, default: object = None) -> Expression:
    """Return the value of an earlier row, for ``over()``.

    >>> lag(col("a"))
    Expression(LAG(a, 1))
    """
    return apply("LAG", expr, offset, *without_none(default))


def lead(expr: object, offset: object = 1, default: object = None) -> Expression:
    """Return the value of a later row, for ``over()``.

    >>> lead(col("a"))
    Expression(LEAD(a, 1))
    """
    return apply("LEAD", expr, offset, *without_none(default))


def current_database() -> Expression:
    """Return the name of the current database.

    >>> current_database()
    Expression(CURRENT_DATABASE())
    """
    return apply("CURRENT_DATABASE")
