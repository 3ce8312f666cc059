"""JSON in messages, as Flink's tables read and write it, and what all formats of messages are."""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import double_text
from flintstream.common._text.leaving import whole_text
from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import fraction_of
from flintstream.connectors.several import Several
from flintstream.table._errors import SqlError
from flintstream.table._expressions import helpers
from flintstream.table._expressions.json.parsing import ExactNumber, parse_elements, parse_exactly, parser
from flintstream.table._expressions.times import texts as time_texts
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.json.parsing import Parse

    Reader = Callable[[Any], Any]
    Write = Callable[[Any], str]
    Decode = Callable[[bytes], "tuple[Any, ...] | None"]
    Encode = Callable[[Sequence[Any]], bytes]


class Decoder(ABC):
    """Reads messages. It travels to the workers; the functions are made there."""

    @abstractmethod
    def decode(self) -> Decode:
        """Return the function that reads a message; None means to skip it."""


class Encoder(ABC):
    """Writes messages."""

    @abstractmethod
    def encode(self) -> Encode:
        """Return the function that writes a row."""


# -- values from texts and JSON --------------------------------------------------------------------------------------


def reader(kind: DataType, *, iso: bool | None = False, raw: bool = False) -> Reader:
    """Return the function that reads a value of JSON.

    Args:
        kind: The type of the value.
        iso: Whether timestamps have the form of ISO-8601 rather than that of SQL; None for both, and shorter ones.
        raw: Whether a number is a text as the message has it.
    """
    if isinstance(kind, TEXTS):
        return _raw_text if raw else _text
    if isinstance(kind, t.BooleanType):
        return lambda value: value if isinstance(value, bool) else str(value).strip().lower() == "true"
    if type(kind) in INTEGERS:
        bits = INTEGERS[type(kind)]
        return lambda value: (
            value if type(value) is int and -(1 << bits - 1) <= value < 1 << bits - 1 else _integer(value, bits)
        )
    if isinstance(kind, t.FloatType):
        return lambda value: helpers.narrow(float(value))
    if isinstance(kind, t.DoubleType):
        return float
    if isinstance(kind, t.DecimalType):
        return partial(_decimal, kind.precision, kind.scale)
    if isinstance(kind, t.DateType):
        return lambda value: time_texts.parse_message_date(str(value), short=iso is None)
    if isinstance(kind, t.TimeType):
        return lambda value: time_texts.parse_time(str(value))
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        zoned = isinstance(kind, t.LocalZonedTimestampType)
        return partial(_timestamp, iso, zoned, kind.precision)
    if isinstance(kind, BYTES):
        return partial(base64.b64decode, validate=True)
    if isinstance(kind, t.ArrayType):
        element = reader(kind.element_type, iso=iso, raw=raw)
        return lambda value: [None if item is None else element(item) for item in value]
    if isinstance(kind, t.MultisetType):
        kind = _map_of(kind)
    if isinstance(kind, t.MapType):
        key, content = reader(kind.key_type, iso=iso, raw=raw), reader(kind.value_type, iso=iso, raw=raw)
        return lambda value: {key(k): None if v is None else content(v) for k, v in value.items()}
    if isinstance(kind, t.RowType):
        names = tuple(kind.names)
        parts = [(name, reader(item, iso=iso, raw=raw)) for name, item in zip(names, kind.field_types(), strict=True)]
        return lambda value: helpers.named_row(names, [_field(value, name, read) for name, read in parts])
    raise SqlError(f"messages do not support values of type {sql_name(kind)}")


def _map_of(kind: t.MultisetType) -> t.MapType:
    """Return the type of an object with the count of each element.

    Raises:
        SqlError: The elements are not texts.
    """
    if not isinstance(kind.element_type, TEXTS):
        raise SqlError(f"JSON format doesn't support non-string as key type of map. The type is: {sql_name(kind)}")
    return t.MapType(kind.element_type, t.IntType())


