"""The window operator: records into windows, windows into results.

What a window holds is keyed state of ``(key, window)``; when windows merge, of ``(key, state window)``, see
:mod:`flintstream.runtime.windows.merging`. Timers carry the window as their namespace: those of the trigger, and one
that drops the window ``allowed_lateness`` after its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common.typeinfo import Types
from flintstream.contracts.functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from flintstream.contracts.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor
from flintstream.contracts.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    EventTimeTrigger,
    MergingWindowAssigner,
    TriggerResult,
)
from flintstream.runtime.copies import snapshot
from flintstream.runtime.keys import thaw_key
from flintstream.runtime.operators.keyed import TimerOperator
from flintstream.runtime.operators.operator import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.windows.contexts import AssignerContext, WindowContext, WindowTriggerContext
from flintstream.runtime.windows.fast_counts import CountWindows
from flintstream.runtime.windows.fast_path import AlignedWindows
from flintstream.runtime.windows.fast_sessions import Sessions
from flintstream.runtime.windows.merging import MergingWindowSet
from flintstream.state.backend import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flintstream.contracts.output_tag import OutputTag
    from flintstream.contracts.state import StateDescriptor
    from flintstream.contracts.window import Trigger, WindowAssigner
    from flintstream.runtime.operators.operator import OperatorContext, Output
    from flintstream.runtime.operators.timers import Timer

LATE_RECORDS = "numLateRecordsDropped"
"""Counts records that came too late for all their windows and went to no side output (Flink's name)."""


def purely_counting(assigner: WindowAssigner[Any, Any], trigger: Trigger[Any, Any]) -> bool:
    """Tell whether a window that fires is full: nothing comes after that, and time never ends it, so it can go."""
    return (
        isinstance(assigner, (CountTumblingWindowAssigner, CountSlidingWindowAssigner))
        and type(trigger) is CountTrigger
        and trigger._window_size == assigner._window_size  # noqa: SLF001
    )


def _method(function: Any, name: str) -> Callable[..., Any]:
    """Return a method of a window function. One of another kind may lack it, which matters when it is called."""
    found = getattr(function, name, None)
    if found is not None:
        return found  # type: ignore[no-any-return]

    def missing(*_: Any) -> Any:
        raise TypeError(f"{name}() of windows calls a method {name}(), which {type(function).__name__} does not have")

    return missing


class WindowOperator(TimerOperator):
    """``window(...)`` followed by ``reduce``, ``aggregate``, ``apply`` or ``process``."""

    def __init__(
        self,
        selector: Callable[[Any], Any],
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any],
        descriptor: StateDescriptor,
        window_function: Any,
        allowed_lateness_ms: int,
        late_tag: OutputTag | None,
        incremental_function: Any,
        window_function_kind: type | None = None,
    ) -> None:
        """Take what the windowed stream was told.

        Args:
            selector: finds the key of a record; it runs again here, keys never cross the exchange.
            assigner: says which windows a record belongs to.
            trigger: says when a window fires.
            descriptor: the state that holds a window's contents: list, reducing or aggregating.
            window_function: makes results of the contents; None to emit a reduced or aggregated value as it is.
            allowed_lateness_ms: how long after its end a window still takes records; event time only.
            late_tag: the side output of records that come too late.
            incremental_function: the reduce or aggregate function, to open and close; None for a list.
            window_function_kind: as what the window function is called; as what it is if None.
        """
        super().__init__(window_function, selector)
        self.kind = window_function_kind
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
        self.purge_fired = purely_counting(assigner, trigger)

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
            untyped = Types.PICKLED_BYTE_ARRAY()
            in_flight = self.state.state(MapStateDescriptor("merging-window-set", untyped, untyped))
            self.in_flight = MergingWindowSet(assigner, in_flight)
        self.late_output = None if self.late_tag is None else side_outputs.get(self.late_tag.tag_id)
        kind = self.kind or type(self.function)
        self.evaluate = self._evaluation(kind)
        has_clear = issubclass(kind, (ProcessWindowFunction, ProcessAllWindowFunction))
        self.clear_function = getattr(self.function, "clear", None) if has_clear else None
        self.results: list[Any] = []
        self.stamps: list[int] = []
        self.late: list[tuple[Any, int]] = []
        self.fast_path = AlignedWindows.of(self) or Sessions.of(self) or CountWindows.of(self)

    def _evaluation(self, kind: type) -> Callable[[Any, Any, Any], Iterable[Any] | None]:
        """Return what makes results of the key, the window and the list of its contents."""
        function, ctx = self.function, self.window_ctx
        if function is None:
            return lambda key, window, contents: contents  # noqa: ARG005
        if issubclass(kind, WindowFunction):
            apply = _method(function, "apply")
            return lambda key, window, contents: apply(thaw_key(key), window, contents)
        if issubclass(kind, ProcessWindowFunction):
            process = _method(function, "process")
            return lambda key, window, contents: process(thaw_key(key), ctx, contents)  # noqa: ARG005
        if issubclass(kind, AllWindowFunction):
            apply_all = _method(function, "apply")
            return lambda key, window, contents: apply_all(window, contents)  # noqa: ARG005
        if issubclass(kind, ProcessAllWindowFunction):
            process_all = _method(function, "process")
            return lambda key, window, contents: process_all(ctx, contents)  # noqa: ARG005
        raise TypeError(f"{type(function).__name__} is not a window function")

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
        """Put a block of records into their windows; some triggers fire right away."""
        key = self.key
        self.cursor = cursor = iter(values)
        try:
            if self.fast_path is not None and (timestamps is not None or self.fast_path.timeless):
                self.fast_path.add_all(key, cursor, timestamps)
            elif timestamps is None:
                for value in cursor:
                    self.add(key(value), value, MIN_TIMESTAMP)
            else:
                for value, timestamp in zip(cursor, timestamps, strict=False):
                    self.add(key(value), value, timestamp)
        except BaseException as error:
            raise self.failure(error, values) from error
        self.flush(stamped=timestamps is not None)

    def add(self, key: Any, value: Any, timestamp: int) -> None:
        """Put one record into its windows."""
        self.state.key = key
        lost = True
        windows = self.assigner.assign_windows(value, timestamp, self.assigner_ctx)
        # A reduce function may work in place on the first record of a window, which must not reach the other windows
        shared = self.reducing and len(windows) > 1
        for window in windows:
            added = self._add_merging(key, window) if self.merging else self._add_plain(key, window)
            if added is None:
                continue
            lost = False
            self.contents.add(snapshot(value) if shared else value)
            self._act(self.trigger.on_element(value, timestamp, added, self.trigger_ctx), timestamp)
            self._register_cleanup(added)
        if lost and self.event_time and timestamp + self.lateness <= self.timers.current_watermark:
            if self.late_output is not None:
                self.late.append((value, timestamp))
            else:
                metrics = self.context.metrics
                metrics[LATE_RECORDS] = metrics.get(LATE_RECORDS, 0) + 1

    def _add_plain(self, key: Any, window: Any) -> Any:
        """Turn to a window, unless it is late."""
        if self._is_late(window):
            return None
        self.trigger_ctx.enter(key, window)
        return window

    def _add_merging(self, key: Any, window: Any) -> Any:
        """Merge a window with those it belongs to, and turn to the result, unless that is late."""
        windows = self.in_flight
        actual = windows.add(window, self._merge)
        if self._is_late(actual):
            windows.retire(actual)
            return None
        self.trigger_ctx.enter(key, actual)
        self.contents_scope.key = (key, windows.state_window(actual))
        return actual

    def _merge(self, merged: Any, replaced: list[Any], state_window: Any, emptied: list[Any]) -> None:
        """Several windows of the current key became one."""
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
        """Do what the trigger says with the window at hand; results carry ``timestamp``."""
        if result is TriggerResult.CONTINUE:
            return
        if result.is_fire():
            self.fire_window(timestamp)
        if result.is_purge() or (self.purge_fired and result.is_fire()):
            self.contents.clear()

    def fire_window(self, timestamp: int) -> None:
        """Make results of the window at hand; they carry ``timestamp``."""
        contents = self.contents.get()
        if not self.listing:
            if contents is None:
                return
            contents = [contents]
        elif not contents:
            return
        ctx = self.trigger_ctx
        produced = self.evaluate(ctx.key, ctx.window, contents)
        if produced:
            before = len(self.results)
            for result in produced:
                self.results.append(result if type(result) in self.frozen else snapshot(result))
            self.stamps += [timestamp] * (len(self.results) - before)

    def flush(self, *, stamped: bool) -> None:
        """Send what has been produced."""
        if self.results:
            results, stamps = self.results, self.stamps
            self.results, self.stamps = [], []
            self.send(results, stamps if stamped else None)
        if self.late:
            late, self.late = self.late, []
            assert self.late_output is not None  # noqa: S101
            self.late_output.emit([value for value, _ in late], [timestamp for _, timestamp in late])

    # -- time --------------------------------------------------------------------------------------------------------

    def next_processing_time(self) -> int | None:
        """Return when the next processing-time timer is due; in BATCH mode they wait for the end of the key."""
        return None if self.context.batch else self.timers.next_processing_time()

    def fire(self, due: Iterable[Timer], *, event: bool) -> None:
        """Fire and drop the windows that end."""
        self.cursor = None
        timestamp, key, window = None, None, None
        fast = self.fast_path
        on_time = fast.on_time if fast is not None and fast.event_time is event else self.on_time
        try:
            for timestamp, key, window in due:
                on_time(timestamp, key, window, event)
        except BaseException as error:
            failure = self.failure(error, [])
            domain = "event" if event else "processing"
            failure.record = f"the {domain}-time timer {timestamp} of key {key!r} and window {window!r}"
            raise failure from error
        self.flush(stamped=True)

    def on_time(self, timestamp: int, key: Any, window: Any, event: bool) -> None:
        """Tell the trigger about a timer; drop the window if that was its last."""
        self.state.key = key
        ctx = self.trigger_ctx
        if self.merging:
            state_window = self.in_flight.state_window(window)
            if state_window is None:  # a timer that the trigger left behind when the window was merged or dropped
                if event and not self.lateness:
                    self.follow_growth(key, window, self.in_flight.state.keys())
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
        if event is self.event_time and timestamp == self.cleanup_time(window):
            self.drop_window(window)
            if self.merging:
                self.in_flight.retire(window)

    def follow_growth(self, key: Any, window: Any, in_flight: Iterable[Any]) -> None:
        """Have a session that has grown out of ``window`` fire at its end, see :class:`Sessions`."""
        if type(self.assigner) is EventTimeSessionWindows and type(self.trigger) is EventTimeTrigger:
            for grown in in_flight:
                if grown[0] <= window[0] and window[1] <= grown[1]:
                    self.timers.postpone_event_time(grown[1] - 1, key, grown)
                    return

    # -- the end of windows ------------------------------------------------------------------------------------------

    def cleanup_time(self, window: Any) -> int:
        """Return when a window is dropped (ms)."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_TIMESTAMP)

    def _is_late(self, window: Any) -> bool:
        return self.event_time and self.cleanup_time(window) <= self.timers.current_watermark

    def _register_cleanup(self, window: Any) -> None:
        time = self.cleanup_time(window)
        if time == MAX_TIMESTAMP:  # such a window stays
            return
        if self.event_time:
            self.trigger_ctx.register_event_time_timer(time)
        else:
            self.trigger_ctx.register_processing_time_timer(time)

    def _delete_cleanup(self, window: Any) -> None:
        if self.event_time:
            self.trigger_ctx.delete_event_time_timer(self.cleanup_time(window))
        else:
            self.trigger_ctx.delete_processing_time_timer(self.cleanup_time(window))

    def drop_window(self, window: Any) -> None:
        """Drop the contents and the trigger's state of the window at hand, and let the user's function do so, too."""
        self.contents.clear()
        self.trigger.clear(window, self.trigger_ctx)
        if self.clear_function is not None:
            self.clear_function(self.window_ctx)
