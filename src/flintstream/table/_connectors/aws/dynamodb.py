"""``'connector' = 'dynamodb'``: items of a table of DynamoDB, with insertions, or with changes by key."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.common._text.java import clock_text, double_text, float_text
from flintstream.common._types import data_types as t
from flintstream.connectors.aws.client import AwsAccess
from flintstream.connectors.aws.dynamodb import MOST_ITEMS, DynamoDbSink, Items
from flintstream.errors import PlanError
from flintstream.table._connectors.aws import access_of
from flintstream.table._connectors.contract import INSERTIONS, UPSERTS, SinkConnector, TableSink
from flintstream.table._errors import SqlError
from flintstream.table._types.row_kinds import RETRACTIONS
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.aws.dynamodb import Request
    from flintstream.table._connectors.contract import ConnectorTable

    Attribute = dict[str, object]
    Convert = Callable[[object], Attribute]

_NULL: Attribute = {"NULL": True}


class DynamoDb(SinkConnector):
    """Puts an item for each row; with a primary key, it also deletes items."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        size = options.integer("sink.batch.max-size", MOST_ITEMS) or 0
        if not 1 <= size <= MOST_ITEMS:
            raise SqlError(
                f"table '{table.name}': 'sink.batch.max-size' must be from 1 to {MOST_ITEMS}, but got {size}"
            )
        for key in ("sink.requests.max-inflight", "sink.requests.max-buffered"):
            options.known(key, "a subtask sends one request at a time")
        options.known("sink.flush-buffer.timeout", "records are written when an epoch ends")
        options.starting_with("sink.http-client.")
        keys = table.partitions or table.primary_key
        unique = [table.names.index(name) for name in keys]
        items = Items(_Requests.of(table, skips_null=options.flag("sink.ignore-nulls")), _Key(unique) if keys else None)
        try:
            sink: DynamoDbSink[object] = DynamoDbSink(
                AwsAccess(access_of(options)),
                options.required("table-name"),
                items,
                most_items=size,
                fail_on_error=options.flag("sink.fail-on-error"),
            )
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None
        changes = UPSERTS if table.primary_key else INSERTIONS
        return TableSink(sink, changes=changes, parallelism=options.integer("sink.parallelism"))


@dataclass(frozen=True)
class _Key:
    """Makes the key of a row."""

    positions: Sequence[int]

    def __call__(self, row: object) -> object:
        values = cast("Sequence[object]", row)
        return tuple([repr(values[i]) for i in self.positions])


@dataclass
class _Requests:
    """Makes the request for a row, whose kind of change may follow the columns."""

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    key: tuple[str, ...]
    skips_null: bool
    _converters: list[Convert] | None = field(default=None, repr=False)

    @staticmethod
    def of(table: ConnectorTable, *, skips_null: bool) -> _Requests:
        """Return what makes requests.

        Raises:
            SqlError: A column has a type that items do not have.
        """
        for name, kind in zip(table.names, table.types, strict=True):
            if _converter(kind) is None:
                raise SqlError(f"table '{table.name}': DynamoDB has no type for the column '{name}' {sql_name(kind)}")
        return _Requests(tuple(table.names), tuple(table.types), tuple(table.primary_key), skips_null)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_converters": None}

    def __call__(self, row: object) -> Request:
        if self._converters is None:
            self._converters = [made for made in map(_converter, self.types) if made is not None]
        values = cast("Sequence[object]", row)
        deletes = len(values) > len(self.names) and values[-1] in RETRACTIONS
        item = {
            name: _NULL if value is None else convert(value)
            for name, convert, value in zip(self.names, self._converters, values, strict=False)
            if (value is not None or not self.skips_null) and (not deletes or name in self.key)
        }
        return {"DeleteRequest": {"Key": item}} if deletes else {"PutRequest": {"Item": item}}


def _converter(kind: DataType) -> Convert | None:
    """Return the function that makes an attribute of a value; None if DynamoDB lacks the type."""
    if isinstance(kind, TEXTS):
        return lambda value: {"S": value}
    if isinstance(kind, t.BooleanType):
        return lambda value: {"BOOL": value}
    if type(kind) in INTEGERS or isinstance(kind, t.DecimalType):
        return lambda value: {"N": str(value)}
    if isinstance(kind, (t.FloatType, t.DoubleType)):
        text = float_text if isinstance(kind, t.FloatType) else double_text
        return lambda value: {"N": text(cast("float", value))}
    if isinstance(kind, BYTES):
        return lambda value: {"B": value}
    if isinstance(kind, (t.DateType, t.TimeType, t.TimestampType)):
        return lambda value: {"S": _time_text(value)}
    if isinstance(kind, t.LocalZonedTimestampType):
        return lambda value: {"S": _instant_text(value)}
    if isinstance(kind, t.ArrayType):
        element = _nullable(kind.element_type)
        return element and (lambda values: {"L": [element(value) for value in cast("list[object]", values)]})
    if isinstance(kind, t.MapType):
        content = _nullable(kind.value_type) if isinstance(kind.key_type, TEXTS) else None
        return content and (
            lambda values: {"M": {key: content(value) for key, value in cast("dict[str, object]", values).items()}}
        )
    return _of_rows(kind) if isinstance(kind, t.RowType) else None


def _nullable(kind: DataType) -> Convert | None:
    convert = _converter(kind)
    return convert and (lambda value: _NULL if value is None else convert(value))


def _of_rows(kind: t.RowType) -> Convert | None:
    parts = [(name, part) for name, part in zip(kind.names, map(_nullable, kind.field_types()), strict=True) if part]
    if len(parts) < len(kind.names):
        return None

    def convert(row: object) -> Attribute:
        values = cast("Sequence[object]", row)
        return {"M": {name: part(value) for (name, part), value in zip(parts, values, strict=True)}}

    return convert


def _time_text(value: object) -> str:
    """Return a date or time as Java writes it."""
    if isinstance(value, dt.datetime):
        return f"{value.date().isoformat()}T{clock_text(value)}"
    return clock_text(value) if isinstance(value, dt.time) else cast("dt.date", value).isoformat()


def _instant_text(value: object) -> str:
    """Return a moment as Java writes it: in UTC, with seconds."""
    text = _time_text(value)
    return f"{text}{'' if text.count(':') > 1 else ':00'}Z"
