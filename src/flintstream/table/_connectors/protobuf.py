"""Messages of Protobuf as rows: the format ``protobuf``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.connectors.formats.protobuf_messages import MessageClass, protobuf
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.helpers import named_row, wrap
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

    Value = Any
    """A value of a row or of a message, or a message; its type is that of the column."""
    Read = Callable[[Value], Value]
    """Makes a value of a row of one of a message."""
    Put = Callable[[Value, Value], None]
    """Puts a value into a message."""
    Fill = Callable[[Value, Sequence[Value]], None]
    """Puts the values of a row into a message."""


class ProtobufMessages(Decoder, Encoder):
    """A message has a field for each column."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        """Take the columns.

        Raises:
            SqlError: A field of the message is missing or has another type, or an option is missing or wrong.
            PlanError: The message is missing.
        """
        prefix = f"{prefix}protobuf."
        self.names, self.types, self.place = tuple(names), tuple(types), options.place
        self.message = MessageClass(
            options.required(f"{prefix}message-class-name"), options.text(f"{prefix}descriptor-set")
        )
        self.lenient = options.flag(f"{prefix}ignore-parse-errors")
        self.defaults = options.flag(f"{prefix}read-default-values")
        self.null_text = options.text(f"{prefix}write-null-string-literal", "") or ""
        descriptor = self._shape().descriptor
        for name, kind in zip(names, types, strict=True):
            self._shape().check(_field(descriptor, name, self.place), kind, name)

    def _shape(self) -> MessageShape:
        return MessageShape(
            self.message.create().DESCRIPTOR, self.place, defaults=self.defaults, null_text=self.null_text
        )

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        parse, lenient = self.message.create().FromString, self.lenient
        values = self._shape().reader(self.names, self.types)
        broken = (protobuf("message").DecodeError, ValueError)

        def decode(message: bytes) -> tuple[Value, ...] | None:
            try:
                return tuple(values(parse(message)))
            except broken as error:
                if lenient:
                    return None
                raise ValueError(f"not a message of the type {self.message.name}: {message!r}: {error}") from error

        return decode

    def encode(self) -> Encode:
        """Return the function that writes a row."""
        create, fill = self.message.create(), self._shape().writer(self.names, self.types)

        def encode(row: Sequence[Value]) -> bytes:
            message = create()
            fill(message, row)
            made: bytes = message.SerializeToString()
            return made

        return encode


def _field(descriptor: Descriptor, name: str, place: str) -> FieldDescriptor:
    """Return the field for a column.

    Raises:
        SqlError: There is none.
    """
    found = descriptor.fields_by_name.get(name)
    if found is None:
        known = nearest(name, list(descriptor.fields_by_name))
        raise SqlError(f"{place}: the Protobuf message {descriptor.full_name} has no field '{name}'{known}")
    return found


class MessageShape:
    """How the fields of a message and the columns of a row become each other."""

    def __init__(self, descriptor: Descriptor, place: str, *, defaults: bool, null_text: str) -> None:
        self.descriptor, self.place = descriptor, place
        self.defaults, self.null_text = defaults, null_text
        names = protobuf("descriptor").FieldDescriptor
        self.plain = {
            names.CPPTYPE_BOOL: (t.BooleanType,),
            names.CPPTYPE_STRING: BYTES,  # or TEXTS, by the type of the field
            names.CPPTYPE_FLOAT: (t.FloatType,),
            names.CPPTYPE_DOUBLE: (t.DoubleType,),
            names.CPPTYPE_INT32: (t.IntType,),
            names.CPPTYPE_UINT32: (t.IntType,),
            names.CPPTYPE_INT64: (t.BigIntType,),
            names.CPPTYPE_UINT64: (t.BigIntType,),
            names.CPPTYPE_ENUM: (*TEXTS, t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType),
        }
        self.enum, self.inner = names.CPPTYPE_ENUM, names.CPPTYPE_MESSAGE
        self.text = names.TYPE_STRING
        self.unsigned = {names.CPPTYPE_UINT32: 32, names.CPPTYPE_UINT64: 64}

    # -- types -------------------------------------------------------------------------------------------------------

    def check(self, field: FieldDescriptor, kind: DataType, column: str) -> None:
        """Refuse a column whose type is not that of the field.

        Raises:
            SqlError: It has another one.
        """
        entry = _entry(field)
        if entry is not None:
            fits = isinstance(kind, t.MapType)
            if isinstance(kind, t.MapType):
                self.check_one(entry[0], kind.key_type, column)
                self.check_one(entry[1], kind.value_type, column)
        elif field.is_repeated:
            fits = isinstance(kind, t.ArrayType)
            if isinstance(kind, t.ArrayType):
                self.check_one(field, kind.element_type, column)
        else:
            return self.check_one(field, kind, column)
        if not fits:
            self.refuse(field, kind, column)
        return None

    def check_one(self, field: FieldDescriptor, kind: DataType, column: str) -> None:
        """Refuse a type that is not that of one value of the field."""
        if field.message_type is not None:
            if not isinstance(kind, t.RowType):
                self.refuse(field, kind, column)
                return
            for name, part in zip(kind.names, kind.field_types(), strict=True):
                self.check(_field(field.message_type, name, self.place), part, f"{column}.{name}")
        elif not isinstance(kind, TEXTS if field.type == self.text else self.plain[field.cpp_type]):
            self.refuse(field, kind, column)

    def refuse(self, field: FieldDescriptor, kind: DataType, column: str) -> None:
        """Refuse a column.

        Raises:
            SqlError: Always.
        """
        raise SqlError(
            f"{self.place}: the column '{column}' has the type {sql_name(kind)}, which does not fit the field "
            f"{field.full_name} of the Protobuf message"
        )

    # -- from messages -----------------------------------------------------------------------------------------------

    def reader(
        self, names: Sequence[str], types: Sequence[DataType], descriptor: Descriptor | None = None
    ) -> Callable[[Value], list[Value]]:
        """Return the function that reads the columns of a message."""
        fields = [_field(descriptor or self.descriptor, name, self.place) for name in names]
        parts = [
            (
                field.name,
                self.read(field, kind),
                self.defaults or not (field.has_presence or _many(field)),
                _many(field),
            )
            for field, kind in zip(fields, types, strict=True)
        ]

        def values(message: Value) -> list[Value]:
            found = []
            for name, read, always, many in parts:
                if always or (getattr(message, name) if many else message.HasField(name)):
                    value = getattr(message, name)
                    found.append(value if read is None else read(value))
                else:
                    found.append(None)
            return found

        return values

    def read(self, field: FieldDescriptor, kind: DataType) -> Read | None:
        """Return the function that makes a value of that of a field; None if they are the same."""
        entry = _entry(field)
        if entry is not None and isinstance(kind, t.MapType):
            key, content = self.read_one(entry[0], kind.key_type), self.read_one(entry[1], kind.value_type)
            own_key, own_content = key or _same, content or _same
            return lambda found: {own_key(k): own_content(v) for k, v in found.items()}
        if isinstance(kind, t.ArrayType):
            element = self.read_one(field, kind.element_type)
            return list if element is None else lambda found: [element(value) for value in found]
        return self.read_one(field, kind)

    def read_one(self, field: FieldDescriptor, kind: DataType) -> Read | None:
        """Return the function for one value of a field."""
        if isinstance(kind, t.RowType):
            names, values = tuple(kind.names), self.reader(kind.names, kind.field_types(), field.message_type)
            return lambda message: named_row(names, values(message))
        if field.cpp_type == self.enum and isinstance(kind, TEXTS):
            by_number = {number: value.name for number, value in field.enum_type.values_by_number.items()}

            def name_of(number: int) -> str:
                name: str | None = by_number.get(number)
                if name is None:
                    raise ValueError(f"{number} is not a value of {field.full_name}")
                return name

            return name_of
        if field.cpp_type in self.unsigned:
            bits = self.unsigned[field.cpp_type]
            return lambda value: wrap(value, bits)
        return None

    # -- to messages -------------------------------------------------------------------------------------------------

    def writer(self, names: Sequence[str], types: Sequence[DataType], descriptor: Descriptor | None = None) -> Fill:
        """Return the function that puts a row into a message; a field without a value is not set."""
        fields = [_field(descriptor or self.descriptor, name, self.place) for name in names]
        puts = [self.put(field, kind) for field, kind in zip(fields, types, strict=True)]

        def fill(message: Value, row: Sequence[Value]) -> None:
            for put, value in zip(puts, row, strict=True):
                if value is not None:
                    put(message, value)

        return fill

    def put(self, field: FieldDescriptor, kind: DataType) -> Put:
        """Return the function that puts a value into a message."""
        name, entry = field.name, _entry(field)
        if entry is not None and isinstance(kind, t.MapType):
            return self.put_map(name, entry, kind)
        if isinstance(kind, t.ArrayType):
            return self.put_array(field, kind.element_type)
        if isinstance(kind, t.RowType):
            fill = self.writer(kind.names, kind.field_types(), field.message_type)

            def put_message(message: Value, value: Sequence[Value]) -> None:
                part = getattr(message, name)
                part.SetInParent()  # also if all of its fields are NULL
                fill(part, value)

            return put_message
        convert = self.write_one(field, kind)
        return lambda message, value: setattr(message, name, convert(value))

    def put_array(self, field: FieldDescriptor, kind: DataType) -> Put:
        """Return the function for a repeated field: NULL is the default of the type."""
        name = field.name
        if isinstance(kind, t.RowType):
            fill = self.writer(kind.names, kind.field_types(), field.message_type)

            def put_messages(message: Value, values: Sequence[Value]) -> None:
                part = getattr(message, name)
                for value in values:
                    made = part.add()
                    if value is not None:
                        fill(made, value)

            return put_messages
        convert = self.write_one(field, kind)
        return lambda message, values: getattr(message, name).extend([convert(value) for value in values])

    def put_map(self, name: str, entry: tuple[FieldDescriptor, FieldDescriptor], kind: t.MapType) -> Put:
        """Return the function for a map."""
        key = self.write_one(entry[0], kind.key_type)
        if isinstance(kind.value_type, t.RowType):
            fill = self.writer(kind.value_type.names, kind.value_type.field_types(), entry[1].message_type)

            def put_messages(message: Value, values: dict[Value, Value]) -> None:
                part = getattr(message, name)
                for k, value in values.items():
                    made = part[key(k)]
                    if value is not None:
                        fill(made, value)

            return put_messages
        content = self.write_one(entry[1], kind.value_type)

        def put(message: Value, values: dict[Value, Value]) -> None:
            part = getattr(message, name)
            for k, value in values.items():
                part[key(k)] = content(value)

        return put

    def write_one(self, field: FieldDescriptor, kind: DataType) -> Read:
        """Return the function that makes a value of a field; NULL is the default, or the text for it."""
        if field.cpp_type == self.enum:
            return _number_of(field.enum_type, by_name=isinstance(kind, TEXTS))
        if isinstance(kind, TEXTS):
            null_text = self.null_text
            return lambda value: null_text if value is None else value
        default = b"" if isinstance(kind, BYTES) else field.default_value
        if field.cpp_type in self.unsigned:
            most = (1 << self.unsigned[field.cpp_type]) - 1
            return lambda value: default if value is None else value & most
        if type(kind) in INTEGERS or not isinstance(kind, BYTES):
            return lambda value: default if value is None else value
        return lambda value: default if value is None else bytes(value)


def _number_of(enum: EnumDescriptor, *, by_name: bool) -> Read:
    """Return the function that finds the number of an enum's value: the first one for what is unknown."""
    first = enum.values[0].number
    if by_name:
        numbers = {value.name: value.number for value in enum.values}
        return lambda value: numbers.get(value, first)
    known = frozenset(enum.values_by_number)
    return lambda value: value if value in known else first


def _same(value: Value) -> Value:
    return value


def _many(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor] | None:
    """Return the fields of the key and the value of a map; None for another field."""
    kind = field.message_type
    if kind is None or not kind.GetOptions().map_entry:
        return None
    return kind.fields_by_name["key"], kind.fields_by_name["value"]
