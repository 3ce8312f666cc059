"""Results of tables as data of pandas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common.types import RowKind
from flintstream.errors import optional_module
from flintstream.table._functions.kinds import series_of
from flintstream.table._operators.rows import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.table._expressions.expr import Column


def data_frame(columns: Sequence[Column], result: Any) -> Any:
    """Return the rows of a result, in the order in which they came, without those that were retracted."""
    pandas = optional_module("pandas", extra="dataframes", purpose="to_pandas()")
    with result.collect() as found:
        rows = left(found)
    series = {}
    for i, column in enumerate(columns):
        values = [row[i] for row in rows]
        if isinstance(column.type, (t.TimestampType, t.LocalZonedTimestampType)):
            series[i] = pandas.to_datetime(pandas.Series(values))
        else:
            series[i] = series_of(pandas, values, column.type, otherwise=object)
    made = pandas.DataFrame(series)
    made.columns = [item.name for item in columns]
    return made


def left(changes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the rows that changes leave behind."""
    rows: list[tuple[object, ...]] = []
    gone: Counter[object] = Counter()
    for row in changes:
        if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}:
            rows.append(tuple(row))
        else:
            gone[frozen(tuple(row))] += 1
    kept = []
    for item in rows:  # the first ones are those that were retracted
        if gone and gone[frozen(item)]:
            gone[frozen(item)] -= 1
        else:
            kept.append(item)
    return kept
