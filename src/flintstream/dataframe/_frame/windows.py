"""Windows of time, and groups of rows."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

from flintstream.dataframe._frame.base import Frame, aliases_of, column_of, names_in
from flintstream.table._errors import SqlError
from flintstream.table._owners import with_windows
from flintstream.table.expression import Expression
from flintstream.table.expressions import col, lit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from flintstream.dataframe._frame.base import ColumnLike

F = TypeVar("F", bound="Frame")


class GroupedDataFrame(Generic[F]):
    """The groups of rows with equal values, which ``group_by()`` returns.

    >>> import flintstream.dataframe as pf
    >>> sales = pf.from_records([("pear", 3), ("pear", 4)], schema=["item", "n"])
    >>> groups = sales.group_by("item")
    >>> groups.agg(pf.col("n").max.alias("most")).columns
    ['item', 'most']
    """

    def __init__(self, dataframe: F, grouping_keys: Sequence[Expression]) -> None:
        """Hold the rows and keys; ``group_by()`` makes it."""
        self._dataframe = dataframe
        self._grouping_keys = list(grouping_keys)

    def agg(self, *aggs: Expression, **named_aggs: Expression) -> F:
        """Return a row for each group: the keys, and then aggregates.

        Raises:
            TypeError: An aggregate is not an expression.
            ValueError: There is none.

        >>> import flintstream.dataframe as pf
        >>> sales = pf.from_records([("pear", 3), ("pear", 4)], schema=["item", "n"])
        >>> sales.group_by("item").agg(total=pf.col("n").sum).columns
        ['item', 'total']
        """
        found = aggregates_of(aggs, named_aggs)
        keys = self._grouping_keys
        names = [name for item in (*keys, *found) for name in aliases_of(item) or names_in(item)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SqlError(f"Ambiguous column name: {', '.join(twice)}. Give each aggregate a name of its own")
        return self._dataframe._with(self._dataframe._table.group_by(*keys).select(*keys, *found))


class Windows(Frame):
    """The methods that assign rows to windows, and those that aggregate."""

    def tumble(self, *, on: ColumnLike, size: timedelta | Expression) -> Self:
        """Return the rows with the window that each belongs to: windows of a size, one after the other.

        The columns are ``window_start``, ``window_end`` and ``window_time``; group by them.

        Args:
            on: The column of event time or processing time.
            size: How long windows are: a ``timedelta``, or an interval such as ``pf.lit(10).minutes``.

        Raises:
            TypeError: An argument has another type.
            SqlError: The column is not a time attribute, or the size is wrong.

        >>> import flintstream.dataframe as pf
        >>> from datetime import datetime, timedelta
        >>> at = [datetime(2026, 1, 1, 0, 0, 3), datetime(2026, 1, 1, 0, 0, 12)]
        >>> clicks = pf.from_dict({"at": at, "n": [1, 2]}, watermark=("at", "at - INTERVAL '1' SECOND"))
        >>> clicks.tumble(on="at", size=timedelta(seconds=10)).columns
        ['at', 'n', 'window_start', 'window_end', 'window_time']
        """
        return self._with(with_windows(self._table, "TUMBLE", column_of(on, "on"), [_interval(size)], []))

    def hop(self, *, on: ColumnLike, slide: timedelta | Expression, size: timedelta | Expression) -> Self:
        """Return the rows with the windows that each belongs to: one begins every ``slide``.

        Args:
            on: The column of event time or processing time.
            slide: The time between the beginnings of windows.
            size: How long windows are.

        >>> import flintstream.dataframe as pf
        >>> from datetime import datetime, timedelta
        >>> clicks = pf.from_dict({"at": [datetime(2026, 1, 1)]}, watermark=("at", "at - INTERVAL '1' SECOND"))
        >>> clicks.hop(on="at", slide=timedelta(seconds=5), size=timedelta(seconds=10)).columns[1:3]
        ['window_start', 'window_end']
        """
        sizes = [_interval(slide), _interval(size)]
        return self._with(with_windows(self._table, "HOP", column_of(on, "on"), sizes, []))

    def cumulate(self, *, on: ColumnLike, step: timedelta | Expression, size: timedelta | Expression) -> Self:
        """Return the rows with windows that begin together and grow by ``step`` up to ``size``.

        Args:
            on: The column of event time or processing time.
            step: How much longer the next window is.
            size: How long the last one is, a multiple of the step.

        >>> import flintstream.dataframe as pf
        >>> from datetime import datetime, timedelta
        >>> clicks = pf.from_dict({"at": [datetime(2026, 1, 1)]}, watermark=("at", "at - INTERVAL '1' SECOND"))
        >>> clicks.cumulate(on="at", step=timedelta(seconds=5), size=timedelta(seconds=10)).columns[1:3]
        ['window_start', 'window_end']
        """
        sizes = [_interval(step), _interval(size)]
        return self._with(with_windows(self._table, "CUMULATE", column_of(on, "on"), sizes, []))

    def session(
        self,
        *,
        on: ColumnLike,
        gap: timedelta | Expression,
        partition_by: ColumnLike | Sequence[ColumnLike] | None = None,
    ) -> Self:
        """Return the rows with their sessions, which end after ``gap`` without rows.

        Args:
            on: The column of event time or processing time.
            gap: The time without rows.
            partition_by: Columns, for whose values sessions are independent.

        >>> import flintstream.dataframe as pf
        >>> from datetime import datetime, timedelta
        >>> clicks = pf.from_dict({"at": [datetime(2026, 1, 1)]}, watermark=("at", "at - INTERVAL '1' SECOND"))
        >>> clicks.session(on="at", gap=timedelta(minutes=10)).columns[1:3]
        ['window_start', 'window_end']
        """
        given = partition_by if isinstance(partition_by, (list, tuple)) else [partition_by]
        kinds = "column name, expression, or a list of them"
        by = [column_of(item, "partition_by", kinds) for item in given if item is not None]
        return self._with(with_windows(self._table, "SESSION", column_of(on, "on"), [_interval(gap)], by))

    def agg(self, *aggs: Expression, **named_aggs: Expression) -> Self:
        """Return one row with aggregates of all rows.

        Args:
            aggs: Aggregates with names.
            named_aggs: Aggregates, by the names of their columns.

        Raises:
            TypeError: One is not an expression.
            ValueError: There is none.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).agg(total=pf.col("id").sum, rows=pf.col("id").count).columns
        ['total', 'rows']
        """
        return self._with(self._table.group_by().select(*aggregates_of(aggs, named_aggs)))

    def group_by(self, *columns: ColumnLike) -> GroupedDataFrame[Self]:
        """Return the groups of rows with equal values; their ``agg()`` aggregates them.

        Raises:
            TypeError: A key is neither a name nor an expression.
            ValueError: The keys are missing.

        >>> import flintstream.dataframe as pf
        >>> sales = pf.from_records([("pear", 3), ("pear", 4)], schema=["item", "n"])
        >>> sales.group_by("item").agg(total=pf.col("n").sum).columns
        ['item', 'total']
        """
        if not columns:
            raise ValueError("group_by() requires at least one grouping key")
        if not all(isinstance(column, (str, Expression)) for column in columns):
            raise TypeError("group_by() grouping keys must be strings or expressions")
        return GroupedDataFrame(self, [col(item) if isinstance(item, str) else item for item in columns])


def _interval(value: object) -> Expression:
    if isinstance(value, timedelta):
        found: Expression = lit(value // timedelta(milliseconds=1)).milli
        return found
    if isinstance(value, Expression):
        return value
    raise TypeError("interval must be a datetime.timedelta or Expression")


def aggregates_of(aggs: Sequence[object], named: dict[str, Expression]) -> list[Expression]:
    """Return aggregates with their names.

    Raises:
        TypeError: One is not an expression.
        ValueError: There is none.
    """
    if not aggs and not named:
        raise ValueError("agg() requires at least one aggregation")
    found = [item for item in aggs if isinstance(item, Expression)]
    found += [item.alias(name) for name, item in named.items() if isinstance(item, Expression)]
    if len(found) != len(aggs) + len(named):
        raise TypeError("agg() aggregations must be expressions")
    return found
