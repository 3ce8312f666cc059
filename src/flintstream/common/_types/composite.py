"""Composite types: rows, tuples, lists, arrays and maps. Also the type of arbitrary Python objects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._generic import Generic, K, T, T_co, V
from flintstream.common._text.java import untyped_text
from flintstream.common._types.base import TypeInformation
from flintstream.common._types.basic import BasicType, BasicTypeInfo
from flintstream.common._types.conversion import (
    ConsumedError,
    Scope,
    convert_part,
    list_converter,
    map_converter,
    mismatch,
    row_converter,
    tuple_converter,
)
from flintstream.common.types import Row, RowKind, _make_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.conversion import Converter

_MAX_TUPLE_ARITY = 25


def _check_types(types: Sequence[TypeInformation], owner: str) -> tuple[TypeInformation, ...]:
    for index, field_type in enumerate(types):
        if not isinstance(field_type, TypeInformation):
            raise TypeError(f"field {index} of {owner} is {field_type!r}: use a type, such as Types.INT()")
    return tuple(types)


def _nullable(type_info: TypeInformation) -> Converter | None:
    converter = type_info.converter()
    if converter is None:
        return None
    return lambda value: None if value is None else converter(value)


def _converted_elements(type_info: TypeInformation, value: Any) -> Any:
    """Convert the elements of an array, a set, a generator or another iterable as a list."""
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        raise mismatch(type_info, value)
    elements = value.tolist() if hasattr(value, "tolist") else value  # NumPy scalars have it as well
    if not isinstance(elements, Iterable):
        raise mismatch(type_info, value)
    try:
        return type_info._convert(list(elements))
    except (TypeError, OverflowError) as error:
        if isinstance(value, Iterator):
            raise ConsumedError(str(error)) from None
        raise


def _attributes(value: Any) -> Mapping[str, Any] | None:
    """Return an object's attributes if they are its contents; None for a value."""
    if isinstance(value, (type, str, bytes, int, float, Collection)):
        return None
    return getattr(value, "__dict__", None)


class PickledBytesTypeInfo(TypeInformation[Any]):
    """The type of any Python object. Streams without a declared type have it.

    >>> from flintstream.common import Types
    >>> Types.PICKLED_BYTE_ARRAY().stringify({"be": 2})
    "{'be': 2}"
    """

    def _signature(self) -> tuple[object, ...]:
        return ()

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"

    def _compile(self) -> None:
        return None

    def stringify(self, value: Any) -> str:
        """Return the text that PyFlink prints for an untyped stream."""
        return untyped_text(value)


