"""``WindowedStream``: operations on the windows of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import K_co, T_co, W_co
from flintstream.datastream._streams.windowing import Windowed
from flintstream.datastream.functions import (
    ProcessWindowFunction,
    WindowFunction,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import TUPLE, T, V
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.keyed import KeyedStream
    from flintstream.datastream.functions import (
        AggregateFunction,
        ReduceFunction,
    )
    from flintstream.datastream.window import WindowAssigner


class WindowedStream(Windowed[K_co, T_co, W_co]):
    """The windows of each key (PyFlink's ``WindowedStream``). ``WindowedStream[K, T, W]``: keys, records, windows.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3, 4]).key_by(lambda n: n % 2).count_window(2)
    >>> sorted(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [4, 6]
    """

    _window_functions = (WindowFunction, ProcessWindowFunction)

    def __init__(self, keyed_stream: KeyedStream[K_co, T_co], window_assigner: WindowAssigner[T_co, W_co]) -> None:
        """Window ``keyed_stream``; programs get this from :meth:`KeyedStream.window`."""
        super().__init__(keyed_stream, window_assigner)

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], T_co] | ReduceFunction[T_co],
        window_function: None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream[T_co]: ...

    @overload
    def reduce(  # as in KeyedStream
        self: WindowedStream[K_co, tuple[Any, ...], W_co],
        reduce_function: Callable[[T_co, T_co], TUPLE] | ReduceFunction[TUPLE],
        window_function: None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream[TUPLE]: ...

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], Any] | ReduceFunction,
        window_function: WindowFunction[T_co, object, K_co, W_co] | ProcessWindowFunction[T_co, object, K_co, W_co],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], Any] | ReduceFunction,
        window_function: WindowFunction[T_co, V, K_co, W_co] | ProcessWindowFunction[T_co, V, K_co, W_co],
        output_type: None = None,
    ) -> DataStream[V]: ...

    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], Any] | ReduceFunction,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Combine the records of a window pairwise as they arrive; optionally pass the result to a window function."""
        return self._reduce(reduce_function, window_function, output_type)

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, Any, Any],
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        *,
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, Any, Any],
        window_function: Any,
        accumulator_type: TypeInformation | None,
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, Any, V],
        window_function: None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: None = None,
    ) -> DataStream[V]: ...

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, Any, T],
        window_function: WindowFunction[T, V, K_co, W_co] | ProcessWindowFunction[T, V, K_co, W_co],
        accumulator_type: TypeInformation | None = None,
        output_type: None = None,
    ) -> DataStream[V]: ...

    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co],
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Aggregate the records of a window as they arrive; optionally pass the result to a window function.

        >>> from flintstream.datastream import AggregateFunction, StreamExecutionEnvironment
        >>> class Mean(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return 0, 0
        ...
        ...     def add(self, value, accumulator):
        ...         return accumulator[0] + value, accumulator[1] + 1
        ...
        ...     def get_result(self, accumulator):
        ...         return accumulator[0] / accumulator[1]
        ...
        ...     def merge(self, a, b):
        ...         return a[0] + b[0], a[1] + b[1]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection([1, 2, 6, 4]).key_by(lambda n: n % 2).count_window(3)
        >>> list(windows.aggregate(Mean()).execute_and_collect(limit=9))
        [4.0]

        Raises:
            TypeError: ``aggregate_function`` is not an ``AggregateFunction``.
        """
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    @overload
    def apply(
        self, window_function: WindowFunction[T_co, object, K_co, W_co], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def apply(
        self, window_function: WindowFunction[T_co, object, K_co, W_co], *, result_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def apply(
        self, window_function: WindowFunction[T_co, V, K_co, W_co], output_type: None = None
    ) -> DataStream[V]: ...

    def apply(
        self,
        window_function: WindowFunction[T_co, Any, K_co, W_co],
        output_type: TypeInformation | None = None,
        result_type: TypeInformation | None = None,
    ) -> DataStream:
        """Pass all records of a window to a window function when the window fires (``result_type``: older spelling).

        >>> from flintstream.datastream import StreamExecutionEnvironment, WindowFunction
        >>> class Sorted(WindowFunction):
        ...     def apply(self, key, window, inputs):
        ...         yield key, sorted(inputs)
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection([6, 2, 4]).key_by(lambda n: n % 2).count_window(3)
        >>> list(windows.apply(Sorted()).execute_and_collect(limit=9))
        [(0, [2, 4, 6])]
        """
        return self._whole(window_function, output_type or result_type, "apply", WindowFunction)

    @overload
    def process(
        self, process_window_function: ProcessWindowFunction[T_co, object, K_co, W_co], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def process(
        self,
        process_window_function: ProcessWindowFunction[T_co, object, K_co, W_co],
        *,
        result_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def process(
        self, process_window_function: ProcessWindowFunction[T_co, V, K_co, W_co], output_type: None = None
    ) -> DataStream[V]: ...

    def process(
        self,
        process_window_function: ProcessWindowFunction[T_co, Any, K_co, W_co],
        output_type: TypeInformation | None = None,
        result_type: TypeInformation | None = None,
    ) -> DataStream:
        """Pass the records and context of a window to a function when it fires (``result_type``: older spelling).

        >>> from flintstream.common import Time
        >>> from flintstream.datastream import ProcessWindowFunction
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> class Count(ProcessWindowFunction):
        ...     def process(self, key, context, elements):
        ...         yield key, context.window().start, len(list(elements))
        >>> def counts(words):
        ...     windows = words.key_by(lambda word: word).window(TumblingEventTimeWindows.of(Time.seconds(1)))
        ...     return windows.process(Count())
        >>> with KeyedHarness(counts) as harness:
        ...     for word, timestamp in ("to", 1_000), ("be", 1_100), ("to", 1_999), ("to", 2_000):
        ...         harness.process_element(word, timestamp)
        ...     harness.process_watermark(1_999)
        ...     sorted(harness.extract_output_values())
        [('be', 1000, 1), ('to', 1000, 2)]
        """
        return self._whole(process_window_function, output_type or result_type, "process", ProcessWindowFunction)
