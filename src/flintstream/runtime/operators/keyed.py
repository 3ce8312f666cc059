"""Operators on keyed streams: their base classes, and ``process``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock
from flintstream.compiled.base import look_ahead
from flintstream.runtime.keys import freeze_key, thaw_key
from flintstream.runtime.operators.contexts import KeyedProcessContext, OnTimerContext
from flintstream.runtime.operators.functions import CollectingOperator
from flintstream.runtime.selectors import field_of
from flintstream.runtime.times import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.base import OperatorContext, Output
    from flintstream.runtime.operators.timers import InternalTimerService, Timer
    from flintstream.runtime.protocol import NodeReport
    from flintstream.state.backend import KeyedStateBackend


class KeyedOperator(CollectingOperator):
    """Base of operators with keyed state."""

    state: KeyedStateBackend
    timers: InternalTimerService
    key: Callable[[Any], Any]
    """Returns a record's key in the form that state uses."""

    def __init__(self, function: Any, selector: Callable[[Any], Any]) -> None:
        """Take the user's function and the key selector, which runs again here: keys do not cross the exchange."""
        super().__init__(function)
        self.selector = selector

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Take the state and the timers."""
        super().setup(context, output, side_outputs)
        assert context.state is not None  # noqa: S101
        assert context.timers is not None  # noqa: S101
        self.state = context.state
        self.timers = context.timers
        self.key = self.selector
        self.large_dicts = getattr(self.state, "large_dicts", None)

    def freeze_keys(self) -> None:
        """Freeze keys from now on."""
        self.key = frozen_selector(self.selector)

    def begin_epoch(self, epoch: Epoch, given: Sequence[Any]) -> None:
        """Set whether state tracks changes."""
        self.state.tracking = epoch.tracks_changes

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Clean up the state, and report when the next cleanup is due even without input."""
        report = super().end_epoch(epoch)
        if epoch.end_of_input:
            return report
        now = wall_clock()
        self.state.cleanup(now)
        ask = getattr(self.state, "next_cleanup", None)
        times = (report.next_processing_time, None if ask is None else ask(now))
        return report._replace(next_processing_time=min((time for time in times if time is not None), default=None))

    def release(self) -> None:
        """Close the state."""
        self.state.close()


class TimerOperator(KeyedOperator):
    """Base of keyed operators that fire timers."""

    def process_watermark(self, timestamp: int) -> None:
        """Fire the event-time timers that are due, then forward the watermark."""
        self.fire(self.timers.advance_watermark(timestamp), event=True)
        super().process_watermark(timestamp)

    def on_processing_time(self, now: int) -> None:
        """Fire the processing-time timers that are due."""
        self.fire(self.timers.due_processing(now), event=False)

    def next_processing_time(self) -> int | None:
        """Return the time of the next processing-time timer (ms)."""
        return self.timers.next_processing_time()

    def fire(self, due: Iterable[Timer], *, event: bool) -> None:
        """Fire timers and send the results. ``event`` is true for event time, false for processing time."""
        raise NotImplementedError

    def end_key(self, key: Any) -> None:
        """Fire all timers of a complete key and drop its state (BATCH mode)."""
        self.state.key = key
        event, processing = len(self.timers.event), len(self.timers.processing)
        if event or processing:
            with self.timers.last_call():
                if event:
                    self.fire(self.timers.advance_watermark(MAX_TIMESTAMP), event=True)
                if processing:
                    self.timers.current_watermark = MAX_TIMESTAMP
                    self.fire(self.timers.due_processing(MAX_TIMESTAMP), event=False)
        self.state.clear_all()


class KeyedProcessOperator(TimerOperator):
    """``process`` on a keyed stream: keyed state and timers."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the function's contexts."""
        super().setup(context, output, side_outputs)
        self.ctx = KeyedProcessContext(self.state, self.timers)
        self.timer_ctx = OnTimerContext(self.state, self.timers)

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block."""
        self.call_each_keyed(self.function.process_element, self.key, values, timestamps)

    def call_each_keyed(
        self, call: Any, key: Callable[[Any], Any], values: list[Any], timestamps: list[int] | None
    ) -> None:
        """Do the same as :meth:`call_each`, with the current key set to the record's ``key``."""
        field = field_of(key)
        if field >= 0 and self.large_dicts is not None and (large := self.large_dicts()):
            look_ahead(large, values, field)
        self.call_with_keys(call, self.ctx, self.state, key, values, timestamps)

    def fire(self, due: Iterable[Timer], *, event: bool) -> None:
        """Call ``on_timer`` for each timer. Results get the timer's timestamp."""
        ctx, state, call = self.timer_ctx, self.state, self.function.on_timer
        domain = "event" if event else "processing"
        ctx.set_domain(domain)
        results: list[Any] = []
        stamps: list[int] = []
        self.cursor = None
        timestamp, key = None, None
        try:
            for timestamp, key, _ in due:
                state.key = key
                ctx._timestamp = timestamp
                produced = call(timestamp, ctx)
                if produced:
                    stamps += [timestamp] * self.gather(produced, results)
        except BaseException as error:
            failure = self.failure(error, [])
            failure.record = f"the {domain}-time timer {timestamp} of key {thaw_key(key)!r}"
            raise failure from error
        self.send(results, stamps)


def frozen_selector(selector: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a selector that returns the same keys in hashable form.

    >>> frozen_selector(lambda record: record[:1])([1, 2])
    [1]
    """
    return lambda record: freeze_key(selector(record))
