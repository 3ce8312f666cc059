"""Assigners of sessions: windows that grow with their records and merge when they touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.contracts.window.assigners import _TimeAssigner, millis_of
from flintstream.contracts.window.base import (
    MergingWindowAssigner,
)
from flintstream.contracts.window.windows import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flintstream.common._generic import T
    from flintstream.common.time import Time
    from flintstream.contracts.window.base import (
        SessionWindowTimeGapExtractor,
        WindowAssigner,
    )


class _Sessions(_TimeAssigner[T_contra], MergingWindowAssigner[T_contra, TimeWindow]):
    def _gap(self, element: T_contra) -> int:
        raise NotImplementedError

    def assign_windows(
        self, element: T_contra, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return a session for this record alone."""
        # Unlike other event-time windows, sessions accept records without timestamps, at Long.MIN_VALUE
        start = timestamp if self._event_time else context.get_current_processing_time()
        return [TimeWindow(start, start + self._gap(element))]

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        """Merge sessions that overlap or touch."""
        TimeWindow.merge_windows(windows, callback)


class _FixedGapSessions(_Sessions[T_contra]):
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy 0 < size, but got a gap of {session_gap} ms"
            )
        self._session_gap = session_gap

    def _gap(self, element: T_contra) -> int:
        return self._session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGapSessions(_Sessions[T_contra]):
    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor[T_contra]) -> None:
        self._session_window_time_gap_extractor = session_window_time_gap_extractor

    def _gap(self, element: T_contra) -> int:
        gap = self._session_window_time_gap_extractor.extract(element)
        if gap <= 0:
            raise ValueError(
                f"dynamic session gaps must satisfy 0 < gap, but "
                f"{type(self._session_window_time_gap_extractor).__name__} returned {gap!r} ms for {element!r}",
            )
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_window_time_gap_extractor!r})"


class DynamicEventTimeSessionWindows(_DynamicGapSessions[T_contra]):
    """Sessions by the timestamps of records, with a gap that depends on the record.

    >>> from flintstream.datastream.window import SessionWindowTimeGapExtractor
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Gap(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return element
    >>> def sums(gaps):
    ...     return gaps.key_by(lambda n: 0).window(DynamicEventTimeSessionWindows.with_dynamic_gap(Gap())).reduce(max)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(5, 0)
    ...     harness.process_element(30, 10)  # more than 5 ms later
    ...     harness.process_element(20, 35)  # within its 30 ms
    ...     harness.process_watermark(54)
    ...     harness.get_output()
    [StreamRecord(value=5, timestamp=4), StreamRecord(value=30, timestamp=54), Watermark(timestamp=54)]
    """

    _event_time = True

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor[T]) -> DynamicEventTimeSessionWindows[T]:
        """Return sessions whose gap is returned by ``extractor``."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_DynamicGapSessions[T_contra]):
    """Sessions by the worker's clock, with a gap that depends on the record.

    >>> from flintstream.datastream.window import SessionWindowTimeGapExtractor
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Gap(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return 1_000 if element == "last" else 60_000
    >>> def joined(words):
    ...     sessions = words.key_by(lambda w: 0).window(DynamicProcessingTimeSessionWindows.with_dynamic_gap(Gap()))
    ...     return sessions.reduce(lambda a, b: f"{a} {b}")
    >>> with KeyedHarness(joined) as harness:
    ...     harness.process_element("first")
    ...     harness.set_processing_time(59_500)
    ...     harness.process_element("last")
    ...     harness.set_processing_time(60_500)
    ...     harness.extract_output_values()
    ['first last']
    """

    _event_time = False

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor[T]) -> DynamicProcessingTimeSessionWindows[T]:
        """Return sessions whose gap is returned by ``extractor``."""
        return DynamicProcessingTimeSessionWindows(extractor)


class EventTimeSessionWindows(_FixedGapSessions[T_contra]):
    """Sessions by the timestamps of records: a window ends after a gap (ms) without records.

    >>> from flintstream.common import Time
    >>> EventTimeSessionWindows.with_gap(Time.seconds(10)).assign_windows("a record", 12_345, None)
    [TimeWindow(start=12345, end=22345)]

    Raises:
        ValueError: The gap is not positive.
    """

    _event_time = True

    @staticmethod
    def with_gap(size: Time) -> EventTimeSessionWindows:
        """Return sessions that end after a gap of ``size``."""
        return EventTimeSessionWindows(millis_of(size))

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor[T]) -> DynamicEventTimeSessionWindows[T]:
        """Return sessions whose gap is returned by ``extractor``.

        >>> from flintstream.datastream.window import SessionWindowTimeGapExtractor
        >>> class Patience(SessionWindowTimeGapExtractor):
        ...     def extract(self, element):
        ...         return 60_000 if element == "reads" else 5_000
        >>> sessions = EventTimeSessionWindows.with_dynamic_gap(Patience())
        >>> sessions.assign_windows("reads", 12_345, None)
        [TimeWindow(start=12345, end=72345)]
        """
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGapSessions[T_contra]):
    """Sessions by the worker's clock: a window ends after a gap (ms) without records.

    >>> from flintstream.common import Time
    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     sessions = numbers.key_by(lambda n: 0).window(ProcessingTimeSessionWindows.with_gap(Time.seconds(10)))
    ...     return sessions.reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1)
    ...     harness.set_processing_time(9_000)
    ...     harness.process_element(2)  # in time
    ...     harness.set_processing_time(19_000)
    ...     harness.extract_output_values()
    [3]

    Raises:
        ValueError: The gap is not positive.
    """

    _event_time = False

    @staticmethod
    def with_gap(size: Time) -> ProcessingTimeSessionWindows:
        """Return sessions that end after a gap of ``size``."""
        return ProcessingTimeSessionWindows(millis_of(size))

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor[T]) -> DynamicProcessingTimeSessionWindows[T]:
        """Return sessions whose gap is returned by ``extractor``.

        >>> from flintstream.datastream.window import SessionWindowTimeGapExtractor
        >>> class Patience(SessionWindowTimeGapExtractor):
        ...     def extract(self, element):
        ...         return 60_000 if element == "reads" else 5_000
        >>> sessions = ProcessingTimeSessionWindows.with_dynamic_gap(Patience())
        >>> type(sessions).__name__, sessions.is_event_time()
        ('DynamicProcessingTimeSessionWindows', False)
        """
        return DynamicProcessingTimeSessionWindows(extractor)
