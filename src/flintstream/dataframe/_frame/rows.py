"""Rows: their order, duplicates, limits and sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._checks import require_rows, texts_of
from flintstream.dataframe._frame.base import (
    Frame,
    check_column,
    find_unused,
    flags_of,
    keys_of,
    list_names,
    quote,
)
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import syntax_of
from flintstream.table.expressions import col

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from flintstream.dataframe._frame.base import (
        ColumnLike,
    )
    from flintstream.table.table import Table


class Rows(Frame):
    """The methods that order, repeat, limit and combine rows."""

    def drop_duplicates(
        self,
        subset: str | Sequence[str] | None = None,
        *,
        keep: str = "first",
        order_by: ColumnLike | Sequence[ColumnLike] | None = None,
        nulls_first: bool | Sequence[bool] | None = None,
    ) -> Self:
        """Return each row once, or one row for each combination of values of some columns.

        Args:
            subset: The columns whose values are compared; all if there are none.
            keep: Which row stays: the ``"first"`` or ``"last"`` one.
            order_by: In which order; that of arrival if there is none.
            nulls_first: Whether None comes first in the order, for all keys or for each.

        Raises:
            TypeError: An argument has another type.
            ValueError: A column is unknown, or an argument needs another one.

        >>> import flintstream.dataframe as pf
        >>> readings = pf.from_records([(1, 10), (1, 20)], schema=["sensor", "at"])
        >>> readings.drop_duplicates("sensor", order_by="at", keep="last").columns
        ['sensor', 'at']
        """
        if keep not in {"first", "last"}:
            raise ValueError('keep must be "first" or "last"')
        names, keys = texts_of(subset, "subset"), keys_of(order_by, "order_by")
        if nulls_first is not None and keys is None:
            raise ValueError("nulls_first requires order_by")
        nulls = None if nulls_first is None else flags_of(nulls_first, len(keys or ()), "nulls_first")
        if names is None:
            if keys is not None:
                raise ValueError("order_by requires subset; whole-row duplicates cannot be ordered")
            return self._with(self._table.distinct())
        for name in names:
            check_column(name, self.columns, "subset")
        return self._rank(1, names, keys, [keep == "last"] * len(keys or " "), nulls)

    distinct = drop_duplicates
    unique = drop_duplicates

    def top_n(
        self,
        n: int,
        *,
        partition_by: str | Sequence[str] | None = None,
        order_by: ColumnLike | Sequence[ColumnLike] | None = None,
        descending: bool | Sequence[bool] = False,
        nulls_first: bool | Sequence[bool] | None = None,
    ) -> Self:
        """Return the first rows of an order, of all rows or of each group.

        Args:
            n: The number of rows.
            partition_by: The columns of the groups; none for a single group.
            order_by: Columns and expressions; required.
            descending: Whether the largest come first, for all keys or for each.
            nulls_first: Whether None comes first, likewise.

        Raises:
            TypeError: An argument has another type, or the order is missing.
            ValueError: ``n`` is less than 1, or a column is unknown.

        >>> import flintstream.dataframe as pf
        >>> sales = pf.from_records([("pear", 10), ("pear", 20)], schema=["item", "amount"])
        >>> sales.top_n(1, partition_by="item", order_by="amount", descending=True).columns
        ['item', 'amount']
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError("n must be an integer >= 1")
        if order_by is None or (isinstance(order_by, (list, tuple)) and not order_by):
            raise TypeError("top_n requires a non-empty order_by")
        keys = keys_of(order_by, "order_by") or []
        groups = (texts_of(partition_by, "partition_by") if partition_by else None) or []
        for name in groups:
            check_column(name, self.columns, "partition_by")
        nulls = None if nulls_first is None else flags_of(nulls_first, len(keys), "nulls_first")
        return self._rank(n, groups, keys, flags_of(descending, len(keys), "descending"), nulls)

    def _rank(
        self,
        n: int,
        groups: Sequence[str],
        keys: Sequence[ColumnLike] | None,
        descending: Sequence[bool],
        nulls: Sequence[bool] | None,
    ) -> Self:
        columns, taken = self.columns, set(self.columns)
        if keys is None:
            table, order = self._table, f"PROCTIME() {'DESC' if descending[0] else 'ASC'}"
        else:
            table, order = self._order(keys, descending, nulls, "order_by", taken)
        number = quote(find_unused("__pf_row_number", taken))
        partition = f"PARTITION BY {list_names(groups)} " if groups else ""
        ranked = f"SELECT *, ROW_NUMBER() OVER ({partition}ORDER BY {order}) AS {number}\n  FROM {quote(str(table))}"
        limit = "= 1" if n == 1 else f"<= {n}"
        return self._query(f"SELECT {list_names(columns)} FROM (\n  {ranked}\n) WHERE {number} {limit}")

    def _order(
        self,
        keys: Sequence[ColumnLike],
        descending: Sequence[bool],
        nulls: Sequence[bool] | None,
        argument: str,
        taken: set[str],
    ) -> tuple[Table, str]:
        """Return a table with a column for each key that is an expression, and the order as SQL."""
        table, terms = self._table, []
        for i, key in enumerate(keys):
            if isinstance(key, str):
                check_column(key, self.columns, argument)
                name = key
            else:
                name = find_unused(f"__pf_order_{i}", taken)
                table = table.add_columns(key.alias(name))
            where = "" if nulls is None else f" NULLS {'FIRST' if nulls[i] else 'LAST'}"
            terms.append(f"{quote(name)} {'DESC' if descending[i] else 'ASC'}{where}")
        return table, ", ".join(terms)

    def sort(
        self,
        by: ColumnLike | Sequence[ColumnLike],
        *,
        descending: bool | Sequence[bool] = False,
        nulls_first: bool | Sequence[bool] | None = None,
    ) -> Self:
        """Return the rows in an order; an unbounded table needs a rowtime, ascending, or a limit after it.

        Args:
            by: Columns and expressions.
            descending: Whether the largest come first, for all keys or for each.
            nulls_first: Whether None comes first; last, and first where the order is descending, if it is not given.

        Raises:
            TypeError: An argument has another type.
            ValueError: A column is unknown, or an expression has a direction itself.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(2, "b"), (1, "a")], schema=["id", "name"]).sort("id", descending=True).columns
        ['id', 'name']
        """
        keys = keys_of(by, "by")
        if keys is None:
            raise TypeError("by must be a string, an expression, or a list or tuple of them")
        for key in keys:
            if isinstance(key, str):
                check_column(key, self.columns, "by")
            elif _has_direction(syntax_of(key)):
                raise ValueError("sort() expressions must not specify asc or desc; use descending instead")
        down = flags_of(descending, len(keys), "descending")
        if nulls_first is not None:
            nulls = flags_of(nulls_first, len(keys), "nulls_first")
            table, order = self._order(keys, down, nulls, "by", set(self.columns))
            return self._query(f"SELECT {list_names(self.columns)} FROM {quote(str(table))} ORDER BY {order}")
        items = [col(key) if isinstance(key, str) else key for key in keys]
        return self._with(
            self._table.order_by(*(item.desc if last else item.asc for item, last in zip(items, down, strict=True)))
        )

    def limit(self, n: int) -> Self:
        """Return at most ``n`` rows, the first ones of an order if there is one.

        Raises:
            TypeError: ``n`` is not a whole number.
            ValueError: ``n`` is negative.

        >>> import flintstream.dataframe as pf
        >>> pf.range(10).limit(2).columns
        ['id']
        """
        return self._with(self._table.fetch(require_rows(n)))

    def head(self, n: int) -> Self:
        """Return at most ``n`` rows, as :meth:`limit` does.

        >>> import flintstream.dataframe as pf
        >>> pf.range(10).head(2).columns
        ['id']
        """
        return self.limit(n)

    def offset(self, n: int) -> Self:
        """Return the rows without the first ``n`` of an order.

        Raises:
            TypeError: ``n`` is not a whole number.
            ValueError: ``n`` is negative.

        >>> import flintstream.dataframe as pf
        >>> pf.range(10).sort("id").offset(4).limit(2).columns
        ['id']
        """
        return self._with(self._table.offset(require_rows(n)))

    # -- sets ------------------------------------------------------------------------------------------------------

    def union(self, other: Self) -> Self:
        """Return each row of both once, matched by position; in batch mode.

        Raises:
            TypeError: The other one is not a DataFrame.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).union(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.union(_other(other)._table))

    def union_all(self, other: Self) -> Self:
        """Return the rows of both.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).union_all(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.union_all(_other(other)._table))

    def intersect(self, other: Self) -> Self:
        """Return each row once that both have; in batch mode.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).intersect(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.intersect(_other(other)._table))

    def intersect_all(self, other: Self) -> Self:
        """Return the rows that both have, as often as in both; in batch mode.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).intersect_all(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.intersect_all(_other(other)._table))

    def minus(self, other: Self) -> Self:
        """Return each row once that the other one does not have; in batch mode.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).minus(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.minus(_other(other)._table))

    def minus_all(self, other: Self) -> Self:
        """Return the rows as often as they are here more than in the other one; in batch mode.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).minus_all(pf.range(5)).columns
        ['id']
        """
        return self._with(self._table.minus_all(_other(other)._table))


def _other(value: object) -> Frame:
    if not isinstance(value, Frame):
        raise TypeError("other must be a DataFrame")
    return value


def _has_direction(syntax: s.Syntax) -> bool:
    named = isinstance(syntax, s.Apply) and syntax.function in {"ASC", "DESC"}
    return named or any(map(_has_direction, s.parts(syntax)))
