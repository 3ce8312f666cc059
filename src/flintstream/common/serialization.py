"""Schemas and encoders that convert between records and bytes, for sources and sinks."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common._generic import Generic, T_co, T_contra
from flintstream.common._java_view import Wrapper
from flintstream.common._text.java import untyped_text
from flintstream.common.typeinfo import Types
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flintstream.common.typeinfo import TypeInformation

__all__ = [
    "BulkWriter",
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowDataBulkWriterFactory",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


class SerializationSchema(ABC, Generic[T_contra], metaclass=Wrapper):
    """Converts records to messages. In PyFlink it wraps a Java object; here, users can implement it.

    >>> class Lines(SerializationSchema):
    ...     def serialize(self, element):
    ...         return None if element is None else f"{element};".encode()
    >>> Lines().serialize(17), Lines().serialize(None)
    (b'17;', None)
    """

    @abstractmethod
    def serialize(self, element: T_contra) -> bytes | None:
        """Return the bytes of ``element``."""


class DeserializationSchema(ABC, Generic[T_co], metaclass=Wrapper):
    """Converts messages to records. In PyFlink it wraps a Java object; here, users can implement it.

    >>> class Numbers(DeserializationSchema):
    ...     def deserialize(self, message):
    ...         return int(message) if message.isdigit() else None
    ...
    ...     def is_end_of_stream(self, element):
    ...         return element == 0
    ...
    ...     def get_produced_type(self):
    ...         return Types.LONG()
    >>> numbers = Numbers()
    >>> numbers.deserialize(b"17"), numbers.deserialize(b"?"), numbers.is_end_of_stream(0)
    (17, None, True)
    """

    @abstractmethod
    def deserialize(self, message: bytes) -> T_co | None:
        """Return the record in ``message``; None to skip the message."""

    def is_end_of_stream(self, element: Any) -> bool:
        """Tell whether ``element`` ends the stream."""
        return False

    def get_produced_type(self) -> TypeInformation[T_co] | None:
        """Return the type of the records; None for any Python object."""
        return None


class SimpleStringSchema(SerializationSchema[str], DeserializationSchema[str]):
    """Messages of text.

    >>> SimpleStringSchema().deserialize(SimpleStringSchema().serialize("naïve"))
    'naïve'
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        codecs.lookup(charset)  # fails early for unknown names
        self._charset = charset

    def serialize(self, element: Any) -> bytes:
        """Return the encoded text. As in Java, characters that the charset lacks become question marks.

        Raises:
            TypeError: ``element`` is not a str.
        """
        if not isinstance(element, str):
            raise TypeError(f"SimpleStringSchema needs str, but got {shorten(element)}: map to Types.STRING() first")
        return element.encode(self._charset, "replace")

    def deserialize(self, message: bytes) -> str:
        """Return the decoded text. As in Java, bytes that are malformed in the charset become U+FFFD."""
        return message.decode(self._charset, "replace")

    def deserialize_all(self, messages: Iterable[bytes]) -> list[str]:
        """Return the decoded texts of several messages, without a call of :meth:`deserialize` for each.

        >>> SimpleStringSchema().deserialize_all([b"to be", b"or not"])
        ['to be', 'or not']
        """
        charset = self._charset
        return [message.decode(charset, "replace") for message in messages]

    def serialize_all(self, elements: Sequence[Any]) -> list[bytes] | None:
        """Return several encoded texts, without a call of :meth:`serialize` for each; None unless all are plain str.

        >>> SimpleStringSchema().serialize_all(["to be", "or not"])
        [b'to be', b'or not']
        """
        if not set(map(type, elements)) <= {str}:
            return None
        charset = self._charset
        return [element.encode(charset, "replace") for element in elements]

    def get_produced_type(self) -> TypeInformation[str]:
        """Return ``Types.STRING()``."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema[bytes], DeserializationSchema[bytes]):
    """Messages of raw bytes.

    >>> schema = ByteArraySchema()
    >>> schema.serialize(b"to be"), schema.deserialize(b"or not")
    (b'to be', b'or not')
    """

    def serialize(self, element: Any) -> bytes:
        """Return the bytes.

        Raises:
            TypeError: ``element`` is not bytes.
        """
        if not isinstance(element, (bytes, bytearray, memoryview)):
            raise TypeError(f"ByteArraySchema needs bytes, but got {shorten(element)}")
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        """Return the message."""
        return message

    def get_produced_type(self) -> TypeInformation[bytes]:
        """Return ``Types.PRIMITIVE_ARRAY(Types.BYTE())``."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema):
    """Uses one field of a row, which must be bytes, as the message; for message keys.

    >>> RowFieldExtractorSchema(0).serialize((b"key", b"value"))
    b'key'
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"the field index must not be negative, but got {field_index}")
        self._field_index = field_index

    def serialize(self, element: Any) -> bytes | None:
        """Return the field, which may be None.

        Raises:
            TypeError: The field is not bytes.
            IndexError: The row has fewer fields.
        """
        value = element[self._field_index]
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        raise TypeError(f"field {self._field_index} must be bytes, but got {shorten(value)} in {shorten(element)}")


class Encoder(ABC, Generic[T_contra], metaclass=Wrapper):
    """Encodes records for the files of a row-format file sink.

    >>> class Shouting(Encoder):
    ...     def encode(self, value, type_info):
    ...         return f"{value.upper()}!;".encode()
    >>> Shouting().encode("be", None), Shouting().encode_all(["to", "be"], None)
    (b'BE!;', b'TO!;BE!;')
    """

    @abstractmethod
    def encode(self, value: T_contra, type_info: TypeInformation | None) -> bytes:
        """Return the bytes to write for ``value``.

        Args:
            value: The record.
            type_info: The type of the stream; None for an untyped stream.
        """

    def encode_all(self, values: Sequence[T_contra], type_info: TypeInformation | None) -> bytes:
        """Return the bytes to write for several records; by default each is encoded separately."""
        return b"".join([self.encode(value, type_info) for value in values])

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        r"""Return an encoder that writes one line of text per record, formatted like Java's ``toString``.

        >>> from flintstream.common import Types
        >>> Encoder.simple_string_encoder().encode(("hi", 1.0), Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
        b'(hi,1.0)\n'
        """
        return _SimpleStringEncoder(charset_name)


_STATELESS = {"utf-8", "ascii", "iso8859-1"}
"""Charsets in which joined texts encode the same as separate ones: without byte order marks or shift states."""


class _SimpleStringEncoder(Encoder[Any]):
    def __init__(self, charset_name: str) -> None:
        known = codecs.lookup(charset_name)  # fails early for unknown names
        self._charset = charset_name
        self._together = known.name in _STATELESS

    def encode(self, value: Any, type_info: TypeInformation | None) -> bytes:
        text = untyped_text(value) if type_info is None else type_info.stringify(value)
        return (text + "\n").encode(self._charset, "replace")

    def encode_all(self, values: Sequence[Any], type_info: TypeInformation | None) -> bytes:
        if not values or not self._together:
            return super().encode_all(values, type_info)
        stringify: Callable[[Any], str] = untyped_text if type_info is None else str
        if type_info is not None and (None in values or not type_info.is_plain_text()):
            stringify = type_info.stringify
        text = "\n".join(map(stringify, values))
        return f"{text}\n".encode(self._charset, "replace")


class BulkWriter(ABC, Generic[T_contra]):
    """Writes records to one file that is only readable as a whole (Parquet, ORC, Avro).

    >>> from io import BytesIO
    >>> class Joined(BulkWriter):
    ...     def __init__(self, stream):
    ...         self.stream, self.elements = stream, []
    ...
    ...     def add_element(self, element):
    ...         self.elements.append(element)
    ...
    ...     def flush(self):
    ...         pass
    ...
    ...     def finish(self):
    ...         self.stream.write("+".join(self.elements).encode())
    >>> file = BytesIO()
    >>> writer = Joined(file)
    >>> writer.add_element("to")
    >>> writer.add_elements(["be", "or"])
    >>> writer.flush()
    >>> writer.finish()
    >>> file.getvalue()
    b'to+be+or'
    """

    @abstractmethod
    def add_element(self, element: T_contra) -> None:
        """Write one record."""

    def add_elements(self, elements: Sequence[T_contra]) -> None:
        """Write several records; by default one at a time."""
        for element in elements:
            self.add_element(element)

    @abstractmethod
    def flush(self) -> None:
        """Write buffered data to the stream, to the extent that the format allows."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the file; the caller closes the stream."""


class BulkWriterFactory(ABC, Generic[T_contra]):
    """Factory for the writers of a bulk-format file sink.

    >>> from io import BytesIO
    >>> from flintstream.datastream.formats.csv import CsvBulkWriters, CsvSchema
    >>> from flintstream.table import DataTypes
    >>> schema = CsvSchema.builder().add_number_column("id", DataTypes.INT()).add_string_column("word").build()
    >>> factory = CsvBulkWriters.for_schema(schema)
    >>> isinstance(factory, BulkWriterFactory)
    True
    >>> file = BytesIO()
    >>> writer = factory.create(file)
    >>> writer.add_element((1, "be"))
    >>> writer.finish()
    >>> file.getvalue().decode().strip()
    '1,be'
    """

    can_be_concatenated: bool = True
    """Whether concatenated files are a valid file of the format."""

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter[T_contra]:
        """Return a writer for a new file."""


class RowDataBulkWriterFactory(BulkWriterFactory[Any]):
    """Factory for writers of rows of a known type.

    >>> from flintstream.datastream.formats.parquet import ParquetBulkWriters
    >>> from flintstream.table import DataTypes
    >>> row_type = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> factory = ParquetBulkWriters.for_row_type(row_type)
    >>> isinstance(factory, RowDataBulkWriterFactory), factory.get_row_type() == row_type
    (True, True)
    """

    def __init__(self, row_type: Any) -> None:
        self._row_type = row_type

    def get_row_type(self) -> Any:
        """Return the type of the rows, one of the ``DataTypes``."""
        return self._row_type
