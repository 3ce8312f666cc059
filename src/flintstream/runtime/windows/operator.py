"""The window operator, which groups records into windows and windows into results.

The contents of a window are keyed state of ``(key, window)``. If windows merge, they are keyed state of
``(key, state window)``, see :mod:`flintstream.runtime.windows.merging`. Timers have the window as their namespace:
those of the trigger, and one that drops the window ``allowed_lateness`` after its end.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from flintstream.contracts.state import ListStateDescriptor, ReducingStateDescriptor
from flintstream.contracts.window import MergingWindowAssigner, TriggerResult
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.operators.keyed import TimerOperator
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.windows.contexts import AssignerContext, WindowContext, WindowTriggerContext
from flintstream.runtime.windows.emitter import Emitter
from flintstream.runtime.windows.fast_counts import CountWindows
from flintstream.runtime.windows.fast_path import AlignedWindows, Parts
from flintstream.runtime.windows.fast_sessions import Sessions, are_sessions, follow_growth
from flintstream.runtime.windows.merging import IN_FLIGHT, MergingWindowSet
from flintstream.runtime.windows.rules import WindowRules
from flintstream.state.backend import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flintstream.contracts.output_tag import OutputTag
    from flintstream.contracts.state import StateDescriptor
    from flintstream.contracts.window import Trigger, WindowAssigner
    from flintstream.runtime.operators.base import OperatorContext, Output
    from flintstream.runtime.operators.timers import Timer
    from flintstream.runtime.windows.fast_path import FastPath

LATE_RECORDS = "numLateRecordsDropped"
"""Counts records that are late for all their windows and go to no side output (Flink's name)."""


class WindowOperator(TimerOperator):
    """``window(...)`` followed by ``reduce``, ``aggregate``, ``apply`` or ``process``."""

    groups_records = True

    def __init__(
        self,
        selector: Callable[[Any], Any],
        assigner: WindowAssigner,
        trigger: Trigger,
        descriptor: StateDescriptor,
        window_function: Any,
        allowed_lateness_ms: int,
        late_tag: OutputTag | None,
        incremental_function: Any,
        window_function_class: type | None = None,
    ) -> None:
        """Configure the operator as the windowed stream specifies.

        Args:
            selector: returns the key of a record; it runs again here, because keys never cross an exchange.
            assigner: decides which windows a record belongs to.
            trigger: decides when a window fires.
            descriptor: the state that holds a window's contents: list, reducing or aggregating.
            window_function: turns the contents into results; None to emit a reduced or aggregated value unchanged.
            allowed_lateness_ms: how long after its end a window still accepts records; event time only.
            late_tag: the side output of late records.
            incremental_function: the reduce or aggregate function, to open and close; None for a list.
            window_function_class: the class that determines how to call the window function; its own class if None.
        """
        super().__init__(window_function, selector)
        self.function_class = window_function_class
        self.assigner = assigner
        self.trigger = trigger
        self.descriptor = descriptor
        self.late_tag = late_tag
        self.incremental = incremental_function
        self.event_time = assigner.is_event_time()
        self.merging = isinstance(assigner, MergingWindowAssigner)
        self.lateness = allowed_lateness_ms if self.event_time else 0
        self.listing = isinstance(descriptor, ListStateDescriptor)
        self.reducing = isinstance(descriptor, ReducingStateDescriptor)
        self.rules = WindowRules(assigner, trigger, self.event_time, self.lateness)
        self.purge_fired = self.rules.purely_counting

    # -- life cycle --------------------------------------------------------------------------------------------------

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the states and contexts."""
        super().setup(context, output, side_outputs)
        self.trigger_ctx = WindowTriggerContext(context, Scope())
        self.contents_scope = Scope() if self.merging else self.trigger_ctx.scope
        self.contents = self.state.state(self.descriptor, self.contents_scope)
        self.window_ctx = WindowContext(self.trigger_ctx, context, merging=self.merging)
        self.assigner_ctx = AssignerContext(context.runtime_context, self.timers)
        assigner = self.assigner
        if isinstance(assigner, MergingWindowAssigner):
            in_flight = self.state.state(IN_FLIGHT)
            self.in_flight = MergingWindowSet(assigner, in_flight)
        self.late_output = None if self.late_tag is None else side_outputs.get(self.late_tag.tag_id)
        self.emitter = Emitter(
            self.function, self.function_class, self.window_ctx, self.trigger_ctx, self.frozen, listing=self.listing
        )
        self.late: list[tuple[Any, int]] = []
        self.fast_path = self._fast_path()

    def _fast_path(self) -> FastPath | None:
        """Return the fast path for these windows, or None if they have none or the backend allows no direct access."""
        state: Any = self.state
        # Check the class: a method that a backend delegates to another one would not set the key of the first
        panes = state.panes(self.descriptor, self.contents_scope) if hasattr(type(state), "panes") else None
        if panes is None:
            return None
        parts = Parts(self.rules, panes, self.timers, self.emitter, self.add)
        scope = self.trigger_ctx.scope
        return AlignedWindows.of(parts) or Sessions.of(parts, state) or CountWindows.of(parts, state, scope)

    @property
    def takes_columns(self) -> bool:
        """Whether the fast path adds columns without making records."""
        return not self.context.batch and self.fast_path is not None and self.fast_path.takes_columns(self.key)

    def _functions(self) -> Iterator[Any]:
        if self.incremental is not None:
            yield self.incremental
        if self.function is not None:
            yield self.function

    def open(self) -> None:
        """Open the user's functions."""
        try:
            for function in self._functions():
                function.open(self.context.runtime_context)
        except BaseException as error:
            raise self.failure(error, []) from error

    def close(self) -> None:
        """Close the user's functions."""
        try:
            for function in self._functions():
                function.close()
        except BaseException as error:
            raise self.failure(error, []) from error

    # -- records -----------------------------------------------------------------------------------------------------

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Add a block of records to their windows; some triggers fire right away."""
        key = self.key
        self.cursor = cursor = iter(values)
        try:
            if self.fast_path is not None and (timestamps is not None or self.fast_path.timeless):
                self.fast_path.add_all(key, cursor, timestamps)
            else:
                for value, timestamp in zip(cursor, timestamps or repeat(MIN_TIMESTAMP), strict=False):
                    self.add(key(value), value, timestamp)
        except BaseException as error:
            if self.fast_path is not None and self.fast_path.group:
                self.cursor = self.fast_path.panes.cursor
                raise self.failure(error, self.fast_path.group) from error
            raise self.failure(error, values) from error
        self.flush(stamped=timestamps is not None)

    def add(self, key: Any, value: Any, timestamp: int) -> None:
        """Add one record to its windows."""
        self.state.key = key
        lost = True
        windows = self.assigner.assign_windows(value, timestamp, self.assigner_ctx)
        # A reduce function may change a window's first record in place, which must not affect the other windows
        shared = self.reducing and len(windows) > 1
        for window in windows:
            added = self._add_merging(key, window) if self.merging else self._add_plain(key, window)
            if added is None:
                continue
            lost = False
            self.contents.add(copy_mutable(value) if shared else value)
            self._act(self.trigger.on_element(value, timestamp, added, self.trigger_ctx), timestamp)
            self._register_cleanup(added)
        if lost and self.event_time and timestamp + self.lateness <= self.timers.current_watermark:
            if self.late_output is not None:
                self.late.append((value, timestamp))
            else:
                metrics = self.context.metrics
                metrics[LATE_RECORDS] = metrics.get(LATE_RECORDS, 0) + 1

    def _add_plain(self, key: Any, window: Any) -> Any:
        """Switch to a window, unless it is late."""
        if self._is_late(window):
            return None
        self.trigger_ctx.enter(key, window)
        return window

    def _add_merging(self, key: Any, window: Any) -> Any:
        """Merge a window with the windows it belongs to, and switch to the result unless it is late."""
        windows = self.in_flight
        actual = windows.add(window, self._merge)
        if self._is_late(actual):
            windows.retire(actual)
            return None
        self.trigger_ctx.enter(key, actual)
        self.contents_scope.key = (key, windows.state_window(actual))
        return actual

    def _merge(self, merged: Any, replaced: list[Any], state_window: Any, emptied: list[Any]) -> None:
        """Merge triggers, timers and contents after several windows of the current key became one."""
        self._check_merged(merged)
        key, ctx = self.state.key, self.trigger_ctx
        ctx.enter(key, merged)
        ctx.merged = replaced
        self.trigger.on_merge(merged, ctx)
        for window in replaced:
            ctx.enter(key, window)
            self.trigger.clear(window, ctx)
            self._delete_cleanup(window)
        if emptied:
            self.contents.merge_into((key, state_window), [(key, window) for window in emptied])

    def _check_merged(self, merged: Any) -> None:
        if self.event_time:
            now, clock = self.timers.current_watermark, "watermark"
            over = merged.max_timestamp() + self.lateness <= now
        else:
            now, clock = self.timers.clock(), "processing time"
            over = merged.max_timestamp() <= now
        if over:
            raise RuntimeError(f"merging made the window {merged}, which the {clock} ({now}) has already passed")

    def _act(self, result: TriggerResult, timestamp: int) -> None:
        """Fire or purge the current window as the trigger decides; results get ``timestamp`` (ms)."""
        if result is TriggerResult.CONTINUE:
            return
        if result.is_fire():
            ctx = self.trigger_ctx
            self.emitter.fire(ctx.key, ctx.window, self.contents.get(), timestamp)
        if result.is_purge() or (self.purge_fired and result.is_fire()):
            self.contents.clear()

    def flush(self, *, stamped: bool) -> None:
        """Send the collected results and late records."""
        if self.emitter.results:
            results, stamps = self.emitter.take()
            self.send(results, stamps if stamped else None)
        if self.late:
            late, self.late = self.late, []
            assert self.late_output is not None  # noqa: S101
            self.late_output.emit([value for value, _ in late], [timestamp for _, timestamp in late])

    # -- time --------------------------------------------------------------------------------------------------------

    def next_processing_time(self) -> int | None:
        """Return when (ms) the next processing-time timer is due; in BATCH mode, timers wait for the end of the key."""
        due = None if self.context.batch else self.timers.next_processing_time()
        return None if due is None else max(due, self.trigger_ctx.resumes)

    def fire(self, due: Iterable[Timer], *, event: bool) -> None:
        """Fire and drop the windows whose timers are due."""
        self.cursor = None
        resumes = self.trigger_ctx.resumes
        timestamp, key, window = None, None, None
        fast = self.fast_path
        on_time = fast.on_time if fast is not None and fast.event_time is event else None
        try:
            for timestamp, key, window in due:
                if on_time is None:
                    self.on_time(timestamp, key, window, event)
                else:
                    on_time(timestamp, key, window)
        except BaseException as error:
            failure = self.failure(error, [])
            domain = "event" if event else "processing"
            failure.record = f"the {domain}-time timer {timestamp} of key {key!r} and window {window!r}"
            raise failure from error
        self.trigger_ctx.resumes = resumes  # the next timer of a trigger that fires late need not wait
        self.flush(stamped=True)

    def on_time(self, timestamp: int, key: Any, window: Any, event: bool) -> None:
        """Notify the trigger of a timer; drop the window if this is its cleanup time."""
        self.state.key = key
        ctx = self.trigger_ctx
        if self.merging:
            state_window = self.in_flight.state_window(window)
            if state_window is None:  # the trigger left this timer behind when the window was merged or dropped
                if event and not self.lateness and are_sessions(self.rules):
                    follow_growth(self.timers, key, window, self.in_flight.state.keys())
                return
            self.contents_scope.key = (key, state_window)
        ctx.enter(key, window)
        trigger = self.trigger
        result = (
            trigger.on_event_time(timestamp, window, ctx)
            if event
            else (trigger.on_processing_time(timestamp, window, ctx))
        )
        self._act(result, timestamp)
        if event is self.event_time and timestamp == self.rules.cleanup_time(window):
            self._drop(key, window)

    # -- the end of windows ------------------------------------------------------------------------------------------

    def _is_late(self, window: Any) -> bool:
        return self.event_time and self.rules.cleanup_time(window) <= self.timers.current_watermark

    def _register_cleanup(self, window: Any) -> None:
        time = self.rules.cleanup_time(window)
        if time == MAX_TIMESTAMP:  # the window never expires
            return
        if self.event_time:
            self.trigger_ctx.register_event_time_timer(time)
        else:
            self.trigger_ctx.register_processing_time_timer(time)

    def _delete_cleanup(self, window: Any) -> None:
        if self.event_time:
            self.trigger_ctx.delete_event_time_timer(self.rules.cleanup_time(window))
        else:
            self.trigger_ctx.delete_processing_time_timer(self.rules.cleanup_time(window))

    def _drop(self, key: Any, window: Any) -> None:
        """Drop the contents of the current window, the trigger's state, and the user function's state."""
        self.contents.clear()
        self.trigger.clear(window, self.trigger_ctx)
        self.emitter.drop(key, window)
        if self.merging:
            self.in_flight.retire(window)
