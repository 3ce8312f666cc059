"""The environment that builds and executes a program (PyFlink's ``StreamExecutionEnvironment``)."""

from __future__ import annotations

import copy
import os
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from flintstream.checkpoint.settings import state_directory
from flintstream.common._generic import T_co
from flintstream.common._java_view import JavaView, behind
from flintstream.common._text.notebook import shorten_tracebacks_in_ipython
from flintstream.common._text.secrets import shown_path
from flintstream.common._types.collected import collection_type
from flintstream.common.configuration import Configuration
from flintstream.common.execution_config import ExecutionConfig
from flintstream.common.io import InputFormat
from flintstream.common.typeinfo import Types
from flintstream.common.watermark_strategy import NoWatermarksGenerator, WatermarkStrategy
from flintstream.connectors.collection import CollectionSource
from flintstream.connectors.function_source import FunctionInput
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream._dataframes import DataFrames
from flintstream.datastream._environment.fault_tolerance import FaultTolerance
from flintstream.datastream._environment.job import client_of, result_of
from flintstream.datastream._environment.listening import begin, told_of_failure
from flintstream.datastream._environment.older_releases import OlderReleases
from flintstream.datastream._environment.python_dependencies import PythonDependencies
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.cached import check_batch, prepare_caches
from flintstream.datastream._streams.functions import StaysInProgram, as_assigner, as_type
from flintstream.datastream.checkpoint_config import CheckpointConfig
from flintstream.datastream.execution_mode import RuntimeExecutionMode
from flintstream.datastream.functions import SourceFunction
from flintstream.engine import create_engine, default_parallelism
from flintstream.graph.plan_json import execution_plan
from flintstream.graph.stream_graph import GraphSettings
from flintstream.graph.transformation import OperatorTransformation, SinkTransformation, SourceTransformation
from flintstream.options.command_line import get_defaults, note_built, note_executed
from flintstream.options.execution import (
    BUFFER_TIMEOUT,
    CHAINING,
    CONTROL,
    ENGINE,
    HISTORY_AGE,
    HISTORY_JOBS,
    JOB_NAME,
    MASTER,
    MAX_KEY_GROUPS,
    MAX_PARALLELISM,
    PARALLELISM,
    PYTHON_CHAINING,
    RUNTIME_MODE,
)
from flintstream.options.ignored import CHAIN_DIFFERENT_MAX_PARALLELISM
from flintstream.runtime.operators.source import SourceOperator
from flintstream.runtime.operators.split_watermarks import SplitWatermarksOperator
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.job_client import JobClient
    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_listener import JobListener
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.coordinator.client import RunningJob
    from flintstream.datastream._environment.listening import Listener
    from flintstream.datastream._environment.program import Program
    from flintstream.datastream._streams.cached import StreamCache
    from flintstream.datastream.slot_sharing_group import SlotSharingGroup
    from flintstream.graph.stream_graph import StreamGraph
    from flintstream.graph.transformation import Transformation

_default_local_parallelism: int | None = None