class RowTypeInfo(TypeInformation[Row]):
    """The type of rows. Every field may be None.

    Converts a ``Row``, a tuple, a list, a dict or an object with attributes to a ``Row`` with this type's field names
    (``f0``, ``f1``, ... by default). As in PyFlink, row types are equal if their field types are, regardless of field
    names.

    >>> from flintstream.common import Types
    >>> Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]).converter()((1, "a"))
    Row(id=1, name='a')

    >>> people = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    >>> people.get_field_names(), people.get_field_index("age")
    (['name', 'age'], 1)
    >>> people.get_field_types()
    [String, Integer]
    """

    def __init__(self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None) -> None:
        self._field_types = _check_types(field_types, "a ROW")
        self._named = bool(field_names)
        if field_names and len(field_names) != len(self._field_types):
            raise ValueError(
                f"{len(field_names)} field names for {len(self._field_types)} field types: {list(field_names)}"
            )
        if field_names and len(set(field_names)) != len(field_names):
            raise ValueError(f"duplicate field names: {list(field_names)}")
        self._field_names = tuple(field_names) if field_names else tuple(f"f{i}" for i in range(len(self._field_types)))

    def get_field_names(self) -> list[str]:
        """Return the field names; ``f0``, ``f1``, ... by default."""
        return list(self._field_names)

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field; -1 if the type has no field names.

        Raises:
            ValueError: The type has field names, but not this one.
        """
        return self._field_names.index(field_name) if self._named else -1

    def get_field_types(self) -> list[TypeInformation]:
        """Return the field types."""
        return list(self._field_types)

    def _signature(self) -> tuple[object, ...]:
        return self._field_types

    def __repr__(self) -> str:
        if self._named:
            pairs = zip(self._field_names, self._field_types, strict=True)
            return f"RowTypeInfo({', '.join(f'{name}: {field_type}' for name, field_type in pairs)})"
        return f"RowTypeInfo({', '.join(map(str, self._field_types))})"

    def need_conversion(self) -> bool:
        """See :meth:`TypeInformation.need_conversion`."""
        return True

    def _compile(self) -> Converter:
        scope = Scope()
        inlines = [field_type._inline(scope).nullable() for field_type in self._field_types]
        return row_converter(inlines, self._field_names, scope, self._convert)

    def _convert(self, value: Any) -> Row:
        kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
        values = self._values_of(value)
        if len(values) != len(self._field_types):
            raise mismatch(self, value, f"it has {len(values)} fields instead of {len(self._field_types)}")
        parts = zip(self._field_names, self._field_types, values, strict=True)
        converted = [convert_part(_nullable(field_type), part, f"field '{name}'") for name, field_type, part in parts]
        return _make_row(self._field_names, converted, kind)

    def _values_of(self, value: Any) -> Sequence[Any]:
        names = self._field_names
        if isinstance(value, Row):
            own = value._field_names
            if own is None:
                return list(value)
            if not set(own) & set(names):  # unrelated names, so match by position
                return list(value)
            if sorted(own) != sorted(names):
                raise mismatch(self, value, f"its fields must be named {', '.join(names)}")
            return value.get_fields_by_names(names)
        if isinstance(value, (tuple, list)):
            return value
        fields = value if isinstance(value, Mapping) else _attributes(value)
        if fields is None or (fields and names and not any(name in fields for name in names)):
            raise mismatch(self, value)
        return [fields.get(name) for name in names]

    def _text_of(self, value: Any, separator: str, texts: list[str]) -> str:
        kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
        return f"{kind}[{separator.join(texts)}]"

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if value is None:
            return "null"
        texts = [field_type.stringify(part) for field_type, part in zip(self._field_types, value, strict=True)]
        return self._text_of(value, ", ", texts)

    def to_text(self, value: Any) -> str:
        """See :meth:`TypeInformation.to_text`."""
        return "null" if value is None else self._text_of(value, ",", [str(part) for part in value])


class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """The type of tuples with up to 25 fields. Accepts tuples, lists, rows and other ordered iterables.

    >>> from flintstream.common import Types
    >>> Types.TUPLE([Types.STRING(), Types.INT()]).get_field_types()
    [String, Integer]
    """

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._field_types = _check_types(field_types, "a TUPLE")
        if len(self._field_types) > _MAX_TUPLE_ARITY:
            raise ValueError(
                f"a TUPLE has at most {_MAX_TUPLE_ARITY} fields, but got {len(self._field_types)}: use Types.ROW"
            )
        self._plain_text = all(t.is_plain_text() for t in self._field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the field types."""
        return list(self._field_types)

    def _signature(self) -> tuple[object, ...]:
        return self._field_types

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"

    def need_conversion(self) -> bool:
        """See :meth:`TypeInformation.need_conversion`."""
        return True

    def _compile(self) -> Converter:
        scope = Scope()
        inlines = [field_type._inline(scope) for field_type in self._field_types]
        return tuple_converter(inlines, scope, self._convert)

    def _convert(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list, Row)):
            if isinstance(value, AbstractSet):
                raise mismatch(self, value, "a set has no order")
            return cast("tuple[Any, ...]", _converted_elements(self, value))
        if len(value) < len(self._field_types) or (isinstance(value, Row) and len(value) > len(self._field_types)):
            raise mismatch(self, value, f"it has {len(value)} fields instead of {len(self._field_types)}")
        return tuple(  # further fields are lost, as in PyFlink
            convert_part(field_type.converter(), part, f"field {index}")
            for index, (field_type, part) in enumerate(zip(self._field_types, value, strict=False))
        )

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if value is None:
            return "null"
        if self._plain_text and len(value) == len(self._field_types) and None not in value:
            return f"({','.join(map(str, value))})"
        return f"({','.join([t.stringify(part) for t, part in zip(self._field_types, value, strict=True)])})"


