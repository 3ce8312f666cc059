"""Types of columns by the annotations of Python."""

from __future__ import annotations

import datetime as dt
import decimal
import types
import typing
from dataclasses import is_dataclass
from typing import Annotated, Union, get_args, get_origin, get_type_hints, is_typeddict

from flintstream.table.types import DataTypes

if typing.TYPE_CHECKING:
    from flintstream.table.types import DataType

_BASIC: dict[object, DataType] = {
    bool: DataTypes.BOOLEAN(),
    int: DataTypes.BIGINT(),
    float: DataTypes.DOUBLE(),
    str: DataTypes.STRING(),
    bytes: DataTypes.BYTES(),
    bytearray: DataTypes.BYTES(),
    decimal.Decimal: DataTypes.DECIMAL(38, 18),
    dt.date: DataTypes.DATE(),
    dt.time: DataTypes.TIME(3),
    dt.datetime: DataTypes.TIMESTAMP(6),
}


def type_of_hint(hint: object) -> DataType:
    """Return the type of a column whose values an annotation describes; only ``X | None`` allows None.

    >>> str(type_of_hint(int)), str(type_of_hint(dict[str, float | None]))
    ('BIGINT', 'MAP')

    Raises:
        TypeError: The annotation does not tell the type.
    """
    if hint is vars(typing)["Any"]:
        return DataTypes.STRING()
    if get_origin(hint) is Annotated:
        return type_of_hint(get_args(hint)[0])
    arguments = get_args(hint)
    if get_origin(hint) in {Union, types.UnionType}:
        present = [argument for argument in arguments if argument is not type(None)]
        if len(present) != 1 or len(present) == len(arguments):
            raise _error_of_hint(hint)
        return type_of_hint(present[0]).nullable()
    found = _nested_type(hint, arguments)
    if found is None:
        raise _error_of_hint(hint)
    return found.not_null()


def _nested_type(hint: object, arguments: tuple[object, ...]) -> DataType | None:
    if isinstance(hint, type) and (is_typeddict(hint) or is_dataclass(hint) or _is_named_tuple(hint)):
        fields = get_type_hints(hint)
        return DataTypes.ROW([DataTypes.FIELD(name, type_of_hint(item)) for name, item in fields.items()])
    if get_origin(hint) is tuple and arguments and Ellipsis not in arguments:
        return DataTypes.ROW([DataTypes.FIELD(f"f{i}", type_of_hint(item)) for i, item in enumerate(arguments)])
    if get_origin(hint) is list and len(arguments) == 1:
        return DataTypes.ARRAY(type_of_hint(arguments[0]))
    if get_origin(hint) is dict and len(arguments) == 2:
        key, value = arguments
        return DataTypes.MAP(type_of_hint(key), type_of_hint(value))
    try:
        return _BASIC.get(hint)
    except TypeError:  # it cannot be hashed
        return None


def _is_named_tuple(hint: type) -> bool:
    return issubclass(hint, tuple) and hasattr(hint, "_fields")


def _error_of_hint(hint: object) -> TypeError:
    return TypeError(f"Cannot infer DataType from type hint '{hint}'. Please specify the data type explicitly.")
