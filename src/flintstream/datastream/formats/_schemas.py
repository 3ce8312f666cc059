"""Common base of the schemas for rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.parts import find_unsupported
from flintstream.common.serialization import DeserializationSchema, SerializationSchema
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation


def checked_row_type(type_info: Any, schema: str) -> RowTypeInfo:
    """Return ``type_info`` if it is a row type whose parts can be read and written.

    Raises:
        TypeError: It is None.
        PlanError: It is not a row type, or contains an unsupported type.
    """
    if type_info is None:
        raise TypeError(f"{schema} needs a row type, such as Types.ROW_NAMED(['id'], [Types.INT()])")
    if not isinstance(type_info, RowTypeInfo):
        raise PlanError(f"{schema} needs a row type (Types.ROW_NAMED or Types.ROW), but got {type_info!r}")
    odd = find_unsupported(type_info)
    if odd is not None:
        raise PlanError(f"{schema} cannot read or write values of type {odd!r}")
    return type_info


class RowDeserializationSchema(DeserializationSchema):
    """Reads messages as rows. Compiles the reader on the first message in a process."""

    _read: Callable[[bytes], Any]

    def __init__(self, type_info: RowTypeInfo) -> None:
        self._type_info = type_info

    def _compile(self) -> Callable[[bytes], Any]:
        raise NotImplementedError

    def deserialize(self, message: bytes) -> Any:
        """Return the row in ``message``; None to skip it.

        Raises:
            FormatError: The message cannot be read, and errors are not ignored.
        """
        try:
            read = self._read
        except AttributeError:
            read = self._read = self._compile()
        return read(message)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._type_info

    def __getstate__(self) -> dict[str, Any]:
        # Generated functions cannot be pickled; the next process compiles them again.
        return {name: value for name, value in self.__dict__.items() if name != "_read"}


class RowSerializationSchema(SerializationSchema):
    """Writes rows as messages. Compiles the writer on the first row in a process."""

    _write: Callable[[Any], bytes]

    def _compile(self) -> Callable[[Any], bytes]:
        raise NotImplementedError

    def serialize(self, element: Any) -> bytes:
        """Return the message for a row, or for a tuple, list or dict that represents one.

        Raises:
            FormatError: The value does not fit the type of the schema.
        """
        try:
            write = self._write
        except AttributeError:
            write = self._write = self._compile()
        return write(element)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_write"}
