"""Assigners of non-merging windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._generic import T_contra
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.common.time import Duration
from flintstream.common.typeinfo import Types
from flintstream.contracts.state import ValueStateDescriptor
from flintstream.contracts.window.base import WindowAssigner
from flintstream.contracts.window.triggers import CountTrigger, EventTimeTrigger, NeverTrigger, ProcessingTimeTrigger
from flintstream.contracts.window.windows import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from flintstream.common.serializer import TypeSerializer
    from flintstream.common.time import Time
    from flintstream.contracts.window.base import Trigger

NO_TIMESTAMP = (
    "{} needs records with timestamps, but {!r} has none: call "
    "data_stream.assign_timestamps_and_watermarks(...) before the window, or use processing-time windows"
)


def millis_of(length: Any) -> int:
    """Return a length of time in ms, given as a ``Time`` or anything that :meth:`Duration.of` accepts."""
    return Duration.of(length).to_millis()


class _TimeAssigner(WindowAssigner[T_contra, TimeWindow]):
    """Base of the assigners of time windows."""

    _event_time: bool

    def get_default_trigger(self, env: Any) -> Trigger[T_contra, TimeWindow]:
        """Return a trigger that fires at the end of the window."""
        return EventTimeTrigger() if self._event_time else ProcessingTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        """Tell whether windows end in event time."""
        return self._event_time

    def _time(self, element: T_contra, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        if not self._event_time:
            return context.get_current_processing_time()
        if timestamp == MIN_LONG_VALUE:
            raise ValueError(NO_TIMESTAMP.format(type(self).__name__, element))
        return timestamp


class _Tumbling(_TimeAssigner[T_contra]):
    def __init__(self, size: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= size:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy size > 0 and abs(offset) < size, "
                f"but got size {size} ms and offset {offset} ms",
            )
        self._size = size
        self._offset = offset

    def assign_windows(
        self, element: T_contra, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the one window of a record."""
        time = self._time(element, timestamp, context)
        start = time - (time - self._offset) % self._size
        return [TimeWindow(start, start + self._size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class TumblingEventTimeWindows(_Tumbling[T_contra]):
    """Windows of one length (ms), end to end, by the timestamps of records.

    >>> from flintstream.common import Time
    >>> TumblingEventTimeWindows.of(Time.seconds(10)).assign_windows("a record", 12_345, None)
    [TimeWindow(start=10000, end=20000)]

    Raises:
        ValueError: The size is not positive, or the offset is not smaller than the size.
    """

    _event_time = True

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingEventTimeWindows:
        """Return windows of ``size`` that start at multiples of it, shifted by ``offset``."""
        return TumblingEventTimeWindows(millis_of(size), millis_of(offset or 0))


class TumblingProcessingTimeWindows(_Tumbling[T_contra]):
    """Windows of one length (ms), end to end, by the worker's clock.

    >>> from flintstream.common import Time
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     windows = numbers.key_by(lambda n: 0).window(TumblingProcessingTimeWindows.of(Time.seconds(10)))
    ...     return windows.reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1)
    ...     harness.set_processing_time(9_000)
    ...     harness.process_element(2)
    ...     harness.set_processing_time(10_000)  # the first window ends
    ...     harness.process_element(4)
    ...     harness.extract_output_values()
    [3]

    Raises:
        ValueError: The size is not positive, or the offset is not smaller than the size.
    """

    _event_time = False

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingProcessingTimeWindows:
        """Return windows of ``size`` that start at multiples of it, shifted by ``offset``."""
        return TumblingProcessingTimeWindows(millis_of(size), millis_of(offset or 0))


class _Sliding(_TimeAssigner[T_contra]):
    def __init__(self, size: int, slide: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= slide:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < slide and size > 0, "
                f"but got size {size} ms, slide {slide} ms and offset {offset} ms",
            )
        self._size = size
        self._slide = slide
        self._offset = offset

    def assign_windows(
        self, element: T_contra, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows of a record, newest first; empty if it falls between windows (slide > size)."""
        time = self._time(element, timestamp, context)
        size = self._size
        newest = time - (time - self._offset) % self._slide
        return [TimeWindow(start, start + size) for start in range(newest, time - size, -self._slide)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class SlidingEventTimeWindows(_Sliding[T_contra]):
    """Windows of one length (ms) that start every ``slide`` ms, by the timestamps of records.

    >>> from flintstream.common import Time
    >>> sorted(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)).assign_windows("a record", 12_345, None))
    [TimeWindow(start=5000, end=15000), TimeWindow(start=10000, end=20000)]

    Raises:
        ValueError: The size is not positive, or the offset is not smaller than the slide.
    """

    _event_time = True

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingEventTimeWindows:
        """Return windows of ``size`` that start at multiples of ``slide``, shifted by ``offset``."""
        return SlidingEventTimeWindows(millis_of(size), millis_of(slide), millis_of(offset or 0))


class SlidingProcessingTimeWindows(_Sliding[T_contra]):
    """Windows of one length (ms) that start every ``slide`` ms, by the worker's clock.

    >>> from flintstream.common import Time
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     assigner = SlidingProcessingTimeWindows.of(Time.seconds(10), Time.seconds(5))
    ...     return numbers.key_by(lambda n: 0).window(assigner).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1)
    ...     harness.set_processing_time(7_000)
    ...     harness.process_element(2)
    ...     harness.set_processing_time(15_000)
    ...     harness.extract_output_values()
    [1, 3, 2]

    Raises:
        ValueError: The size is not positive, or the offset is not smaller than the slide.
    """

    _event_time = False

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingProcessingTimeWindows:
        """Return windows of ``size`` that start at multiples of ``slide``, shifted by ``offset``."""
        return SlidingProcessingTimeWindows(millis_of(size), millis_of(slide), millis_of(offset or 0))


class GlobalWindows(WindowAssigner[T_contra, GlobalWindow]):
    """One window for all records of a key. It fires only with a user-defined trigger.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTrigger
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3]).key_by(lambda n: 0).window(GlobalWindows.create())
    >>> list(windows.trigger(CountTrigger.of(2)).reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [3]
    """

    def assign_windows(
        self,
        element: T_contra,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[GlobalWindow]:
        """Return the one window."""
        return [GlobalWindow.get()]

    @staticmethod
    def create() -> GlobalWindows:
        """Return the assigner."""
        return GlobalWindows()

    def get_default_trigger(self, env: Any) -> Trigger[T_contra, GlobalWindow]:
        """Return a trigger that never fires."""
        return NeverTrigger()

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        """Return the serializer of the global window."""
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False: time does not end the window."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


class _Counting(WindowAssigner[T_contra, CountWindow]):
    """Base of the count windows: numbers the records of each key in keyed state."""

    def __init__(self, window_size: int, state_name: str) -> None:
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor(state_name, Types.LONG())

    def _number(self, context: WindowAssigner.WindowAssignerContext) -> int:
        counter = context.get_runtime_context().get_state(self._count_descriptor)
        number: int = counter.value() or 0
        counter.update(number + 1)
        return number

    def get_default_trigger(self, env: Any) -> Trigger[T_contra, CountWindow]:
        """Return a trigger that fires when a window is full."""
        return CountTrigger(self._window_size)

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        """Return the serializer of count windows."""
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False: time does not end the windows."""
        return False


class CountTumblingWindowAssigner(_Counting[T_contra]):
    """Consecutive windows of a fixed number of records per key. A window that is not full at the end never fires.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 3]).key_by(lambda n: 0).window(CountTumblingWindowAssigner.of(2))
    >>> list(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [3]
    """

    def __init__(self, window_size: int) -> None:
        if window_size == 0:
            raise ValueError("the size of a CountTumblingWindowAssigner must be at least 1, but got 0")
        super().__init__(window_size, "tumble-count-assigner")

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        """Return windows of ``window_size`` records."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self,
        element: T_contra,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[CountWindow]:
        """Return the one window of a record."""
        return [CountWindow(self._number(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_Counting[T_contra]):
    """Windows of a fixed number of records per key, one every ``window_slide`` records. Only full windows fire.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 4, 8]).key_by(lambda n: 0).window(CountSlidingWindowAssigner.of(3, 1))
    >>> list(windows.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [7, 14]
    """

    def __init__(self, window_size: int, window_slide: int) -> None:
        super().__init__(window_size, "slide-count-assigner")
        if window_slide == 0:
            raise ValueError("the slide of a CountSlidingWindowAssigner must be at least 1, but got 0")
        self._window_slide = window_slide

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Return windows of ``window_size`` records, ``window_slide`` apart."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self,
        element: T_contra,
        timestamp: int,
        context: WindowAssigner.WindowAssignerContext,
    ) -> Collection[CountWindow]:
        """Return the windows of a record, newest first; empty if it falls between windows (slide > size)."""
        number, size, slide = self._number(context), self._window_size, self._window_slide
        newest = number // slide
        if size < 0:
            return ()
        # As in PyFlink: with a negative slide, only the first record of a key is in a window.
        oldest = 0 if slide < 0 < size else max((number - size) // slide + 1, 0)
        return [CountWindow(window) for window in range(newest, oldest - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"
