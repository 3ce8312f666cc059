"""Types of records: what ``output_type``, ``key_type`` and the state descriptors take.

A type says what a value is worth after it crossed a serializer (:meth:`TypeInformation.converter`), and how Flink
writes it as text (:meth:`TypeInformation.to_text`, :meth:`TypeInformation.stringify`). Types are immutable, hashable
and picklable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._basictypes import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    InstantTypeInfo,
    LocalTimeTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from flintstream.common._compositetypes import (
    BasicArrayTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from flintstream.common._typebase import TypeInformation

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from decimal import Decimal

    from flintstream.common._generic import K, T, V
    from flintstream.common.time import Instant

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]

_PICKLED = PickledBytesTypeInfo()


class Types:
    """Makes the types.

    >>> Types.TUPLE([Types.STRING(), Types.LONG()])
    TupleTypeInfo(String, Long)
    """

    @staticmethod
    def STRING() -> TypeInformation[str]:
        """Texts (``str``) or None."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation[int]:
        """Integers of 8 bits, signed."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation[bool]:
        """True or False."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation[int]:
        """Integers of 16 bits, signed."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation[int]:
        """Integers of 32 bits, signed."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation[int]:
        """Integers of 64 bits, signed."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation[float]:
        """Floating point numbers of 32 bits: 110.1 becomes 110.0999984741211."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation[float]:
        """Floating point numbers of 64 bits, which is Python's ``float``."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation[str]:
        """Texts of one character."""
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation[int]:
        """Integers of any size, or None."""
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation[Decimal]:
        """``decimal.Decimal`` or None."""
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation[Instant]:
        """:class:`~flintstream.common.time.Instant` or None."""
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation[dt.date]:
        """``datetime.date`` or None."""
        return SqlTimeTypeInfo.DATE()

    @staticmethod
    def SQL_TIME() -> TypeInformation[dt.time]:
        """``datetime.time``, to the millisecond, or None."""
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation[dt.datetime]:
        """``datetime.datetime`` or None."""
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation[Any]:
        """Any Python object that can be pickled; what a stream without a declared type has."""
        return _PICKLED

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Rows of the given field types, named ``f0``, ``f1``, and so on."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Rows of the given field names and types.

        Raises:
            ValueError: not as many names as types, or a name twice.
        """
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Tuples of up to 25 fields."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation[Any]:
        """Lists of numbers or booleans without None; of ``BYTE``, ``bytes``."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists of basic values or None."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists of anything or None."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> TypeInformation[dict[K, V]]:
        """Dicts; values may be None."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists."""
        return ListTypeInfo(element_type_info)
