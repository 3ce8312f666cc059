"""Protobuf with the id of its schema in AWS Glue before each message: the format ``protobuf-glue``."""

from __future__ import annotations

import datetime as dt
import re
import zlib
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, cast

from flintstream.common._text.leaving import whole_text
from flintstream.common._types import data_types as t
from flintstream.connectors.aws.glue import Remembered, head_of, split_message
from flintstream.connectors.formats.protobuf_messages import protobuf
from flintstream.connectors.formats.protobuf_text import parse_messages
from flintstream.errors import shorten
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._connectors.protobuf import MessageShape
from flintstream.table._connectors.registries.glue import PROTOBUF_GLUE, GlueSettings
from flintstream.table._errors import SqlError
from flintstream.table._expressions.helpers import EPOCH, fit
from flintstream.table._types.rules import BYTES, TEXTS, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options

    Convert = Callable[[object], object]
    Read = Callable[[Message], object]

_DAY = dt.date(1970, 1, 1).toordinal()
_MILLISECOND = dt.timedelta(milliseconds=1)
_DAY_MILLIS = 86_400_000
_NO_TAG = 8
"""No field begins with a byte below this: it would have the number 0."""
_SCALARS: tuple[tuple[tuple[type[DataType], ...], str, DataType], ...] = (
    ((t.BooleanType,), "bool", t.BooleanType()),
    ((t.TinyIntType, t.SmallIntType, t.IntType, t.DateType, t.TimeType), "int32", t.IntType()),
    ((t.BigIntType, t.TimestampType, t.LocalZonedTimestampType), "int64", t.BigIntType()),
    ((t.FloatType,), "float", t.FloatType()),
    ((t.DoubleType,), "double", t.DoubleType()),
    ((*TEXTS, t.DecimalType), "string", t.VarCharType(t.MAX_LENGTH)),
    (BYTES, "bytes", t.VarBinaryType(t.MAX_LENGTH)),
)
"""The types of columns, the type of their fields, and that of the values of these fields."""
_LIMITS: dict[type[DataType], int] = {t.TinyIntType: 1 << 7, t.SmallIntType: 1 << 15}


def _scalar(kind: DataType) -> tuple[str, DataType] | None:
    """Return the type of a column's field, and that of its values; None for a column of other columns."""
    return next(((name, values) for kinds, name, values in _SCALARS if isinstance(kind, kinds)), None)


class ProtobufGlueDecoder(Decoder):
    """Reads messages with the schema that they were written with; fields have the names of columns."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        """Take the columns and the options.

        Raises:
            SqlError: Protobuf has no type for a column, or an option is missing or has a value that it cannot have.
        """
        self.settings = GlueSettings(PROTOBUF_GLUE, options, prefix)
        options.of_sinks(f"{self.settings.prefix}message-index")
        self.names, self.types, self.place = tuple(names), tuple(types), options.place
        protobuf("message")
        for name, kind in zip(names, types, strict=True):
            if _scalar(kind) is None and not isinstance(kind, (t.ArrayType, t.MapType, t.RowType)):
                raise SqlError(f"{self.place}: Protobuf has no type for {sql_name(kind)} of the column '{name}'")

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        registry = self.settings.registry
        schemas: Remembered[_Schema] = Remembered(self.settings.cached, self.settings.seconds)

        def schema_of(schema: UUID) -> _Schema:
            return _Schema(registry.definition(schema), self)

        def decode(message: bytes) -> tuple[object, ...]:
            schema, content = split_message(message)
            return schemas.get(schema, schema_of).read(content)

        return decode


class _Schema:
    """Reads the messages of a schema in the registry."""

    def __init__(self, definition: str, columns: ProtobufGlueDecoder) -> None:
        self.messages = parse_messages(definition)
        self.columns = columns
        self.readers: dict[int, Callable[[bytes], tuple[object, ...]]] = {}
        self.broken = protobuf("message").DecodeError

    def read(self, content: bytes) -> tuple[object, ...]:
        """Return the row of a message's content."""
        index, begin = self.index_of(content)
        reader = self.readers.get(index)
        if reader is None:
            reader = self.readers[index] = self.reader_of(self.messages[index])
        try:
            return reader(content[begin:])
        except self.broken as error:
            raise ValueError(f"not a message of the type {self.messages[index].full_name}: {error}") from None

    def index_of(self, content: bytes) -> tuple[int, int]:
        """Return the number of a content's message in the schema, and the place after this number.

        Flink leaves the number out. It writes only schemas with one message, and there the first byte decides.
        """
        if len(self.messages) == 1 and (not content or content[0] >= _NO_TAG):
            return 0, 0
        index = 0
        for place, byte in enumerate(content[:5]):
            index |= (byte & 127) << 7 * place
            if byte < 128:
                if index >= len(self.messages):
                    break
                return index, place + 1
        names = ", ".join(str(message.full_name) for message in self.messages)
        raise ValueError(f"{shorten(content)} does not begin with the number of a message in its schema: {names}")

    def reader_of(self, descriptor: Descriptor) -> Callable[[bytes], tuple[object, ...]]:
        """Return the function that reads one of the messages."""
        columns = self.columns
        shape = MessageShape(descriptor, columns.place, defaults=False, null_text="")
        parts = [
            _column(name, kind, _field_of(descriptor, name), shape)
            for name, kind in zip(columns.names, columns.types, strict=True)
        ]
        parse = protobuf("message_factory").GetMessageClass(descriptor).FromString

        def read(content: bytes) -> tuple[object, ...]:
            message = parse(content)
            return tuple([part(message) for part in parts])

        return read


