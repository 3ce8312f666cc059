"""Methods of environments and streams that convert Spark DataFrames to streams and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from flintstream.checkpoint.settings import state_directory
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.errors import PlanError
from flintstream.storage.local import LocalFileStore

if TYPE_CHECKING:
    from flintstream.common._generic import T
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment

DAY_MS = 86_400_000


class DataFrames:
    """The methods of an environment that read DataFrames."""

    @overload
    def from_dataframe(
        self: Any,
        df: Any,
        type_info: TypeInformation[T],
        watermark_strategy: WatermarkStrategy | None = ...,
        name: str = ...,
        *,
        directory: str | None = ...,
        trigger: str = ...,
        retention_ms: int | None = ...,
    ) -> DataStream[T]: ...

    @overload
    def from_dataframe(
        self: Any,
        df: Any,
        type_info: None = None,
        watermark_strategy: WatermarkStrategy | None = ...,
        name: str = ...,
        *,
        directory: str | None = ...,
        trigger: str = ...,
        retention_ms: int | None = ...,
    ) -> DataStream[Row]: ...

    def from_dataframe(
        self: Any,
        df: Any,
        type_info: TypeInformation | None = None,
        watermark_strategy: WatermarkStrategy | None = None,
        name: str = "DataFrame",
        *,
        directory: str | None = None,
        trigger: str = "1 second",
        retention_ms: int | None = DAY_MS,
    ) -> DataStream:
        """Create a stream of the rows of a Spark DataFrame, as rows with its column names.

        A batch DataFrame is computed once, when the job starts, and becomes a bounded stream. A streaming DataFrame
        runs as a Spark query beside the job, which reads each micro-batch exactly once, even across restarts.

        Args:
            df: A DataFrame of this process's Spark session.
            type_info: Converts the rows to another type, such as a tuple. By default the type of the columns.
            watermark_strategy: By default there are no watermarks.
            name: The name of the source.
            directory: A directory, reachable by all workers, that keeps the data until they are read. By default
                ``dataframes`` below the checkpoint directory if there is one, else ``flintstream.state.dir``, else a
                temporary directory.
            trigger: How long Spark waits between micro-batches, in Spark's notation ("0 seconds" for no wait).
            retention_ms: How long the data of a micro-batch are kept; None for no limit. A job that is further behind,
                or starts from an older savepoint, fails.

        Raises:
            PlanError: The type of a column has no counterpart; the message names both.
            TypeError: ``df`` is not a DataFrame.
            MissingDependencyError: pyarrow is not installed.

        >>> from pyspark.sql import SparkSession
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> fruit = env.from_dataframe(spark.createDataFrame([("pear", 3)], "name string, price int"))
        >>> list(fruit.map(lambda row: (row.name, row.price * 2)).execute_and_collect(limit=9))
        [('pear', 6)]
        """
        from flintstream.engine.frames import data_frames

        env: StreamExecutionEnvironment = self
        source = data_frames.source_of(df, lambda: _data_directory(env, directory), trigger, retention_ms)
        names = source.produced_type.get_field_names()
        if isinstance(type_info, RowTypeInfo) and type_info.get_field_names() != names:
            raise PlanError(
                f"type_info must have the fields of the DataFrame, {', '.join(names)}, but it has "
                f"{', '.join(type_info.get_field_names())}"
            )
        return env.from_source(source, watermark_strategy or WatermarkStrategy.no_watermarks(), name, type_info)


def _data_directory(env: StreamExecutionEnvironment, given: str | None) -> str | None:
    """Return the parent directory for data of DataFrames; None for a temporary one."""
    if given is not None:
        return given
    settings = env._checkpoint_settings(batch=False)
    if settings.interval_ms is not None and isinstance(settings.storage, LocalFileStore):
        return os.path.join(settings.storage.root, "dataframes")  # noqa: PTH118
    return state_directory(env._configuration.to_dict())
