"""``'connector' = 'datagen'``: rows of random values or sequences."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.common._javatext import narrow
from flintstream.connectors.generated_rows import GeneratedRows
from flintstream.connectors.rate_limit import RateLimiterStrategy
from flintstream.table._errors import SqlError
from flintstream.table._expressions import time_helpers
from flintstream.table._expressions.types import INTEGERS, TEXTS, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._datatypes import DataType
    from flintstream.connectors.source import Source
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

    def maker(self) -> Callable[[int], Any]:
        """Return the function that makes the value of a row by its number."""
        if self.start is not None:
            start = self.start
            return (lambda n: str(start + n)) if isinstance(self.type, TEXTS) else lambda n: start + n
        kind, low, high, length = self.type, self.low, self.high, self.length
        if isinstance(kind, TEXTS):
            return lambda _: "".join(random.choices(string.hexdigits[:16], k=length))  # noqa: S311 - test data
        if isinstance(kind, t.BooleanType):
            return lambda _: random.random() < 0.5  # noqa: S311
        if type(kind) in INTEGERS:
            return lambda _: random.randint(low, high)  # noqa: S311
        if isinstance(kind, t.DecimalType):
            unit = Decimal((0, (1,), -kind.scale))
            return lambda _: Decimal(repr(random.uniform(low, high))).quantize(unit)  # noqa: S311
        if isinstance(kind, (t.FloatType, t.DoubleType)):
            narrowed = isinstance(kind, t.FloatType)
            return lambda _: _narrow(random.uniform(low, high), narrowed=narrowed)  # noqa: S311
        if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
            past = self.max_past_ms
            return lambda _: time_helpers.now() - timedelta(milliseconds=random.randint(0, past))  # noqa: S311
        if isinstance(kind, t.DateType):
            return lambda _: time_helpers.now().date()
        raise SqlError(f"datagen makes no values of type {sql_name(kind)}")


def _narrow(value: float, *, narrowed: bool) -> float:
    return narrow(value) if narrowed else value


def _limits(kind: DataType) -> tuple[Any, Any]:
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
    length = options.integer(f"{prefix}length", 100) or 0
    options.not_yet(f"{prefix}var-len", "false")
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
    return Field(kind, None, low, high, length, null_rate, past), None


def datagen(names: Sequence[str], types: Sequence[DataType], options: Options) -> Source:
    """Return the source of a table."""
    rate = options.integer("rows-per-second", 10_000) or 10_000
    rows = options.integer("number-of-rows")
    options.known("scan.parallelism")
    fields: list[Field] = []
    for name, kind in zip(names, types, strict=True):
        field, count = _field(name, kind, options)
        field.maker()
        fields.append(field)
        if count is not None:
            rows = count if rows is None else min(rows, count)
    return RateLimiterStrategy.per_second(rate).limit(GeneratedRows(fields, rows))
