"""The environment that builds and executes a program (PyFlink's ``StreamExecutionEnvironment``)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, overload

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
from flintstream.datastream._streams.all_windowed import AllWindowedStream
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.broadcast import BroadcastConnectedStream, BroadcastStream
from flintstream.datastream._streams.cached import CachedDataStream
from flintstream.datastream._streams.connected import ConnectedStreams
from flintstream.datastream._streams.dataframes import DataFrames
from flintstream.datastream._streams.execution import Execution
from flintstream.datastream._streams.functions import StaysInProgram, as_assigner, as_type
from flintstream.datastream._streams.keyed import KeyedStream
from flintstream.datastream.checkpoint_config import CheckpointConfig
from flintstream.datastream.functions import SourceFunction
from flintstream.graph.transformation import OperatorTransformation, SourceTransformation
from flintstream.options.command_line import get_defaults
from flintstream.options.execution import (
    MASTER,
    PARALLELISM,
)
from flintstream.runtime.operators.source import SourceOperator
from flintstream.runtime.operators.split_watermarks import SplitWatermarksOperator
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.job_listener import JobListener
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.caches import StreamCache
    from flintstream.graph.transformation import Transformation


class StreamKinds(NamedTuple):
    """The classes of the streams that the methods of a stream return."""

    keyed: type[KeyedStream]
    connected: type[ConnectedStreams]
    broadcast: type[BroadcastStream]
    broadcast_connected: type[BroadcastConnectedStream]
    cached: type[CachedDataStream]
    windowed: type[AllWindowedStream]


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


class StreamExecutionEnvironment(StaysInProgram, Execution, DataFrames):
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

    _kinds = StreamKinds(
        KeyedStream, ConnectedStreams, BroadcastStream, BroadcastConnectedStream, CachedDataStream, AllWindowedStream
    )

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

        >>> from flintstream.common import WatermarkStrategy
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
        self,
        source_func: SourceFunction | Source,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Create a stream from a Python ``SourceFunction`` or a ``flintstream.connectors.source.Source``.

        >>> from flintstream.datastream.functions import SourceFunction
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

    def create_input(self, input_format: InputFormat, type_info: TypeInformation | None = None) -> DataStream:
        """Create a stream of the records of an input format, such as ``AvroInputFormat``.

        >>> from flintstream.common.io import InputFormat
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
        from flintstream.connectors.socket_text import SocketText

        return self.add_source(SocketText(host, port, delimiter, max_retry), "Socket Stream", Types.STRING())
