"""A sink whose output Spark reads as a DataFrame, also while it grows."""

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
    """Writes rows or tuples into Parquet files of a directory, each record exactly once when checkpointing is on.

    Files appear with the checkpoint that they are part of; those that Spark must not see yet have hidden names. Other
    programs read the directory with ``spark.read`` or ``spark.readStream``, this one also with the methods below.
    """

    def __init__(self, directory: str, schema: Any) -> None:
        """Take the directory and what the columns are.

        Args:
            directory: As for :class:`FileSink`, reached by all workers and by Spark.
            schema: The type of the records (rows or tuples), a ``StructType`` of Spark, or a text such as
                ``"name string, n int"`` when Spark runs already.

        Raises:
            PlanError: A field has a type that Spark has no counterpart of.
            MissingDependencyError: pyarrow is not installed.
        """
        from flintstream.engine.spark import data_frames  # noqa: PLC0415 - needs PySpark

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
        """Return the DataFrame of what was committed until now.

        Args:
            spark: The session; by default the active one, else a new one.
        """
        from flintstream.engine.spark import data_frames  # noqa: PLC0415 - needs Spark

        return data_frames.read(self._directory, self._schema, spark)

    def read_stream(self, spark: Any = None) -> Any:
        """Return the streaming DataFrame of what was and will be committed.

        Args:
            spark: As for :meth:`read`.
        """
        from flintstream.engine.spark import data_frames  # noqa: PLC0415 - needs Spark

        return data_frames.read_stream(self._directory, self._schema, spark)
