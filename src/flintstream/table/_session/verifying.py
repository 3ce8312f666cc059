"""What ``from_elements`` checks before it makes a table: whether values are those of the declared types.

>>> from flintstream.common._types.data_types import DataTypes
>>> check_of(DataTypes.ARRAY(DataTypes.VARCHAR(2)))(["a", "abc"])
Traceback (most recent call last):
ValueError: VARCHAR(2) takes at most 2 characters or bytes, but got 'abc'
"""

from __future__ import annotations

import array
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from flintstream.common._types import data_types as t
from flintstream.common._types.inference import named_fields
from flintstream.common._types.user_defined import UserDefinedType
from flintstream.common.types import Row
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType

    Check: TypeAlias = Callable[[object], None]

_CLASSES: tuple[tuple[tuple[type[DataType], ...], tuple[type[object], ...]], ...] = (
    ((t.BooleanType,), (bool,)),
    (tuple(INTEGERS), (int,)),
    ((t.FloatType, t.DoubleType), (float,)),
    ((t.DecimalType,), (Decimal,)),
    (TEXTS, (str,)),
    (BYTES, (bytes, bytearray)),
    ((t.TimestampType,), (datetime,)),
    ((t.DateType,), (date,)),
    ((t.TimeType,), (time,)),
    ((t.ArrayType,), (list, tuple, array.array)),
    ((t.MapType,), (dict,)),
)
"""The classes of values of types. Other types take what they can convert."""


def check_of(kind: DataType) -> Check:
    """Return a function that raises an error for a value that is not one of a type.

    It raises ``TypeError`` for a value of another class: a whole number is not a DOUBLE. It raises ``ValueError`` for
    None where the type is NOT NULL, for a text or bytes of another length, and for a row with other fields.
    """
    if isinstance(kind, UserDefinedType):
        return partial(_check_object, kind)
    classes = next((classes for kinds, classes in _CLASSES if isinstance(kind, kinds)), ())
    below: Check | None = None
    if isinstance(kind, (t.TinyIntType, t.SmallIntType, t.IntType)):
        below = partial(_check_range, kind.type_name(), _BITS[type(kind)])
    elif isinstance(kind, TEXTS + BYTES) and kind.length < t.MAX_LENGTH:
        below = partial(_check_length, sql_name(kind.nullable()), kind.length, isinstance(kind, _FIXED))
    elif isinstance(kind, t.ArrayType):
        below = partial(_check_elements, check_of(kind.element_type))
    elif isinstance(kind, t.MapType):
        below = partial(_check_pairs, check_of(kind.key_type), check_of(kind.value_type))
    elif isinstance(kind, t.RowType):
        below = partial(_check_fields, kind.names, [check_of(item) for item in kind.field_types()])
    return partial(_check, kind.type_name(), is_nullable(kind), classes, below)


_FIXED = (t.CharType, t.BinaryType)
_BITS = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32}


def _check(name: str, nullable: bool, classes: tuple[type[object], ...], below: Check | None, value: object) -> None:
    if value is None:
        if not nullable:
            raise ValueError(f"{name} NOT NULL is not nullable, but got None")
        return
    if classes and (not isinstance(value, classes) or (type(value) is bool and bool not in classes)):
        raise TypeError(f"{name} can not accept object {value!r} in type {type(value)}")
    if below is not None:
        below(value)


def _check_range(name: str, bits: int, value: object) -> None:
    if isinstance(value, int) and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(f"{value} does not fit {name} ({bits} bits)")


def _check_length(name: str, length: int, fixed: bool, value: object) -> None:
    found = len(value) if isinstance(value, (str, bytes, bytearray)) else 0
    if found > length or (fixed and found < length):
        raise ValueError(f"{name} takes {'' if fixed else 'at most '}{length} characters or bytes, but got {value!r}")


def _check_object(kind: UserDefinedType[object], value: object) -> None:
    if value is None and is_nullable(kind):
        return
    if type(getattr(value, "__UDT__", None)) is not type(kind):
        raise ValueError(f"{value!r} is not an instance of type {kind!r}")


def _check_elements(check: Check, value: object) -> None:
    for item in value if isinstance(value, (list, tuple, array.array)) else ():
        check(item)


def _check_pairs(key_check: Check, check: Check, value: object) -> None:
    for key, item in value.items() if isinstance(value, dict) else ():
        key_check(key)
        check(item)


def _check_fields(names: Sequence[str], checks: Sequence[Check], value: object) -> None:
    fields = dict(named_fields(value) or ())
    if fields and (fields.keys() >= set(names) or not isinstance(value, (tuple, list, Row))):
        values: Sequence[object] = [fields.get(name) for name in names]
    else:
        values = tuple(value) if isinstance(value, (tuple, list, Row)) else (value,)
    if len(values) != len(checks):
        raise ValueError(f"{value!r} has {len(values)} values for the {len(checks)} fields {', '.join(names)}")
    for check, item in zip(checks, values, strict=True):
        check(item)
