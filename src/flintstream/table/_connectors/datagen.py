"""``'connector' = 'datagen'``: rows of random values or sequences."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import narrow
from flintstream.common._types import data_types as t
from flintstream.connectors.generated_rows import GeneratedRows
from flintstream.connectors.rate_limit import RateLimiterStrategy
from flintstream.table._connectors.contract import SourceConnector, TableSource
from flintstream.table._errors import SqlError
from flintstream.table._expressions.helpers import WIDE, named_row
from flintstream.table._expressions.times import helpers as time_helpers
from flintstream.table._types.rules import BYTES, INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.generated_rows import GeneratedField
    from flintstream.connectors.source import Source
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.options import Options


@dataclass(frozen=True)
class Field:
    """How to make the values of a column."""

    type: DataType
    start: int | None
    """The first value of a sequence."""
    low: Any
    high: Any
    length: int
    null_rate: float
    max_past_ms: int
    varies: bool = False
    """Whether texts have any length up to ``length``."""
    parts: tuple[Field, ...] = ()
    """The fields of a row, the element of an array, or the key and value of a map."""

    def maker(self) -> Callable[[int], object]:
        """Return the function that makes the value of a row by its number."""
        if self.start is not None:
            start = self.start
            return (lambda n: str(start + n)) if isinstance(self.type, TEXTS) else lambda n: start + n
        kind, low, high, length = self.type, self.low, self.high, self.length
        if self.parts:
            return self._compose()
        if isinstance(kind, (*TEXTS, *BYTES)):
            shortest = 1 if self.varies and length else length
            size = partial(random.randint, shortest, length)
            if isinstance(kind, BYTES):
                return lambda _: random.randbytes(size())  # noqa: S311
            return lambda _: "".join(random.choices(string.hexdigits[:16], k=size()))  # noqa: S311 - test data
        if isinstance(kind, t.BooleanType):
            return lambda _: random.random() < 0.5  # noqa: S311
        if type(kind) in INTEGERS:
            return lambda _: random.randint(low, high)  # noqa: S311
        if isinstance(kind, t.DecimalType):
            unit = Decimal((0, (1,), -kind.scale))
            return lambda _: Decimal(repr(random.uniform(low, high))).quantize(unit, context=WIDE)  # noqa: S311
        if isinstance(kind, (t.FloatType, t.DoubleType)):
            narrowed = isinstance(kind, t.FloatType)
            return lambda _: _narrow(random.uniform(low, high), narrowed=narrowed)  # noqa: S311
        if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
            past = self.max_past_ms
            return lambda _: time_helpers.now() - timedelta(milliseconds=random.randint(0, past))  # noqa: S311
        if isinstance(kind, t.DateType):
            return lambda _: time_helpers.now().date()
        if isinstance(kind, t.TimeType):
            return lambda _: (datetime.min + timedelta(seconds=random.randrange(86_400))).time()  # noqa: DTZ901, S311
        raise SqlError(f"datagen cannot generate values of type {sql_name(kind)}")

    def _compose(self) -> Callable[[int], object]:
        makers = [part.or_null() for part in self.parts]
        if isinstance(self.type, t.RowType):
            names = tuple(self.type.names)
            return lambda n: named_row(names, [make(n) for make in makers])
        first, last, length = makers[0], makers[-1], self.length
        if isinstance(self.type, t.MapType):
            return lambda n: {first(n): last(n) for _ in range(length)}
        return lambda n: [first(n) for _ in range(length)]

    def or_null(self) -> Callable[[int], object]:
        """Return the maker of values within others, some of them None."""
        make, rate = self.maker(), self.null_rate
        return (lambda n: None if random.random() < rate else make(n)) if rate else make  # noqa: S311


def _narrow(value: float, *, narrowed: bool) -> float:
    return narrow(value) if narrowed else value


def _limits(kind: DataType) -> tuple[object, object]:
    if type(kind) in INTEGERS:
        most = (1 << (INTEGERS[type(kind)] - 1)) - 1
        return -most - 1, most
    if isinstance(kind, t.DecimalType):
        most = 10 ** (kind.precision - kind.scale) - 1
        return -most, most
    return (0.0, 3.4e38) if isinstance(kind, t.FloatType) else (0.0, 1.7e308)


def _field(name: str, kind: DataType, options: Options) -> tuple[Field, int | None]:
    """Return the field and, for a sequence, the number of its values."""
    prefix = f"fields.{name}."
    how = options.text(f"{prefix}kind", "random")
    low, high = _limits(kind)
    number = int if type(kind) in INTEGERS else float
    given = {key: options.text(f"{prefix}{key}") for key in ("min", "max", "start", "end")}
    inner = _parts(name, kind, options)
    length = options.integer(f"{prefix}length", _fixed_length(kind) or (3 if inner else 100)) or 0
    varies = options.flag(f"{prefix}var-len")
    null_rate = float(options.text(f"{prefix}null-rate", "0") or 0)
    past = options.millis(f"{prefix}max-past") or 0
    if how == "sequence":
        if given["start"] is None or given["end"] is None:
            raise SqlError(f"table '{options.table}': '{prefix}start' and '{prefix}end' are required for a sequence")
        start, end = int(given["start"]), int(given["end"])
        return Field(kind, start, low, high, length, null_rate, past), end - start + 1
    if how != "random":
        raise SqlError(f"table '{options.table}': '{prefix}kind' must be random or sequence, but got '{how}'")
    low = low if given["min"] is None else number(given["min"])
    high = high if given["max"] is None else number(given["max"])
    return Field(kind, None, low, high, length, null_rate, past, varies, inner), None


def _fixed_length(kind: DataType) -> int | None:
    """Return n of CHAR(n) or BINARY(n)."""
    return kind.length if isinstance(kind, (t.CharType, t.BinaryType)) else None


def _parts(name: str, kind: DataType, options: Options) -> tuple[Field, ...]:
    if isinstance(kind, t.RowType):
        pairs = [(f"{name}.{part}", item) for part, item in zip(kind.names, kind.field_types(), strict=True)]
    elif isinstance(kind, t.ArrayType):
        pairs = [(f"{name}.element", kind.element_type)]
    elif isinstance(kind, t.MapType):
        pairs = [(f"{name}.key", kind.key_type.not_null()), (f"{name}.value", kind.value_type)]
    else:
        return ()
    return tuple(_field(part, item, options)[0] for part, item in pairs)


class Datagen(SourceConnector):
    """Makes rows of random values or sequences."""

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        options = table.options
        rows = options.integer("number-of-rows")
        fields: list[Field] = []
        for name, kind in zip(table.names, table.types, strict=True):
            field, count = _field(name, kind, options)
            field.maker()
            fields.append(field)
            if count is not None:
                rows = count if rows is None else min(rows, count)
        return TableSource(generator_source(fields, rows, options))


def generator_source(fields: Sequence[GeneratedField], rows: int | None, options: Options) -> Source:
    """Return the source of rows whose values ``fields`` make, at the rate of a table."""
    rate = options.integer("rows-per-second", 10_000) or 10_000
    return RateLimiterStrategy.per_second(rate).limit(GeneratedRows(fields, rows))
