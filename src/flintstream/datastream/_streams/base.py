"""``DataStream``: the operations of every stream."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import T_co
from flintstream.common._java_view import JavaView, behind
from flintstream.common.typeinfo import TupleTypeInfo, Types
from flintstream.datastream._streams.functions import as_function, as_selector, as_type, is_plain
from flintstream.datastream._streams.partitioned import Partitioned
from flintstream.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
)
from flintstream.datastream.output_tag import OutputTag
from flintstream.errors import PlanError
from flintstream.graph.frozen import freeze
from flintstream.graph.transformation import (
    CacheTransformation,
    OperatorTransformation,
    SideOutputTransformation,
    UnionTransformation,
)
from flintstream.runtime import partitioners
from flintstream.runtime.operators.functions import (
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    ProcessOperator,
    ProjectOperator,
)
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.common._generic import K, V, W
    from flintstream.common.execution_config import ExecutionConfig
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.watermark_strategy import WatermarkStrategy
    from flintstream.datastream._streams.all_windowed import AllWindowedStream
    from flintstream.datastream._streams.broadcast import BroadcastConnectedStream, BroadcastStream
    from flintstream.datastream._streams.cached import CachedDataStream
    from flintstream.datastream._streams.connected import ConnectedStreams
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment
    from flintstream.datastream._streams.keyed import KeyedStream
    from flintstream.datastream.functions import (
        KeySelector,
    )
    from flintstream.datastream.window import WindowAssigner
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.base import Operator


class DataStream(Partitioned[T_co]):
    """A stream of records of type ``T`` (PyFlink's ``DataStream``): ``DataStream[int]`` is a stream of ``int``.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> words = env.from_collection(["to be", "or not to be"]).flat_map(lambda line: line.split())
    >>> short = words.filter(lambda word: len(word) == 2).union(env.from_collection(["is"]))
    >>> sorted(short.rebalance().execute_and_collect(limit=9))
    ['be', 'be', 'is', 'or', 'to', 'to']
    >>> counts = short.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).sum(1)
    >>> sorted(counts.execute_and_collect(limit=9))
    [('be', 1), ('be', 2), ('is', 1), ('or', 1), ('to', 1), ('to', 2)]
    >>> single = words.set_max_parallelism(8).force_non_parallel().start_new_chain()
    >>> for moved in single.shuffle(), single.rescale(), single.forward(), single.broadcast():
    ...     print(len(list(moved.execute_and_collect(limit=9))))
    6
    6
    6
    6
    >>> parts = single.partition_custom(lambda key, partitions: key % partitions, len)
    >>> _ = parts.print()
    """

    _env: StreamExecutionEnvironment
    _transformation: Transformation

    def __init__(
        self, env: StreamExecutionEnvironment | JavaView, transformation: Transformation | None = None, /
    ) -> None:
        """Wrap the transformation that produces the records; programs get streams from an environment.

        The argument may be the result of a method of ``env._j_stream_execution_environment``, for another view of it.

        Raises:
            TypeError: The argument is something else.
        """
        if transformation is None:
            shared = behind(env)
            if not isinstance(shared, DataStream):
                raise TypeError(
                    f"DataStream() needs the Java object behind a stream, got {env!r}; create a stream with env"
                )
            vars(self).update(vars(shared))
            return
        self._env = behind(env)
        self._transformation = transformation

    def __repr__(self) -> str:
        """Return the type of the records, the name of the step, and what it reads."""
        step = self._transformation
        typed = "" if step.output_type is None else f"[{step.output_type}]"
        name = "" if step.virtual else f" '{step.name}'"
        read = ", ".join(f"'{origin.name}'" for given in step.inputs for origin in given.origins())
        return f"{type(self).__name__}{typed}{name}{' <- ' if read else ''}{read}"

    @property
    def _j_data_stream(self) -> JavaView:
        return JavaView(self)

    def get_type(self) -> TypeInformation[T_co]:
        """Return the declared type of the records, or ``Types.PICKLED_BYTE_ARRAY()`` if there is none.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> numbers = env.from_collection([1, 2], Types.LONG())
        >>> numbers.get_type(), numbers.map(str, Types.STRING()).get_type(), numbers.map(str).get_type()
        (Long, String, PickledByteArrayTypeInfo)
        """
        return self._transformation.output_type or Types.PICKLED_BYTE_ARRAY()

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment this stream belongs to."""
        return self._env

    def get_execution_config(self) -> ExecutionConfig:
        """Return the configuration of the environment.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> config = env.from_collection([1, 2]).get_execution_config().set_auto_watermark_interval(50)
        >>> env.get_config().get_auto_watermark_interval()
        50
        """
        return self._env.get_config()

    # -- one record at a time ----------------------------------------------------------------------------------------

    @overload
    def map(
        self, func: Callable[[T_co], object] | MapFunction[T_co, object], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def map(self, func: Callable[[T_co], V] | MapFunction[T_co, V], output_type: None = None) -> DataStream[V]: ...

    def map(
        self, func: Callable[[T_co], Any] | MapFunction[T_co], output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a function to each record. Each result is one record, even ``None``.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with env.from_collection([1, 2]).map(lambda x: x * 10).execute_and_collect() as results:
        ...     sorted(results)
        [10, 20]
        """
        function = as_function(func, MapFunction, "map", "map")
        return self._add_operator("Map", MapOperator(function, plain=is_plain(func, MapFunction)), output_type)

    @overload
    def flat_map(
        self,
        func: Callable[[T_co], Iterable[object]] | FlatMapFunction[T_co, object],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def flat_map(
        self, func: Callable[[T_co], Iterable[V]] | FlatMapFunction[T_co, V], output_type: None = None
    ) -> DataStream[V]: ...

    def flat_map(
        self,
        func: Callable[[T_co], Iterable[Any]] | FlatMapFunction[T_co],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Apply a function that returns any number of records for each record, as an iterable or generator."""
        return self._add_operator(
            "FlatMap", FlatMapOperator(as_function(func, FlatMapFunction, "flat_map", "flat_map")), output_type
        )

    def filter(self, func: Callable[[T_co], object] | FilterFunction[T_co]) -> DataStream[T_co]:
        """Keep the records for which the function returns true. The type is unchanged."""
        operator = FilterOperator(as_function(func, FilterFunction, "filter", "filter"))
        return self._add_operator("Filter", operator, self._transformation.output_type)

    @overload
    def process(
        self,
        func: ProcessFunction[T_co, object] | KeyedProcessFunction[Any, T_co, object],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def process(
        self, func: ProcessFunction[T_co, V] | KeyedProcessFunction[Any, T_co, V], output_type: None = None
    ) -> DataStream[V]: ...

    def process(
        self, func: ProcessFunction | KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a :class:`ProcessFunction`, which can access timestamps and write to side outputs.

        >>> from flintstream.datastream import ProcessFunction, StreamExecutionEnvironment
        >>> class LongWords(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         for word in value.split():
        ...             if len(word) > 2:
        ...                 yield word
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sorted(env.from_collection(["or not to be", "that is"]).process(LongWords()).execute_and_collect(limit=9))
        ['not', 'that']

        Raises:
            TypeError: ``func`` is not a ``ProcessFunction``.
        """
        # As in PyFlink, a keyed function also works here as long as it uses no state, timers or keys.
        if not isinstance(func, (ProcessFunction, KeyedProcessFunction)):
            raise TypeError(f"process() on a DataStream needs a ProcessFunction, but got {type(func).__name__}")
        return self._add_operator("PROCESS", ProcessOperator(func), output_type)

    def project(self, *field_indexes: int) -> DataStream[tuple[Any, ...]]:
        """Keep the given fields of a stream of tuples, in this order.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> people = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
        >>> stream = env.from_collection([("ann", 30, "Bern"), ("bob", 25, "Rome")], people)
        >>> sorted(stream.project(2, 0).execute_and_collect(limit=9))
        [('Bern', 'ann'), ('Rome', 'bob')]

        Raises:
            Exception: The stream's type is not a tuple type.
            ValueError: An index is out of range.
        """
        declared = self._transformation.output_type
        if not isinstance(declared, TupleTypeInfo):
            raise Exception("Only Tuple DataStreams can be projected.")  # noqa: TRY002, TRY004 - as in PyFlink
        types = declared.get_field_types()
        for index in field_indexes:
            if not 0 <= index < len(types):
                raise ValueError(f"project({index}) is out of range: the tuples have fields 0 to {len(types) - 1}")
        projected = Types.TUPLE([types[index] for index in field_indexes])
        return self._add_operator("Projection", ProjectOperator(field_indexes), projected, kind="ENGINE")

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy[T_co]) -> DataStream[T_co]:
        """Give records their event time (ms) and generate watermarks from it.

        >>> from flintstream.common import Duration
        >>> from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> class Time(TimestampAssigner):
        ...     def extract_timestamp(self, value, record_timestamp):
        ...         return value[1]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
        >>> strategy = strategy.with_timestamp_assigner(Time())
        >>> clicks = env.from_collection([("a", 1_000), ("b", 12_000), ("c", 9_000)])
        >>> clicks = clicks.assign_timestamps_and_watermarks(strategy).window_all(TumblingEventTimeWindows.of(10_000))
        >>> list(clicks.reduce(lambda a, b: (a[0] + b[0], a[1])).execute_and_collect(limit=9))
        [('ac', 1000), ('b', 12000)]
        """
        if not hasattr(watermark_strategy, "create_generator"):
            raise TypeError(
                "assign_timestamps_and_watermarks() needs a WatermarkStrategy, "
                f"but got {type(watermark_strategy).__name__}",
            )
        assigner = watermark_strategy.timestamp_assigner
        if assigner is not None and not callable(getattr(assigner, "extract_timestamp", None)):
            raise TypeError(
                "assign_timestamps_and_watermarks() needs a TimestampAssigner, an object with a method "
                f"extract_timestamp(value, record_timestamp), but got {assigner!r}",
            )
        operator = TimestampsAndWatermarksOperator(copy.copy(watermark_strategy))
        marked = self._add_operator("Timestamps/Watermarks", operator, self._transformation.output_type, kind="ENGINE")
        marked._transformation.parallelism = self._transformation.parallelism
        return marked

    # -- keys, windows, several streams ------------------------------------------------------------------------------

    @overload
    def key_by(
        self, key_selector: Callable[[T_co], object] | KeySelector[T_co, object], key_type: TypeInformation[K]
    ) -> KeyedStream[K, T_co]: ...

    @overload
    def key_by(
        self, key_selector: Callable[[T_co], K] | KeySelector[T_co, K], key_type: None = None
    ) -> KeyedStream[K, T_co]: ...

    def key_by(
        self, key_selector: Callable[[T_co], Any] | KeySelector[T_co], key_type: TypeInformation | None = None
    ) -> KeyedStream[Any, T_co]:
        """Partition the stream by key: all records with the same key go to one subtask and share keyed state."""
        selector = freeze("key_by", as_selector(key_selector))
        declared = as_type(key_type)
        converter = declared.converter() if declared is not None else None
        partitioner = partitioners.KeyGroupPartitioner(selector, converter)
        return self._env._kinds.keyed(self._env, self._partition(partitioner, "Key by"), self, selector, declared)

    def window_all(self, window_assigner: WindowAssigner[T_co, W]) -> AllWindowedStream[T_co, W]:
        """Window the whole stream without keys, in one subtask.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.window import CountTumblingWindowAssigner
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> pairs = env.from_collection(["to", "be", "or", "not"]).window_all(CountTumblingWindowAssigner.of(2))
        >>> list(pairs.reduce(lambda a, b: f"{a} {b}").execute_and_collect(limit=9))
        ['to be', 'or not']
        """
        return self._env._kinds.windowed(self, window_assigner)

    def union(self, *streams: DataStream[V]) -> DataStream[T_co | V]:
        """Merge this stream with others of the same type. A stream without a declared type may have any records.

        Raises:
            TypeError: An argument is not a ``DataStream``.
            ValueError: Two streams have different declared types.
        """
        declared = self._transformation.output_type
        for stream in streams:
            if not isinstance(stream, DataStream):
                raise TypeError(f"union() needs DataStreams, but got {type(stream).__name__}")
            other = stream._transformation.output_type
            if declared is not None and other is not None and declared != other:
                raise ValueError(
                    f"Cannot union streams of different types: '{self._transformation.name}' has {declared}, "
                    f"'{stream._transformation.name}' has {other}. Map one to the type of the other",
                )
        parts = (self._values_transformation(), *(stream._values_transformation() for stream in streams))
        return DataStream(self._env, UnionTransformation("Union", parts, parts[0].output_type))

    @overload
    def connect(self, ds: DataStream[V]) -> ConnectedStreams[T_co, V]: ...

    @overload
    def connect(self, ds: BroadcastStream[V]) -> BroadcastConnectedStream[T_co, V]: ...

    def connect(self, ds: DataStream | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """Connect this stream with another one, of any type, so that one function processes both.

        >>> from flintstream.datastream import CoMapFunction, StreamExecutionEnvironment
        >>> class Celsius(CoMapFunction):
        ...     def map1(self, value):
        ...         return value
        ...
        ...     def map2(self, value):
        ...         return (value - 32) * 5 / 9
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> celsius, fahrenheit = env.from_collection([20.0]), env.from_collection([212])
        >>> sorted(celsius.connect(fahrenheit).map(Celsius()).execute_and_collect(limit=9))
        [20.0, 100.0]

        Returns:
            ``ConnectedStreams``, or a ``BroadcastConnectedStream`` if ``ds`` is a ``BroadcastStream``.

        Raises:
            TypeError: ``ds`` is neither a ``DataStream`` nor a ``BroadcastStream``.
        """
        kinds = self._env._kinds
        if isinstance(ds, kinds.broadcast):
            return kinds.broadcast_connected(self, ds, ds.broadcast_state_descriptors)
        if not isinstance(ds, DataStream):
            raise TypeError(f"connect() needs a DataStream or a BroadcastStream, but got {ds!r}")
        return kinds.connected(self, ds)

    def _rows_with_keys(self) -> DataStream:
        return self

    def cache(self) -> CachedDataStream[T_co]:
        """Return a stream of the same records, which the first job that computes them keeps for later jobs.

        Only BATCH jobs can read it; see :class:`~flintstream.datastream.data_stream.CachedDataStream`.

        >>> from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env = env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        >>> lengths = env.from_collection(["to", "question"]).map(len).cache()
        >>> sorted(lengths.execute_and_collect(limit=9))
        [2, 8]
        >>> sorted(lengths.map(lambda n: n * 10).execute_and_collect(limit=9))  # does not compute the lengths again
        [20, 80]
        >>> env.close()

        Raises:
            PlanError: This stream is neither the result of an operator nor a side output.
        """
        origin = self._transformation
        if origin.virtual and not isinstance(origin, SideOutputTransformation):
            raise PlanError(
                f"cache() keeps the result of an operator or a side output, but '{origin.name}' only forwards records: "
                "call it on the stream before",
            )
        return self._env._kinds.cached(self._env, CacheTransformation(origin.name, (origin,), origin.output_type))

    def get_side_output(self, output_tag: OutputTag[V]) -> DataStream[V]:
        """Return the records that this step sent to a side output.

        >>> from flintstream.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
        >>> bad = OutputTag("bad")
        >>> class Parse(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         if value.isdigit():
        ...             yield int(value)
        ...         else:
        ...             yield bad, value
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> parsed = env.from_collection(["1", "two", "3"]).process(Parse())
        >>> list(parsed.get_side_output(bad).execute_and_collect(limit=9))
        ['two']

        Raises:
            TypeError: ``output_tag`` is not an ``OutputTag``.
        """
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"get_side_output() needs an OutputTag, but got {type(output_tag).__name__}")
        declared = as_type(output_tag.type_info)
        side = SideOutputTransformation("Side output", (self._transformation,), declared, tag_id=output_tag.tag_id)
        self._env._register(side)
        return DataStream(self._env, side)

    # -- construction ------------------------------------------------------------------------------------------------

    def _add_operator(
        self, name: str, operator: Operator, output_type: TypeInformation | None, *, kind: str = "PROCESS"
    ) -> DataStream:
        transformation = OperatorTransformation(
            name, (self._transformation,), as_type(output_type), operator=operator, kind=kind
        )
        self._env._register(transformation)
        return DataStream(self._env, transformation)

    def _repartition(self, partitioner: partitioners.Partitioner) -> DataStream[T_co]:
        return DataStream(self._env, self._partition(partitioner, "Partition"))
