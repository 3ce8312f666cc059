"""JSON; mirrors ``pyflink.datastream.formats.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.connectors.formats.json_reading import JsonReader
from flintstream.connectors.formats.json_schema import type_of_schema
from flintstream.connectors.formats.json_writing import JsonWriter
from flintstream.datastream.formats._schemas import RowDeserializationSchema, RowSerializationSchema, checked_row_type
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.common.typeinfo import RowTypeInfo, TypeInformation

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(RowDeserializationSchema):
    """Reads a JSON object as a row; ignores fields that the type does not name.

    >>> from flintstream.common import Types
    >>> orders = Types.ROW_NAMED(["id", "price"], [Types.INT(), Types.BIG_DEC()])
    >>> schema = JsonRowDeserializationSchema.builder().type_info(orders).build()
    >>> schema.deserialize(b'{"price": 9.90, "id": 1, "note": "gift"}')
    Row(id=1, price=Decimal('9.90'))
    >>> schema.deserialize(b'{"id": "one"}')
    Traceback (most recent call last):
    flintstream.connectors.formats.errors.FormatError: JsonRowDeserializationSchema cannot read b'{"id": "one"}':
    field 'id': 'one' is not a 32-bit integer
    """

    def __init__(
        self, type_info: RowTypeInfo, *, fail_on_missing_field: bool = False, ignore_parse_errors: bool = False
    ) -> None:
        super().__init__(checked_row_type(type_info, type(self).__name__))
        if fail_on_missing_field and ignore_parse_errors:
            raise PlanError("fail_on_missing_field and ignore_parse_errors cannot be combined: choose one")
        self._fails_on_missing = fail_on_missing_field
        self._ignores_errors = ignore_parse_errors

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Return a builder."""
        return JsonRowDeserializationSchema.Builder()

    def _compile(self) -> Callable[[bytes], Any]:
        return JsonReader(
            type(self).__name__,
            self._type_info,
            fails_on_missing=self._fails_on_missing,
            ignores_errors=self._ignores_errors,
        ).read

    class Builder:
        """Builds a :class:`JsonRowDeserializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> Self:
            """Set the type of the rows. Its field names are those of the JSON objects."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str) -> Self:
            """Set the type of the rows from a JSON schema.

            Numbers become ``BIG_DEC``; strings with the format ``date``, ``time`` or ``date-time`` become SQL types.

            Raises:
                PlanError: The text is not a JSON schema, or uses features that Flink does not support.
            """
            if json_schema is None:
                raise TypeError("the JSON schema must be a str, but got None")
            self._type_info = type_of_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> Self:
            """Treat a missing field as an error; by default it is None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> Self:
            """Read an invalid field as None, and skip messages that are not JSON objects."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Return the schema.

            Raises:
                TypeError: No type is set.
                PlanError: The type is not a row type, or the settings conflict.
            """
            return JsonRowDeserializationSchema(
                checked_row_type(self._type_info, "JsonRowDeserializationSchema"),
                fail_on_missing_field=self._fail_on_missing_field,
                ignore_parse_errors=self._ignore_parse_errors,
            )


class JsonRowSerializationSchema(RowSerializationSchema):
    """Writes a row as a JSON object, in the same bytes as Flink.

    >>> from flintstream.common import Row, Types
    >>> orders = Types.ROW_NAMED(["id", "price"], [Types.INT(), Types.DOUBLE()])
    >>> JsonRowSerializationSchema.builder().with_type_info(orders).build().serialize(Row(1, 9.9))
    b'{"id":1,"price":9.9}'
    """

    def __init__(self, type_info: RowTypeInfo) -> None:
        self._type_info = checked_row_type(type_info, type(self).__name__)

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Return a builder."""
        return JsonRowSerializationSchema.Builder()

    def _compile(self) -> Callable[[Any], bytes]:
        return JsonWriter(type(self).__name__, self._type_info).write

    class Builder:
        """Builds a :class:`JsonRowSerializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation) -> Self:
            """Set the type of the rows. Its field names are those of the JSON objects."""
            self._type_info = type_info
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Return the schema.

            Raises:
                TypeError: No type is set.
                PlanError: The type is not a row type.
            """
            return JsonRowSerializationSchema(checked_row_type(self._type_info, "JsonRowSerializationSchema"))
