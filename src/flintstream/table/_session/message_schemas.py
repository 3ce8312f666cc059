"""The formats of tables as schemas of streams: a message becomes rows with their kinds of change, or is made of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from flintstream.common._types import data_types as t
from flintstream.common.serialization import DeserializationSchema, SerializationSchema
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.common.types import RowKind
from flintstream.connectors.several import Several
from flintstream.errors import PlanError
from flintstream.table._connectors.avro_changes import DEBEZIUM_AVRO
from flintstream.table._connectors.messages import (
    FORMATS,
    OF_CHANGES,
    change_decoder,
    change_encoder,
    decoder,
    encoder,
)
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.codegen import Source, compile_source
from flintstream.table._expressions.expr import Column
from flintstream.table._plan import edges
from flintstream.table._plan.stream_types import data_type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.table._connectors.formats import Decoder, Encoder

    Tuple = Sequence[object]
    Rows = Row | Several | None

FORMAT = TypeVar("FORMAT")
_WITH_SUBJECT = ("avro-confluent", DEBEZIUM_AVRO)
_REMOVALS = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class _Options(Options):
    """The options of a format, under the keys that they have in the options of a table."""

    def __init__(self, kind: str, values: Mapping[str, str], place: str) -> None:
        super().__init__("", values)
        self.kind, self.place = kind, place
        self._known = set()

    @property
    def reader(self) -> str:
        """What reads the options, for errors."""
        return f"the format '{self.kind}'"


class _Format:
    """A format with the columns of its rows."""

    def __init__(self, kind: str, row_type: object, options: Mapping[str, str] | None, schema: str) -> None:
        """Read what a program says.

        Raises:
            SqlError: The format or an option is unknown, or the type is not that of rows.
        """
        known = (*FORMATS, *OF_CHANGES)
        if kind not in known:
            raise SqlError(f"{schema}: the format {kind!r} is unknown{nearest(str(kind), known)}")
        given = dict(options or {})
        for key, value in given.items():
            if not isinstance(value, str):
                raise SqlError(f"{schema}: the option '{key}' must be a text, as in the options of tables: '{value}'")
        self.kind, self.changes = kind, kind in OF_CHANGES
        self.type = _row_type(row_type, schema)
        try:
            self.type_info = row_type if isinstance(row_type, RowTypeInfo) else t.to_type_info(self.type)
        except ValueError as error:
            raise SqlError(f"{schema}: {error}") from None
        self.options = _Options(kind, given, schema)
        self.columns = [Column(n, of) for n, of in zip(self.type.names, self.type.field_types(), strict=True)]

    def of(
        self,
        plain: Callable[[str, Sequence[str], Sequence[DataType], Options, str], FORMAT],
        changes: Callable[[str, Sequence[str], Sequence[DataType], Options, str], FORMAT],
    ) -> FORMAT:
        """Return what reads or writes messages.

        Raises:
            SqlError: A column has a type that the format does not have, or an option is missing, wrong or unknown.
        """
        make, place = changes if self.changes else plain, self.options.place
        try:
            made = make(self.kind, list(self.type.names), self.type.field_types(), self.options, "")
        except PlanError as error:
            if str(error).startswith(place):
                raise
            raise SqlError(f"{place}: {error}") from None
        self.options.check()
        return made


def _row_type(given: object, schema: str) -> t.RowType:
    """Return the type of rows that a program gives as that of a table or of a stream.

    Raises:
        SqlError: It is another type.
    """
    found = data_type_of(given) if isinstance(given, RowTypeInfo) else given
    if not isinstance(found, t.RowType):
        raise SqlError(
            f"{schema} takes the type of rows, such as DataTypes.ROW([DataTypes.FIELD('id', DataTypes.INT())]), "
            f"but got {given!r}"
        )
    return found


def _compile(code: str) -> object:
    """Return the function that converts a row or tuple ``r``."""
    made: object = compile_source(Source(f"def run(r):\n    return {code}", {}, ()))
    return made


class FormatDeserializationSchema(DeserializationSchema["Row | Several"]):
    """Reads messages in a format of tables as rows, whose fields have names.

    With a format of changes, a row has its kind of change; an update is two rows. A message may hold several rows, or
    none: sources emit all of them.

    Args:
        format: the format, as ``'format' = '...'`` of a table names it.
        row_type: the type of the rows.
        options: the options of the format, under the keys that a table has: ``'avro-confluent.url'``.

    Raises:
        SqlError: The format or an option is unknown, an option is missing or has a value that it cannot have, or the
            format has no place for a type.

    >>> from flintstream.table import DataTypes
    >>> user = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("name", DataTypes.STRING())])
    >>> FormatDeserializationSchema("csv", user, {"csv.field-delimiter": ";"}).deserialize(b"7;Ada")
    Row(id=7, name='Ada')
    >>> changes = FormatDeserializationSchema("debezium-json", user)
    >>> message = b'{"op": "u", "before": {"id": 7, "name": "Ada"}, "after": {"id": 7, "name": "Ann"}}'
    >>> [(str(row.get_row_kind()), row.name) for row in changes.deserialize(message)]
    [('-U', 'Ada'), ('+U', 'Ann')]
    """

    def __init__(self, format: str, row_type: object, options: Mapping[str, str] | None = None) -> None:
        found = _Format(format, row_type, options, f"FormatDeserializationSchema('{format}')")
        self.format, self.row_type = format, found.type
        self._type_info, self._columns, self._changes = found.type_info, found.columns, found.changes
        self._decoder: Decoder = found.of(decoder, change_decoder)
        self._ready: Callable[[bytes], Rows] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def deserialize(self, message: bytes) -> Row | Several | None:
        """Return the row of a message, or all of its rows if there are several; None if there are none.

        Raises:
            ValueError: The message has another form.
        """
        if self._ready is None:
            self._ready = self._reader()
        return self._ready(message)

    def _reader(self) -> Callable[[bytes], Rows]:
        decode = self._decoder.decode()
        code = edges.rows_of(self._columns, changelog=self._changes, precise=False)
        row_of = cast("Callable[[Tuple], Row]", _compile(code))
        if self._changes:
            return lambda message: _as_record([row_of((*row, kind)) for row, kind in decode(message) or ()])

        def read(message: bytes) -> Rows:
            found = decode(message)
            if found is None:
                return None
            if type(found) is Several:
                return Several([row_of(cast("Tuple", row)) for row in found])
            return row_of(found)

        return read

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._type_info


def _as_record(rows: list[Row]) -> Rows:
    return (rows[0] if len(rows) == 1 else Several(rows)) if rows else None


class FormatSerializationSchema(SerializationSchema):
    """Writes rows as messages in a format of tables.

    A format of changes writes the kind of change of each row: an insertion or the row after an update as an insertion,
    a deletion or the row before an update as a deletion, as Flink's tables do. Other formats have no place for
    deletions and for rows before updates, and raise an error.

    Args:
        format: the format, as ``'format' = '...'`` of a table names it.
        row_type: the type of the rows.
        options: the options of the format, under the keys that a table has: ``'avro-confluent.url'``.

    Raises:
        SqlError: The format or an option is unknown, an option is missing or has a value that it cannot have, or the
            format has no place for a type.

    >>> from flintstream.common import Row
    >>> from flintstream.table import DataTypes
    >>> user = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("name", DataTypes.STRING())])
    >>> FormatSerializationSchema("maxwell-json", user).serialize(Row(id=7, name="Ada"))
    b'{"data":{"id":7,"name":"Ada"},"type":"insert"}'
    """

    def __init__(self, format: str, row_type: object, options: Mapping[str, str] | None = None) -> None:
        found = _Format(format, row_type, options, f"FormatSerializationSchema('{format}')")
        self.format, self.row_type = format, found.type
        self._type_info, self._columns, self._changes = found.type_info, found.columns, found.changes
        self._encoder: Encoder = found.of(encoder, change_encoder)
        if format in _WITH_SUBJECT and found.options.text("topic") is None:
            key = f"{format}.subject"
            if found.options.text(key) is None:
                raise SqlError(
                    f"{found.options.place}: the option '{key}' is missing: it names what the schema is registered "
                    "for, such as 'orders-value' for the values of a topic"
                )
        self._ready: Callable[[object], bytes] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def serialize(self, element: object) -> bytes:
        """Return the message of a row, or of a tuple, list or dict with the same values.

        Raises:
            TypeError: A value has another type.
            ValueError: The format has no place for the kind of change, or for a value.
        """
        if self._ready is None:
            self._ready = self._writer()
        return self._ready(element)

    def _writer(self) -> Callable[[object], bytes]:
        encode, changes, name = self._encoder.encode(), self._changes, self.format
        row_of = cast("Callable[[object], Row]", self._type_info.converter())
        code = edges.tuples_of(self._columns, edges.KIND if changes else "")
        tuple_of = cast("Callable[[Row], Tuple]", _compile(code))

        def write(element: object) -> bytes:
            row = row_of(element)
            kind = row.get_row_kind()
            if kind in _REMOVALS and not changes:
                raise ValueError(
                    f"the format '{name}' has no place for the change {kind} of {row}: use a format of changes "
                    f"({', '.join(OF_CHANGES)}), or filter the rows by get_row_kind()"
                )
            return encode(tuple_of(row))

        return write
