"""The formats of messages and lines by name, and the format ``raw``: a message is the value of the only column."""

from __future__ import annotations

import codecs
import struct
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._connectors import changes
from flintstream.table._connectors.avro import AvroMessages
from flintstream.table._connectors.avro_changes import DEBEZIUM_AVRO, AvroChanges
from flintstream.table._connectors.changes import ChangeDecoder, ChangeEncoder
from flintstream.table._connectors.csv import CsvDecoder, CsvEncoder
from flintstream.table._connectors.formats import Decoder, Encoder, JsonDecoder, JsonEncoder
from flintstream.table._connectors.protobuf import ProtobufMessages
from flintstream.table._connectors.registries.confluent import RegistryMessages
from flintstream.table._connectors.registries.glue import (
    AVRO_GLUE,
    JSON_GLUE,
    PROTOBUF_GLUE,
    AvroGlueMessages,
    JsonGlueMessages,
)
from flintstream.table._connectors.registries.glue_protobuf import ProtobufGlueDecoder, ProtobufGlueEncoder
from flintstream.table._errors import SqlError, nearest
from flintstream.table._types.rules import BYTES, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.formats import Decode, Encode
    from flintstream.table._connectors.options import Options
FORMATS = ("avro", "avro-confluent", AVRO_GLUE, "csv", "json", JSON_GLUE, "protobuf", PROTOBUF_GLUE, "raw")
_ENCODINGS = ("binary", "json")
OF_CHANGES = (*changes.FORMATS, DEBEZIUM_AVRO)
"""The formats whose messages are changes of rows: those of files, and those with a registry."""


def decoder(kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "") -> Decoder:
    """Return what reads a message.

    Raises:
        SqlError: The format is unknown, or has no place for the columns.
    """
    both = _both_ways(kind, names, types, options, prefix)
    if both is not None:
        return both
    if kind == PROTOBUF_GLUE:
        return ProtobufGlueDecoder(names, types, options, prefix)
    return (CsvDecoder if kind == "csv" else JsonDecoder)(names, types, options, f"{prefix}{kind}.")


def encoder(kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "") -> Encoder:
    """Return what writes a message.

    Raises:
        SqlError: The format is unknown, or has no place for the columns.
    """
    both = _both_ways(kind, names, types, options, prefix)
    if both is not None:
        return both
    if kind == PROTOBUF_GLUE:
        return ProtobufGlueEncoder(names, types, options, prefix)
    return (CsvEncoder if kind == "csv" else JsonEncoder)(names, types, options, f"{prefix}{kind}.")


def change_decoder(
    kind: str,
    names: Sequence[str],
    types: Sequence[DataType],
    options: Options,
    prefix: str,
    metadata: Sequence[str] = (),
) -> ChangeDecoder | AvroChanges:
    """Return what reads a message of a format of changes."""
    if kind == DEBEZIUM_AVRO:
        return AvroChanges(names, types, options, prefix)
    return ChangeDecoder(kind, names, types, options, prefix, metadata)


def change_encoder(
    kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str
) -> ChangeEncoder | AvroChanges:
    """Return what writes a change of a row, whose kind follows its columns."""
    if kind == DEBEZIUM_AVRO:
        return AvroChanges(names, types, options, prefix)
    return ChangeEncoder(kind, names, types, options, prefix)


def _both_ways(
    kind: str, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str
) -> Raw | AvroMessages | ProtobufMessages | RegistryMessages | AvroGlueMessages | JsonGlueMessages | None:
    """Return what both reads and writes a message; None for a format with a class for each."""
    _check(kind, options)
    if kind == "raw":
        return Raw(names, types, options, prefix)
    if kind == "avro":
        return _avro(names, types, options, prefix)
    if kind == "protobuf":
        return ProtobufMessages(names, types, options, prefix)
    if kind == "avro-confluent":
        return RegistryMessages(names, types, options, prefix, "key" if prefix == "key." else "value")
    if kind in {AVRO_GLUE, JSON_GLUE}:
        return (AvroGlueMessages if kind == AVRO_GLUE else JsonGlueMessages)(names, types, options, prefix)
    return None


