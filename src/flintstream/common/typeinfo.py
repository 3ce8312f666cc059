"""Types of records, for ``output_type``, ``key_type`` and state descriptors.

A type defines the form of a value after it has crossed a serializer (:meth:`TypeInformation.converter`), and its text
in Flink (:meth:`TypeInformation.to_text`, :meth:`TypeInformation.stringify`). Types are immutable, hashable and
picklable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.base import TypeInformation
from flintstream.common._types.basic import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    InstantTypeInfo,
    LocalTimeTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from flintstream.common._types.composite import (
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
    """Factory for types.

    >>> Types.TUPLE([Types.STRING(), Types.LONG()])
    TupleTypeInfo(String, Long)

    >>> Types.MAP(Types.STRING(), Types.LIST(Types.INT()))
    MapTypeInfo<String, ListTypeInfo<Integer>>
    >>> Types.ROW([Types.LONG(), Types.BOOLEAN()])
    RowTypeInfo(Long, Boolean)
    >>> Types.ROW_NAMED(["day", "sum"], [Types.SQL_DATE(), Types.BIG_DEC()])
    RowTypeInfo(day: DateTypeInfo, sum: BigDecimal)
    >>> [str(member) for member in (Types.BYTE(), Types.SHORT(), Types.FLOAT(), Types.DOUBLE(), Types.CHAR())]
    ['Byte', 'Short', 'Float', 'Double', 'Char']
    >>> [str(member) for member in (Types.BIG_INT(), Types.INSTANT(), Types.SQL_TIME(), Types.SQL_TIMESTAMP())]
    ['BigInteger', 'Instant', 'TimeTypeInfo', 'TimestampTypeInfo']
    >>> [str(member(Types.INT())) for member in (Types.PRIMITIVE_ARRAY, Types.BASIC_ARRAY, Types.OBJECT_ARRAY)]
    ['PrimitiveArrayTypeInfo<Integer>', 'BasicArrayTypeInfo<Integer>', 'ObjectArrayTypeInfo<Integer>']
    >>> Types.PICKLED_BYTE_ARRAY()
    PickledByteArrayTypeInfo
    """

    @staticmethod
    def STRING() -> TypeInformation[str]:
        """Strings (``str``) or None."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation[int]:
        """Signed 8-bit integers."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation[bool]:
        """True or False."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation[int]:
        """Signed 16-bit integers."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation[int]:
        """Signed 32-bit integers."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation[int]:
        """Signed 64-bit integers."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation[float]:
        """32-bit floating point numbers: 110.1 becomes 110.0999984741211."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation[float]:
        """64-bit floating point numbers, like Python's ``float``."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation[str]:
        """Strings of one character."""
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
        """``datetime.time`` with millisecond precision, or None."""
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation[dt.datetime]:
        """``datetime.datetime`` or None."""
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation[Any]:
        """Any picklable Python object. Streams without a declared type have this type."""
        return _PICKLED

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Rows of the given field types, named ``f0``, ``f1``, ..."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Rows with the given field names and types.

        Raises:
            ValueError: The numbers of names and types differ, or a name is duplicated.
        """
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Tuples of up to 25 fields."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation[Any]:
        """Lists of numbers or booleans without None; ``bytes`` for ``BYTE``."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists of basic values, with None allowed."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists of any type, with None allowed."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> TypeInformation[dict[K, V]]:
        """Dicts; values may be None."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Lists."""
        return ListTypeInfo(element_type_info)
