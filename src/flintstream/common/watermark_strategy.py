"""Watermark strategies: timestamps of records, and watermarks.

All times are in milliseconds. A strategy is a plain object that is pickled to the tasks. The runtime uses only its
public attributes and :meth:`WatermarkStrategy.create_generator`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from flintstream.common._generic import Generic, T_contra
from flintstream.common.constants import MIN_LONG_VALUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import T
    from flintstream.common.time import Duration

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "BoundedOutOfOrdernessWatermarks",
    "NoWatermarksGenerator",
    "TimestampAssigner",
    "WatermarkAlignment",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]


class TimestampAssigner(ABC, Generic[T_contra]):
    """Assigns event times to records of type ``T_contra``.

    >>> class TimeOfPayment(TimestampAssigner):
    ...     def extract_timestamp(self, value, record_timestamp):
    ...         return value["seconds"] * 1000
    >>> strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TimeOfPayment())
    >>> strategy.timestamp_assigner.extract_timestamp({"seconds": 7}, -1)
    7000
    """

    @abstractmethod
    def extract_timestamp(self, value: T_contra, record_timestamp: int) -> int:
        """Return the event time of ``value`` in ms since the epoch.

        Args:
            value: The record.
            record_timestamp: The current timestamp (ms); the smallest 64-bit integer without one.
        """


class WatermarkOutput(Protocol):
    """Receives the watermarks of a generator.

    >>> class Shown:
    ...     def emit_watermark(self, timestamp):
    ...         print("watermark", timestamp)
    ...
    ...     def mark_idle(self):
    ...         print("idle")
    ...
    ...     def mark_active(self):
    ...         print("active")
    >>> generator = BoundedOutOfOrdernessWatermarks(1_000)
    >>> generator.on_event("a record", 5_000, Shown())
    >>> generator.on_periodic_emit(Shown())
    watermark 3999
    """

    def emit_watermark(self, timestamp: int) -> None:
        """Declare that no record at or before ``timestamp`` (ms) will follow. A smaller value has no effect."""

    def mark_idle(self) -> None:
        """Stop this stream from holding back event time until :meth:`mark_active` or the next watermark."""

    def mark_active(self) -> None:
        """Undo :meth:`mark_idle`."""


class WatermarkGenerator(ABC, Generic[T_contra]):
    """Generates watermarks from records or periodically.

    An instance holds the state of one subtask. It outlives its process, so it must be picklable.

    >>> from flintstream.testing.harness import OneInputHarness
    >>> class AtFullStops(WatermarkGenerator):
    ...     def on_event(self, value, timestamp, output):
    ...         if value.endswith("."):
    ...             output.emit_watermark(timestamp)
    ...
    ...     def on_periodic_emit(self, output):
    ...         pass
    >>> strategy = WatermarkStrategy.for_generator(AtFullStops)
    >>> with OneInputHarness(lambda words: words.assign_timestamps_and_watermarks(strategy)) as harness:
    ...     harness.process_element("to", 1_000)
    ...     harness.process_element("be.", 2_000)
    ...     harness.extract_watermarks()
    [2000]
    """

    @abstractmethod
    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:
        """Process a record; may emit a watermark.

        Args:
            value: The record.
            timestamp: Its event time (ms) from the strategy's assigner.
            output: Receives the watermarks.
        """

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit a watermark if it has advanced. Called every ``pipeline.auto-watermark-interval`` (200 ms)."""


class NoWatermarksGenerator(WatermarkGenerator[T_contra]):
    """Never emits a watermark.

    >>> isinstance(WatermarkStrategy.no_watermarks().create_generator(), NoWatermarksGenerator)
    True
    """

    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:
        """Do nothing."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Do nothing."""