def _avro(names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> AvroMessages:
    encoding = options.text(f"{prefix}avro.encoding", "binary") or ""
    if encoding not in _ENCODINGS:
        raise SqlError(
            f"{options.place}: '{prefix}avro.encoding' must be {' or '.join(_ENCODINGS)}, but got '{encoding}'"
        )
    local = not options.flag(f"{prefix}avro.timestamp_mapping.legacy", default=True)
    return AvroMessages(names, types, local=local, as_json=encoding == "json")


def _check(kind: str, options: Options) -> None:
    if kind not in FORMATS:
        known = "has changes, so it cannot be used here" if kind in OF_CHANGES else "is unknown"
        raise SqlError(f"{options.place}: the format '{kind}' {known}{nearest(kind, FORMATS)}")


_NUMBERS: dict[type[DataType], str] = {
    t.BooleanType: "?",
    t.TinyIntType: "b",
    t.SmallIntType: "h",
    t.IntType: "i",
    t.BigIntType: "q",
    t.FloatType: "f",
    t.DoubleType: "d",
}
"""The codes of ``struct`` for the types with a length."""
_ENDS = {"big-endian": ">", "little-endian": "<"}


class Raw(Decoder, Encoder):
    """Texts in a charset, bytes, and numbers in an order of their bytes."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str = "") -> None:
        """Take the only column.

        Raises:
            SqlError: There are several, it has another type, or an option has a value that it cannot have.
        """
        charset = options.text(f"{prefix}raw.charset", "UTF-8") or ""
        end = options.text(f"{prefix}raw.endianness", "big-endian") or ""
        if end not in _ENDS:
            raise SqlError(
                f"{options.place}: '{prefix}raw.endianness' must be one of {', '.join(_ENDS)}, but got '{end}'"
            )
        try:
            self.charset = codecs.lookup(charset).name
        except LookupError:
            raise SqlError(f"{options.place}: '{prefix}raw.charset' is unknown: '{charset}'") from None
        if len(types) != 1 or not isinstance(types[0], (*TEXTS, *BYTES, *_NUMBERS)):
            given = ", ".join(f"{n} {sql_name(k)}" for n, k in zip(names, types, strict=True))
            raise SqlError(
                f"{options.place}: the format 'raw' takes one column of STRING, BYTES, BOOLEAN or a number "
                f"that is not DECIMAL, but got {given}"
            )
        self.type, self.order = types[0], _ENDS[end]
        self.takes_text = isinstance(self.type, TEXTS) and self.charset == "utf-8"
        """Whether the value is the message as text."""

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        if isinstance(self.type, BYTES):
            return lambda message: (message,)
        if isinstance(self.type, TEXTS):
            charset = self.charset
            if self.takes_text:
                return lambda message: (message.decode(),)
            # Java reads UTF-16 without a mark of its order as big-endian
            plain = {"utf-16": "utf-16-be"}.get(charset, charset)
            marked = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            return lambda message: (message.decode(charset if message.startswith(marked) else plain, "replace"),)
        number, name = struct.Struct(f"{self.order}{_NUMBERS[type(self.type)]}"), sql_name(self.type)

        def decode(message: bytes) -> tuple[object, ...]:
            if len(message) != number.size:
                raise ValueError(f"the format 'raw' reads {name} from {number.size} bytes, but got {message!r}")
            return number.unpack(message)

        return decode

    def encode(self) -> Encode:
        """Return the function that writes a row; NULL has no bytes."""
        if isinstance(self.type, BYTES):
            return lambda row: row[0] or b""
        if isinstance(self.type, TEXTS):
            charset, mark = ("utf-16-be", codecs.BOM_UTF16_BE) if self.charset == "utf-16" else (self.charset, b"")
            return lambda row: b"" if row[0] is None else mark + row[0].encode(charset, "replace")
        number = struct.Struct(f"{self.order}{_NUMBERS[type(self.type)]}")
        return lambda row: b"" if row[0] is None else number.pack(row[0])
