"""What a type is made of: its parts, and the kind of a type without parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types.basic import BasicType
from flintstream.common._types.composite import _SequenceTypeInfo
from flintstream.common.typeinfo import (
    BasicTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeTypeInfo,
    TupleTypeInfo,
)

if TYPE_CHECKING:
    from flintstream.common._types.conversion import Inline, Scope
    from flintstream.common.typeinfo import (
        TypeInformation,
    )


def basic_type(type_info: BasicTypeInfo) -> BasicType:
    """Return which of the basic types this is."""
    return type_info._basic_type


def time_type(type_info: LocalTimeTypeInfo) -> LocalTimeTypeInfo.TimeType:
    """Return whether values are dates, times or timestamps."""
    return type_info._time_type


def without_converters(type_info: TypeInformation) -> TypeInformation:
    """Return the type of the values that an external type converts; any other type as it is."""
    while isinstance(type_info, ExternalTypeInfo):
        type_info = type_info._type_info
    return type_info


def inline(type_info: TypeInformation, scope: Scope) -> Inline:
    """Return the code that converts a value of this type, with its names in ``scope``."""
    return type_info._inline(scope)


def is_sequence(type_info: TypeInformation) -> bool:
    """Tell whether values are lists."""
    return isinstance(type_info, _SequenceTypeInfo) and not is_bytes(type_info)


def is_bytes(type_info: TypeInformation) -> bool:
    """Tell whether values are bytes."""
    if not isinstance(type_info, PrimitiveArrayTypeInfo):
        return False
    element = type_info._element_type
    return isinstance(element, BasicTypeInfo) and element._basic_type is BasicType.BYTE


def element_of(type_info: TypeInformation) -> TypeInformation:
    """Return the type of the elements of a list."""
    assert isinstance(type_info, _SequenceTypeInfo)  # noqa: S101 - callers check is_sequence
    return type_info._element_type


def inner_types(type_info: TypeInformation) -> list[TypeInformation]:
    """Return the types of the parts of a value."""
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return type_info.get_field_types()
    if isinstance(type_info, MapTypeInfo):
        return [type_info._key_type_info, type_info._value_type_info]
    return [element_of(type_info)] if is_sequence(type_info) else []


def find_unsupported(type_info: TypeInformation) -> TypeInformation | None:
    """Return the first part of ``type_info`` that is not a Flink type, and therefore unknown to every format."""
    leaves = (BasicTypeInfo, SqlTimeTypeInfo, LocalTimeTypeInfo, PickledBytesTypeInfo)
    parts = inner_types(type_info)
    if not parts and not is_bytes(type_info) and not isinstance(type_info, (*leaves, RowTypeInfo, TupleTypeInfo)):
        return type_info
    return next((found for found in map(find_unsupported, parts) if found is not None), None)
