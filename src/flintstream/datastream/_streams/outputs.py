"""Operations that send the records of a stream out of the program, or to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from flintstream.checkpoint.settings import state_directory
from flintstream.common._generic import Generic, T_co
from flintstream.connectors.discarding import DiscardingSink
from flintstream.connectors.sink import Sink
from flintstream.connectors.source import Boundedness
from flintstream.datastream._settings import check_text
from flintstream.datastream._streams.collect import CloseableIterator, collect_into
from flintstream.datastream._streams.settings import DataStreamSink, StepSettings
from flintstream.datastream.functions import (
    SinkFunction,
)
from flintstream.errors import PlanError
from flintstream.graph.transformation import (
    SinkTransformation,
)
from flintstream.options.execution import STATE_DIRECTORY
from flintstream.runtime.operators.function_sink import FunctionSink
from flintstream.runtime.operators.print_sink import PrintSink
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from flintstream.graph.transformation import Transformation


class Outputs(StepSettings, Generic[T_co]):
    """The operations of a stream that end it."""

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print each record in the driver, in Flink's text form for its type.

        Raises:
            TypeError: ``sink_identifier``, the prefix of each record, is not a str.
        """
        if sink_identifier is not None:
            check_text(sink_identifier, "The sink identifier of print()")
        return self._sink("Print to Std. Out", PrintSink(sink_identifier))

    def add_sink(self, sink_func: SinkFunction[T_co] | Sink[T_co]) -> DataStreamSink:
        """Send each record to a Python :class:`SinkFunction` or to a sink.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.testing import CollectSink
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sink = CollectSink()
        >>> _ = env.from_collection([1, 2]).add_sink(sink).name("results")
        >>> _ = env.execute()
        >>> sorted(sink.get_results())
        ['1', '2']

        Raises:
            TypeError: ``sink_func`` is neither.
        """
        if isinstance(sink_func, Sink):
            return self._sink("Unnamed", sink_func)
        if not isinstance(sink_func, SinkFunction):
            raise TypeError(f"add_sink() needs a SinkFunction or a Sink, but got {type(sink_func).__name__}")
        if sink_func.wrapped is None or type(sink_func).invoke is not SinkFunction.invoke:
            return self._sink("Unnamed", FunctionSink(sink_func))
        if isinstance(sink_func.wrapped, Sink):
            return self._sink("Unnamed", sink_func.wrapped)
        return self._sink("Unnamed", PrintSink(None) if sink_func.wrapped == "PrintSinkFunction" else DiscardingSink())

    def sink_to(self, sink: Sink[T_co]) -> DataStreamSink:
        """Send each record to a sink.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.testing import CollectSink
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sink = CollectSink()
        >>> _ = env.from_collection(["to", "be"]).map(str.upper).sink_to(sink).uid("results")
        >>> _ = env.execute()
        >>> sorted(sink.get_results())
        ['BE', 'TO']

        Raises:
            TypeError: ``sink`` is not a ``Sink``.
        """
        if not isinstance(sink, Sink):
            raise TypeError(f"sink_to() needs a Sink, but got {type(sink).__name__}; use add_sink() for SinkFunctions")
        return self._rows_with_keys()._sink("Sink", sink)

    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator[T_co]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[T_co]: ...

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[T_co] | list[T_co]:
        """Run the program and return this stream's records: a list if ``limit`` is set, else an iterator for ``with``.

        Raises:
            ValueError: ``limit`` is not positive.
        """
        if limit is not None and limit < 1:
            raise ValueError(f"The limit of execute_and_collect() must be greater than 0, but got {limit}")
        sink = collect_into(self._rows_with_keys()._add_collect_sink)
        client = self._env.execute_async(job_execution_name or "DataStream Collect")
        iterator: CloseableIterator[T_co] = CloseableIterator(sink, client)
        if limit is None:
            return iterator
        with iterator:
            return [record for _, record in zip(range(limit), iterator, strict=False)]

    def to_dataframe(
        self, schema: Any = None, *, directory: str | None = None, job_name: str = "DataStream to DataFrame"
    ) -> Any:
        """Run the program and return this stream's records as a Spark DataFrame. The stream must be bounded.

        The tasks write Parquet files, which the DataFrame reads.

        Args:
            schema: A ``StructType``, or a str such as ``"name string, n decimal(10, 2)"``. By default the schema of the
                stream's declared type, which must be a row or tuple (columns ``f0``, ``f1``, ...).
            directory: The directory for the files, which stay there. It must be empty or not exist, and all workers
                must reach it. By default a temporary one, which is deleted at the end of this process.
            job_name: The name of the job.

        Raises:
            PlanError: The stream is unbounded or has no type, or Spark has no counterpart for the type of a field.
            MissingDependencyError: pyarrow is not installed.
            Exception: The cause, if the job fails.

        >>> from pyspark.sql import SparkSession
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> fruit = env.from_collection([("pear", 3), ("apple", 2)])
        >>> fruit.to_dataframe("name string, price int").orderBy("name").collect()
        [Row(name='apple', price=2), Row(name='pear', price=3)]
        """
        from flintstream.datastream.connectors.data_frame import DataFrameSink
        from flintstream.engine.frames import data_frames

        transformation, env = self._transformation, self._env
        unbounded = _find_unbounded_source(transformation)
        if unbounded is not None:
            raise PlanError(
                f"to_dataframe() needs a bounded stream, but the source '{unbounded}' is unbounded: write the stream "
                "with sink_to(DataFrameSink(directory, schema)) and read that with Spark"
            )
        configuration = env._configuration.to_dict()
        data_frames.check_spark(configuration)
        columns = data_frames.frame_schema(schema, transformation.output_type)
        delete = None
        what = "the directory of to_dataframe()"
        if directory is None:
            parent = state_directory(configuration)
            if parent is not None:
                parent = Location.parse(parent).local_path(f"without {what}, '{STATE_DIRECTORY.key}'")
            directory, delete = data_frames.new_directory(parent, None, configuration)
        else:
            directory = Location.parse(directory, what).local_path(what)
            if os.path.isdir(directory) and os.listdir(directory):  # noqa: PTH112, PTH208
                raise PlanError(f"to_dataframe() needs an empty directory, but there are files in {directory}")
        self.sink_to(DataFrameSink(directory, columns)).name("DataFrame")
        try:
            env.execute(job_name)
        except BaseException:
            if delete is not None:
                delete()
            raise
        return data_frames.read(directory, columns, None, configuration)

    def _values_transformation(self) -> Transformation:
        return self._transformation

    def _rows_with_keys(self) -> Outputs[Any]:
        """Return what sinks and operators without keys read: of a keyed stream, ``Row(f0=key, f1=value)``."""
        raise NotImplementedError

    def _sink_transformed(self, name: str, sink: Sink) -> SinkTransformation:
        origin = self._values_transformation()
        operator = SinkOperator(sink, origin.output_type)
        transformation = SinkTransformation(name, (origin,), None, operator=operator, kind="ENGINE")
        self._env._register(transformation)
        return transformation

    def _add_collect_sink(self, name: str, sink: Sink) -> SinkTransformation:
        transformation = self._sink_transformed(name, sink)
        transformation.follows_input = True
        return transformation

    def _sink(self, name: str, sink: Sink) -> DataStreamSink:
        return DataStreamSink(self._env, self._sink_transformed(name, sink))


def _find_unbounded_source(transformation: Transformation) -> str | None:
    """Return the name of an unbounded source upstream, or None."""
    if getattr(transformation, "boundedness", None) is Boundedness.CONTINUOUS_UNBOUNDED:
        return transformation.name
    return next(filter(None, map(_find_unbounded_source, transformation.inputs)), None)
