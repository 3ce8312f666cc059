"""``AllWindowedStream``: operations on windows of all records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import Generic, T_co, W_co
from flintstream.datastream._streams.windowing import Windowed
from flintstream.datastream.functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import TUPLE, T, V
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream.functions import (
        AggregateFunction,
        ReduceFunction,
    )
    from flintstream.datastream.window import WindowAssigner


def _everything(value: object) -> int:  # noqa: ARG001
    return 0


class AllWindowedStream(Windowed[int, T_co, W_co], Generic[T_co, W_co]):
    """The windows of a stream without keys (PyFlink's ``AllWindowedStream``). Type parameters: record and window.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTumblingWindowAssigner
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3, 4]).window_all(CountTumblingWindowAssigner.of(4))
    >>> list(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [10]
    """

    _needs_merging_trigger = True
    _window_functions = (AllWindowFunction, ProcessAllWindowFunction)

    def __init__(self, data_stream: DataStream[T_co], window_assigner: WindowAssigner[T_co, W_co]) -> None:
        """Window ``data_stream``; programs get this from :meth:`DataStream.window_all`."""
        super().__init__(data_stream.key_by(_everything), window_assigner)

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], T_co] | ReduceFunction[T_co],
        window_function: None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream[T_co]: ...

    @overload
    def reduce(  # as in KeyedStream
        self: AllWindowedStream[tuple[Any, ...], W_co],
        reduce_function: Callable[[T_co, T_co], TUPLE] | ReduceFunction[TUPLE],
        window_function: None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream[TUPLE]: ...

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], Any] | ReduceFunction,
        window_function: AllWindowFunction[T_co, object, W_co] | ProcessAllWindowFunction[T_co, object, W_co],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T_co, T_co], Any] | ReduceFunction,
        window_function: AllWindowFunction[T_co, V, W_co] | ProcessAllWindowFunction[T_co, V, W_co],
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
        window_function: AllWindowFunction[T, V, W_co] | ProcessAllWindowFunction[T, V, W_co],
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
        >>> from flintstream.datastream.window import CountTumblingWindowAssigner
        >>> class Distinct(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return set()
        ...
        ...     def add(self, value, accumulator):
        ...         return accumulator | {value}
        ...
        ...     def get_result(self, accumulator):
        ...         return len(accumulator)
        ...
        ...     def merge(self, a, b):
        ...         return a | b
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection(["to", "be", "to", "be"]).window_all(CountTumblingWindowAssigner.of(4))
        >>> list(windows.aggregate(Distinct()).execute_and_collect(limit=9))
        [2]

        Raises:
            TypeError: ``aggregate_function`` is not an ``AggregateFunction``.
        """
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    @overload
    def apply(
        self, window_function: AllWindowFunction[T_co, object, W_co], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def apply(
        self, window_function: AllWindowFunction[T_co, object, W_co], *, result_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def apply(self, window_function: AllWindowFunction[T_co, V, W_co], output_type: None = None) -> DataStream[V]: ...

    def apply(
        self,
        window_function: AllWindowFunction[T_co, Any, W_co],
        output_type: TypeInformation | None = None,
        result_type: TypeInformation | None = None,
    ) -> DataStream:
        """Pass all records of a window to a window function when the window fires (``result_type``: older spelling).

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.functions import AllWindowFunction
        >>> from flintstream.datastream.window import CountTumblingWindowAssigner
        >>> class Joined(AllWindowFunction):
        ...     def apply(self, window, inputs):
        ...         yield " ".join(inputs)
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection(["to", "be", "or", "not"]).window_all(CountTumblingWindowAssigner.of(2))
        >>> list(windows.apply(Joined()).execute_and_collect(limit=9))
        ['to be', 'or not']
        """
        return self._whole(window_function, output_type or result_type, "apply", AllWindowFunction)

    @overload
    def process(
        self, process_window_function: ProcessAllWindowFunction[T_co, object, W_co], output_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def process(
        self, process_window_function: ProcessAllWindowFunction[T_co, object, W_co], *, result_type: TypeInformation[V]
    ) -> DataStream[V]: ...

    @overload
    def process(
        self, process_window_function: ProcessAllWindowFunction[T_co, V, W_co], output_type: None = None
    ) -> DataStream[V]: ...

    def process(
        self,
        process_window_function: ProcessAllWindowFunction[T_co, Any, W_co],
        output_type: TypeInformation | None = None,
        result_type: TypeInformation | None = None,
    ) -> DataStream:
        """Pass the records and context of a window to a function when it fires (``result_type``: older spelling).

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.functions import ProcessAllWindowFunction
        >>> from flintstream.datastream.window import CountTumblingWindowAssigner
        >>> class Numbered(ProcessAllWindowFunction):
        ...     def process(self, context, elements):
        ...         yield context.window().id, list(elements)
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection([1, 2, 3, 4]).window_all(CountTumblingWindowAssigner.of(2))
        >>> list(windows.process(Numbered()).execute_and_collect(limit=9))
        [(0, [1, 2]), (1, [3, 4])]
        """
        return self._whole(process_window_function, output_type or result_type, "process", ProcessAllWindowFunction)
