"""DataFrames for other libraries: through Arrow, without copies where they allow it, and through Spark's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._frame.results import Results
from flintstream.errors import PlanError, optional_module
from flintstream.table._owners import environment_of
from flintstream.table.table_environment import StreamTableEnvironment

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from flintstream.engine.frames.data_frames import SparkDataFrame


class Exchange(Results):
    """The methods that hand rows to other libraries."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Run a job, and export its rows as a stream of Arrow, in a capsule that other libraries import.

        ``polars.DataFrame(df)``, ``pyarrow.table(df)`` and ``duckdb.from_arrow(df)`` call it.

        >>> import pyarrow as pa
        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pa.table(pf.range(2)).to_pydict()
        {'id': [0, 1]}
        """
        capsule: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return capsule

    def to_polars(self) -> pl.DataFrame:
        """Run a job, and return all rows as a DataFrame of Polars, which shares Arrow's memory where it can.

        Raises:
            MissingDependencyError: polars is not installed.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(3).to_polars()["id"].sum()  # doctest: +SKIP
        3
        """
        polars = optional_module("polars", extra="polars", purpose="to_polars()")
        found: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return found

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Run a job, and return all rows as a relation of DuckDB, which reads Arrow's memory.

        Args:
            connection: Where queries find the relation; DuckDB's default connection if it is not given.

        Raises:
            MissingDependencyError: duckdb is not installed.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(3).to_duckdb().aggregate("sum(id)").fetchall()
        [(3,)]
        """
        module = optional_module("duckdb", extra="duckdb", purpose="to_duckdb()")
        found: duckdb.DuckDBPyRelation = (module if connection is None else connection).from_arrow(self.to_arrow())
        return found

    def to_spark(self) -> SparkDataFrame:
        """Run a job, and return all rows as a DataFrame of Spark; tasks write files that it reads.

        Raises:
            PlanError: The program has no Spark session, the table is unbounded, or Spark lacks the type of a column.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> pf.range(3).to_spark().count()  # doctest: +SKIP
        3
        """
        t_env = environment_of(self._table)
        if not isinstance(t_env, StreamTableEnvironment):
            raise PlanError("to_spark() needs a StreamTableEnvironment, which set_table_environment() can take")
        found: SparkDataFrame = t_env.to_data_stream(self._table).to_dataframe()
        return found
