"""``KeyedStream``: state, timers and windows per key."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import Generic, K_co, T_co
from flintstream.common.typeinfo import Types
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.functions import as_function, as_type
from flintstream.datastream._streams.no_settings import NoSettings
from flintstream.datastream._streams.windowed import WindowedStream
from flintstream.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
)
from flintstream.datastream.window import CountSlidingWindowAssigner, CountTumblingWindowAssigner
from flintstream.graph.transformation import OperatorTransformation
from flintstream.options.execution import ROWS_WITH_KEYS
from flintstream.runtime.operators.adapters import (
    Aggregation,
    FieldAggregation,
    KeyedFilter,
    KeyedFlatMap,
    KeyedMap,
    RowWithKey,
)
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.operators.reduce import ReduceOperator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from flintstream.common._generic import TUPLE, K, V, W
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment
    from flintstream.datastream.functions import KeySelector
    from flintstream.datastream.window import CountWindow, WindowAssigner
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.base import Operator


class KeyedStream(NoSettings, DataStream[T_co], Generic[K_co, T_co]):
    """A stream partitioned by key (PyFlink's ``KeyedStream``).

    ``KeyedStream[K, T]`` has keys of type ``K`` and records of type ``T``: the key comes first, as in
    ``KeyedProcessFunction[K, I, O]`` and ``MapState[K, V]``. (In Java it comes second.)

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sales = env.from_collection([("tea", 3), ("milk", 5), ("tea", 2)]).key_by(lambda sale: sale[0])
    >>> sorted(sales.sum(1).execute_and_collect(limit=9))
    [('milk', 5), ('tea', 3), ('tea', 5)]
    >>> sorted(sales.min(1).execute_and_collect(limit=9))
    [('milk', 5), ('tea', 2), ('tea', 3)]
    >>> sorted(sales.max_by(1).execute_and_collect(limit=9))
    [('milk', 5), ('tea', 3), ('tea', 3)]
    >>> sorted(sales.count_window(2).reduce(lambda a, b: (a[0], a[1] * b[1])).execute_and_collect(limit=9))
    [('tea', 6)]
    """

    AccumulateType = Aggregation

    def __init__(
        self,
        env: StreamExecutionEnvironment,
        transformation: Transformation,
        origin: DataStream[T_co],
        selector: Any,
        key_type: TypeInformation[K_co] | None,
    ) -> None:
        """Wrap the partitioned stream; programs get it from :meth:`DataStream.key_by`.

        ``selector`` is frozen. The operators that use it thaw it in the tasks.
        """
        super().__init__(env, transformation)
        self._origin = origin
        self._selector = selector
        self._key_type = key_type

    @overload
    def map(
        self, func: Callable[[T_co], object] | MapFunction[T_co, object], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def map(self, func: Callable[[T_co], V] | MapFunction[T_co, V], output_type: None = None) -> DataStream[V]: ...

    def map(
        self, func: Callable[[T_co], Any] | MapFunction[T_co], output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a function to each record. Its ``open`` may create keyed state."""
        adapter = KeyedMap(as_function(func, MapFunction, "map", "map"))
        return self._add_keyed_operator("Map", KeyedProcessOperator(adapter, self._selector), output_type)

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
        """Apply a function that returns any number of records. Its ``open`` may create keyed state."""
        adapter = KeyedFlatMap(as_function(func, FlatMapFunction, "flat_map", "flat_map"))
        return self._add_keyed_operator("FlatMap", KeyedProcessOperator(adapter, self._selector), output_type)

    def filter(self, func: Callable[[T_co], object] | FilterFunction[T_co]) -> DataStream[T_co]:
        """Keep the records for which the function returns true. Its ``open`` may create keyed state."""
        adapter = KeyedFilter(as_function(func, FilterFunction, "filter", "filter"))
        return self._add_keyed_operator(
            "Filter", KeyedProcessOperator(adapter, self._selector), self._transformation.output_type
        )

    @overload
    def reduce(self, func: Callable[[T_co, T_co], T_co] | ReduceFunction[T_co]) -> DataStream[T_co]: ...

    @overload
    def reduce(  # Pyright infers tuple[str, Literal[1]] for (word, 1), which no sum matches
        self: KeyedStream[K_co, tuple[Any, ...]], func: Callable[[T_co, T_co], TUPLE] | ReduceFunction[TUPLE]
    ) -> DataStream[TUPLE]: ...

    def reduce(self, func: Callable[[T_co, T_co], Any] | ReduceFunction) -> DataStream:
        """Combine each record with the key's running value and emit the result; in BATCH mode only the last one."""
        function = as_function(func, ReduceFunction, "reduce", "reduce")
        return self._add_keyed_operator(
            "Reduce", ReduceOperator(function, self._selector), self._transformation.output_type
        )

    def sum(self, position_to_sum: int | str = 0) -> DataStream[T_co]:
        """Emit a rolling sum of a field."""
        return self._accumulate(Aggregation.SUM, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream[T_co]:
        """Emit a rolling minimum of a field. The other fields are those of the first record."""
        return self._accumulate(Aggregation.MIN, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream[T_co]:
        """Emit a rolling maximum of a field. The other fields are those of the first record.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sales = env.from_collection([("tea", 3, "ann"), ("tea", 5, "bob")]).key_by(lambda sale: sale[0])
        >>> list(sales.max(1).execute_and_collect(limit=9))
        [('tea', 3, 'ann'), ('tea', 5, 'ann')]
        """
        return self._accumulate(Aggregation.MAX, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream[T_co]:
        """Emit the record with the smallest value of a field. The first one wins ties.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sales = env.from_collection([("tea", 3, "ann"), ("tea", 2, "bob")]).key_by(lambda sale: sale[0])
        >>> list(sales.min_by(1).execute_and_collect(limit=9))
        [('tea', 3, 'ann'), ('tea', 2, 'bob')]
        """
        return self._accumulate(Aggregation.MIN_BY, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream[T_co]:
        """Emit the record with the largest value of a field. The first one wins ties."""
        return self._accumulate(Aggregation.MAX_BY, position_to_max_by)

    def _accumulate(self, aggregation: Aggregation, position: int | str) -> DataStream[T_co]:
        if not isinstance(position, (int, str)) or isinstance(position, bool):
            raise TypeError(
                f"{aggregation.value}() needs the position of a field, a number or a field name, but got {position!r}",
            )
        operator = ReduceOperator(FieldAggregation(aggregation, position), self._selector)
        return self._add_keyed_operator("Reduce", operator, self._transformation.output_type)

    @overload  # type: ignore[override]  # a plain ProcessFunction is refused
    def process(
        self, func: KeyedProcessFunction[K_co, T_co, object], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def process(self, func: KeyedProcessFunction[K_co, T_co, V], output_type: None = None) -> DataStream[V]: ...

    def process(self, func: KeyedProcessFunction[K_co, T_co], output_type: TypeInformation | None = None) -> DataStream:
        """Apply a :class:`KeyedProcessFunction`, with keyed state, timers and side outputs.

        Raises:
            TypeError: ``func`` is not a ``KeyedProcessFunction``.
        """
        if not isinstance(func, KeyedProcessFunction):
            raise TypeError(
                f"KeyedProcessFunction is required for KeyedStream.process(), but got {type(func).__name__}",
            )
        return self._add_keyed_operator("KEYED PROCESS", KeyedProcessOperator(func, self._selector), output_type)

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
        """Partition the original stream by a different key."""
        return self._origin.key_by(key_selector, key_type)

    def window(self, window_assigner: WindowAssigner[T_co, W]) -> WindowedStream[K_co, T_co, W]:
        """Group the records of each key into windows.

        >>> from flintstream.common import Time
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> def sums(readings):
        ...     windows = readings.key_by(lambda r: r[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
        ...     return windows.reduce(lambda a, b: (a[0], a[1] + b[1]))
        >>> with KeyedHarness(sums) as harness:
        ...     for reading, timestamp in (("a", 1), 0), (("b", 5), 10), (("a", 2), 999), (("a", 4), 1000):
        ...         harness.process_element(reading, timestamp)
        ...     harness.process_watermark(999)
        ...     sorted(harness.extract_output_values())
        [('a', 3), ('b', 5)]
        """
        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream[K_co, T_co, CountWindow]:
        """Window the records of each key by count: every ``size``, or the last ``size`` after every ``slide``.

        As in PyFlink, tumbling windows of a negative ``size`` fire for each record; a negative ``slide``, or a slide
        with a ``size`` below 1, loses records, with a warning.

        Raises:
            ValueError: The size is 0, without a slide.
        """
        if slide < 0 or (slide > 0 and size < 1):
            message = f"count_window({size}, {slide}) loses records, as in PyFlink: give it a positive size and slide"
            warnings.warn(message, stacklevel=2)
        assigner: WindowAssigner[T_co, CountWindow] = (
            CountTumblingWindowAssigner(size) if slide == 0 else CountSlidingWindowAssigner(size, slide)
        )
        return WindowedStream(self, assigner)

    def _rows_with_keys(self) -> DataStream:
        if not ROWS_WITH_KEYS.read(self._env._configuration.to_dict()):
            return self
        types = [self._key_type or Types.PICKLED_BYTE_ARRAY(), self.get_type()]
        operator = KeyedProcessOperator(RowWithKey(), self._selector)
        return self._add_keyed_operator("Rows with keys", operator, Types.ROW_NAMED(["f0", "f1"], types))

    def _add_keyed_operator(
        self, name: str, operator: Operator, output_type: TypeInformation | None, *, kind: str = "KEYED"
    ) -> DataStream:
        transformation = OperatorTransformation(
            name, (self._transformation,), as_type(output_type), operator=operator, kind=kind, keyed=True
        )
        self._env._register(transformation)
        return DataStream(self._env, transformation)

    # -- unsupported on keyed streams --------------------------------------------------------------------------------

    def shuffle(self) -> DataStream[T_co]:
        """Raise an error: not supported on keyed streams."""
        self._refuse("shuffle()")

    def rescale(self) -> DataStream[T_co]:
        """Raise an error: not supported on keyed streams."""
        self._refuse("rescale()")

    def rebalance(self) -> DataStream[T_co]:
        """Raise an error: not supported on keyed streams."""
        self._refuse("rebalance()")

    def forward(self) -> DataStream[T_co]:
        """Raise an error: not supported on keyed streams."""
        self._refuse("forward()")

    def broadcast(self, *args: Any) -> NoReturn:
        """Raise an error: not supported on keyed streams."""
        self._refuse("broadcast()")

    def partition_custom(self, partitioner: object, key_selector: object) -> DataStream[T_co]:
        """Raise an error: not supported on keyed streams."""
        self._refuse("partition_custom()")