def _field_of(descriptor: Descriptor, column: str) -> FieldDescriptor | None:
    """Return the field of a column: the one that a sink would write, or one with the name in JSON."""
    found = descriptor.fields_by_name.get(_identifier(column, "_"))
    if found is not None:
        return cast("FieldDescriptor", found)
    return next((field for field in descriptor.fields if field.json_name == column), None)


def _column(name: str, kind: DataType, field: FieldDescriptor | None, shape: MessageShape) -> Read:
    """Return the function that reads a column of a message.

    Raises:
        SqlError: The field has another type.
    """
    if field is None:
        if not is_nullable(kind):
            raise ValueError(f"the column '{name}' is NOT NULL, and {shape.descriptor.full_name} does not have it")
        return lambda _: None
    scalar = _scalar(kind)
    values = kind if scalar is None else scalar[1]
    if isinstance(kind, t.BigIntType) and field.cpp_type in {field.CPPTYPE_INT32, field.CPPTYPE_UINT32}:
        values = t.IntType()
    if isinstance(kind, t.DoubleType) and field.cpp_type == field.CPPTYPE_FLOAT:
        values = t.FloatType()
    if isinstance(kind, (t.TinyIntType, t.SmallIntType)) and field.cpp_type == field.CPPTYPE_ENUM:
        values = kind
    shape.check(field, values, name)
    own, many, nullable = field.name, bool(field.is_repeated), is_nullable(kind)
    always = not field.has_presence and not (many and nullable)
    convert, finish = shape.read(field, values), _from_field(kind)

    def read(message: Message) -> object:
        value = getattr(message, own)
        if not (always or (value if many else message.HasField(own))):
            if not nullable:
                raise ValueError(f"the column '{name}' is NOT NULL, and a message has no value for it")
            return None
        if convert is not None:
            value = convert(value)
        return value if finish is None else finish(value)

    return read


def _from_field(kind: DataType) -> Convert | None:
    """Return the function that makes a value of a column of that of its field; None if they are the same."""
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return _guard(lambda value: EPOCH + cast("int", value) * _MILLISECOND, kind)
    if isinstance(kind, t.DateType):
        return _guard(lambda value: dt.date.fromordinal(cast("int", value) + _DAY), kind)
    if isinstance(kind, t.TimeType):
        return _guard(_time_of, kind)
    if isinstance(kind, t.DecimalType):
        precision, scale = kind.precision, kind.scale
        return _guard(lambda value: fit(Decimal(cast("str", value)), precision, scale), kind)
    limit = _LIMITS.get(type(kind))
    if limit is not None:
        return _guard(lambda value: value if -limit <= cast("int", value) < limit else None, kind)
    return None


def _time_of(value: object) -> dt.time | None:
    millis = cast("int", value)
    return (EPOCH + millis * _MILLISECOND).time() if 0 <= millis < _DAY_MILLIS else None


def _guard(convert: Convert, kind: DataType) -> Convert:
    """Return a function that refuses values which do not fit: those for which there is an error, or None."""

    def check(value: object) -> object:
        try:
            made = convert(value)
        except (ValueError, OverflowError, InvalidOperation):
            made = None
        if made is None:
            raise ValueError(f"a message has {shorten(value)} where the table has {sql_name(kind)}")
        return made

    return check


