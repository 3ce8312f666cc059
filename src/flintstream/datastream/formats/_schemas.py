"""What the schemas of rows have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common.serialization import DeserializationSchema, SerializationSchema
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.connectors.formats.composed import unsupported
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation


def checked_row_type(type_info: Any, schema: str) -> RowTypeInfo:
    """Return ``type_info`` if it is a type of rows, all of whose parts can be read and written.

    Raises:
        TypeError: It is no type at all.
        PlanError: It is another type.
    """
    if type_info is None:
        raise TypeError(f"{schema} needs a type of rows, such as Types.ROW_NAMED(['id'], [Types.INT()])")
    if not isinstance(type_info, RowTypeInfo):
        raise PlanError(f"{schema} is for rows: give it a Types.ROW_NAMED or Types.ROW, not {type_info!r}")
    odd = unsupported(type_info)
    if odd is not None:
        raise PlanError(f"{schema} cannot read or write values of type {odd!r}")
    return type_info


class RowDeserializationSchema(DeserializationSchema):
    """Reads messages as rows; what does so is compiled when the first message is read in a process."""

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
        # generated functions cannot be pickled, and need not be
        return {name: value for name, value in self.__dict__.items() if name != "_read"}


class RowSerializationSchema(SerializationSchema):
    """Writes rows as messages; what does so is compiled when the first row is written in a process."""

    _write: Callable[[Any], bytes]

    def _compile(self) -> Callable[[Any], bytes]:
        raise NotImplementedError

    def serialize(self, element: Any) -> bytes:
        """Return the message for a row, or for what a row can be made of: a tuple, a list or a dict.

        Raises:
            FormatError: It does not fit the type of the schema.
        """
        try:
            write = self._write
        except AttributeError:
            write = self._write = self._compile()
        return write(element)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_write"}