class BoundedOutOfOrdernessWatermarks(WatermarkGenerator[T_contra]):
    """Lags a fixed delay behind the largest timestamp: emits ``max_timestamp - delay_ms - 1``.

    The runtime recognizes this class, and tracks ``max_timestamp`` itself where that is faster.

    >>> generator = BoundedOutOfOrdernessWatermarks(1_000)
    >>> generator.on_event("a record", 5_000, None)
    >>> generator.on_event("an older one", 4_500, None)
    >>> generator.max_timestamp
    5000

    Attributes:
        delay_ms: Maximum delay of a record (ms).
        max_timestamp: The largest timestamp so far (ms); initially the smallest that keeps the watermark in range.
    """

    def __init__(self, delay_ms: int) -> None:
        if delay_ms < 0:
            raise ValueError(f"the out-of-orderness must not be negative, but got {delay_ms} ms")
        self.delay_ms = delay_ms
        self.max_timestamp = MIN_LONG_VALUE + delay_ms + 1

    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:
        """Track the largest timestamp."""
        self.max_timestamp = max(self.max_timestamp, timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark for the largest timestamp."""
        output.emit_watermark(self.max_timestamp - self.delay_ms - 1)


@dataclass(frozen=True)
class WatermarkAlignment:
    """Makes the sources of a ``group`` wait for each other, and the splits of a source with watermarks per split.

    >>> from flintstream.common import Duration
    >>> strategy = WatermarkStrategy.for_monotonous_timestamps()
    >>> strategy.with_watermark_alignment("topics", Duration.of_seconds(20)).alignment
    WatermarkAlignment(group='topics', max_drift_ms=20000, update_interval_ms=1000)

    Attributes:
        group: Its name; any sources may share it.
        max_drift_ms: A source or split pauses when it is this far (ms) ahead of the slowest one.
        update_interval_ms: How often (ms) the sources compare their watermarks.
    """

    group: str
    max_drift_ms: int
    update_interval_ms: int = 1_000


@dataclass(frozen=True)
class _Bounded:
    """Creates the built-in generator. A class, because plain pickle cannot handle lambdas."""

    delay_ms: int

    def __call__(self) -> WatermarkGenerator:
        return BoundedOutOfOrdernessWatermarks(self.delay_ms)


class WatermarkStrategy(Generic[T_contra]):
    """A watermark generator, a timestamp assigner, and settings for idle and fast sources.

    >>> from flintstream.common import Duration
    >>> class Second(TimestampAssigner):
    ...     def extract_timestamp(self, value, record_timestamp):
    ...         return value[1]
    >>> strategy = (
    ...     WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    ...     .with_timestamp_assigner(Second())
    ...     .with_idleness(Duration.of_minutes(1))
    ... )
    >>> strategy.timestamp_assigner.extract_timestamp(("a", 7), -1), strategy.idle_timeout_ms
    (7, 60000)

    Deliberate difference: :meth:`with_idleness` and :meth:`with_watermark_alignment` keep an earlier assigner, which
    PyFlink drops.

    Attributes:
        timestamp_assigner: Assigns timestamps; None keeps them unchanged.
        idle_timeout_ms: The stream becomes idle after this long (ms) without a record; None for never.
        alignment: See :class:`WatermarkAlignment`; None to disable it.
    """

    def __init__(
        self,
        generator_factory: Callable[[], WatermarkGenerator[T_contra]],
        *,
        timestamp_assigner: TimestampAssigner[T_contra] | None = None,
        idle_timeout_ms: int | None = None,
        alignment: WatermarkAlignment | None = None,
    ) -> None:
        self._generator_factory = generator_factory
        self.timestamp_assigner = timestamp_assigner
        self.idle_timeout_ms = idle_timeout_ms
        self.alignment = alignment

    def create_generator(self) -> WatermarkGenerator[T_contra]:
        """Return a new generator; called once per subtask (or per split of a source).

        >>> from flintstream.common import Duration
        >>> WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).create_generator().delay_ms
        5000
        """
        return self._generator_factory()

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner[T]) -> WatermarkStrategy[T]:
        """Set the assigner and return this strategy itself, as PyFlink does.

        As in PyFlink, nothing is checked here. ``assign_timestamps_and_watermarks`` needs an object with a method
        ``extract_timestamp``. ``from_source`` also accepts a function, and ignores anything else with a warning.
        """
        same = cast("WatermarkStrategy[T]", self)
        same.timestamp_assigner = timestamp_assigner
        return same

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy[T_contra]:
        """Return a strategy whose stream becomes idle after ``idle_timeout`` without a record.

        Raises:
            ValueError: The timeout is not positive.
        """
        timeout_ms = _millis(idle_timeout, "with_idleness()")
        if timeout_ms <= 0:
            raise ValueError(f"the idle timeout must be at least 1 ms, but got {idle_timeout}")
        return self._copy(idle_timeout_ms=timeout_ms)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy[T_contra]:
        """Return a strategy whose source pauses when it is too far ahead of the others in its group.

        If each split has its own watermarks, like the partitions of Kafka, single splits pause.

        >>> from flintstream.common import Duration
        >>> strategy = WatermarkStrategy.for_monotonous_timestamps()
        >>> strategy = strategy.with_watermark_alignment("topics", Duration.of_seconds(20), Duration.of_seconds(2))
        >>> strategy.alignment.max_drift_ms, strategy.alignment.update_interval_ms
        (20000, 2000)

        Args:
            watermark_group: Sources with the same group wait for each other.
            max_allowed_watermark_drift: Maximum lead over the slowest source.
            update_interval: How often the sources compare their watermarks; 1 s by default.
        """
        interval = 1_000 if update_interval is None else _millis(update_interval, "with_watermark_alignment()")
        drift = _millis(max_allowed_watermark_drift, "with_watermark_alignment()")
        return self._copy(alignment=WatermarkAlignment(watermark_group, drift, interval))

    def _copy(
        self, *, idle_timeout_ms: int | None = None, alignment: WatermarkAlignment | None = None
    ) -> WatermarkStrategy[T_contra]:
        return WatermarkStrategy(
            self._generator_factory,
            timestamp_assigner=self.timestamp_assigner,
            idle_timeout_ms=idle_timeout_ms if idle_timeout_ms is not None else self.idle_timeout_ms,
            alignment=alignment if alignment is not None else self.alignment,
        )

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return the strategy for ascending timestamps: the watermark is the largest timestamp minus 1 ms.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> class Millis(TimestampAssigner):
        ...     def extract_timestamp(self, value, record_timestamp):
        ...         return value
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Millis())
        >>> times = env.from_collection([1, 4, 12]).assign_timestamps_and_watermarks(strategy)
        >>> list(times.window_all(TumblingEventTimeWindows.of(10)).reduce(max).execute_and_collect(limit=9))
        [4, 12]
        """
        return WatermarkStrategy(_Bounded(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Return the strategy for records that are at most ``max_out_of_orderness`` late.

        Raises:
            ValueError: The bound is negative.
        """
        delay_ms = _millis(max_out_of_orderness, "for_bounded_out_of_orderness()")
        BoundedOutOfOrdernessWatermarks(delay_ms)  # rejects a negative bound here instead of in a task
        return WatermarkStrategy(_Bounded(delay_ms))

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy for programs that only use processing time.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> numbers = env.from_source(NumberSequenceSource(1, 3), WatermarkStrategy.no_watermarks(), "numbers")
        >>> sorted(numbers.execute_and_collect(limit=9))
        [1, 2, 3]
        """
        return WatermarkStrategy(NoWatermarksGenerator)

    @staticmethod
    def for_generator(factory: Callable[[], WatermarkGenerator[T]]) -> WatermarkStrategy[T]:
        """Return a strategy with custom generators (PyFlink has no such method).

        ``factory`` is called once per subtask.

        >>> class Punctuated(WatermarkGenerator):
        ...     def on_event(self, value, timestamp, output):
        ...         if value == "end of hour":
        ...             output.emit_watermark(timestamp)
        ...
        ...     def on_periodic_emit(self, output):
        ...         pass
        >>> type(WatermarkStrategy.for_generator(Punctuated).create_generator()).__name__
        'Punctuated'
        """
        if not callable(factory):
            raise TypeError(f"for_generator needs a class or function that returns a generator, but got {factory!r}")
        return WatermarkStrategy(factory)


class AssignerWithPeriodicWatermarksWrapper:
    """Kept because PyFlink exports it; there, it wraps a Java object. Use :meth:`WatermarkStrategy.for_generator`.

    >>> strategy = WatermarkStrategy.for_generator(lambda: BoundedOutOfOrdernessWatermarks(1_000))
    >>> strategy.create_generator().delay_ms
    1000
    """

    def __init__(self, j_assigner_with_periodic_watermarks: object) -> None:
        self._j_assigner_with_periodic_watermarks = j_assigner_with_periodic_watermarks


def _millis(duration: Any, operation: str) -> int:
    if not hasattr(duration, "to_millis"):
        raise TypeError(f"{operation} needs a Duration, such as Duration.of_seconds(5), but got {duration!r}")
    return int(duration.to_millis())
