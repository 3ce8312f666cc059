"""From records to bytes and back, for sources and sinks."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common._generic import Generic, T_co, T_contra
from flintstream.common._java_view import Wrapper
from flintstream.common._javatext import untyped_text
from flintstream.common.typeinfo import Types
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    """Turns a record into the bytes of a message. In PyFlink it wraps a Java object; here a user may write one."""

    @abstractmethod
    def serialize(self, element: T_contra) -> bytes | None:
        """Return the bytes of ``element``."""


class DeserializationSchema(ABC, Generic[T_co], metaclass=Wrapper):
    """Turns the bytes of a message into a record. In PyFlink it wraps a Java object; here a user may write one."""

    @abstractmethod
    def deserialize(self, message: bytes) -> T_co | None:
        """Return the record in ``message``; None to skip the message."""

    def is_end_of_stream(self, element: Any) -> bool:  # noqa: ARG002 - the contract
        """Return whether ``element`` says that nothing follows."""
        return False

    def get_produced_type(self) -> TypeInformation[T_co] | None:
        """Return the type of the records; None for any Python object."""
        return None


class SimpleStringSchema(SerializationSchema[str], DeserializationSchema[str]):
    """Messages are texts.

    >>> SimpleStringSchema().deserialize(SimpleStringSchema().serialize("naïve"))
    'naïve'
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        codecs.lookup(charset)  # an unknown name shall fail here
        self._charset = charset

    def serialize(self, element: Any) -> bytes:
        """Return the encoded text.

        Raises:
            TypeError: ``element`` is no text.
        """
        if not isinstance(element, str):
            raise TypeError(f"SimpleStringSchema takes texts, got {shorten(element)}; map the stream to Types.STRING()")
        return element.encode(self._charset)

    def deserialize(self, message: bytes) -> str:
        """Return the decoded text."""
        return message.decode(self._charset)

    def get_produced_type(self) -> TypeInformation[str]:
        """Return ``Types.STRING()``."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema[bytes], DeserializationSchema[bytes]):
    """Messages are the bytes themselves."""

    def serialize(self, element: Any) -> bytes:
        """Return the bytes.

        Raises:
            TypeError: ``element`` is not bytes.
        """
        if not isinstance(element, (bytes, bytearray, memoryview)):
            raise TypeError(f"ByteArraySchema takes bytes, got {shorten(element)}")
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        """Return the message."""
        return message

    def get_produced_type(self) -> TypeInformation[bytes]:
        """Return ``Types.PRIMITIVE_ARRAY(Types.BYTE())``."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema):
    """The message is one field of a row, which must be bytes; used for message keys.

    >>> RowFieldExtractorSchema(0).serialize((b"key", b"value"))
    b'key'
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"the field index must not be negative, got {field_index}")
        self._field_index = field_index

    def serialize(self, element: Any) -> bytes | None:
        """Return the field; None stays None.

        Raises:
            TypeError: the field is not bytes.
            IndexError: there are not so many fields.
        """
        value = element[self._field_index]
        if value is None or isinstance(value, bytes):
            return value
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        raise TypeError(f"field {self._field_index} must be bytes, got {shorten(value)} in {shorten(element)}")


class Encoder(ABC, Generic[T_contra], metaclass=Wrapper):
    """Writes records into a file of a row-format file sink, one after the other."""

    @abstractmethod
    def encode(self, value: T_contra, type_info: TypeInformation | None) -> bytes:
        """Return what to write for ``value``.

        Args:
            value: the record.
            type_info: the type of the stream; None if it has none.
        """

    def encode_all(self, values: Sequence[T_contra], type_info: TypeInformation | None) -> bytes:
        """Return what to write for several records; by default each is encoded by itself."""
        return b"".join([self.encode(value, type_info) for value in values])

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        r"""Return the encoder of one line of text per record, as Java's ``toString`` has it.

        >>> from flintstream.common import Types
        >>> Encoder.simple_string_encoder().encode(("hi", 1.0), Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
        b'(hi,1.0)\n'
        """
        return _SimpleStringEncoder(charset_name)


_STATELESS = {"utf-8", "ascii", "iso8859-1"}
"""Charsets in which texts one after the other are what they are together: no marks of order, nothing to shift."""


class _SimpleStringEncoder(Encoder[Any]):
    def __init__(self, charset_name: str) -> None:
        known = codecs.lookup(charset_name)  # an unknown name shall fail here
        self._charset = charset_name
        self._together = known.name in _STATELESS

    def encode(self, value: Any, type_info: TypeInformation | None) -> bytes:
        text = untyped_text(value) if type_info is None else type_info.stringify(value)
        return (text + "\n").encode(self._charset)

    def encode_all(self, values: Sequence[Any], type_info: TypeInformation | None) -> bytes:
        if not values or not self._together:
            return super().encode_all(values, type_info)
        stringify: Callable[[Any], str] = untyped_text if type_info is None else str
        if type_info is not None and (None in values or not type_info.is_plain_text()):
            stringify = type_info.stringify
        text = "\n".join(map(stringify, values))
        return f"{text}\n".encode(self._charset)


class BulkWriter(ABC, Generic[T_contra]):
    """Writes records into one file that is only readable as a whole (Parquet, ORC, Avro)."""

    @abstractmethod
    def add_element(self, element: T_contra) -> None:
        """Write one record."""

    def add_elements(self, elements: Sequence[T_contra]) -> None:
        """Write several records; by default one after the other."""
        for element in elements:
            self.add_element(element)

    @abstractmethod
    def flush(self) -> None:
        """Hand what is buffered to the stream, as far as the format allows."""

    @abstractmethod
    def finish(self) -> None:
        """Write what the format needs at the end; the caller closes the stream."""


class BulkWriterFactory(ABC, Generic[T_contra]):
    """Makes the writers of a bulk-format file sink."""

    can_be_concatenated: bool = True
    """Whether files one after the other are a file of the format."""

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter[T_contra]:
        """Return a writer of a new file."""


class RowDataBulkWriterFactory(BulkWriterFactory[Any]):
    """Makes writers of rows of a known type."""

    def __init__(self, row_type: Any) -> None:
        self._row_type = row_type

    def get_row_type(self) -> Any:
        """Return the type of the rows, one of ``DataTypes``."""
        return self._row_type
