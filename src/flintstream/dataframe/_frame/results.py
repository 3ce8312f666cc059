"""Results of DataFrames: rows, batches, and what notebooks show."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from flintstream.common._text.leaving import write_text
from flintstream.dataframe._checks import require_choice, require_int, require_number, require_rows
from flintstream.dataframe._frame.base import Frame
from flintstream.dataframe._frame.shown import as_html, as_markdown, as_text
from flintstream.dataframe.iteration import (
    BATCH_FORMATS,
    Batches,
    dict_of,
    iterate_rows,
    kind_field,
    take_rows,
)
from flintstream.errors import optional_module
from flintstream.table._owners import batches_of, exact_rows_of
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from flintstream.common.types import Row
    from flintstream.dataframe.iteration import CloseableIterator
    from flintstream.table.table import Table
    from flintstream.table.table_schema import TableSchema

_KIND = "__row_kind__"


class Results(Frame):
    """The methods that run a job, and those that describe the columns."""

    def collect(self) -> list[Row]:
        """Run a job, and return all rows in the order in which they come.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(2).collect()
        [<Row(0)>, <Row(1)>]
        """
        with self._table.execute().collect() as rows:
            return list(rows)

    def iter_rows(
        self, *, include_row_kind: bool = False, row_kind_field: str = _KIND
    ) -> CloseableIterator[dict[str, object]]:
        """Run a job, and return its rows as dicts, as they come; also of an unbounded table.

        A table with updates has a row for each change.

        Args:
            include_row_kind: Whether the kinds of changes are there: ``+I``, ``-U``, ``+U`` or ``-D``.
            row_kind_field: Under which key.

        Raises:
            TypeError: The key is not a text.
            ValueError: The key is empty, or a column.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> with pf.range(2).iter_rows(include_row_kind=True, row_kind_field="op") as rows:
        ...     list(rows)
        [{'id': 0, 'op': '+I'}, {'id': 1, 'op': '+I'}]
        """
        columns = self.columns
        return iterate_rows(self._table, columns, kind_field(columns, row_kind_field, included=include_row_kind))

    def iter_batches(
        self,
        *,
        batch_size: int = 1000,
        batch_format: Literal["pandas", "pyarrow"] = "pandas",
        include_row_kind: bool = False,
        row_kind_field: str = _KIND,
    ) -> CloseableIterator[pd.DataFrame | pa.Table]:
        """Run a job, and return its rows in batches, as they come.

        Args:
            batch_size: The rows of each batch but the last.
            batch_format: Whether batches are of pandas or Arrow.
            include_row_kind: Whether there is a column with the kinds of changes.
            row_kind_field: Its name.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is out of bounds, or a column has no type of Arrow.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> with pf.range(5).iter_batches(batch_size=2) as batches:
        ...     [len(batch) for batch in batches]
        [2, 2, 1]
        """
        require_int(batch_size, "batch_size", 1)
        made = self._batches(batch_format, row_kind_field, included=include_row_kind)
        batches = None if include_row_kind else batches_of(self._table)
        return made.iterate(self._table, batch_size) if batches is None else made.cut(batches, batch_size)

    def take(
        self,
        n: int,
        *,
        timeout: float | None = None,
        include_row_kind: bool = False,
        row_kind_field: str = _KIND,
    ) -> list[dict[str, object]]:
        """Run a job until ``n`` rows are there, and return them as dicts.

        Args:
            n: The most rows.
            timeout: The most seconds to wait for them; without it, until they are there or the job ends.
            include_row_kind: Whether the kinds of changes are there.
            row_kind_field: Under which key.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is out of bounds.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(9).take(2)
        [{'id': 0}, {'id': 1}]
        """
        require_rows(n)
        columns = self.columns
        kind = kind_field(columns, row_kind_field, included=include_row_kind)
        return [dict_of(row, columns, kind) for row in take_rows(self._table, n, _seconds(timeout))]

    def take_batch(
        self,
        n: int,
        *,
        timeout: float | None = None,
        batch_format: Literal["pandas", "pyarrow"] = "pandas",
        include_row_kind: bool = False,
        row_kind_field: str = _KIND,
    ) -> pd.DataFrame | pa.Table:
        """Run a job until ``n`` rows are there, and return them as a batch; the arguments are those of :meth:`take`.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(9).take_batch(2, batch_format="pyarrow").num_rows
        2
        """
        require_rows(n)
        seconds = _seconds(timeout)
        batches = self._batches(batch_format, row_kind_field, included=include_row_kind)
        return batches.of(take_rows(self._table, n, seconds, exact=True))

    def _batches(self, batch_format: object, row_kind_field: object, *, included: bool) -> Batches:
        found = require_choice(batch_format, "batch_format", BATCH_FORMATS)
        schema = self._table.get_resolved_schema()
        columns = schema.get_column_names()
        return Batches(
            columns, schema.get_column_data_types(), found, kind_field(columns, row_kind_field, included=included)
        )

    def explain(self, *extra_details: object) -> str:
        """Return the plan as text, as ``to_table().explain()`` does. Realtime Compute for Apache Flink has this name.

        Args:
            extra_details: Those of ``ExplainDetail``.

        >>> import flintstream.dataframe as pf
        >>> pf.range(2).explain().splitlines()[0]
        '== Abstract Syntax Tree =='
        """
        return self._table.explain(*extra_details)

    def to_table(self) -> Table:
        """Return the table, for the Table API.

        >>> import flintstream.dataframe as pf
        >>> pf.range(2).to_table().get_schema().get_field_names()
        ['id']
        """
        return self._table

    def to_pandas(self) -> pd.DataFrame:
        """Run a job, and return all rows as a DataFrame of pandas; of changes, what they leave behind.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> list(pf.range(2).to_pandas()["id"])
        [0, 1]
        """
        found: pd.DataFrame = self._table.to_pandas()
        return found

    def to_arrow(self) -> pa.Table:
        """Run a job, and return all rows as a table of Arrow.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(2).to_arrow().to_pydict()
        {'id': [0, 1]}
        """
        made = self._batches("pyarrow", _KIND, included=False)
        batches = batches_of(self._table)
        if batches is not None:
            return made.join(batches)
        with exact_rows_of(self._table) as rows:
            return made.of(list(rows))

    @property
    def schema(self) -> TableSchema:
        """The columns with their types.

        >>> import flintstream.dataframe as pf
        >>> pf.range(2).schema.get_field_names()
        ['id']
        """
        return self._table.get_schema()

    def show(self, n: int = 20, *, timeout: float | None = None) -> None:
        """Print the first rows as a table.

        Args:
            n: The most rows.
            timeout: The most seconds to wait for them.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(2).show()
        | id |
        |----|
        |  0 |
        |  1 |
        """
        write_text(sys.stdout, as_text(self.columns, self.take(n, timeout=timeout)))

    def describe(self) -> pd.DataFrame:
        """Run a job, and return how many values each column has, and of numbers, their mean and spread.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> float(pf.range(5).describe().loc["mean", "id"])
        2.0
        """
        optional_module("pandas", extra="dataframes", purpose="describe()")
        return self.to_pandas().describe(include="all")

    def __repr__(self) -> str:
        return f"DataFrame[{', '.join(f'{name}: {kind}' for name, kind in self._columns_shown())}]"

    def _repr_html_(self) -> str:
        """Return the columns for a notebook. It runs no job: a table may be unbounded."""
        return as_html(self._columns_shown())

    def _repr_markdown_(self) -> str:
        """Return the columns as Markdown, likewise."""
        return as_markdown(self._columns_shown())

    def _columns_shown(self) -> list[tuple[str, str]]:
        schema = self._table.get_resolved_schema()
        types = zip(schema.get_column_names(), schema.get_column_data_types(), strict=True)
        return [(name, sql_name(kind)) for name, kind in types]


def _seconds(timeout: object) -> float | None:
    return None if timeout is None else require_number(timeout, "timeout", 0)
