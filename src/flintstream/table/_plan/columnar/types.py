"""Types whose values are the same in a batch of Arrow and in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
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
)


def all_fit(kinds: Iterable[t.DataType]) -> bool:
    """Return whether columns of these types can stay in batches.

    Timestamps cannot, because rows have their own rules for zones and digits; nor can a TIME of other digits than ms.

    >>> all_fit([t.DataTypes.BIGINT(), t.DataTypes.ARRAY(t.DataTypes.FLOAT())]), all_fit([t.DataTypes.TIMESTAMP(3)])
    (True, False)
    """
    return all(map(_fits, kinds))


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
