"""Literals of Python's values, also nested ones, with the types that Flink has for them."""

from __future__ import annotations

import array
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from flintstream.common.types import Row
from flintstream.table import expressions
from flintstream.table._errors import SqlError
from flintstream.table._types.rules import sql_name
from flintstream.table.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataTypes,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    MapType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table.expression import Expression
    from flintstream.table.types import DataType

_KINDS: tuple[tuple[type, tuple[type, ...]], ...] = (
    (IntegralType, (int,)),
    (DoubleType, (float, int)),
    (FloatType, (float, int)),
    (DecimalType, (Decimal, int)),
    (CharType, (str,)),
    (VarCharType, (str,)),
    (BinaryType, (bytes, bytearray)),
    (VarBinaryType, (bytes, bytearray)),
    (DateType, (date,)),
    (TimeType, (time,)),
    (TimestampType, (datetime,)),
    (LocalZonedTimestampType, (datetime,)),
    (ArrayType, (list, tuple, array.array)),
    (MapType, (dict,)),
    (RowType, (tuple, list, Row)),
)
"""The values that literals of a type may have."""
_CODES = {
    "b": DataTypes.TINYINT(), "h": DataTypes.SMALLINT(), "i": DataTypes.INT(), "l": DataTypes.BIGINT(),
    "q": DataTypes.BIGINT(), "f": DataTypes.FLOAT(), "d": DataTypes.DOUBLE(),
}  # fmt: skip


def infer_literal(value: object) -> Expression:
    """Return the literal of a value, whose type the value tells.

    >>> str(infer_literal([1, 2]))
    'cast(array(1, 2), ARRAY<INT> NOT NULL)'

    Raises:
        TypeError: It has no literal.
    """
    if isinstance(value, timedelta):
        found: Expression = expressions.lit(value // timedelta(milliseconds=1)).milli
        return found
    if isinstance(value, datetime):
        local = value if value.tzinfo is None else value.astimezone().replace(tzinfo=None)
        digits = len(f"{local.microsecond:06}".rstrip("0"))
        return expressions.lit(local, DataTypes.TIMESTAMP(digits).not_null())
    if isinstance(value, (list, tuple, array.array)):
        kind = _type_of(value)
        if kind is None:
            raise TypeError(f"no type for {value!r}: use lit(value, data_type)")
        return _make_literal(value, kind.not_null())
    return expressions.lit(value)


def literal_of(value: object, kind: DataType) -> Expression:
    """Return the literal of a value in a type.

    >>> str(literal_of([1], DataTypes.ARRAY(DataTypes.SMALLINT())))
    'cast(array(1), ARRAY<SMALLINT> NOT NULL)'

    Raises:
        SqlError: The value does not fit the type.
    """
    return expressions.lit(None, kind) if value is None else _make_literal(value, kind.not_null())


def _make_literal(value: object, kind: DataType) -> Expression:
    _check(value, kind)
    if isinstance(kind, ArrayType) and isinstance(value, (list, tuple, array.array)):
        return _build(expressions.array, [literal_of(item, kind.element_type) for item in value], kind)
    if isinstance(kind, MapType) and isinstance(value, dict):
        parts = [
            part
            for key, item in value.items()
            for part in (literal_of(key, kind.key_type), literal_of(item, kind.value_type))
        ]
        return _build(expressions.map_, parts, kind)
    if isinstance(kind, RowType) and isinstance(value, (tuple, list, Row)):
        pairs = zip(value, kind.field_types(), strict=True)
        return _build(expressions.row, [literal_of(item, part) for item, part in pairs], kind)
    return expressions.lit(value, kind)


def _build(make: object, parts: Sequence[Expression], kind: DataType) -> Expression:
    if not parts or not callable(make):
        raise SqlError(f"a literal of {sql_name(kind)} needs values")
    found: Expression = make(*parts)
    return found.cast(kind)


def _check(value: object, kind: DataType) -> None:
    wrong = SqlError(f"Data type '{sql_name(kind)}' does not support a conversion from {value!r}")
    if isinstance(value, bool) != isinstance(kind, BooleanType):
        raise wrong
    for of, values in _KINDS:
        if isinstance(kind, of):
            if not isinstance(value, values):
                raise wrong
            if isinstance(kind, RowType) and isinstance(value, (tuple, list)) and len(value) != len(kind.field_types()):
                raise wrong
            return


def _type_of(value: object) -> DataType | None:
    """Return the type of an element, of which there may be None."""
    if isinstance(value, array.array):
        return DataTypes.ARRAY(_CODES[value.typecode]) if value.typecode in _CODES else None
    if isinstance(value, (list, tuple)):
        kinds = [kind for kind in map(_type_of, value) if kind is not None]
        if not kinds:
            return None
        widest = max(kinds, key=lambda kind: getattr(kind, "length", 0) or _width(kind))
        return DataTypes.ARRAY(widest)
    for kind, found in (
        (bool, DataTypes.BOOLEAN()),
        (float, DataTypes.DOUBLE()),
        (datetime, DataTypes.TIMESTAMP(6)),
        (date, DataTypes.DATE()),
        (time, DataTypes.TIME()),
        (Decimal, DataTypes.DECIMAL(38, 18)),
    ):
        if isinstance(value, kind):
            return found
    if isinstance(value, int):
        return DataTypes.INT() if -(1 << 31) <= value < 1 << 31 else DataTypes.BIGINT()
    if isinstance(value, str):
        return DataTypes.CHAR(max(len(value), 1))
    return DataTypes.BINARY(max(len(value), 1)) if isinstance(value, (bytes, bytearray)) else None


def _width(kind: DataType) -> int:
    return 1 if kind == DataTypes.BIGINT() else 0
