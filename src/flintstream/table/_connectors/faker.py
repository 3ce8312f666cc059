"""``'connector' = 'faker'``: rows of fake values, from expressions of Java Faker such as ``#{Name.fullName}``."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._connectors.contract import SourceConnector, TableSource
from flintstream.table._connectors.datagen import Field as AnyValue
from flintstream.table._connectors.datagen import generator_source
from flintstream.table._connectors.fake.expressions import maker_of, text_of
from flintstream.table._errors import SqlError
from flintstream.table._expressions import helpers
from flintstream.table._expressions.times import texts as time_texts
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, TIMESTAMPS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options

_UNREADABLE = (ValueError, TypeError, InvalidOperation)


@dataclass(frozen=True)
class FakeField:
    """How to make the values of a column."""

    type: DataType
    expression: str = ""
    locales: tuple[str, ...] = ()
    null_rate: float = 0.0
    length: int = 1
    """The number of elements of an array or map."""
    parts: tuple[FakeField, ...] = ()
    """The fields of a row, the element of an array, or the key and value of a map."""

    def maker(self) -> Callable[[int], object]:
        """Return the function that makes the value of a row by its number."""
        if self.parts:
            composed = AnyValue(self.type, None, None, None, self.length, 0.0, 0, parts=self.parts)  # type: ignore[arg-type]
            return composed.maker()
        make, read = maker_of(self.expression, self.locales), _reader(self.type)
        return lambda _: read(make())

    def or_null(self) -> Callable[[int], object]:
        """Return the maker of values within others."""
        return self.maker()


def _reader(kind: DataType) -> Callable[[Any], Any]:
    """Return the function that turns a fake value into one of a type."""
    if isinstance(kind, TEXTS):
        return text_of
    if type(kind) in INTEGERS:
        bits = INTEGERS[type(kind)]
        return lambda value: helpers.parse_integer(text_of(value), bits)
    if isinstance(kind, t.FloatType):
        return lambda value: helpers.narrow(float(value))
    if isinstance(kind, t.DoubleType):
        return float
    if isinstance(kind, t.DecimalType):
        precision, scale = kind.precision, kind.scale
        return lambda value: helpers.fit(Decimal(text_of(value)), precision, scale)
    if isinstance(kind, t.BooleanType):
        return lambda value: text_of(value).strip().lower() == "true"
    if isinstance(kind, BYTES):
        return lambda value: text_of(value).encode()
    if isinstance(kind, TIMESTAMPS):
        return lambda value: (
            value if isinstance(value, datetime) else time_texts.parse_short_timestamp(text_of(value), 3)
        )
    if isinstance(kind, t.DateType):
        return _day
    if isinstance(kind, t.TimeType):
        return lambda value: value.time() if isinstance(value, datetime) else time_texts.parse_time(text_of(value))
    raise SqlError(f"the connector 'faker' cannot generate values of type {sql_name(kind)}")


def _day(value: object) -> date:
    return value.date() if isinstance(value, datetime) else time_texts.parse_date(text_of(value).strip())


def _field(name: str, kind: DataType, options: Options) -> FakeField:
    prefix = f"fields.{name}."
    locales = tuple(
        item.strip().replace("-", "_") for item in (options.text(f"{prefix}locale") or "").split(",") if item
    )
    length = options.integer(f"{prefix}length", 1) or 0
    rate = _rate(f"{prefix}null-rate", options)
    if isinstance(kind, t.RowType):
        pairs = zip(kind.names, kind.field_types(), strict=True)
        inner = tuple(_field(f"{name}.{part}", item, options) for part, item in pairs)
        return FakeField(kind, null_rate=rate, parts=inner)
    if isinstance(kind, t.ArrayType):
        element = _field(name, kind.element_type, options)
        return FakeField(kind, null_rate=rate, length=length, parts=(element,))
    if isinstance(kind, t.MapType):
        sides = (f"{name}.key", kind.key_type), (f"{name}.value", kind.value_type)
        inner = tuple(_field(part, item, options) for part, item in sides)
        return FakeField(kind, null_rate=rate, length=length, parts=inner)
    expression = options.text(f"{prefix}expression")
    if expression is None:
        raise SqlError(f"table '{options.table}': the column '{name}' needs the option '{prefix}expression'")
    return FakeField(kind, expression, locales, rate)


def _rate(key: str, options: Options) -> float:
    given = options.text(key, "0") or "0"
    try:
        rate = float(given)
    except ValueError:
        rate = -1
    if not 0 <= rate <= 1:
        raise SqlError(f"table '{options.table}': the option '{key}' must be from 0 to 1, but got '{given}'")
    return rate


def _check_field(field: FakeField, name: str, options: Options) -> None:
    """Make a value, to see now what would fail in tasks.

    Raises:
        SqlError: The expression is wrong, or has values of another type.
    """
    for i, part in enumerate(field.parts):
        inner = f"{name}.{field.type.names[i]}" if isinstance(field.type, t.RowType) else name
        _check_field(part, inner, options)
    if field.parts or (not field.expression and field.null_rate == 1):
        return
    try:
        make = field.maker()
    except SqlError as error:
        raise SqlError(f"table '{options.table}': column '{name}': {error}") from error
    try:
        make(0)
    except _UNREADABLE as error:
        raise SqlError(
            f"table '{options.table}': column '{name}': the values of '{field.expression}' are not of the type "
            f"{sql_name(field.type)}: {error}"
        ) from error


def fake_fields(names: Sequence[str], types: Sequence[DataType], options: Options) -> list[FakeField]:
    """Return how to make the values of all columns.

    Raises:
        SqlError: An expression is missing or wrong.
    """
    fields = [_field(name, kind, options) for name, kind in zip(names, types, strict=True)]
    for name, field in zip(names, fields, strict=True):
        _check_field(field, name, options)
    return fields


class Faker(SourceConnector):
    """Makes rows of fake values, also for the keys of a lookup join."""

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        options = table.options
        fields = fake_fields(table.names, table.types, options)
        options.ignore_unknown("fields.")  # programs give expressions for computed columns, which have no effect
        made = generator_source(fields, options.integer("number-of-rows"), options)
        return TableSource(made, lookup=partial(FakeLookup, fields))


class FakeLookup:
    """Makes a row for every key: the key, and fake values in the other columns."""

    def __init__(self, fields: Sequence[FakeField], keys: Sequence[int]) -> None:
        """Take the fields of a row, and the positions of the key."""
        self.fields, self.keys = tuple(fields), tuple(keys)
        self._makers: list[tuple[Callable[[int], object], float]] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the functions."""
        return {**self.__dict__, "_makers": None}

    def find(self, keys: Sequence[tuple[object, ...]]) -> dict[tuple[object, ...], list[tuple[object, ...]]]:
        """Return a row for each key."""
        if self._makers is None:
            self._makers = [(field.maker(), field.null_rate) for field in self.fields]
        found = {}
        for key in keys:
            row = [None if random.random() < rate else make(0) for make, rate in self._makers]  # noqa: S311
            for position, value in zip(self.keys, key, strict=True):
                row[position] = value
            found[key] = [tuple(row)]
        return found

    def close(self) -> None:
        """Do nothing."""
