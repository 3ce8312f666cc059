"""Results of tables as pandas data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import MICROSECONDS, to_nanoseconds
from flintstream.common.types import RowKind
from flintstream.errors import optional_module
from flintstream.table._functions.arrow_values import dtype_of, naive_utc, numpy_converter, series_of
from flintstream.table._operators.rows import to_hashable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from flintstream.common.types import Row
    from flintstream.table._expressions.expr import Column


def data_frame(columns: Sequence[Column], changes: Iterable[Row], zone: str) -> Any:
    """Return the rows that changes leave behind, in the order in which they came.

    Columns have the types that PyFlink gets of Arrow; ``TIMESTAMP_LTZ`` is shown in a time zone.
    """
    pandas = optional_module("pandas", extra="dataframes", purpose="to_pandas()")
    rows = remaining_rows(changes)
    series = {}
    for i, column in enumerate(columns):
        values = [row[i] for row in rows]
        if isinstance(column.type, t.TimestampType):
            series[i] = pandas.Series(_times(values, column.type.precision), dtype=dtype_of(column.type))
        elif isinstance(column.type, t.LocalZonedTimestampType):
            local = _times(list(map(naive_utc, values)), column.type.precision)
            utc = pandas.Series(local, dtype=dtype_of(column.type))
            series[i] = utc.dt.tz_localize("UTC").dt.tz_convert(zone)
        else:
            convert = numpy_converter(column.type)
            shown = values if convert is None else list(map(convert, values))
            series[i] = series_of(pandas, shown, column.type, otherwise=object)
    made = pandas.DataFrame(series)
    made.columns = [item.name for item in columns]
    return made


def _times(values: Sequence[datetime | None], precision: int) -> Sequence[object]:
    """Return what pandas takes with all digits."""
    if precision <= MICROSECONDS:
        return values
    return [None if value is None else to_nanoseconds(value) for value in values]


def remaining_rows(changes: Iterable[Row]) -> list[tuple[Any, ...]]:
    """Return the rows that changes leave behind."""
    rows: list[tuple[object, ...]] = []
    gone: Counter[object] = Counter()
    for row in changes:
        if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}:
            rows.append(tuple(row))
        else:
            gone[to_hashable(tuple(row))] += 1
    kept = []
    for item in rows:  # the first ones are those that were retracted
        if gone and gone[to_hashable(item)]:
            gone[to_hashable(item)] -= 1
        else:
            kept.append(item)
    return kept
