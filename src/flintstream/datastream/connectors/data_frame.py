"""A sink whose output Spark can read as a DataFrame, even while it grows."""

from __future__ import annotations

from typing import Any

from flintstream.common.typeinfo import TypeInformation
from flintstream.connectors.files.buckets import BucketAssigner
from flintstream.connectors.files.part_writers import BulkParts
from flintstream.connectors.files.rolling import PartNames, RollingPolicy
from flintstream.datastream.connectors._file_sink import FileSink
from flintstream.storage.location import Location

__all__ = ["DataFrameSink"]


class DataFrameSink(FileSink):
    """Writes rows or tuples to Parquet files in a directory, exactly once if checkpointing is on.

    Files become visible with the checkpoint that contains them; until then they have hidden names, which Spark ignores.
    Read the directory with ``spark.read`` or ``spark.readStream``, or, in this program, with the methods below.

    >>> from pyspark.sql import SparkSession
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     sink = DataFrameSink(directory, "name string, price int")
    ...     _ = env.from_collection([("pear", 3)]).sink_to(sink)
    ...     _ = env.execute()
    ...     sink.read().collect(), sink.read_stream().isStreaming
    ([Row(name='pear', price=3)], True)
    """

    def __init__(self, directory: str, schema: Any) -> None:
        """Take the directory and the columns.

        Args:
            directory: As for :class:`FileSink`. All workers and Spark must reach it.
            schema: The type of the records (rows or tuples), a Spark ``StructType`` or, if Spark is already running, a
                str such as ``"name string, n int"``.

        Raises:
            PlanError: Spark has no counterpart for the type of a field.
            MissingDependencyError: pyarrow is not installed.
        """
        from flintstream.engine.frames import data_frames

        typed = schema if isinstance(schema, TypeInformation) else None
        what = "the directory of a DataFrameSink"
        self._directory = Location.parse(directory, what).local_path(what)
        self._schema = data_frames.frame_schema(None if typed is not None else schema, typed)
        super().__init__(
            self._directory,
            BulkParts(data_frames.parquet_rows(self._schema)),
            BucketAssigner.base_path_bucket_assigner(),
            RollingPolicy.on_checkpoint_rolling_policy(),
            PartNames(suffix=".parquet"),
        )

    def read(self, spark: Any = None) -> Any:
        """Return a DataFrame of the records committed so far.

        Args:
            spark: The session. By default the active session, or a new one if there is none.
        """
        from flintstream.engine.frames import data_frames

        return data_frames.read(self._directory, self._schema, spark)

    def read_stream(self, spark: Any = None) -> Any:
        """Return a streaming DataFrame of all records, those committed so far and later ones.

        Args:
            spark: As for :meth:`read`.
        """
        from flintstream.engine.frames import data_frames

        return data_frames.read_stream(self._directory, self._schema, spark)