class _SequenceTypeInfo(TypeInformation[T_co]):
    """Base class of lists and arrays."""

    _name: str
    _elements_may_be_none = False

    def __init__(self, element_type: TypeInformation) -> None:
        (self._element_type,) = _check_types([element_type], f"a {self._name}")

    def _signature(self) -> tuple[object, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"{self._name}<{self._element_type}>"

    def _compile(self) -> Converter:
        scope = Scope()
        element = self._element_type._inline(scope)
        return list_converter(element.nullable() if self._elements_may_be_none else element, scope, self._convert)

    def _convert(self, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return _converted_elements(self, value)
        converter = _nullable(self._element_type) if self._elements_may_be_none else self._element_type.converter()
        return [convert_part(converter, part, f"element {index}") for index, part in enumerate(value)]

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if value is None:
            return "null"
        return f"[{', '.join([self._element_type.stringify(part) for part in value])}]"


class ListTypeInfo(_SequenceTypeInfo[list[T]], Generic[T]):
    """The type of lists. Accepts lists, tuples, arrays, sets, generators and other iterables.

    >>> from flintstream.common import Types
    >>> numbers = Types.LIST(Types.LONG())
    >>> numbers.elem_type, numbers.converter()(n * n for n in range(4))
    (Long, [0, 1, 4, 9])
    """

    _name = "ListTypeInfo"

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)

    @property
    def elem_type(self) -> TypeInformation[T]:
        """The type of the elements."""
        return self._element_type


class PrimitiveArrayTypeInfo(_SequenceTypeInfo[Any]):
    """The type of primitive arrays: a list of numbers or booleans in Python, or ``bytes`` for ``BYTE``.

    >>> from flintstream.common import Types
    >>> Types.PRIMITIVE_ARRAY(Types.FLOAT()).converter()([0.5, 110.1])
    [0.5, 110.0999984741211]
    >>> Types.PRIMITIVE_ARRAY(Types.BYTE()).converter()(b"be")
    b'be'
    """

    _name = "PrimitiveArrayTypeInfo"

    def __init__(self, element_type: TypeInformation) -> None:
        super().__init__(element_type)
        basic = element_type._basic_type if isinstance(element_type, BasicTypeInfo) else None
        if basic is None or basic in _NOT_PRIMITIVE:
            raise TypeError(f"a primitive array cannot have elements of type {element_type}: use Types.OBJECT_ARRAY")
        self._is_bytes = basic is BasicType.BYTE

    def _compile(self) -> Converter:
        return self._convert if self._is_bytes else super()._compile()

    def _convert(self, value: Any) -> Any:
        if not self._is_bytes:
            return super()._convert(value)
        if isinstance(value, bytes):
            return value
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        raise mismatch(self, value, "an array of BYTE is bytes in Python")

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`; bytes are signed in Java."""
        if self._is_bytes and value is not None:
            return f"[{', '.join(str(byte - 256 if byte > 127 else byte) for byte in value)}]"
        return super().stringify(value)


_NOT_PRIMITIVE = {BasicType.STRING, BasicType.BIG_INT, BasicType.BIG_DEC, BasicType.INSTANT}


class BasicArrayTypeInfo(_SequenceTypeInfo[list[T]], Generic[T]):
    """The type of arrays of basic values: a list in Python. Elements may be None.

    >>> from flintstream.common import Types
    >>> Types.BASIC_ARRAY(Types.STRING()).stringify(["to", None])
    '[to, null]'
    """

    _name = "BasicArrayTypeInfo"
    _elements_may_be_none = True

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)
        if not isinstance(element_type, BasicTypeInfo):
            raise TypeError(f"a basic array cannot have elements of type {element_type}: use Types.OBJECT_ARRAY")


class ObjectArrayTypeInfo(_SequenceTypeInfo[list[T]], Generic[T]):
    """The type of arrays of any type: a list in Python. Elements may be None.

    >>> from flintstream.common import Types
    >>> Types.OBJECT_ARRAY(Types.TUPLE([Types.STRING(), Types.INT()])).converter()([["be", 2], None])
    [('be', 2), None]
    """

    _name = "ObjectArrayTypeInfo"
    _elements_may_be_none = True

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)


class MapTypeInfo(TypeInformation[dict[K, V]], Generic[K, V]):
    """The type of dicts. Accepts a mapping or an object with attributes. Values may be None.

    >>> from flintstream.common import Types
    >>> ages = Types.MAP(Types.STRING(), Types.INT())
    >>> ages.key_type, ages.value_type
    (String, Integer)
    >>> ages.converter()({"Alice": 11, "Bob": None})
    {'Alice': 11, 'Bob': None}
    """

    def __init__(self, key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> None:
        self._key_type_info, self._value_type_info = _check_types([key_type_info, value_type_info], "a MAP")

    @property
    def key_type(self) -> TypeInformation[K]:
        """The type of the keys."""
        return self._key_type_info

    @property
    def value_type(self) -> TypeInformation[V]:
        """The type of the values."""
        return self._value_type_info

    def _signature(self) -> tuple[object, ...]:
        return self._key_type_info, self._value_type_info

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"

    def _compile(self) -> Converter:
        scope = Scope()
        key, value = self._key_type_info._inline(scope), self._value_type_info._inline(scope)
        return map_converter(key, value.nullable(), scope, self._convert)

    def _convert(self, value: Any) -> dict[Any, Any]:
        entries = value if isinstance(value, Mapping) else _attributes(value)
        if entries is None:
            raise mismatch(self, value)
        key_converter, value_converter = self._key_type_info.converter(), _nullable(self._value_type_info)
        return {
            convert_part(key_converter, key, f"key {key!r}"): convert_part(value_converter, part, f"value of {key!r}")
            for key, part in entries.items()
        }

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if value is None:
            return "null"
        entries = [
            f"{self._key_type_info.stringify(key)}={self._value_type_info.stringify(part)}"
            for key, part in value.items()
        ]
        return f"{{{', '.join(entries)}}}"


class ExternalTypeInfo(TypeInformation[T_co]):
    """A type wrapped by the Table API. Behaves like the wrapped type.

    >>> from flintstream.common import Types
    >>> ExternalTypeInfo(Types.LONG()).stringify(17)
    '17'
    """

    def __init__(self, type_info: TypeInformation[T_co]) -> None:
        (self._type_info,) = _check_types([type_info], "an ExternalTypeInfo")

    def _signature(self) -> tuple[object, ...]:
        return (self._type_info,)

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"

    def _compile(self) -> Converter | None:
        return self._type_info.converter()

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        return self._type_info.stringify(value)

    def to_text(self, value: Any) -> str:
        """See :meth:`TypeInformation.to_text`."""
        return self._type_info.to_text(value)
