"""Values of tables as values of documents, and back, as Flink's connector maps their types."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from flintstream.common._types import data_types as t
from flintstream.connectors.mongodb.client import MongoError, part
from flintstream.errors import shorten
from flintstream.table._errors import SqlError
from flintstream.table._expressions import helpers
from flintstream.table._expressions.helpers import EPOCH
from flintstream.table._types.rules import BYTES, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common._types.data_types import DataType

    Convert = Callable[[object], object]

VALUE = "_value"
"""The field around a value of a type that only documents have, where a text of extended JSON stands for it."""
_MILLISECOND = dt.timedelta(milliseconds=1)
_ATOMS = (t.BooleanType, t.IntType, t.BigIntType, t.DoubleType, t.DecimalType, t.TimestampType)
_ATOMS += (t.LocalZonedTimestampType, *TEXTS)  # type: ignore[assignment]  # a longer tuple
_INT_LIMIT = 1 << 31


def check_types(table: str, names: Sequence[str], types: Sequence[DataType]) -> None:
    """Refuse columns that documents have no values for.

    Raises:
        SqlError: There is one.
    """
    for name, kind in zip(names, types, strict=True):
        if not _has(kind):
            raise SqlError(f"table '{table}': MongoDB has no type for the column '{name}' {sql_name(kind)}")


def is_key(kind: DataType) -> bool:
    """Return whether values of a type can be part of an ``_id``.

    >>> is_key(t.IntType()), is_key(t.ArrayType(t.IntType()))
    (True, False)
    """
    return type(kind) in _ATOMS


def _has(kind: DataType) -> bool:
    if isinstance(kind, t.ArrayType):
        return _has(kind.element_type)
    if isinstance(kind, t.MapType):
        return isinstance(kind.key_type, TEXTS) and _has(kind.value_type)
    if isinstance(kind, t.RowType):
        return all(map(_has, kind.field_types()))
    return is_key(kind) or isinstance(kind, BYTES)


# -- writing -----------------------------------------------------------------------------------------------------------


def writer(kind: DataType) -> Convert:
    """Return the function that makes a value of a document; null stays null.

    >>> writer(t.ArrayType(t.IntType()))([1, None])
    [1, None]
    """
    convert = _writer(kind)
    if convert is None:
        return lambda value: value
    return lambda value: None if value is None else convert(value)


def _writer(kind: DataType) -> Convert | None:
    """Return the function for values that are not null; None if they stay as they are."""
    if isinstance(kind, TEXTS):
        return _write_text
    if isinstance(kind, t.BigIntType):
        long: Convert = part("bson.int64").Int64
        return long
    if isinstance(kind, t.DecimalType):
        decimal: Convert = part("bson.decimal128").Decimal128
        return decimal
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return _write_time
    if isinstance(kind, t.ArrayType):
        element = writer(kind.element_type)
        return lambda values: [element(value) for value in cast("Sequence[object]", values)]
    if isinstance(kind, t.MapType):
        content = writer(kind.value_type)
        return lambda values: {key: content(item) for key, item in cast("Mapping[str, object]", values).items()}
    if isinstance(kind, t.RowType):
        parts = [(name, writer(item)) for name, item in zip(kind.names, kind.field_types(), strict=True)]
        return lambda row: {
            name: write(item) for (name, write), item in zip(parts, cast("Sequence[object]", row), strict=True)
        }
    return None


def _write_text(value: object) -> object:
    """Return a text, or the value that one of extended JSON stands for."""
    text = cast("str", value)
    if text.startswith("{") and text.endswith("}") and VALUE in text:
        json = part("bson.json_util")
        try:
            found = json.loads(text, json_options=json.CANONICAL_JSON_OPTIONS)
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, part("bson.errors").BSONError):
            return text
        if isinstance(found, dict) and VALUE in found:
            return found[VALUE]
    return text


def _write_time(value: object) -> object:
    return EPOCH + (cast("dt.datetime", value) - EPOCH) // _MILLISECOND * _MILLISECOND


def equal_to(made: object, value: object) -> object:
    """Return what is equal to a value in a condition.

    A regular expression, or a document of operators, would select other documents: ``value``, the text that it was made
    of, takes its place.

    >>> equal_to({"$gt": 1}, '{"_value": {"$gt": 1}}'), equal_to({"a": 1}, '{"_value": {"a": 1}}')
    ('{"_value": {"$gt": 1}}', {'a': 1})
    """
    selects = isinstance(made, dict) and any(str(name).startswith("$") for name in made)
    return value if selects or isinstance(made, part("bson.regex").Regex) else made


def id_of(made: object, value: object) -> object:
    """Return the ``_id`` for a key of one column: a text of 24 hexadecimal digits is an ``ObjectId``."""
    if isinstance(made, str) and len(made) == 24:
        kind = part("bson.objectid").ObjectId
        if kind.is_valid(made):
            return kind(made)
    return equal_to(made, value)


# -- reading -----------------------------------------------------------------------------------------------------------


def reader(kind: DataType) -> Convert:
    """Return the function that makes a value of a column; what is missing or null is None.

    >>> reader(t.DoubleType())(1), reader(t.IntType())(None)
    (1.0, None)
    >>> reader(t.IntType())("one")
    Traceback (most recent call last):
    flintstream.connectors.mongodb.client.MongoError: a document has 'one' (str) where the table has INT
    """
    convert = _reader(kind)
    required = kind == kind.not_null()

    def read(value: object) -> object:
        found = None if value is None else convert(value)
        if found is None and required:
            raise MongoError(f"a document has no value where the table has {sql_name(kind)}")
        return found

    return read


def row_reader(names: Sequence[str], types: Sequence[DataType], wanted: frozenset[str] | None) -> Convert:
    """Return the function that makes a tuple of a document, with None for columns that are not wanted."""
    parts = [
        (name, reader(kind) if wanted is None or name in wanted else None)
        for name, kind in zip(names, types, strict=True)
    ]

    def read(document: object) -> object:
        values = cast("Mapping[str, object]", document)
        return tuple([convert and convert(values.get(name)) for name, convert in parts])

    return read


def _unlike(value: object, kind: DataType) -> MongoError:
    return MongoError(f"a document has {shorten(value)} ({type(value).__name__}) where the table has {sql_name(kind)}")


def _reader(kind: DataType) -> Convert:
    """Return the function for values that are not null."""
    if isinstance(kind, TEXTS):
        return _text_reader()
    if isinstance(kind, t.DecimalType):
        return _decimal_reader(kind)
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return _time_reader(kind)
    if isinstance(kind, (t.IntType, t.BigIntType)):
        return _integer_reader(kind)
    if isinstance(kind, t.DoubleType):
        return lambda value: float(cast("float", _check_kind(value, (int, float), kind, never=bool)))
    if isinstance(kind, t.BooleanType):
        return lambda value: _check_kind(value, (bool,), kind)
    if isinstance(kind, BYTES):
        return lambda value: bytes(cast("bytes", _check_kind(value, (bytes,), kind)))
    if isinstance(kind, t.ArrayType):
        element = reader(kind.element_type)
        return lambda value: [element(item) for item in cast("list[object]", _check_kind(value, (list,), kind))]
    if isinstance(kind, t.MapType):
        content = reader(kind.value_type)
        return lambda value: {
            key: content(item) for key, item in cast("dict[str, object]", _check_kind(value, (dict,), kind)).items()
        }
    return _row_value_reader(cast("t.RowType", kind))  # check_types has refused all others


def _check_kind(value: object, wanted: tuple[type, ...], kind: DataType, never: type | None = None) -> object:
    if not isinstance(value, wanted) or (never is not None and isinstance(value, never)):
        raise _unlike(value, kind)
    return value


def _integer_reader(kind: DataType) -> Convert:
    limit = _INT_LIMIT if isinstance(kind, t.IntType) else _INT_LIMIT << 32

    def read(value: object) -> object:
        if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
            raise _unlike(value, kind)
        return int(value)

    return read


def _text_reader() -> Convert:
    object_id, json = part("bson.objectid").ObjectId, part("bson.json_util")

    def read(value: object) -> object:
        if isinstance(value, str) and not isinstance(value, part("bson.code").Code):
            return value
        if isinstance(value, object_id):
            return str(value)
        return json.dumps({VALUE: value}, json_options=json.CANONICAL_JSON_OPTIONS)

    return read


def _decimal_reader(kind: t.DecimalType) -> Convert:
    decimal128 = part("bson.decimal128").Decimal128

    def read(value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            found = Decimal(value)
        elif isinstance(value, decimal128):
            found = value.to_decimal()
        else:
            raise _unlike(value, kind)
        if found.is_infinite():
            raise _unlike(value, kind)
        return helpers.fit(found, kind.precision, kind.scale)  # None for NaN

    return read


def _time_reader(kind: DataType) -> Convert:
    timestamp = part("bson.timestamp").Timestamp

    def read(value: object) -> object:
        if isinstance(value, dt.datetime):
            return value
        if isinstance(value, timestamp):
            return EPOCH + dt.timedelta(seconds=value.time)
        raise _unlike(value, kind)

    return read


def _row_value_reader(kind: t.RowType) -> Convert:
    names = tuple(kind.names)
    parts = [(name, reader(item)) for name, item in zip(names, kind.field_types(), strict=True)]

    def read(value: object) -> object:
        document = cast("dict[str, object]", _check_kind(value, (dict,), kind))
        return helpers.named_row(names, [convert(document.get(name)) for name, convert in parts])

    return read
