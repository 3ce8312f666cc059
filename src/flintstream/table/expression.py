"""Expressions of the Table API; mirrors ``pyflink.table.expression``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._public import publish
from flintstream.common._types import data_types as t
from flintstream.table._deep_stack import deep
from flintstream.table._errors import nearest
from flintstream.table._methods.enums import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from flintstream.table._methods.json_methods import JsonMethods, word
from flintstream.table._methods.methods import AGGREGATES, CALLED_AGGREGATES, METHODS, method_of, without_none
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.frames import window_of
from flintstream.table._syntax.literals import number
from flintstream.table._syntax.summary import show_briefly, summary
from flintstream.table._types.reader import column_type
from flintstream.table._types.rules import IntervalType, RowsType, text_type

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common._types.data_types import DataType

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


def syntax_of(value: object) -> s.Syntax:
    """Return the syntax of an expression, or of a Python value as a literal.

    Raises:
        TypeError: There is no literal for the value.
    """
    if isinstance(value, Expression):
        return value._syntax
    if isinstance(value, s.Syntax):
        return value
    if value is None:
        return s.Value(None, None, t.NullType())
    if isinstance(value, bool):
        return s.Value(None, value, t.BooleanType(False))
    if isinstance(value, int):
        literal = number(str(value), None)
        return s.Value(None, value, literal.type)
    if isinstance(value, float):
        return s.Value(None, value, t.DoubleType(False))
    if isinstance(value, str):
        return s.Value(None, value, text_type(value))
    if isinstance(value, Decimal):
        return s.Value(None, value, number(f"{abs(value):f}", None).type)
    for kind, data_type in (
        ((bytes, bytearray), t.BinaryType(max(1, len(value)) if isinstance(value, (bytes, bytearray)) else 1, False)),
        (datetime, t.TimestampType(6, False)),
        (date, t.DateType(False)),
        (time, t.TimeType(0, False)),
    ):
        if isinstance(value, kind):
            return s.Value(None, value, data_type)
    raise TypeError(f"no literal for {value!r}: use lit(value, data_type)")


def _binary(name: str) -> Any:
    def operate(self: Expression, other: object) -> Expression:
        return apply(name, self, other)

    operate.__doc__ = f"Return ``self {name} other``."
    return operate


def _swap(name: str) -> Any:
    def operate(self: Expression, other: object) -> Expression:
        return apply(name, other, self)

    operate.__doc__ = f"Return ``other {name} self``."
    return operate


def apply(name: str, *arguments: object) -> Expression:
    """Return a function or operator of expressions and values."""
    return Expression(s.Apply(None, name, tuple(syntax_of(argument) for argument in arguments)))


class Expression(JsonMethods):
    """A column, or something computed from columns.

    >>> from flintstream.table.expressions import col
    >>> (col("a") + 1).alias("b")
    Expression(a + 1 AS b)

    In a query:

    >>> from datetime import date
    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import array, lit
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> table = TableEnvironment.create(settings).from_elements([("  To be", "17", 2.5)], ["text", "digits", "x"])
    >>> def values(*expressions):
    ...     (row,) = table.select(*expressions).execute().collect()
    ...     return tuple(row)
    >>> values(col("digits").cast(DataTypes.INT()), col("text").try_cast(DataTypes.INT()))
    (17, None)
    >>> values(col("text").trim(), col("text").trim_leading(), col("digits").trim_trailing("7"))
    ('To be', 'To be', '1')
    >>> values(col("text").like("%be"), col("digits").in_("16", "17"), lit(8).log(2))
    (True, True, 3.0)
    >>> values(col("x").floor(), col("x").ceil(), col("x").between(1, 3), col("x").not_between(1, 3))
    (2.0, 3.0, True, False)
    >>> values((col("x") > 2).then("many", "few"), array(7, 8).at(1), lit("2026-05-17").to_date)
    ('many', 7, datetime.date(2026, 5, 17))
    >>> values(lit("08:30:00").to_time, lit("2026-05-17 08:30:00").to_timestamp)
    (datetime.time(8, 30), datetime.datetime(2026, 5, 17, 8, 30))
    >>> values(lit(date(2026, 5, 17)).extract(TimeIntervalUnit.MONTH), col("digits").list_agg("+"))
    (5, '17')

    As keys of ``order_by()``, and fields of a row:

    >>> numbers = TableEnvironment.create(settings).from_elements([(1,), (3,), (2,)], ["n"])
    >>> [row.n for row in numbers.order_by(col("n").desc).execute().collect()]
    [3, 2, 1]
    >>> [row.n for row in numbers.order_by(col("n").asc).execute().collect()]
    [1, 2, 3]
    >>> from flintstream.table.expressions import row
    >>> values(row(1, "be").get(1))
    ('be',)
    """

    def __init__(self, syntax: s.Syntax) -> None:
        """Hold the syntax; programs use ``col``, ``lit`` and ``call``."""
        self._syntax = syntax

    __hash__ = None  # type: ignore[assignment]  # comparisons give expressions
    __add__, __radd__ = _binary("+"), _swap("+")
    __sub__, __rsub__ = _binary("-"), _swap("-")
    __mul__, __rmul__ = _binary("*"), _swap("*")
    __truediv__, __rtruediv__ = _binary("/"), _swap("/")
    __mod__, __rmod__ = _binary("%"), _swap("%")
    __pow__, __rpow__ = _binary("POWER"), _swap("POWER")
    __lt__, __le__, __gt__, __ge__ = _binary("<"), _binary("<="), _binary(">"), _binary(">=")
    __and__, __rand__ = _binary("AND"), _swap("AND")
    __or__, __ror__ = _binary("OR"), _swap("OR")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        """Return ``self = other``."""
        return apply("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        """Return ``self <> other``."""
        return apply("<>", self, other)

    def __invert__(self) -> Expression:
        """Return whether a condition is false or unknown."""
        return apply("IS NOT TRUE", self)

    def __abs__(self) -> Expression:
        """Return the absolute value."""
        return apply("ABS", self)

    def __getitem__(self, index: object) -> Expression:
        """Return an element of an array, from 1 on, or the value of a key."""
        return self.at(index)

    def __neg__(self) -> Expression:
        """Return ``-self``."""
        return apply("-", self)

    def __getattr__(self, name: str) -> Any:
        """Return the function of a name, to be called with its other arguments: ``col("a").upper_case``."""
        if name == "distinct":
            if isinstance(self._syntax, s.Aggregate):
                return Expression(replace(self._syntax, distinct=True))
            return apply("DISTINCT", self)
        if name in _UNITS or name.removesuffix("s") in _UNITS or name == "rows":
            return Expression(_size(name, self._syntax))
        if name in AGGREGATES:
            return Expression(s.Aggregate(None, AGGREGATES[name], self._syntax))
        if name in CALLED_AGGREGATES:
            return lambda: Expression(s.Aggregate(None, CALLED_AGGREGATES[name], self._syntax))
        found = method_of(name, apply, self)
        if found is None:
            raise AttributeError(f"Expression has no supported function '{name}'{nearest(name, METHODS)}")
        return found

    def _apply(self, name: str, *arguments: object) -> Self:
        return type(self)(s.Apply(None, name, (self._syntax, *map(syntax_of, arguments))))

    def alias(self, name: str, *extra_names: str) -> Expression:
        """Return the expression with another name; several for a table function."""
        return Expression(s.Alias(None, self._syntax, (name, *extra_names)))

    def cast(self, data_type: DataType) -> Expression:
        """Return the value in another type."""
        return Expression(s.Convert(None, self._syntax, column_type(data_type)))

    def try_cast(self, data_type: DataType) -> Expression:
        """Return the value in another type; None if it cannot be converted."""
        return Expression(s.Convert(None, self._syntax, column_type(data_type), True))

    def get(self, name_or_index: str | int) -> Expression:
        """Return a field of a row."""
        return apply("GET", self, name_or_index)

    def at(self, index: object) -> Expression:
        """Return an element of an array, from 1 on, or the value of a key."""
        return apply("ITEM", self, index)

    def trim(self, character: object = None) -> Expression:
        """Return the text without blanks, or another character, at both ends."""
        return apply("TRIM", self) if character is None else apply("TRIM_BOTH", self, character)

    def trim_leading(self, character: object = None) -> Expression:
        """Return the text without blanks, or another character, at its beginning."""
        return apply("TRIM_LEADING", self, " " if character is None else character)

    def trim_trailing(self, character: object = None) -> Expression:
        """Return the text without blanks, or another character, at its end."""
        return apply("TRIM_TRAILING", self, " " if character is None else character)

    def like(self, pattern: object = None, escape: object = None) -> Expression:
        """Return whether the text fits a pattern of ``%`` and ``_``."""
        return apply("LIKE", self, pattern) if escape is None else apply("LIKE ESCAPE", self, pattern, escape)

    def log(self, base: object = None) -> Expression:
        """Return the logarithm, the natural one by default."""
        return apply("LOG", self) if base is None else apply("LOG", base, self)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        """Return the next whole number below, or the beginning of a unit of time."""
        unit = time_interval_unit
        return apply("FLOOR", self) if unit is None else apply("FLOOR TO", self, word(unit.name))

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        """Return the next whole number above, or the end of a unit of time."""
        unit = time_interval_unit
        return apply("CEIL", self) if unit is None else apply("CEIL TO", self, word(unit.name))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression:
        """Return a part of a date, time or interval."""
        return apply("EXTRACT", word(time_interval_unit.name), self)

    def list_agg(self, separator: str | None = None) -> Expression:
        """Return the texts of the rows of a group with a separator between them, a comma by default."""
        return Expression(s.Aggregate(None, "LISTAGG", self._syntax, option=separator))

    def percentile(self, percentage: object, frequency: object = None) -> Expression:
        """Return the values below which shares of the rows of a group are: one, or an array for several.

        A ``frequency`` counts a row so many times.

        >>> from flintstream.table.expressions import col
        >>> print(col("n").percentile(0.5))
        PERCENTILE(n, 0.5)
        """
        more = tuple(map(syntax_of, without_none(percentage, frequency)))
        return Expression(s.Aggregate(None, "PERCENTILE", self._syntax, more=more))

    def as_argument(self, name: str) -> Expression:
        """Return the value as the argument of a name, for functions that are called with names.

        >>> from flintstream.table.expressions import lit
        >>> print(lit(10).as_argument("size"))
        ASSIGNMENT('size', 10)
        """
        return apply("ASSIGNMENT", name, self)

    @property
    def to_date(self) -> Expression:
        """The date of a text."""
        return self.cast(t.DateType())

    @property
    def to_time(self) -> Expression:
        """The time of day of a text."""
        return self.cast(t.TimeType(0))

    @property
    def to_timestamp(self) -> Expression:
        """The timestamp of a text."""
        return self.cast(t.TimestampType(3))

    def over(self, alias: Expression | None = None, **window: object) -> Expression:
        """Return an aggregate of the rows of a window: ``col("n").sum.over(col("w"))``.

        Instead of the name of a window, it takes one: ``order_by``, ``partition_by``, and ``rows`` or ``range``, as
        :mod:`flintstream.dataframe` describes them.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.window import Over
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> orders = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann', 3), ('ann', 4)) AS T(name, n)")
        >>> running = orders.over_window(Over.partition_by(col("name")).order_by(col("p")).alias("w"))
        >>> running.select(col("name"), col("n").sum.over(col("w")).alias("total")).get_schema().get_field_names()
        ['name', 'total']
        """
        if window:
            if alias is not None:
                raise TypeError("over() got multiple values for the window: its name, or what it is")
            return Expression(window_of(syntax_of(self), window, syntax_of))
        return apply("OVER", self, alias)

    @property
    def asc(self) -> Expression:
        """The value as an ascending key of ``order_by()``."""
        return apply("ASC", self)

    @property
    def desc(self) -> Expression:
        """The value as a descending key of ``order_by()``."""
        return apply("DESC", self)

    def then(self, if_true: object, if_false: object) -> Expression:
        """Return one of two values by this condition."""
        return apply("IF", self, if_true, if_false)

    def between(self, lower_bound: object, upper_bound: object) -> Expression:
        """Return whether the value is within bounds, inclusive."""
        return apply("BETWEEN", self, lower_bound, upper_bound)

    def not_between(self, lower_bound: object, upper_bound: object) -> Expression:
        """Return whether the value is outside bounds."""
        return apply("NOT", self.between(lower_bound, upper_bound))

    def in_(self, first_element_or_table: object, *remaining_elements: object) -> Expression:
        """Return whether the value is one of several, or in the only column of a table, for ``where()``."""
        query = getattr(first_element_or_table, "_query", None)
        if isinstance(query, s.Query):
            return Expression(s.Quantified(None, query, (self._syntax,), "=", "IN"))
        return apply("IN", self, first_element_or_table, *remaining_elements)

    def __str__(self) -> str:
        """Return the expression as Flink shows it: ``plus(a, 1)``."""
        return summary(self._syntax)

    def __repr__(self) -> str:
        """Return the text of the expression."""
        return f"Expression({deep(show_briefly)(self._syntax)})"


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


publish(__name__, __all__, globals())
