"""DataFrames of Spark as streams, and streams as DataFrames: the methods of environments and streams."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from flintstream.checkpoint.settings import state_directory
from flintstream.common.typeinfo import RowTypeInfo
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.source import Boundedness
from flintstream.errors import PlanError
from flintstream.storage.local import LocalFileStore
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from flintstream.common._generic import T
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
    from flintstream.graph.transformation import Transformation

DAY_MS = 86_400_000


class DataFrames:
    """The part of an environment that reads DataFrames."""

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
        """Create a stream of the rows of a Spark DataFrame: named ``Row``s with its columns.

        A batch DataFrame is computed once, when the job starts, and is a bounded stream. A streaming one runs as a
        query of Spark beside the job, which takes over each of its micro-batches exactly once, over restarts, too.

        Args:
            df: The DataFrame, of this process's Spark session.
            type_info: Brings the rows to another type, such as a tuple. By default it is the one of the columns.
            watermark_strategy: By default there are no watermarks.
            name: The name of the source.
            directory: Where to keep the data until they are read, for all workers to reach. By default
                ``dataframes`` below the checkpoints' directory if there is one, else ``flintstream.state.dir``, else a
                temporary directory.
            trigger: How long Spark waits between micro-batches, in its own words ("0 seconds": not at all).
            retention_ms: How long the data of a micro-batch are kept; None for ever. A job that is farther behind, or
                starts from an older savepoint, fails.

        Raises:
            PlanError: A column has a type that has no counterpart; the message names both.
            TypeError: ``df`` is no DataFrame.
            MissingDependencyError: pyarrow is not installed.
        """
        from flintstream.engine.spark import data_frames  # noqa: PLC0415 - needs Spark

        env: StreamExecutionEnvironment = self
        source = data_frames.source_of(df, lambda: _data_directory(env, directory), trigger, retention_ms)
        names = source.produced_type.get_field_names()
        if isinstance(type_info, RowTypeInfo) and type_info.get_field_names() != names:
            raise PlanError(
                f"the rows of the DataFrame have the fields {', '.join(names)}, which type_info must name, too; it has "
                f"{', '.join(type_info.get_field_names())}"
            )
        return env.from_source(source, watermark_strategy or WatermarkStrategy.no_watermarks(), name, type_info)


def _data_directory(env: StreamExecutionEnvironment, given: str | None) -> str | None:
    """Return below which directory data of DataFrames are kept, None for a temporary one."""
    if given is not None:
        return given
    settings = env._checkpoint_settings(batch=False)  # noqa: SLF001 - ours
    if settings.interval_ms is not None and isinstance(settings.storage, LocalFileStore):
        return os.path.join(settings.storage.root, "dataframes")  # noqa: PTH118
    return state_directory(env._configuration.to_dict())  # noqa: SLF001


class AsDataFrame:
    """The part of a stream that makes a DataFrame of it."""

    def to_dataframe(
        self: Any, schema: Any = None, *, directory: str | None = None, job_name: str = "DataStream to DataFrame"
    ) -> Any:
        """Run the program and return this stream's records as a Spark DataFrame; the stream must be bounded.

        The tasks write Parquet files, which the DataFrame reads.

        Args:
            schema: A ``StructType``, or a text such as ``"name string, n decimal(10, 2)"``. By default that of the
                stream's declared type, which must be one of rows or tuples (columns ``f0``, ``f1``, ...).
            directory: Where the files go and stay: a directory that is empty or does not exist, and that all workers
                can reach. By default a temporary one, which is deleted at the end of this process.
            job_name: The name of the job.

        Raises:
            PlanError: The stream is unbounded, has no type, or a field has a type that Spark has no counterpart of.
            MissingDependencyError: pyarrow is not installed.
            Exception: What made the job fail.
        """
        from flintstream.datastream.connectors.data_frame import DataFrameSink  # noqa: PLC0415
        from flintstream.engine.spark import data_frames  # noqa: PLC0415 - needs Spark

        stream: DataStream = self
        transformation, env = stream._transformation, stream._env  # noqa: SLF001 - ours
        unbounded = _unbounded(transformation)
        if unbounded is not None:
            raise PlanError(
                f"to_dataframe() needs an end, but the source '{unbounded}' has none: write the stream with "
                "sink_to(DataFrameSink(directory, schema)) and read that with Spark"
            )
        configuration = env._configuration.to_dict()  # noqa: SLF001 - ours
        data_frames.check_spark(configuration)
        columns = data_frames.frame_schema(schema, transformation.output_type)
        delete = None
        if directory is None:
            directory, delete = data_frames.new_directory(state_directory(configuration))
        else:
            what = "the directory of to_dataframe()"
            directory = Location.parse(directory, what).local_path(what)
            if os.path.isdir(directory) and os.listdir(directory):  # noqa: PTH112, PTH208
                raise PlanError(f"to_dataframe() needs a directory of its own, but there are files in {directory}")
        stream.sink_to(DataFrameSink(directory, columns)).name("DataFrame")
        try:
            env.execute(job_name)
        except BaseException:
            if delete is not None:
                delete()
            raise
        return data_frames.read(directory, columns, None)


def _unbounded(transformation: Transformation) -> str | None:
    """Return the name of a source before this that does not end."""
    if getattr(transformation, "boundedness", None) is Boundedness.CONTINUOUS_UNBOUNDED:
        return transformation.name
    return next(filter(None, map(_unbounded, transformation.inputs)), None)
