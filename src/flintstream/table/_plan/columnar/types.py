"""Types whose values are the same in a batch of Arrow and in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._types.rules import INTEGERS, is_nullable

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
)
_IN_LISTS = (*INTEGERS, t.BooleanType, t.FloatType, t.DoubleType, t.VarCharType, t.VarBinaryType)


def all_fit(kinds: Iterable[t.DataType]) -> bool:
    """Return whether columns of these types can stay in batches.

    Times cannot, because rows have their own rules for zones and digits; nor can what is NOT NULL within a value.

    >>> all_fit([t.DataTypes.BIGINT(), t.DataTypes.ARRAY(t.DataTypes.FLOAT())]), all_fit([t.DataTypes.TIMESTAMP(3)])
    (True, False)
    """
    return all(map(_fits, kinds))


def _fits(kind: t.DataType) -> bool:
    if type(kind) is t.ArrayType:
        return type(kind.element_type) in _IN_LISTS and is_nullable(kind.element_type)
    if type(kind) is t.RowType:
        return all(is_nullable(part) and _fits(part) for part in kind.field_types())
    return type(kind) in _PLAIN