class StreamExecutionEnvironment(StaysInProgram, FaultTolerance, PythonDependencies, OlderReleases, DataFrames):
    """Builds a program and executes it on Spark.

    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection(["to be", "or not"]).flat_map(lambda line: line.split()).print()
    >>> _ = env.set_parallelism(1).execute("words")
    to
    be
    or
    not
    >>> _ = env.set_max_parallelism(64).set_buffer_timeout(10).disable_operator_chaining()
    >>> env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout(), env.is_chaining_enabled()
    (1, 64, 10, False)
    """

    def __init__(
        self,
        j_stream_execution_environment: Configuration | JavaView | None = None,
        serializer: object = None,
    ) -> None:
        """Create an environment; programs call :meth:`get_execution_environment`.

        The argument may be the environment behind ``_j_stream_execution_environment`` or one made through a gateway,
        for another view of it, or a configuration to use.
        """
        shared = behind(j_stream_execution_environment)
        if isinstance(shared, StreamExecutionEnvironment):
            vars(self).update(vars(shared))
            return
        self._configuration = shared or Configuration()
        self._config = ExecutionConfig(self._configuration)
        self._checkpoint_config = CheckpointConfig(self._configuration)
        self._transformations: list[Transformation] = []
        self._caches: list[StreamCache] = []
        self._cached_files: dict[str, tuple[str, bool]] = {}
        self._job_listeners: list[JobListener] = []
        for path in get_defaults().py_files:
            self.add_python_file(path)
        shorten_tracebacks_in_ipython()

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | Mapping[str, str] | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment with the settings of the command line, overridden by ``configuration``."""
        merged = Configuration()
        defaults = get_defaults()
        for key, value in defaults.config.items():
            merged.set_string(key, str(value))
        if defaults.parallelism is not None:
            merged.set_string(PARALLELISM.key, str(defaults.parallelism))
        if defaults.master is not None:
            merged.set_string(MASTER.key, defaults.master)
        if configuration is not None:
            given = configuration.to_dict() if isinstance(configuration, Configuration) else configuration
            for key, value in given.items():
                merged.set_string(key, str(value))
        return StreamExecutionEnvironment(merged)

    @property
    def _j_stream_execution_environment(self) -> JavaView:
        """The view that programs use to call Java methods."""
        return JavaView(self)

    # -- settings ----------------------------------------------------------------------------------------------------

    def get_config(self) -> ExecutionConfig:
        """Return the execution configuration.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.get_config().set_auto_watermark_interval(50)
        >>> env.get_config().get_auto_watermark_interval()
        50
        """
        return self._config

    def configure(self, configuration: Configuration) -> None:
        """Apply all settings of ``configuration``.

        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> settings = Configuration()
        >>> _ = settings.set_string("flintstream.engine", "inline").set_string("parallelism.default", "3")
        >>> env.configure(settings)
        >>> env.get_parallelism()
        3
        """
        for key, value in configuration.to_dict().items():
            self._configuration.set_string(key, value)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the default parallelism of operators.

        Raises:
            ValueError: ``parallelism`` is not a positive number.
        """
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ValueError(f"The parallelism of the environment must be at least 1, but got {parallelism!r}")
        self._configuration.set_string(PARALLELISM.key, str(parallelism))
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism: the number of processors of this machine unless set.

        A job that sets none uses as many subtasks as Spark has cores for it.
        """
        given = self._configuration.get(PARALLELISM)
        return given if given > 0 else self.get_default_local_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups (1 to 32768), the maximum parallelism of keyed operators.

        Raises:
            ValueError: ``max_parallelism`` is out of range.
        """
        if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= MAX_KEY_GROUPS:
            raise ValueError(
                f"The max parallelism of the environment must be within 1 to {MAX_KEY_GROUPS}, got {max_parallelism!r}"
            )
        self._configuration.set_string(MAX_PARALLELISM.key, str(max_parallelism))
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 if it depends on the parallelism."""
        return self._configuration.get(MAX_PARALLELISM)

    def get_default_local_parallelism(self) -> int:
        """Return the default parallelism of local execution: the number of available processors unless set.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.get_parallelism() == env.get_default_local_parallelism() >= 1
        True
        """
        if _default_local_parallelism is not None:
            return _default_local_parallelism
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the default parallelism of local execution, for all environments.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> before = env.get_default_local_parallelism()
        >>> env.set_default_local_parallelism(3)
        >>> env.get_parallelism()
        3
        >>> env.set_default_local_parallelism(before)
        """
        global _default_local_parallelism  # noqa: PLW0603 - process-wide, as in PyFlink
        _default_local_parallelism = parallelism

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Choose STREAMING (the default), BATCH, or AUTOMATIC (BATCH if all sources are bounded).

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> words = env.from_collection([("to", 1), ("be", 1), ("to", 1)]).key_by(lambda word: word[0])
        >>> sorted(words.sum(1).execute_and_collect(limit=9))
        [('be', 1), ('to', 1), ('to', 2)]
        >>> _ = env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        >>> sorted(words.sum(1).execute_and_collect(limit=9))  # only the last sum of each word
        [('be', 1), ('to', 2)]
        """
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise TypeError(f"set_runtime_mode() needs a RuntimeExecutionMode, but got {execution_mode!r}")
        self._configuration.set_string(RUNTIME_MODE.key, execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) results may be buffered. An epoch collects input for no longer than that.

        Args:
            timeout_millis: 0 for the shortest possible epochs, at the cost of throughput; -1 for no limit.

        Raises:
            ValueError: ``timeout_millis`` is less than -1.
        """
        if timeout_millis < -1:
            raise ValueError(f"The buffer timeout must be -1 (none) or more ms, but got {timeout_millis}")
        self._configuration.set_string(BUFFER_TIMEOUT.key, str(timeout_millis))
        return self

    def get_buffer_timeout(self) -> int:
        """Return the buffer timeout in ms."""
        return self._configuration.get(BUFFER_TIMEOUT)

    def disable_operator_chaining(self) -> Self:
        """Convert results to their declared types between all operators, as PyFlink does between unchained ones."""
        self._configuration.set_string(CHAINING.key, "false")
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators are chained."""
        return self._configuration.get(CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return whether operators with different max parallelism are chained.

        >>> key = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
        >>> env = StreamExecutionEnvironment.get_execution_environment({key: "false"})
        >>> env.is_chaining_of_operators_with_different_max_parallelism_enabled()
        False
        """
        return self._configuration.get(CHAIN_DIFFERENT_MAX_PARALLELISM)

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Accept a slot sharing group's resources, which have no effect: Spark places the tasks.

        >>> from flintstream.datastream.slot_sharing_group import SlotSharingGroup
        >>> group = SlotSharingGroup.builder("heavy").set_cpu_cores(1.5).set_task_heap_memory_mb(512).build()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env = env.register_slot_sharing_group(group)
        >>> stream = env.from_collection([1, 2]).map(lambda n: n + 1).slot_sharing_group(group)
        """
        if not hasattr(slot_sharing_group, "get_name"):
            raise TypeError(f"register_slot_sharing_group() needs a SlotSharingGroup, but got {slot_sharing_group!r}")
        return self

    # -- files -------------------------------------------------------------------------------------------------------

    def add_jars(self, *jars_path: str) -> None:
        """Accept jars, which have no effect: connectors are Python packages.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     env.add_jars("file:///opt/flink-sql-connector-kafka.jar")
        >>> print(told[0].message)
        add_jars('file:///opt/flink-sql-connector-kafka.jar',) has no effect: connectors are Python packages here
        """
        warnings.warn(f"add_jars{jars_path} has no effect: connectors are Python packages here", stacklevel=2)

    def add_classpaths(self, *classpaths: str) -> None:
        """Accept class paths, which have no effect: connectors are Python packages.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     env.add_classpaths("file:///opt/classes")
        >>> print(told[0].message)
        add_classpaths('file:///opt/classes',) has no effect: connectors are Python packages here
        """
        warnings.warn(f"add_classpaths{classpaths} has no effect: connectors are Python packages here", stacklevel=2)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Accept a file. As in PyFlink, Python functions cannot access it: add an archive instead.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_cached_file("/data/cities.csv", "cities")  # no function sees it
        """
        self._cached_files[name] = (file_path, executable)

    # -- sources -----------------------------------------------------------------------------------------------------

    @overload
    def from_collection(self, collection: Iterable[object], type_info: TypeInformation[T]) -> DataStream[T]: ...

    @overload
    def from_collection(self, collection: Iterable[T], type_info: None = None) -> DataStream[T]: ...

    def from_collection(self, collection: Iterable[Any], type_info: TypeInformation | None = None) -> DataStream:
        """Create a stream of the elements of a collection, in order, in one subtask.

        Numbers and booleans become strings if ``type_info`` has ``STRING``.

        Raises:
            TypeError: An element does not fit ``type_info``; the message shows it.
        """
        elements = list(collection)
        declared = as_type(type_info)
        converter = collection_type(declared).converter() if declared is not None else None
        if converter is not None:
            for position, element in enumerate(elements):
                try:
                    elements[position] = converter(element)
                except Exception as error:
                    raise type(error)(
                        f"from_collection(): element {position}, {element!r}, does not fit {declared}: {error}",
                    ) from error
        operator = SourceOperator(CollectionSource(elements))
        transformation = SourceTransformation(
            "Collection Source",
            (),
            declared,
            operator=operator,
            boundedness=Boundedness.BOUNDED,
            parallelism=1,
            parallel=False,
        )
        return DataStream(self, transformation)

    @overload
    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation[T],
    ) -> DataStream[T]: ...

    @overload
    def from_source(
        self, source: Source[T], watermark_strategy: WatermarkStrategy, source_name: str, type_info: None = None
    ) -> DataStream[T]: ...

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Create a stream from a source: a split enumerator and readers.

        A ``TimestampAssigner`` or function in the strategy is applied (PyFlink ignores it here). If it fails, it is
        ignored from then on, with a warning.

        >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> numbers = env.from_source(NumberSequenceSource(1, 4), WatermarkStrategy.no_watermarks(), "numbers")
        >>> sorted(numbers.map(lambda n: n * n).execute_and_collect(limit=9))
        [1, 4, 9, 16]

        Raises:
            TypeError: ``source`` is not a ``Source``, or ``watermark_strategy`` not a ``WatermarkStrategy``.
        """
        if not isinstance(source, Source):
            raise TypeError(f"from_source() needs a Source, but got {type(source).__name__}")
        if not hasattr(watermark_strategy, "create_generator"):
            raise TypeError(f"from_source() needs a WatermarkStrategy, but got {type(watermark_strategy).__name__}")
        produced = as_type(getattr(source, "produced_type", None))
        declared = as_type(type_info) or produced
        # The source's own type needs no check.
        converter = declared.converter() if declared is not None and declared != produced else None
        transformation = SourceTransformation(
            source_name,
            (),
            declared,
            operator=SourceOperator(source, converter),
            boundedness=source.get_boundedness(),
        )
        stream = DataStream(self, transformation)
        watermark_strategy = copy.copy(watermark_strategy)
        watermark_strategy.timestamp_assigner = as_assigner(watermark_strategy.timestamp_assigner, source_name)
        silent = type(watermark_strategy.create_generator()) is NoWatermarksGenerator
        if silent and watermark_strategy.timestamp_assigner is None and watermark_strategy.idle_timeout_ms is None:
            return stream
        per_split = source.watermarks_per_split
        kind = SplitWatermarksOperator if per_split else TimestampsAndWatermarksOperator
        operator = kind(watermark_strategy, source_name)
        marked = OperatorTransformation(
            "Timestamps/Watermarks", (transformation,), declared, operator=operator, kind="ENGINE"
        )
        return _SourceStream(self, marked, transformation)

    @overload
    def add_source(
        self, source_func: SourceFunction | Source, source_name: str = ..., *, type_info: TypeInformation[T]
    ) -> DataStream[T]: ...

    @overload
    def add_source(
        self, source_func: SourceFunction | Source, source_name: str, type_info: TypeInformation[T]
    ) -> DataStream[T]: ...

    @overload
    def add_source(
        self, source_func: SourceFunction[T] | Source[T], source_name: str = ..., type_info: None = None
    ) -> DataStream[T]: ...

    def add_source(
        self, source_func: Any, source_name: str = "Custom Source", type_info: TypeInformation | None = None
    ) -> DataStream:
        """Create a stream from a Python ``SourceFunction`` or a ``flintstream.connectors.source.Source``.

        >>> class Countdown(SourceFunction):
        ...     def run(self, ctx):
        ...         for number in 3, 2, 1:
        ...             ctx.collect(number)
        ...
        ...     def cancel(self):
        ...         pass
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> list(env.add_source(Countdown(), "countdown").execute_and_collect(limit=9))
        [3, 2, 1]

        Raises:
            TypeError: ``source_func`` is neither.
            PlanError: The function has only one of ``snapshot_state`` and ``restore_state``.
        """
        if isinstance(source_func, SourceFunction):
            source_func = FunctionInput(source_func)
        if not isinstance(source_func, Source):
            raise TypeError(
                f"add_source() needs a SourceFunction or a Source, but got {type(source_func).__name__}; write one "
                "with run(ctx), or a Source with a split enumerator and a reader",
            )
        return self.from_source(source_func, WatermarkStrategy.no_watermarks(), source_name, type_info)

    @overload
    def create_input(self, input_format: InputFormat, type_info: TypeInformation[T]) -> DataStream[T]: ...

    @overload
    def create_input(self, input_format: InputFormat[T], type_info: None = None) -> DataStream[T]: ...

    def create_input(self, input_format: Any, type_info: TypeInformation | None = None) -> DataStream:
        """Create a stream of the records of an input format, such as ``AvroInputFormat``.

        >>> class Squares(InputFormat):
        ...     def create_splits(self, min_num_splits):
        ...         return [(1, 2), (3, 4)]
        ...
        ...     def read(self, split):
        ...         for number in split:
        ...             yield number * number
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sorted(env.create_input(Squares()).execute_and_collect(limit=9))
        [1, 4, 9, 16]

        Raises:
            TypeError: ``input_format`` is not an ``InputFormat``.
            FileNotFoundError: The files of the format do not exist.
        """
        from flintstream.connectors.files.input_formats import InputFormatSource

        if not isinstance(input_format, InputFormat):
            raise TypeError(
                f"create_input() needs an InputFormat, but got {type(input_format).__name__}; "
                "pass other formats to a FileSource, for from_source()"
            )
        as_source = getattr(input_format, "as_source", None)  # only formats that can continue at any record have it
        source = InputFormatSource(input_format) if as_source is None else as_source()
        name = type(input_format).__name__
        return self.from_source(source, WatermarkStrategy.no_watermarks(), name, type_info)

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream[str]:
        r"""Create a stream of the lines of a file or directory (from older PyFlink releases).

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with TemporaryDirectory() as directory:
        ...     _ = Path(directory, "words.txt").write_text("to be\nor not\n")
        ...     sorted(env.read_text_file(directory).execute_and_collect(limit=9))
        ['or not', 'to be']

        Raises:
            FileNotFoundError: The file or directory does not exist.
        """
        from flintstream.datastream.connectors.file_system import FileSource, StreamFormat

        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(charset_name), file_path).build()
        return self.from_source(
            source, WatermarkStrategy.no_watermarks(), f"Text file {shown_path(file_path)}", Types.STRING()
        )

    def socket_text_stream(self, host: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> DataStream[str]:
        r"""Create a stream of the lines that a TCP server sends, such as ``nc -lk 9999``; one subtask reads them.

        It ends when the server closes the connection, after ``max_retry`` connections (-1 for no limit). PyFlink has no
        such method: programs call ``env._j_stream_execution_environment.socketTextStream(host, port)``.

        >>> import socket
        >>> from threading import Thread
        >>> server = socket.create_server(("127.0.0.1", 0))
        >>> def serve():
        ...     with server, server.accept()[0] as connection:
        ...         connection.sendall(b"to be\nor not\n")
        >>> Thread(target=serve).start()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> lines = env.socket_text_stream("127.0.0.1", server.getsockname()[1])
        >>> list(lines.execute_and_collect(limit=9))
        ['to be', 'or not']

        Raises:
            ValueError: The port is out of range, or the delimiter is empty.
        """
        from flintstream.common.typeinfo import Types
        from flintstream.connectors.socket_text import SocketText

        return self.add_source(SocketText(host, port, delimiter, max_retry), "Socket Stream", Types.STRING())

    # -- execution ---------------------------------------------------------------------------------------------------

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run what was built since the last execution, and wait for the end of the job. Streams stay usable.

        Raises:
            PlanError: The program cannot be run.
            JobCancelledError: The job was cancelled.
            Exception: The exception of user code, caused by a ``UserCodeError`` that names the operator.
        """
        job = self._start(job_name, wait=True)
        return self._result(job)

    def execute_async(self, job_name: str = JOB_NAME.default) -> JobClient:
        """Start the program and return a client that watches and stops it.

        >>> from flintstream.testing import CollectSink
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sink = CollectSink()
        >>> _ = env.from_collection([1, 2]).sink_to(sink)
        >>> client = env.execute_async("two numbers")
        >>> result = client.get_job_execution_result().result()  # waits for the end
        >>> client.get_job_status().result().name, sorted(sink.get_results())
        ('FINISHED', ['1', '2'])

        Raises:
            PlanError: The program cannot be run.
        """
        return client_of(self._start(job_name, wait=False))

    def register_job_listener(self, listener: JobListener) -> None:
        """Tell ``listener`` of the start, the progress and the end of the jobs that follow.

        >>> from flintstream.common.job_listener import JobListener
        >>> class Report(JobListener):
        ...     def on_job_executed(self, progress, result, error):
        ...         print("failed" if error else "done")
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_job_listener(Report())
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        done
        [1, 2]
        >>> env.clear_job_listeners()
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        [1, 2]
        """
        self._job_listeners.append(listener)

    def clear_job_listeners(self) -> None:
        """Forget all listeners.

        >>> from flintstream.common.job_listener import JobListener
        >>> class Report(JobListener):
        ...     def on_job_executed(self, progress, result, error):
        ...         print("done")
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_job_listener(Report())
        >>> env.clear_job_listeners()
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        [1, 2]
        """
        self._job_listeners.clear()

    def get_execution_plan(self) -> str:
        """Return the plan that :meth:`execute` would run, in Flink's JSON. Nodes also have their ``superstep``.

        >>> import json
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> words = env.set_parallelism(2).from_collection(["to", "be"])
        >>> _ = words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).sum(1).print()
        >>> for node in json.loads(env.get_execution_plan())["nodes"]:
        ...     print(node["superstep"], node["parallelism"], node["type"])
        0 1 Source: Collection Source
        1 2 Map
        2 2 Reduce
        2 2 Sink: Print to Std. Out
        """
        return execution_plan(self._graph())

    def close(self) -> None:
        """Drop unexecuted transformations and cached records. The Spark session stays open for other programs.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.set_parallelism(1).from_collection([1, 2]).print()  # never executed
        >>> env.close()
        >>> _ = env.from_collection([3]).print()
        >>> _ = env.execute()
        3
        """
        self._transformations.clear()
        for cache in self._caches:
            cache.drop()

    def _register(self, transformation: Transformation) -> None:
        self._transformations.append(transformation)
        note_built(self, transformation.name)

    def _program(self, more: Iterable[Transformation] = (), *, runs: str | None = None) -> Program:
        from flintstream.datastream._environment.program import Program

        settings = GraphSettings(
            parallelism=self._parallelism(runs=runs),
            max_parallelism=self.get_max_parallelism(),
            mode=self._configuration.get(RUNTIME_MODE),
            chaining=self.is_chaining_enabled(),
            python_chaining=self._configuration.get(PYTHON_CHAINING),
            auto_uids=self._config.has_auto_generated_uids_enabled(),
        )
        return Program(
            (*self._transformations, *more),
            settings,
            self._configuration,
            self._config,
            self._checkpoint_settings,
            self._state_settings,
        )

    def _parallelism(self, *, runs: str | None) -> int:
        """Return the parallelism of steps without their own: the configured one, else the cores of the cluster.

        Only a program that ``runs``, as a job of that name, starts a cluster to know its cores.
        """
        given = self._configuration.get(PARALLELISM)
        if given > 0:
            return given
        if _default_local_parallelism is not None:
            return _default_local_parallelism
        settings = self._configuration.to_dict() | ({} if runs is None else {JOB_NAME.key: runs})
        known = default_parallelism(self._configuration.get(ENGINE), settings, start=runs is not None)
        return known or self.get_parallelism()

    def _graph(self) -> StreamGraph:
        return self._program().graph

    def _start(self, job_name: str | None, *, wait: bool) -> RunningJob:
        from flintstream.coordinator.autoscaler import AutoscalerSettings, autoscaling
        from flintstream.coordinator.client import RunningJob
        from flintstream.coordinator.monitoring import history
        from flintstream.reporters import reporting

        progress = get_defaults().progress
        listeners: list[Listener] = [*self._job_listeners, *([] if progress is None else [progress])]
        get = self._configuration.get
        if progress is not None:
            progress.on_starting(job_name or get(JOB_NAME))
        with told_of_failure(listeners):
            self._check_configuration()
            name = job_name or get(JOB_NAME)
            engine = create_engine(get(ENGINE), {**self._configuration.to_dict(), JOB_NAME.key: name})
            filling = prepare_caches(
                self._transformations, self._caches, state_directory(self._configuration.to_dict())
            )
            program = self._program(filling.values(), runs=name)
            check_batch(filling, batch=program.graph.batch)
            planned = program.compile(name)
            engine.check(planned.plan)
            has_sink = bool(filling) or any(isinstance(node, SinkTransformation) for node in self._transformations)
            note_executed(self, planned.plan.job_name, has_sink=has_sink)
            self._transformations.clear()
            reporters = reporting(self._configuration.to_dict())
            scaling = AutoscalerSettings.of(self._configuration.to_dict())
            reporters += [] if scaling is None else [autoscaling(scaling)]
        if get(CONTROL) and get(HISTORY_JOBS):
            reporters.append(history.history_reporter(get(HISTORY_AGE), get(HISTORY_JOBS)))
        reporters += [partial(begin, listener) for listener in listeners]
        told = self._configuration.to_dict()
        job = RunningJob(planned, engine, control=get(CONTROL), configuration=told, reporters=reporters)
        for cache in filling:
            cache.job = job
        job.start()
        if wait:
            job.wait()
        return job

    @staticmethod
    def _result(job: RunningJob) -> JobExecutionResult:
        return result_of(job)


class _SourceStream(DataStream[T_co]):
    """A source with its watermarks. Settings such as the parallelism also apply to the source."""

    def __init__(self, env: StreamExecutionEnvironment, marked: Transformation, source: Transformation) -> None:
        super().__init__(env, marked)
        self._source = source

    def get_name(self) -> str:
        return self._source.name

    def name(self, name: str) -> Self:
        self._source.name = name
        return self

    def uid(self, uid: str) -> Self:
        self._source.uid = uid
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        super().set_parallelism(parallelism)
        self._source.parallelism = parallelism
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        super().set_max_parallelism(max_parallelism)
        self._source.max_parallelism = max_parallelism
        return self

    def force_non_parallel(self) -> Self:
        super().force_non_parallel()
        self._source.parallelism = self._source.max_parallelism = 1
        self._source.parallel = False
        return self
