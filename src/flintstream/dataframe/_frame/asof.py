"""Joins with the version of a row at a time: ``join_asof``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._frame.base import Frame, column_of, find_unused, list_names, quote
from flintstream.dataframe._frame.joins import check_conflicts, keys_of_side, with_keys
from flintstream.table._expressions.sql_text import sql_text
from flintstream.table._owners import aggregates, environment_of
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.dataframe._frame.base import ColumnLike
    from flintstream.table.table import Table

    Keys = ColumnLike | list[ColumnLike]


class AsOf(Frame):
    """The method that joins rows with the version of another table at their time."""

    def join_asof(
        self,
        other: Self,
        *,
        how: str = "inner",
        on: ColumnLike | None = None,
        by: Keys | None = None,
        left_by: Keys | None = None,
        right_by: Keys | None = None,
    ) -> Self:
        """Return each row with the row of another DataFrame that its key had at the time of the row.

        With a column of event time, ``other`` needs event time and a primary key, or the last row of each key (as
        ``top_n`` leaves it). With a processing time, ``other`` is a table that its connector can look up, or a stream
        whose newest rows count. It becomes ``FOR SYSTEM_TIME AS OF`` in SQL.

        Args:
            other: The right side.
            how: ``inner``, or ``left`` to keep rows without a partner.
            on: The time: a column with a watermark, a column of processing time, or ``proctime()``.
            by: The keys that both sides have, or the whole condition; one equality at least.
            left_by: Keys of this DataFrame.
            right_by: Keys of the other one, as many.

        Raises:
            TypeError: An argument has another type.
            ValueError: The kind, time, keys or columns do not fit.
            SqlError: The time is not a time attribute, or ``other`` has no versions.

        >>> from datetime import datetime
        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> mark = ("at", "`at`")
        >>> day = [datetime(2026, 5, day) for day in (1, 2, 3, 4)]
        >>> orders = pf.from_dict({"coin": ["EUR", "EUR"], "n": [1, 2], "at": [day[1], day[3]]}, watermark=mark)
        >>> rates = pf.from_dict({"coin": ["EUR", "EUR"], "rate": [1.1, 1.2], "at": [day[0], day[2]]}, watermark=mark)
        >>> last = rates.rename("at", "since").top_n(1, partition_by="coin", order_by="since", descending=True)
        >>> orders.join_asof(last, on="at", by="coin").select("n", "rate").collect()
        [<Row(1, 1.1)>, <Row(2, 1.2)>]
        """
        if not isinstance(other, Frame):
            raise TypeError("other must be a pyflink.dataframe.DataFrame")
        if environment_of(self._table) is not environment_of(other._table):
            raise ValueError("DataFrames must belong to the same TableEnvironment")
        if how not in {"inner", "left"}:
            raise ValueError('how must be one of "inner" or "left"')
        if on is None:
            raise ValueError("join_asof() requires on, the time attribute of the left DataFrame")
        taken = {*self.columns, *other.columns}
        left, time = _time_of(self._table, column_of(on, "on"), taken)
        if isinstance(by, Expression):
            if left_by is not None or right_by is not None:
                raise ValueError("by cannot be combined with left_by or right_by")
            check_conflicts(self.columns, other.columns, set(), "join_asof")
            condition = sql_text(syntax_of(by)) or str(by)
            return self._join_asof(left, other._table, other.columns, time, how, condition)
        mine, theirs = _sides(self, other, by, left_by, right_by)
        if time in mine:
            raise ValueError("on must not be a key of the join, too")
        same = {key for key, match in zip(mine, theirs, strict=True) if isinstance(key, str) and key == match}
        check_conflicts(self.columns, other.columns, same, "join_asof")
        left, left_keys = with_keys(left, mine, "left", taken)
        right, right_keys = with_keys(other._table, theirs, "right", taken)
        pairs = zip(left_keys, right_keys, strict=True)
        condition = " AND ".join(f"l.{quote(a)} = r.{quote(b)}" for a, b in pairs)
        more = [name for name in other.columns if name not in same]
        return self._join_asof(left, right, more, time, how, condition)

    def _join_asof(self, left: Table, right: Table, more: list[str], time: str, how: str, condition: str) -> Self:
        chosen = [list_names(self.columns, "l"), *([list_names(more, "r")] if more else [])]
        return self._query(
            f"SELECT {', '.join(chosen)} FROM {quote(str(left))} AS l {how.upper()} JOIN {quote(str(right))} "
            f"FOR SYSTEM_TIME AS OF l.{quote(time)} AS r ON {condition}"
        )


def _time_of(table: Table, expression: Expression, taken: set[str]) -> tuple[Table, str]:
    """Return a table with a column for a time, and its name.

    Raises:
        ValueError: The expression is not one value of a row.
    """
    if aggregates(expression):
        raise ValueError("on must be a row-wise time attribute, not an aggregation")
    name = table.select(expression).get_resolved_schema().get_column_names()
    if len(name) == 1 and name[0] in table.get_resolved_schema().get_column_names():
        return table, name[0]
    made = find_unused("__asof_time", taken)
    return table.add_columns(expression.alias(made)), made


def _sides(
    left: Frame, right: Frame, by: Keys | None, left_by: Keys | None, right_by: Keys | None
) -> tuple[list[ColumnLike], list[ColumnLike]]:
    if by is not None:
        if left_by is not None or right_by is not None:
            raise ValueError("by cannot be combined with left_by or right_by")
        return keys_of_side(by, "by", left.columns), keys_of_side(by, "by", right.columns)
    if left_by is None or right_by is None:
        raise ValueError("join_asof() requires by, or both left_by and right_by")
    mine, theirs = keys_of_side(left_by, "left_by", left.columns), keys_of_side(right_by, "right_by", right.columns)
    if len(mine) != len(theirs):
        raise ValueError("left_by and right_by must have the same number of keys")
    return mine, theirs