# -- writing -----------------------------------------------------------------------------------------------------------


class ProtobufGlueEncoder(Encoder):
    """Writes messages with a field for each column, in their order."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        """Take the columns and the options.

        Raises:
            SqlError: Protobuf has no type for a column, or an option is missing or has a value that it cannot have.
        """
        self.settings = GlueSettings(PROTOBUF_GLUE, options, prefix)
        self.names, self.types = tuple(names), tuple(types)
        self.has_index = options.flag(f"{self.settings.prefix}message-index", default=False)
        try:
            self.schema = protobuf_schema(self.settings.schema, names, types)
        except SqlError as error:
            raise SqlError(f"{options.place}: {error}") from None
        parse_messages(self.schema)

    def encode(self) -> Encode:
        """Return the function that writes a row; the schema is looked up or registered first."""
        compresses = self.settings.compresses
        head = head_of(self.settings.registry.version_of(self.schema), compressed=compresses)
        (descriptor,) = parse_messages(self.schema)
        create = protobuf("message_factory").GetMessageClass(descriptor)
        index = b"\0" if self.has_index else b""
        fields = [field.name for field in descriptor.fields]
        columns = [
            (field, _to_field(kind), name, is_nullable(kind))
            for field, name, kind in zip(fields, self.names, self.types, strict=True)
        ]

        def encode(row: Sequence[object]) -> bytes:
            message = create()
            for (field, convert, name, nullable), value in zip(columns, row, strict=True):
                if value is not None:
                    setattr(message, field, value if convert is None else convert(value))
                elif not nullable:
                    raise ValueError(f"the column '{name}' is NOT NULL, and a row has no value for it")
            content: bytes = index + message.SerializeToString()
            return head + (zlib.compress(content) if compresses else content)

        return encode


def _to_field(kind: DataType) -> Convert | None:
    """Return the function that makes a value of a field of that of a column; None if they are the same."""
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return lambda value: (cast("dt.datetime", value) - EPOCH) // _MILLISECOND
    if isinstance(kind, t.DateType):
        return lambda value: cast("dt.date", value).toordinal() - _DAY
    if isinstance(kind, t.TimeType):
        return lambda value: (dt.datetime.combine(EPOCH, cast("dt.time", value)) - EPOCH) // _MILLISECOND
    if isinstance(kind, t.DecimalType):
        return str
    if isinstance(kind, TEXTS):
        return lambda value: whole_text(cast("str", value))
    return (lambda value: bytes(cast("bytes", value))) if isinstance(kind, BYTES) else None


def protobuf_schema(schema: str, names: Sequence[str], types: Sequence[DataType]) -> str:
    """Return the schema of columns as a text: one message, which is named like the schema in the registry.

    Raises:
        SqlError: Protobuf has no type for a column, or two columns would have the same name.

    >>> print(protobuf_schema("web-orders", ["n", "at home"], [t.IntType(False), t.BooleanType()]))
    syntax = "proto3";
    <BLANKLINE>
    message web_orders {
      int32 n = 1;
      optional bool at_home = 2 [json_name = "at home"];
    }
    <BLANKLINE>
    """
    columns: dict[str, str] = {}
    lines = ['syntax = "proto3";', "", f"message {_identifier(schema, 'M_')} {{"]
    for number, (name, kind) in enumerate(zip(names, types, strict=True), 1):
        scalar = _scalar(kind)
        if scalar is None:
            raise SqlError(f"the format '{PROTOBUF_GLUE}' writes no {sql_name(kind)}, which the column '{name}' has")
        if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType, t.TimeType)) and kind.precision > 3:
            raise SqlError(
                f"the format '{PROTOBUF_GLUE}' writes milliseconds, and the column '{name}' has {sql_name(kind)}: "
                "declare a precision of 3"
            )
        field = _identifier(name, "_")
        if columns.setdefault(field, name) != name:
            raise SqlError(f"the columns '{columns[field]}' and '{name}' would be the same field '{field}' of Protobuf")
        label = "optional " if is_nullable(kind) else ""
        lines.append(f"  {label}{scalar[0]} {field} = {number}{_json_name(name, field)};")
    return "\n".join([*lines, "}", ""])


def _json_name(name: str, field: str) -> str:
    if name == field:
        return ""
    text = name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f' [json_name = "{text}"]'


def _identifier(name: str, prefix: str) -> str:
    """Return a name of Protobuf for one that may have other characters."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_field"
    return f"{prefix}{found}" if found[0].isdigit() else found
