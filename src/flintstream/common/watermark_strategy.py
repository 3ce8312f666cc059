"""How a stream gets event time: which timestamp a record has, and when the watermark may advance.

All times are milliseconds. A strategy is a plain object that is pickled to the tasks; everything the runtime needs of
it is in its public attributes and in :meth:`WatermarkStrategy.create_generator`.
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
    """Says when a record of type ``T_contra`` happened."""

    @abstractmethod
    def extract_timestamp(self, value: T_contra, record_timestamp: int) -> int:
        """Return the event time of ``value`` in ms since the epoch.

        Args:
            value: the record.
            record_timestamp: the timestamp (ms) it has so far; the smallest 64-bit integer if it has none.
        """


class WatermarkOutput(Protocol):
    """Where a generator puts its watermarks."""

    def emit_watermark(self, timestamp: int) -> None:
        """Say that no record at or before ``timestamp`` (ms) is to be expected. Going back has no effect."""

    def mark_idle(self) -> None:
        """Say that this stream shall not hold back event time until :meth:`mark_active` or the next watermark."""

    def mark_active(self) -> None:
        """Take back :meth:`mark_idle`."""


class WatermarkGenerator(ABC, Generic[T_contra]):
    """Decides about watermarks, from the records or as time goes by.

    An instance holds the state of one subtask and must be picklable, for it outlives the process it runs in.
    """

    @abstractmethod
    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:
        """See a record; may emit a watermark at once.

        Args:
            value: the record.
            timestamp: its event time (ms), as the strategy's assigner gave it.
            output: where watermarks go.
        """

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit a watermark if it is time to; called every ``pipeline.auto-watermark-interval`` (200 ms)."""


class NoWatermarksGenerator(WatermarkGenerator[T_contra]):
    """Never emits a watermark."""

    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:
        """Do nothing."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Do nothing."""


class BoundedOutOfOrdernessWatermarks(WatermarkGenerator[T_contra]):
    """Trails the largest timestamp seen by a fixed delay: emits ``max_timestamp - delay_ms - 1``.

    The runtime knows this class and keeps ``max_timestamp`` itself where that is faster.

    Attributes:
        delay_ms: how late a record may come (ms).
        max_timestamp: the largest timestamp seen (ms), at first as small as the watermark allows.
    """

    def __init__(self, delay_ms: int) -> None:
        if delay_ms < 0:
            raise ValueError(f"the bound of out-of-orderness cannot be negative, got {delay_ms} ms")
        self.delay_ms = delay_ms
        self.max_timestamp = MIN_LONG_VALUE + delay_ms + 1

    def on_event(self, value: T_contra, timestamp: int, output: WatermarkOutput) -> None:  # noqa: ARG002 - the contract
        """Remember the largest timestamp."""
        self.max_timestamp = max(self.max_timestamp, timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark that the largest timestamp allows."""
        output.emit_watermark(self.max_timestamp - self.delay_ms - 1)


@dataclass(frozen=True)
class WatermarkAlignment:
    """Sources of one ``group`` wait for each other; so do the splits of one that keeps watermarks for each of them.

    Attributes:
        group: its name; sources of any kind may be in it.
        max_drift_ms: a source or split this far (ms) ahead of the slowest one pauses.
        update_interval_ms: how often (ms) the sources compare.
    """

    group: str
    max_drift_ms: int
    update_interval_ms: int = 1_000


@dataclass(frozen=True)
class _Bounded:
    """Makes the built-in generator; a class of its own because a lambda could not be pickled plainly."""

    delay_ms: int

    def __call__(self) -> WatermarkGenerator:
        return BoundedOutOfOrdernessWatermarks(self.delay_ms)


class WatermarkStrategy(Generic[T_contra]):
    """A watermark generator, a timestamp assigner, and what to do about silent or hurrying sources.

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

    Deliberate difference: :meth:`with_idleness` and :meth:`with_watermark_alignment` keep the assigner that was set
    before; PyFlink's forget it.

    Attributes:
        timestamp_assigner: assigns the timestamps; None leaves them as they are.
        idle_timeout_ms: after this long (ms) without a record the stream is idle; None for never.
        alignment: see :class:`WatermarkAlignment`; None for none.
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
        """Return a new generator; called once per subtask (or per split of a source)."""
        return self._generator_factory()

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner[T]) -> WatermarkStrategy[T]:
        """Set the assigner and return this same strategy, as PyFlink does.

        As in PyFlink, nothing is checked here. ``assign_timestamps_and_watermarks`` needs an object with a method
        ``extract_timestamp``. ``from_source`` also takes a function, and ignores what is neither, with a warning.
        """
        same = cast("WatermarkStrategy[T]", self)
        same.timestamp_assigner = timestamp_assigner
        return same

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy[T_contra]:
        """Return a strategy whose stream counts as idle after ``idle_timeout`` without a record.

        Raises:
            ValueError: the timeout is not positive.
        """
        timeout_ms = _millis(idle_timeout, "with_idleness()")
        if timeout_ms <= 0:
            raise ValueError(f"the idle timeout must be at least 1 ms, got {idle_timeout}")
        return self._copy(idle_timeout_ms=timeout_ms)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy[T_contra]:
        """Return a strategy whose source pauses when it is too far ahead of the others of its group.

        Where each split has watermarks of its own, as the partitions of Kafka have, single splits pause.

        Args:
            watermark_group: sources that name the same group wait for each other.
            max_allowed_watermark_drift: how far ahead is too far.
            update_interval: how often the sources compare; 1 s by default.
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
        """Return the strategy for timestamps that never go back: the watermark is the largest timestamp minus 1 ms."""
        return WatermarkStrategy(_Bounded(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Return the strategy for records that come at most ``max_out_of_orderness`` late.

        Raises:
            ValueError: the bound is negative.
        """
        delay_ms = _millis(max_out_of_orderness, "for_bounded_out_of_orderness()")
        BoundedOutOfOrdernessWatermarks(delay_ms)  # refuses a negative bound here and not in a task
        return WatermarkStrategy(_Bounded(delay_ms))

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy for programs that use processing time alone."""
        return WatermarkStrategy(NoWatermarksGenerator)

    @staticmethod
    def for_generator(factory: Callable[[], WatermarkGenerator[T]]) -> WatermarkStrategy[T]:
        """Return a strategy with generators of your own (PyFlink has no such method).

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
            raise TypeError(f"for_generator takes a class or function that makes a WatermarkGenerator, got {factory!r}")
        return WatermarkStrategy(factory)


class AssignerWithPeriodicWatermarksWrapper:
    """Exists because PyFlink exports it; there, it wraps a Java object. Use :meth:`WatermarkStrategy.for_generator`."""

    def __init__(self, j_assigner_with_periodic_watermarks: object) -> None:
        self._j_assigner_with_periodic_watermarks = j_assigner_with_periodic_watermarks


def _millis(duration: Any, operation: str) -> int:
    if not hasattr(duration, "to_millis"):
        raise TypeError(f"{operation} needs a Duration, such as Duration.of_seconds(5), but got {duration!r}")
    return int(duration.to_millis())
