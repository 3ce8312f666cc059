"""Types whose values are the same in a batch of Arrow and in a row, and the digits of timestamps in either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import MICROSECONDS
from flintstream.table._functions.arrow_values import time_unit
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = (
    *INTEGERS,
    t.BooleanType,
    t.FloatType,
    t.DoubleType,
    t.CharType,
    t.VarCharType,
    t.BinaryType,
    t.VarBinaryType,
    t.DateType,
    t.DecimalType,
    t.TimestampType,
    t.LocalZonedTimestampType,
)


def all_fit(kinds: Iterable[t.DataType]) -> bool:
    """Return whether columns of these types can stay in batches.

    A TIME of other digits than ms cannot, because rows have ms whatever its type says.

    >>> all_fit([t.DataTypes.BIGINT(), t.DataTypes.ARRAY(t.DataTypes.FLOAT())]), all_fit([t.DataTypes.TIME(0)])
    (True, False)
    """
    return all(map(_fits, kinds))


def is_precise(kind: t.DataType) -> bool:
    """Return whether values have timestamps with nanoseconds: Arrow has these for the years 1677 to 2262 only.

    >>> is_precise(t.DataTypes.ARRAY(t.DataTypes.TIMESTAMP(9))), is_precise(t.DataTypes.TIMESTAMP(6))
    (True, False)
    """
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return kind.precision > MICROSECONDS
    if isinstance(kind, t.ArrayType):
        return is_precise(kind.element_type)
    if isinstance(kind, t.MapType):
        return is_precise(kind.key_type) or is_precise(kind.value_type)
    return isinstance(kind, t.RowType) and any(map(is_precise, kind.field_types()))


def unit_in_rows(precision: int) -> str:
    """Return the unit of the timestamps of a precision in rows, which have at least milliseconds.

    >>> unit_in_rows(0), unit_in_rows(4), unit_in_rows(9)
    ('ms', 'us', 'ns')
    """
    return time_unit(max(precision, 3))


def unit_in_files(precision: int) -> str:
    """Return the unit of the timestamps of a precision in files, which have no nanoseconds.

    >>> unit_in_files(0), unit_in_files(9)
    ('ms', 'us')
    """
    return time_unit(min(max(precision, 3), MICROSECONDS))


def _fits(kind: t.DataType) -> bool:
    if type(kind) is t.ArrayType:
        return _fits(kind.element_type)
    if type(kind) is t.MapType:
        return _fits(kind.key_type) and _fits(kind.value_type)
    if type(kind) is t.RowType:
        return all(map(_fits, kind.field_types()))
    if type(kind) is t.TimeType:
        return kind.precision == 3
    return type(kind) in _PLAIN
