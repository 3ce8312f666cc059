"""Expressions of the Table API; mirrors ``pyflink.table.expression``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.table._expressions import syntax as s
from flintstream.table._expressions.types import IntervalType, RowsType
from flintstream.table._sql.expressions import number

if TYPE_CHECKING:
    from flintstream.common._datatypes import DataType

__all__ = ["Expression"]


def syntax_of(value: Any) -> s.Syntax:
    """Return the syntax of an expression, or of a Python value as a literal.

    Raises:
        TypeError: There is no literal for the value.
    """
    if isinstance(value, Expression):
        return value._syntax  # noqa: SLF001 - same module
    if value is None:
        return s.Value(None, None, t.NullType())
    if isinstance(value, bool):
        return s.Value(None, value, t.BooleanType(False))
    if isinstance(value, int):
        literal = number(str(abs(value)), None)
        return s.Value(None, value, literal.type)
    if isinstance(value, float):
        return s.Value(None, value, t.DoubleType(False))
    if isinstance(value, str):
        return s.Value(None, value, t.CharType(max(len(value), 1), False))
    if isinstance(value, Decimal):
        return s.Value(None, value, number(f"{abs(value):f}", None).type)
    for kind, data_type in (
        (datetime, t.TimestampType(6, False)),
        (date, t.DateType(False)),
        (time, t.TimeType(0, False)),
    ):
        if isinstance(value, kind):
            return s.Value(None, value, data_type)
    raise TypeError(f"no literal for {value!r}: use lit(value, data_type)")


def _binary(name: str) -> Any:
    def operate(self: Expression, other: Any) -> Expression:
        return apply(name, self, other)

    operate.__doc__ = f"Return ``self {name} other``."
    return operate


def _swapped(name: str) -> Any:
    def operate(self: Expression, other: Any) -> Expression:
        return apply(name, other, self)

    operate.__doc__ = f"Return ``other {name} self``."
    return operate


def apply(name: str, *arguments: Any) -> Expression:
    """Return a function or operator of expressions and values."""
    return Expression(s.Apply(None, name, tuple(syntax_of(each) for each in arguments)))


class Expression:
    """A column, or something computed from columns.

    >>> from flintstream.table.expressions import col
    >>> (col("a") + 1).alias("b")
    Expression(a + 1 AS b)
    """

    def __init__(self, syntax: s.Syntax) -> None:
        """Hold the syntax; programs use ``col``, ``lit`` and ``call``."""
        self._syntax = syntax

    __hash__ = None  # type: ignore[assignment]  # comparisons give expressions
    __add__, __radd__ = _binary("+"), _swapped("+")
    __sub__, __rsub__ = _binary("-"), _swapped("-")
    __mul__, __rmul__ = _binary("*"), _swapped("*")
    __truediv__, __rtruediv__ = _binary("/"), _swapped("/")
    __mod__, __rmod__ = _binary("%"), _swapped("%")
    __lt__, __le__, __gt__, __ge__ = _binary("<"), _binary("<="), _binary(">"), _binary(">=")
    __and__, __rand__ = _binary("AND"), _swapped("AND")
    __or__, __ror__ = _binary("OR"), _swapped("OR")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        """Return ``self = other``."""
        return apply("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        """Return ``self <> other``."""
        return apply("<>", self, other)

    def __invert__(self) -> Expression:
        """Return ``NOT self``."""
        return apply("NOT", self)

    def __neg__(self) -> Expression:
        """Return ``-self``."""
        return apply("-", self)

    def __getattr__(self, name: str) -> Any:
        """Return the function of a name, to be called with its other arguments: ``col("a").upper_case``."""
        if name == "distinct" and isinstance(self._syntax, s.Aggregate):
            return Expression(replace(self._syntax, distinct=True))
        if name in _UNITS or name.removesuffix("s") in _UNITS or name == "rows":
            return Expression(_size(name, self._syntax))
        if name in _AGGREGATES:
            return Expression(s.Aggregate(None, _AGGREGATES[name], self._syntax))
        function = _METHODS.get(name)
        if function is None:
            raise AttributeError(f"Expression has no function '{name}' that is supported")
        if function in _PROPERTIES:
            return apply(function, self)
        return lambda *arguments: apply(function, self, *arguments)

    def alias(self, name: str, *extra_names: str) -> Expression:
        """Return the expression with another name; several for a table function."""
        return Expression(s.Alias(None, self._syntax, (name, *extra_names)))

    def cast(self, data_type: DataType) -> Expression:
        """Return the value in another type."""
        return Expression(s.Convert(None, self._syntax, data_type))

    def try_cast(self, data_type: DataType) -> Expression:
        """Return the value in another type; None if it cannot be converted."""
        return Expression(s.Convert(None, self._syntax, data_type, True))

    def get(self, name_or_index: str | int) -> Expression:
        """Return a field of a row."""
        return apply("GET", self, name_or_index)

    def at(self, index_or_key: Any) -> Expression:
        """Return an element of an array, from 1 on, or the value of a key."""
        return apply("ITEM", self, index_or_key)

    def then(self, if_true: Any, if_false: Any) -> Expression:
        """Return one of two values by this condition."""
        return apply("IF", self, if_true, if_false)

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        """Return whether the value is within bounds, inclusive."""
        return apply("BETWEEN", self, lower_bound, upper_bound)

    def in_(self, first_element: Any, *remaining_elements: Any) -> Expression:
        """Return whether the value is one of several."""
        return apply("IN", self, first_element, *remaining_elements)

    def __repr__(self) -> str:
        """Return the text of the expression."""
        return f"Expression({_shown(self._syntax)})"


def _size(unit: str, number: s.Syntax) -> s.Value:
    """Return a time or a number of rows: ``lit(10).minutes``."""
    if not isinstance(number, s.Value) or not isinstance(number.value, int):
        raise TypeError(f"'{unit}' needs a whole number: lit(10).{unit}")
    if unit == "rows":
        return s.Value(None, number.value, RowsType(False))
    factor, months = _UNITS[unit if unit in _UNITS else unit.removesuffix("s")]
    return s.Value(None, number.value * factor, IntervalType(months, False))


_UNITS = {
    "milli": (1, False), "second": (1000, False), "minute": (60_000, False), "hour": (3_600_000, False),
    "day": (86_400_000, False),
    "week": (604_800_000, False), "month": (1, True), "quarter": (3, True), "year": (12, True),
}  # fmt: skip
_METHODS = {
    "upper_case": "UPPER", "lower_case": "LOWER", "char_length": "CHAR_LENGTH", "substring": "SUBSTRING", "substr": "SUBSTRING",  # noqa: E501
    "replace": "REPLACE", "like": "LIKE", "similar": "SIMILAR TO", "position": "POSITION", "lpad": "LPAD", "rpad": "RPAD",  # noqa: E501
    "ltrim": "LTRIM", "rtrim": "RTRIM", "init_cap": "INITCAP", "repeat": "REPEAT", "regexp_replace": "REGEXP_REPLACE",
    "regexp_extract": "REGEXP_EXTRACT", "left": "LEFT", "right": "RIGHT", "split_index": "SPLIT_INDEX", "md5": "MD5",
    "sha1": "SHA1", "sha256": "SHA256", "to_base64": "TO_BASE64", "from_base64": "FROM_BASE64", "abs": "ABS", "floor": "FLOOR",  # noqa: E501
    "ceil": "CEIL", "round": "ROUND", "sqrt": "SQRT", "power": "POWER", "ln": "LN", "exp": "EXP", "log10": "LOG10",
    "sign": "SIGN", "is_null": "IS NULL", "is_not_null": "IS NOT NULL", "is_true": "IS TRUE", "is_false": "IS FALSE",
    "is_not_true": "IS NOT TRUE", "is_not_false": "IS NOT FALSE", "if_null": "IFNULL", "cardinality": "CARDINALITY",
    "reverse": "REVERSE", "rowtime": "ROWTIME", "proctime": "PROCTIME",
    "start": "START", "end": "END",
}  # fmt: skip
_AGGREGATES = {
    "sum": "SUM", "sum0": "SUM0", "count": "COUNT", "avg": "AVG", "min": "MIN", "max": "MAX", "collect": "COLLECT",
    "first_value": "FIRST_VALUE", "last_value": "LAST_VALUE", "stddev_pop": "STDDEV_POP", "stddev_samp": "STDDEV_SAMP",
    "var_pop": "VAR_POP", "var_samp": "VAR_SAMP", "array_agg": "ARRAY_AGG",
}  # fmt: skip
_PROPERTIES = {
    "UPPER", "LOWER", "CHAR_LENGTH", "IS NULL", "IS NOT NULL", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE", "ABS",  # noqa: E501
    "FLOOR", "CEIL", "SQRT", "LN", "EXP", "LOG10", "SIGN", "CARDINALITY", "LTRIM", "RTRIM", "INITCAP", "MD5", "SHA1", "SHA256",  # noqa: E501
    "TO_BASE64", "FROM_BASE64", "REVERSE", "ROWTIME", "PROCTIME", "START", "END",
}  # fmt: skip


def _shown(syntax: s.Syntax) -> str:
    if isinstance(syntax, s.Name):
        return ".".join(syntax.parts)
    if isinstance(syntax, s.Value):
        return repr(syntax.value)
    if isinstance(syntax, s.Alias):
        return f"{_shown(syntax.argument)} AS {', '.join(syntax.names)}"
    if isinstance(syntax, s.Aggregate):
        return f"{syntax.function}({'*' if syntax.argument is None else _shown(syntax.argument)})"
    if isinstance(syntax, s.Apply):
        parts = [_shown(each) for each in syntax.arguments]
        infix = len(parts) == 2 and not syntax.function[:1].isalpha()
        return f" {syntax.function} ".join(parts) if infix else f"{syntax.function}({', '.join(parts)})"
    return type(syntax).__name__
