"""The base class of windowed streams."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

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
    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment
    from flintstream.datastream._streams.keyed import KeyedStream
    from flintstream.datastream.state import StateDescriptor
    from flintstream.graph.transformation import Transformation


WINDOW_STATE_NAME = "window-contents"
WINDOW_FUNCTIONS = (WindowFunction, ProcessWindowFunction, AllWindowFunction, ProcessAllWindowFunction)


class Windowed(Drawn, Generic[K_co, T_co, W_co]):
    """Base class of both kinds of windowed streams."""

    _needs_merging_trigger = False
    """Whether windows that merge are refused for a trigger that cannot; PyFlink does not ask it for keyed windows."""

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
            TypeError: ``trigger`` is not a ``Trigger``, or windows of all records merge but the trigger cannot.

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
        merges = isinstance(self._window_assigner, MergingWindowAssigner)
        if merges and self._needs_merging_trigger and not trigger.can_merge():
            raise TypeError("A merging window assigner cannot be used with a trigger that does not support merging.")
        self._window_trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int) -> Self:
        """Keep windows for this time (ms) after the watermark has passed their end. Late records fire them again.

        As in PyFlink, windows with a negative time stay forever, and no record is late.

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
        if time_ms > MAX_LONG_VALUE:
            raise OverflowError(f"allowed_lateness() needs a time in ms that fits in 64 bits, but got {time_ms}")
        self._allowed_lateness = time_ms if time_ms >= 0 else MAX_LONG_VALUE
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
