"""Points in time that programs give as ``datetime``."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.helpers import unzoned
from flintstream.table._expressions.times.helpers import to_instant, utc_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flintstream.table._functions.arrow_values import Converter


def instant_converter(kind: t.DataType, zone: str) -> Converter | None:
    """Return what turns each ``datetime`` in a value of a type into an ``Instant``; None if the type has none.

    A ``datetime`` without a zone is local time of ``zone``.

    >>> from datetime import timedelta, timezone
    >>> convert = instant_converter(t.ArrayType(t.LocalZonedTimestampType(3)), "Asia/Tokyo")
    >>> convert([datetime(1970, 1, 1, 9), datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=1)))])
    [Instant<0, 0>, Instant<-3600, 0>]
    """
    if isinstance(kind, t.LocalZonedTimestampType):
        return partial(_instant, zone)
    if isinstance(kind, t.RowType):
        parts = [instant_converter(part, zone) for part in kind.field_types()]
        return partial(_in_row, parts) if any(parts) else None
    if not isinstance(kind, (t.ArrayType, t.MapType)):
        return None
    inner = instant_converter(kind.element_type if isinstance(kind, t.ArrayType) else kind.value_type, zone)
    return None if inner is None else partial(_in_array if isinstance(kind, t.ArrayType) else _in_map, inner)


def _in_array(inner: Converter, values: Iterable[object] | None) -> list[object] | None:
    return None if values is None else list(map(inner, values))


def _in_map(inner: Converter, pairs: Mapping[object, object] | None) -> dict[object, object] | None:
    return None if pairs is None else {key: inner(value) for key, value in pairs.items()}


def _in_row(parts: Sequence[Converter | None], row: Sequence[object] | None) -> Sequence[object] | None:
    if row is None or len(row) != len(parts):
        return row  # what checks the rows names the fields
    return tuple(value if part is None else part(value) for part, value in zip(parts, row, strict=True))


def _instant(zone: str, value: object) -> object:
    if not isinstance(value, datetime):
        return value
    return to_instant(unzoned(value, zone) if value.tzinfo is None else utc_of(value))
