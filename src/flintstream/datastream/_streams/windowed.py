"""``WindowedStream`` and ``AllWindowedStream``: operations on windows."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import Generic, K_co, T_co, W_co
from flintstream.common.constants import MAX_LONG_VALUE
from flintstream.datastream._streams.functions import as_function
from flintstream.datastream._streams.settings import Drawn
from flintstream.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from flintstream.datastream.output_tag import OutputTag
from flintstream.datastream.state import AggregatingStateDescriptor, ListStateDescriptor, ReducingStateDescriptor
from flintstream.datastream.window import MergingWindowAssigner, Trigger, WindowAssigner
from flintstream.runtime.windows.operator import WindowOperator

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.common._generic import TUPLE, T, V
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.keyed import KeyedStream
    from flintstream.datastream.state import StateDescriptor
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
    from flintstream.graph.transformation import Transformation


WINDOW_STATE_NAME = "window-contents"
WINDOW_FUNCTIONS = (WindowFunction, ProcessWindowFunction, AllWindowFunction, ProcessAllWindowFunction)


class _Windowed(Drawn, Generic[K_co, T_co, W_co]):
    """Base class of both kinds of windowed streams."""

    _window_functions: tuple[type, ...]

    def __init__(self, keyed: KeyedStream[K_co, T_co], window_assigner: WindowAssigner[T_co, W_co]) -> None:
        if not isinstance(window_assigner, WindowAssigner):
            raise TypeError(
                f"window() and window_all() need a WindowAssigner, such as TumblingEventTimeWindows.of(...), "
                f"but got {window_assigner!r}",
            )
        self._keyed_stream = keyed
        self._window_assigner = window_assigner
        self._allowed_lateness = 0
        self._late_data_output_tag: OutputTag | None = None
        self._window_trigger: Trigger[T_co, W_co] | None = None

    def _ends(self) -> tuple[Transformation, ...]:
        return self._keyed_stream._ends()

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment this stream belongs to."""
        return self._keyed_stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation[T_co]:
        """Return the type of the records in the windows.

        >>> from flintstream.common import Time, Types
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> numbers = env.from_collection([1, 2], Types.LONG()).key_by(lambda n: n % 2)
        >>> numbers.window(TumblingEventTimeWindows.of(Time.minutes(1))).get_input_type()
        Long
        """
        return self._keyed_stream.get_type()

    def trigger(self, trigger: Trigger[T_co, W_co]) -> Self:
        """Replace the assigner's default trigger.

        Raises:
            TypeError: ``trigger`` is not a ``Trigger``, or the windows merge but the trigger cannot.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> windows = env.from_collection([1, 2, 3, 4, 5]).key_by(lambda n: 0).window(GlobalWindows.create())
        >>> sums = windows.trigger(PurgingTrigger.of(CountTrigger.of(2))).reduce(lambda a, b: a + b)
        >>> list(sums.execute_and_collect(limit=9))
        [3, 7]
        """
        if not isinstance(trigger, Trigger):
            raise TypeError(f"trigger() needs a Trigger, but got {type(trigger).__name__}")
        if isinstance(self._window_assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise TypeError("A merging window assigner cannot be used with a trigger that does not support merging.")
        self._window_trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int) -> Self:
        """Keep windows for this time (ms) after the watermark has passed their end. Late records fire them again.

        >>> from flintstream.common import Time
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> def sums(numbers):
        ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        ...     return windows.allowed_lateness(5).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums) as harness:
        ...     harness.process_element(1, 3)
        ...     harness.process_watermark(12)
        ...     harness.process_element(2, 4)  # late, but within 5 ms
        ...     harness.process_watermark(20)
        ...     harness.process_element(4, 5)  # too late
        ...     harness.extract_output_values()
        [1, 3]
        """
        if time_ms < 0:
            raise ValueError(f"allowed_lateness() cannot be negative, but got {time_ms}")
        if time_ms > MAX_LONG_VALUE:
            raise OverflowError(f"allowed_lateness() needs a time in ms that fits in 64 bits, but got {time_ms}")
        self._allowed_lateness = time_ms
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Send late records to a side output instead of dropping them.

        >>> from flintstream.common import Time, Types
        >>> from flintstream.datastream.output_tag import OutputTag
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> late = OutputTag("late", Types.LONG())
        >>> def sums(numbers):
        ...     windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        ...     return windows.side_output_late_data(late).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums, side_outputs=[late]) as harness:
        ...     harness.process_watermark(12)
        ...     harness.process_element(17, 4)
        ...     harness.get_side_output(late)
        [StreamRecord(value=17, timestamp=4)]
        """
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"side_output_late_data() needs an OutputTag, but got {type(output_tag).__name__}")
        self._late_data_output_tag = output_tag
        return self

    def _reduce(self, function: Any, window_function: Any, output_type: TypeInformation | None) -> DataStream:
        function = as_function(function, ReduceFunction, "reduce", "reduce")
        descriptor = ReducingStateDescriptor(WINDOW_STATE_NAME, function.reduce, self.get_input_type())
        if window_function is None:
            output_type = self.get_input_type()
        return self._add_window_operator(
            descriptor, self._check_function(window_function, "reduce"), output_type, function
        )

    def _aggregate(
        self,
        function: AggregateFunction,
        window_function: Any,
        accumulator_type: TypeInformation | None,
        output_type: TypeInformation | None,
    ) -> DataStream:
        if not isinstance(function, AggregateFunction):
            raise TypeError(f"aggregate() needs an AggregateFunction, but got {type(function).__name__}")
        descriptor = AggregatingStateDescriptor(WINDOW_STATE_NAME, function, accumulator_type)
        return self._add_window_operator(
            descriptor, self._check_function(window_function, "aggregate"), output_type, function
        )

    def _whole(self, function: Any, output_type: TypeInformation | None, operation: str, wanted: type) -> DataStream:
        if not isinstance(function, wanted):
            # As in PyFlink, any object with the methods works; a wrong kind of window function fails when called.
            missing = [name for name in ("open", "close", operation) if not callable(getattr(function, name, None))]
            if isinstance(function, type) or (missing and not isinstance(function, WINDOW_FUNCTIONS)):
                raise TypeError(f"{operation}() needs a {wanted.__name__}, but got {type(function).__name__}")
            if missing:
                warnings.warn(
                    f"{operation}() needs a {wanted.__name__}, but got {type(function).__name__}, which has no method "
                    f"{operation}(): the job fails when a window fires",
                    stacklevel=3,
                )
        descriptor = ListStateDescriptor(WINDOW_STATE_NAME, self.get_input_type())
        return self._add_window_operator(descriptor, function, output_type, None, wanted)

    def _check_function(self, function: Any, operation: str) -> Any:
        if function is not None and not isinstance(function, self._window_functions):
            names = " or ".join(wanted.__name__ for wanted in self._window_functions)
            raise TypeError(
                f"The window function of {operation}() must be a {names}, but got {type(function).__name__}"
            )
        return function

    def _add_window_operator(
        self,
        descriptor: StateDescriptor,
        function: Any,
        output_type: TypeInformation | None,
        incremental: Any,
        kind: type | None = None,
    ) -> DataStream:
        assigner = copy.copy(self._window_assigner)
        trigger = self._window_trigger or assigner.get_default_trigger(self.get_execution_environment())
        operator = WindowOperator(
            self._keyed_stream._selector,
            assigner,
            trigger,
            descriptor,
            function,
            self._allowed_lateness,
            self._late_data_output_tag,
            incremental,
            kind,
        )
        name = type(assigner).__name__
        return self._keyed_stream._add_keyed_operator(name, operator, output_type, kind="WINDOW")


class WindowedStream(_Windowed[K_co, T_co, W_co]):
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


def _everything(value: object) -> int:  # noqa: ARG001
    return 0


class AllWindowedStream(_Windowed[int, T_co, W_co], Generic[T_co, W_co]):
    """The windows of a stream without keys (PyFlink's ``AllWindowedStream``). Type parameters: record and window.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTumblingWindowAssigner
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3, 4]).window_all(CountTumblingWindowAssigner.of(4))
    >>> list(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [10]
    """

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
