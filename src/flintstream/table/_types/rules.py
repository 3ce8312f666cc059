"""What the planner knows about types: their names in SQL, their order, and the type that several have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import MICROSECONDS
from flintstream.table._types.objects import StructuredType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType

INTEGERS: dict[type[DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}
"""Number of bits."""
DIGITS: dict[type[DataType], int] = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}
TEXTS = (t.CharType, t.VarCharType)
BYTES = (t.BinaryType, t.VarBinaryType)
KEY_TYPES = frozenset({*INTEGERS, *TEXTS, t.BooleanType})
"""The types of keys of which equal values are alike in all ways."""
TIMESTAMPS = (t.TimestampType, t.LocalZonedTimestampType)
_RANKS = (t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType, t.DecimalType, t.FloatType, t.DoubleType)

_WORDS: dict[type[DataType], str] = {t.IntType: "INT", t.BigIntType: "BIGINT"}


def has_nanoseconds(data_type: DataType) -> bool:
    """Return whether a type is a ``TIMESTAMP`` with nanoseconds."""
    return isinstance(data_type, t.TimestampType) and data_type.precision > MICROSECONDS


class IntervalType(t.AtomicType):
    """A duration in ms, or in months if ``months``."""

    def __init__(self, months: bool = False, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.months = months


class RowsType(t.AtomicType):
    """A number of rows, as the size of a window."""


def text_type(text: str) -> t.CharType:
    """Return the type of a literal; its length counts UTF-16 units, as Java does, and only an empty one has none.

    >>> text_type("").length, text_type("a😀").length
    (0, 3)
    """
    length = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    kind = t.CharType(max(length, 1), False)
    kind.length = length
    return kind


def is_nullable(data_type: DataType) -> bool:
    """Return whether values may be None."""
    return data_type._nullable


def with_null(data_type: DataType, nullable: bool) -> DataType:
    """Return the type with the given nullability."""
    return data_type.nullable() if nullable else data_type.not_null()


def _bare(data_type: DataType) -> str:
    if isinstance(data_type, TEXTS + BYTES):
        if data_type.length == t.MAX_LENGTH:
            return "STRING" if isinstance(data_type, t.VarCharType) else "BYTES"
        return f"{data_type.type_name()}({data_type.length})"
    if isinstance(data_type, t.DecimalType):
        return f"DECIMAL({data_type.precision}, {data_type.scale})"
    if isinstance(data_type, t.LocalZonedTimestampType):
        return f"TIMESTAMP_LTZ({data_type.precision})"
    if isinstance(data_type, (t.TimestampType, t.TimeType)):
        return f"{data_type.type_name()}({data_type.precision})"
    if isinstance(data_type, (t.ArrayType, t.MultisetType)):
        return f"{data_type.type_name()}<{sql_name(data_type.element_type)}>"
    if isinstance(data_type, t.MapType):
        return f"MAP<{sql_name(data_type.key_type)}, {sql_name(data_type.value_type)}>"
    if isinstance(data_type, StructuredType):
        fields = ", ".join(f"`{f.name}` {sql_name(f.data_type)}" for f in data_type.fields)
        return f"STRUCTURED<'{data_type.class_name}', {fields}>"
    if isinstance(data_type, t.RowType):
        return f"ROW<{', '.join(f'`{f.name}` {sql_name(f.data_type)}' for f in data_type.fields)}>"
    if isinstance(data_type, (t.DayTimeIntervalType, t.YearMonthIntervalType)):
        return f"INTERVAL {data_type.resolution.name.replace('_', ' ')}"
    if isinstance(data_type, IntervalType):
        return "INTERVAL MONTH" if data_type.months else "INTERVAL SECOND(3)"
    if isinstance(data_type, t.RawType):
        return "RAW('[B', '...')"
    return _WORDS.get(type(data_type), data_type.type_name())


def sql_name(data_type: DataType) -> str:
    """Return the name of a type in SQL, with ``NOT NULL``.

    >>> sql_name(t.DataTypes.ROW([t.DataTypes.FIELD("a", t.DataTypes.DECIMAL(5, 2, False))]))
    'ROW<`a` DECIMAL(5, 2) NOT NULL>'
    """
    return _bare(data_type) + ("" if is_nullable(data_type) else " NOT NULL")


def as_decimal(data_type: DataType) -> t.DecimalType:
    """Return the decimal type that holds all values of an integer or decimal type."""
    if isinstance(data_type, t.DecimalType):
        return data_type
    return t.DecimalType(DIGITS[type(data_type)], 0, is_nullable(data_type))


def decimal_of(precision: int, scale: int) -> t.DecimalType:
    """Return a decimal type of at most 38 digits; the fraction gives way, but keeps up to 6 digits.

    >>> decimal_of(40, 10)
    DecimalType(38, 8, true)
    """
    if precision <= 38:
        return t.DecimalType(precision, scale)
    whole = precision - scale
    return t.DecimalType(38, max(38 - whole, min(scale, 6)))


def common_type(types: Sequence[DataType]) -> DataType | None:
    """Return the least type that holds the values of all; None if there is none.

    >>> sql_name(common_type([t.DataTypes.INT(False), t.DataTypes.BIGINT()]))
    'BIGINT'
    """
    nullable = any(is_nullable(kind) or isinstance(kind, t.NullType) for kind in types)
    found: DataType | None = None
    for kind in types:
        if isinstance(kind, t.NullType):
            continue
        found = kind if found is None else _common_of_two(found, kind)
        if found is None:
            return None
    return with_null(found if found is not None else t.NullType(), nullable)


def _common_of_two(a: DataType, b: DataType) -> DataType | None:
    if a.nullable() == b.nullable():
        return a
    if isinstance(a, t.NumericType) and isinstance(b, t.NumericType):
        return _common_number(a, b)
    for family, wide in ((TEXTS, t.VarCharType), (BYTES, t.VarBinaryType)):
        if isinstance(a, family) and isinstance(b, family):
            same = type(a) is type(b) and a.length == b.length
            return a if same else wide(max(a.length, b.length))
    if isinstance(a, TIMESTAMPS) and isinstance(b, TIMESTAMPS):
        kind = a if isinstance(a, t.LocalZonedTimestampType) else b
        return type(kind)(max(a.precision, b.precision))
    if isinstance(a, t.TimeType) and isinstance(b, t.TimeType):
        return a if a.precision >= b.precision else b
    if isinstance(a, TIMESTAMPS) and isinstance(b, t.DateType):
        return a
    if isinstance(b, TIMESTAMPS) and isinstance(a, t.DateType):
        return b
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        element = common_type([a.element_type, b.element_type])
        return None if element is None else t.ArrayType(element)
    if isinstance(a, t.MapType) and isinstance(b, t.MapType):
        key, value = common_type([a.key_type, b.key_type]), common_type([a.value_type, b.value_type])
        return None if key is None or value is None else t.MapType(key, value)
    if isinstance(a, t.RowType) and isinstance(b, t.RowType) and len(a) == len(b):
        parts = [common_type(pair) for pair in zip(a.field_types(), b.field_types(), strict=True)]
        fields = [t.RowField(name, part) for name, part in zip(a.names, parts, strict=True) if part is not None]
        return t.RowType(fields) if len(fields) == len(a) else None
    return None


def _common_number(a: DataType, b: DataType) -> DataType:
    if isinstance(a, t.DecimalType) or isinstance(b, t.DecimalType):
        if isinstance(a, (t.FloatType, t.DoubleType)) or isinstance(b, (t.FloatType, t.DoubleType)):
            return t.DoubleType()
        x, y = as_decimal(a), as_decimal(b)
        scale = max(x.scale, y.scale)
        return decimal_of(max(x.precision - x.scale, y.precision - y.scale) + scale, scale)
    return max((a, b), key=lambda item: _RANKS.index(type(item)))


def implicit(source: DataType, target: DataType) -> bool:
    """Return whether a sink or function takes values of one type where it wants the other."""
    if isinstance(source, t.NullType) or source.nullable() == target.nullable():
        return True
    if isinstance(source, t.NumericType) and isinstance(target, t.NumericType):
        if isinstance(source, t.FractionalType) and isinstance(target, t.IntegralType):
            return False
        if isinstance(source, t.DecimalType) and isinstance(target, t.DecimalType):
            return True
        return _RANKS.index(type(source)) <= _RANKS.index(type(target))
    if isinstance(source, IntervalType) and isinstance(target, (t.IntType, t.BigIntType)):
        return not source.months  # sinks get seconds
    if isinstance(source, TEXTS) and isinstance(target, TEXTS):
        return isinstance(source, t.CharType) or isinstance(target, t.VarCharType)
    if isinstance(source, BYTES) and isinstance(target, BYTES):
        return isinstance(source, t.BinaryType) or isinstance(target, t.VarBinaryType)
    if isinstance(source, (*TIMESTAMPS, t.DateType)) and isinstance(target, TIMESTAMPS):
        return True
    if isinstance(source, t.TimeType) and isinstance(target, t.TimeType):
        return True
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        return implicit(source.element_type, target.element_type)
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        return implicit(source.key_type, target.key_type) and implicit(source.value_type, target.value_type)
    if isinstance(source, t.RowType) and isinstance(target, t.RowType):
        pairs = zip(source.field_types(), target.field_types(), strict=False)
        return len(source) == len(target) and all(implicit(x, y) for x, y in pairs)
    return False


def has_lists(kind: DataType) -> bool:
    """Return whether Python cannot hash values of a type."""
    if isinstance(kind, t.RowType):
        return any(map(has_lists, kind.field_types()))
    return isinstance(kind, (t.ArrayType, t.MapType, t.MultisetType))