_WRONG = (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What a message that is not JSON, or whose values do not fit, leads to."""


def _text(value: object) -> str:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, ExactNumber):
        return str(value.exact)
    if isinstance(value, float):
        return double_text(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class _DigitsNeededError(Exception):
    """A number is a text, but has lost its digits: the message is to be parsed again."""


def _raw_text(value: object) -> str:
    if isinstance(value, ExactNumber):
        return value.text
    if isinstance(value, float):
        raise _DigitsNeededError
    return _text(value)


def _integer(value: object, bits: int) -> int:
    if isinstance(value, float):
        return helpers.wrap(int(value), bits)
    return helpers.parse_integer(str(value), bits)


def _decimal(precision: int, scale: int, value: object) -> Decimal | None:
    exact = value.exact if isinstance(value, ExactNumber) else Decimal(str(value))
    return helpers.fit(exact, precision, scale)


def _field(value: dict[str, object], name: str, read: Reader) -> Any:
    found = value.get(name)
    return None if found is None else read(found)


class JsonDecoder(Decoder):
    """Reads a JSON object with a member for each column, or several of them in an array."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        self.names, self.types = tuple(names), tuple(types)
        self.need: Collection[str] | None = None
        """The columns to read, None for all; the others are NULL, whatever the message has."""
        self.lenient = options.flag(f"{prefix}ignore-parse-errors")
        self.strict = options.flag(f"{prefix}fail-on-missing-field")
        self.iso = iso_times(options, prefix)
        options.of_sinks(
            *(f"{prefix}map-null-key.{key}" for key in ("mode", "literal")),
            *(f"{prefix}encode.{key}" for key in ("decimal-as-plain-number", "ignore-null-fields")),
        )
        self.raw = options.flag(f"{prefix}decode.json-parser.enabled", default=True)
        for kind in types:
            reader(kind)

    def decode(self) -> Decode:
        """Return the function that reads a message."""
        names = [name for name in self.names if self.need is None or name in self.need]
        parts = [
            (name, reader(kind, iso=self.iso, raw=self.raw) if name in names else _skip)
            for name, kind in zip(self.names, self.types, strict=True)
        ]
        lenient, strict, raw, loads = self.lenient, self.strict, self.raw, parser(self.types)

        def lenient_field(found: Any, name: str, read: Reader) -> object:
            try:
                return _field(found, name, read)
            except _WRONG:
                return None

        def row_of(found: dict[str, object]) -> tuple[object, ...]:
            if strict and not all(name in found for name in names):
                missing = next(name for name in names if name not in found)
                raise ValueError(f"Could not find field with name '{missing}'.")
            if lenient:
                return tuple([lenient_field(found, name, read) for name, read in parts])
            get = found.get
            return tuple([None if (value := get(name)) is None else read(value) for name, read in parts])

        rows_of = partial(_rows, row_of, lenient=lenient, raw=raw)

        def decode(message: bytes, loads: Parse = loads) -> tuple[Any, ...] | None:
            try:
                found = loads(message) if message else []
                return rows_of(found) if type(found) is list else row_of(_object(found))
            except _DigitsNeededError:
                return decode(message, parse_exactly)
            except _WRONG as error:
                if lenient:
                    return rows_of(parse_elements(message, loads)) if raw and message.lstrip()[:1] == b"[" else None
                raise ValueError(
                    f"Failed to deserialize JSON '{message.decode('utf-8', 'replace')}': {error}"
                ) from error

        return decode


def _skip(_: object) -> None:
    return None


def _rows(row_of: Reader, items: Sequence[object], *, lenient: bool, raw: bool) -> Several | None:
    """Return the rows of the elements of an array."""
    rows = []
    for item in items:
        if item is None and not raw:
            continue  # as Flink's reader of trees, unlike its reader of tokens
        try:
            rows.append(row_of(_object(item)))
        except _WRONG:
            if not lenient:
                raise
            if raw:
                break  # the reader of tokens does not know where the next element begins
    return Several(rows) if rows else None


def _object(found: object) -> dict[str, object]:
    if type(found) is not dict:
        raise ValueError("it is not an object")
    return found


def iso_times(options: Options, prefix: str) -> bool:
    """Return whether an option asks for the timestamps of ISO-8601.

    Raises:
        SqlError: It has another value.
    """
    standard = options.text(f"{prefix}timestamp-format.standard", "SQL")
    if standard not in {"SQL", "ISO-8601"}:
        key = f"{prefix}timestamp-format.standard"
        raise SqlError(f"{options.place}: '{key}' must be SQL or ISO-8601, but got '{standard}'")
    return standard != "SQL"


@dataclass(frozen=True)
class JsonStyle:
    """How JSON is written."""

    place: str
    prefix: str
    iso: bool = False
    plain: bool = False
    """Whether decimals have no exponent."""
    nulls: bool = True
    """Whether members without a value are written."""
    null_key: str = "FAIL"
    null_literal: str = "null"

    @classmethod
    def of(cls, options: Options, prefix: str) -> JsonStyle:
        """Read the options of a format, whose names begin with ``prefix``.

        Raises:
            SqlError: An option has a value that it cannot have.
        """
        null_key = (options.text(f"{prefix}map-null-key.mode", "FAIL") or "").upper()
        if null_key not in {"FAIL", "DROP", "LITERAL"}:
            key = f"{prefix}map-null-key.mode"
            raise SqlError(f"{options.place}: '{key}' must be FAIL, DROP or LITERAL, but got '{null_key}'")
        return cls(
            options.place,
            prefix,
            iso_times(options, prefix),
            options.flag(f"{prefix}encode.decimal-as-plain-number"),
            not options.flag(f"{prefix}encode.ignore-null-fields"),
            null_key,
            options.text(f"{prefix}map-null-key.literal", "null") or "",
        )


def writer(kind: DataType, style: JsonStyle) -> Write:
    """Return the function that writes a value as JSON."""
    if isinstance(kind, (*TEXTS,)):
        return _quote
    if isinstance(kind, t.BooleanType):
        return lambda value: "true" if value else "false"
    if type(kind) in INTEGERS:
        return str
    if isinstance(kind, t.FloatType):
        return partial(_number, helpers.float_to_text)
    if isinstance(kind, t.DoubleType):
        return partial(_number, helpers.double_to_text)
    if isinstance(kind, t.DecimalType):
        return (lambda value: f"{value:f}") if style.plain else str
    if isinstance(kind, (t.DateType, t.TimeType)):
        return lambda value: f'"{value.isoformat()}"'
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        zone = "Z" if isinstance(kind, t.LocalZonedTimestampType) else ""
        return lambda value: f'"{timestamp_text(value, iso=style.iso)}{zone}"'
    if isinstance(kind, BYTES):
        return lambda value: f'"{base64.b64encode(value).decode()}"'
    if isinstance(kind, t.ArrayType):
        element = writer(kind.element_type, style)
        return lambda value: f"[{','.join(['null' if item is None else element(item) for item in value])}]"
    if isinstance(kind, t.MultisetType):
        kind = _map_of(kind)
    if isinstance(kind, t.MapType):
        return _map_writer(writer(kind.value_type, style), style)
    if isinstance(kind, t.RowType):
        return partial(object_text, members(kind.names, kind.field_types(), style), nulls=style.nulls)
    raise SqlError(f"messages have no values of type {sql_name(kind)}")


def members(names: Sequence[str], types: Sequence[DataType], style: JsonStyle) -> Sequence[tuple[str, Write]]:
    """Return the quoted name and the writer of each member of an object."""
    return [(_quote(name), writer(kind, style)) for name, kind in zip(names, types, strict=True)]


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(text_of: Write, value: float) -> str:
    return text_of(value) if value - value == 0 else f'"{text_of(value)}"'  # NaN and infinity are not JSON


def _map_writer(content: Write, style: JsonStyle) -> Write:
    literal = _quote(style.null_literal)

    def entry(key: object, value: object) -> str:
        if key is None and style.null_key == "FAIL":
            raise ValueError(
                f"{style.place}: JSON has no NULL as the key of a map: set "
                f"'{style.prefix}map-null-key.mode' to DROP or LITERAL"
            )
        name = literal if key is None else _quote(str(key))
        return f"{name}:{'null' if value is None else content(value)}"

    def write(value: dict[object, object]) -> str:
        if style.null_key == "DROP":
            value = {key: item for key, item in value.items() if key is not None}
        return f"{{{','.join([entry(key, item) for key, item in value.items()])}}}"

    return write


def _timestamp(iso: bool | None, zoned: bool, precision: int, value: object) -> datetime:
    return time_texts.parse_message_timestamp(str(value), iso=iso, zoned=zoned, precision=precision)


def timestamp_text(value: datetime, *, iso: bool) -> str:
    """Return a timestamp with as many digits of a second as it needs."""
    text = f"{value.year:04d}-{value:%m-%d}{'T' if iso else ' '}{value:%H:%M:%S}"
    fraction = fraction_of(value).rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def object_text(parts: Sequence[tuple[str, Write]], row: Sequence[object], *, nulls: bool = True) -> str:
    """Return a JSON object."""
    return (
        "{"
        + ",".join(
            [
                f"{name}:{'null' if value is None else write(value)}"
                for (name, write), value in zip(parts, row, strict=False)
                if nulls or value is not None
            ]
        )
        + "}"
    )


class JsonEncoder(Encoder):
    """Writes a JSON object with a member for each column."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        self.names, self.types = tuple(names), tuple(types)
        self.style = JsonStyle.of(options, prefix)
        options.of_sources(f"{prefix}ignore-parse-errors", f"{prefix}fail-on-missing-field")
        options.of_sources(f"{prefix}decode.json-parser.enabled")
        members(names, types, self.style)

    def encode(self) -> Encode:
        """Return the function that writes a row."""
        parts, nulls = members(self.names, self.types, self.style), self.style.nulls
        return lambda row: object_text(parts, row, nulls=nulls).encode(errors="replace")
