"""Conversion of elements in ``from_collection``, which PyFlink checks there and not in its coders."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import double_text
from flintstream.common._types.basic import BasicType, BasicTypeInfo
from flintstream.common._types.composite import (
    ExternalTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    _SequenceTypeInfo,
)
from flintstream.common._types.conversion import mismatch

if TYPE_CHECKING:
    from flintstream.common._types.base import TypeInformation


class _TextOfNumbers(BasicTypeInfo):
    """STRING that also accepts numbers and booleans, formatted as in Java."""

    def _convert(self, value: Any) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return double_text(value)
        return str(value) if isinstance(value, Decimal) else super()._convert(value)


class _Truth(BasicTypeInfo):
    """BOOLEAN that refuses numbers between 0 and 1, which Python takes for true and PyFlink's coders for false."""

    def _convert(self, value: object) -> bool:
        found = bool(super()._convert(value))
        if found is not bool(value):
            raise mismatch(self, value, "use an explicit comparison")
        return found


class _TupleOfLength(TupleTypeInfo):
    """A tuple with exactly as many fields as are declared."""

    def _convert(self, value: object) -> tuple[object, ...]:
        if isinstance(value, (tuple, list)) and len(value) > len(self._field_types):
            raise mismatch(self, value, f"it has {len(value)} fields instead of {len(self._field_types)}")
        return super()._convert(value)


_TEXT = _TextOfNumbers(BasicType.STRING)
_TRUTH = _Truth(BasicType.BOOLEAN)


def collection_type(type_info: TypeInformation) -> TypeInformation:
    """Return the type that converts elements as PyFlink does for a collection of ``type_info``.

    >>> from flintstream.common import Types
    >>> collection_type(Types.MAP(Types.STRING(), Types.STRING())).converter()({"a": 1, "b": True})
    {'a': '1', 'b': 'true'}
    """
    if isinstance(type_info, BasicTypeInfo):
        replaced = {BasicTypeInfo.STRING_TYPE_INFO(): _TEXT, BasicTypeInfo.BOOLEAN_TYPE_INFO(): _TRUTH}
        return replaced.get(type_info, type_info)
    if isinstance(type_info, RowTypeInfo):
        return RowTypeInfo([collection_type(part) for part in type_info.get_field_types()], type_info.get_field_names())
    if isinstance(type_info, TupleTypeInfo):
        return _TupleOfLength([collection_type(part) for part in type_info.get_field_types()])
    if isinstance(type_info, _SequenceTypeInfo):
        return type(type_info)(collection_type(type_info._element_type))
    if isinstance(type_info, MapTypeInfo):
        key, value = type_info._key_type_info, type_info._value_type_info
        return MapTypeInfo(collection_type(key), collection_type(value))
    if isinstance(type_info, ExternalTypeInfo):
        return ExternalTypeInfo(collection_type(type_info._type_info))
    return type_info
