"""The first rows of each key in an order: top-N and deduplication."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Protocol, cast

from flintstream.compiled.base import look_ahead
from flintstream.compiled.ranked import keep_first, keep_last
from flintstream.contracts.functions import KeyedProcessFunction
from flintstream.runtime.copies import copied_block
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.selectors import field_of
from flintstream.runtime.windows.operator import LATE_RECORDS
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins.sides import LAST
from flintstream.table._operators.ordered_rows import MOST_IN_LIST, ManyRows
from flintstream.table._operators.rows import map_state, value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, is_insert_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import MapState, StateDescriptor, ValueState, ValueStateDescriptor
    from flintstream.state.backend import Cells, DirectAccess, KeyedStateBackend
    from flintstream.table._operators.ordering import RowOrder
    from flintstream.table._operators.rows import Change, Row
    from flintstream.table._operators.zones import Zone

    BlockLoop: TypeAlias = Callable[
        [Iterator[Row], list[int] | None, Callable[[Row], object], int, list[Row], list[int]], None
    ]
    """Takes rows, their times, their key and its field, and appends results and their times."""


IN_MAP = "entries of a map"
"""The state of a key that has many rows."""


class _HasLoop(Protocol):
    """A function that can also run over a block."""

    def block_loop(self, state: KeyedStateBackend) -> BlockLoop | None:
        """Return what does for a block what ``process_element`` does for a row; None if it cannot with this state."""


class RanksOfBlocks(KeyedProcessOperator):
    """Runs a function that keeps the first rows of each key, or the newest one, over blocks if that is possible."""

    def __init__(self, function: _HasLoop, selector: Callable[[Row], object], *, copies: bool) -> None:
        """Take the function, the key of a row, and whether results contain lists or maps of rows and state."""
        super().__init__(function, selector)
        self.copies = copies
        self.loop: BlockLoop | None = None

    def open(self) -> None:
        """Open the function, and give it the state."""
        super().open()
        self.loop = self.function.block_loop(self.state)

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Process a block."""
        if self.loop is None:
            super().process(values, timestamps)
            return
        results: list[Row] = []
        stamps: list[int] = []
        field = field_of(self.key)
        if field >= 0 and self.large_dicts is not None and (large := self.large_dicts()):
            look_ahead(large, values, field)
        self.cursor = self.interrupter.cursor = cursor = iter(cast("list[Row]", values))
        try:
            self.loop(cursor, timestamps, self.key, field, results, stamps)
        except BaseException as error:
            raise self.failure(error, values) from error
        self.send(copied_block(results) if self.copies else results, None if timestamps is None else stamps)


def _cells_of(state: KeyedStateBackend, descriptor: StateDescriptor) -> tuple[DirectAccess, Cells] | None:
    """Return the entries of a state as the backend keeps them, if it does so without a time."""
    direct = cast("DirectAccess", state) if hasattr(state, "cells") else None
    cells = None if direct is None else direct.cells(descriptor)
    return None if direct is None or cells is None else (direct, cells)


class Ranked(KeyedProcessFunction):
    """Emits the rows from number ``first`` to ``last`` of each key, and what changes of them.

    If rows can be retracted, all are kept, otherwise only the first ``last``: others can never come up.
    """

    def __init__(
        self,
        order: RowOrder,
        first: int,
        last: int,
        *,
        number: bool,
        newest: bool,
        changelog: bool,
        changes: bool,
        batch: bool,
        ttl_ms: int = 0,
    ) -> None:
        """Describe the rows that are wanted.

        Args:
            order: Their order.
            first: The number of the first one, from 1 on.
            last: The number of the last one.
            number: Whether results end with the number.
            newest: Whether of equal rows the one that came last is the first.
            changelog: Whether records end with a kind of change.
            changes: Whether results do.
            batch: Whether results wait for the end of the input.
            ttl_ms: How long state stays; 0 for no limit.
        """
        self.order, self.start, self.end = order, first - 1, last
        self.number, self.newest, self.changelog, self.changes = number, newest, changelog, changes
        self.batch, self.ttl_ms = batch, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows, in their order."""
        self.state: ValueState[list[Row] | str] = runtime_context.get_state(self._describe())
        self.key = self.order.code()
        self.search = bisect_left if self.newest else bisect_right
        self.many: ManyRows | None = None
        if self.changelog and not self.batch and not self.ttl_ms:
            self.many = ManyRows(runtime_context, self.key, newest=self.newest)

    def _describe(self) -> ValueStateDescriptor[list[Row] | str]:
        return value_state("rows", self.ttl_ms)

    def block_loop(self, state: KeyedStateBackend) -> BlockLoop | None:
        """Return what does for a block what ``process_element`` does for a row; None if it cannot with this state."""
        found = None if self.changelog or self.batch or self.end <= self.start else _cells_of(state, self._describe())
        if found is None:
            return None
        direct, cells = found
        limits = (self.order.columns, self.newest, self.start, self.end, self.number, self.changes)

        def run(
            rows: Iterator[Row],
            times: list[int] | None,
            key: Callable[[Row], object],
            field: int,
            results: list[Row],
            stamps: list[int],
        ) -> None:
            dirty = cells.dirty if direct.tracking else None
            keep_first(rows, times, key, field, cells.values, dirty, *limits, results, stamps)

        return run

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Add a row, or take it back."""
        if self.end <= self.start:
            return iter(())  # LIMIT 0
        row, kind = (value[:-1], value[-1]) if self.changelog else (value, INSERT)
        old = self.state.value() or []
        if isinstance(old, str):
            return iter(self.change_many(row, ctx.get_current_key(), removes=not is_insert_like(kind)))
        if not is_insert_like(kind):
            if row not in old:
                return iter(())  # its state has expired
            place = old.index(row)
            new = [*old[:place], *old[place + 1 :]]
        else:
            key = self.key(row)
            if not self.changelog and len(old) >= self.end and self.key(old[-1]) < key:
                return iter(())
            place = self.search(old, key, key=self.key)
            if place >= self.end and not self.changelog:
                return iter(())
            new = [*old[:place], row, *old[place:]]
            if not self.changelog:
                del new[self.end :]
        if self.many is not None and len(new) > MOST_IN_LIST:
            self.many.move_out(ctx.get_current_key(), new)
            self.state.update(IN_MAP)
        elif new:
            self.state.update(new)
        else:
            self.state.clear()
        if self.batch:
            ctx.timer_service().register_event_time_timer(LAST)
            return iter(())
        return iter(self.changes_of(old, new, place, removes=len(new) < len(old)))

    def change_many(self, row: Row, key: object, *, removes: bool) -> list[Row]:
        """Add a row to many, or take it back."""
        many = cast("ManyRows", self.many)
        found = many.change(key, row, removes=removes)
        if found is None:
            return []
        rows, place = found
        new = rows.first(self.end + 1) if place < self.end else []
        if len(rows.rows) <= MOST_IN_LIST // 2:
            self.state.update(many.move_in(key))
        old = [*new[:place], row, *new[place:]] if removes else [*new[:place], *new[place + 1 :]]
        return self.changes_of(old, new, place, removes=removes) if place < self.end else []

    def changes_of(self, old: list[Row], new: list[Row], place: int, *, removes: bool) -> list[Row]:
        """Return the changes of results when one row comes or goes at a place."""
        return self.change_numbers(old, new, place) if self.number else self.change_members(old, new, place, removes)

    def result(self, row: Row, rank: int, kind: int) -> Row:
        """Return a row as result; without a number, None is in its place."""
        found = (*row, rank + 1 if self.number else None)
        return (*found, kind) if self.changes else found

    def change_numbers(self, old: list[Row], new: list[Row], place: int) -> list[Row]:
        """Return the changes of all rows whose number changes."""
        found: list[Row] = []
        before, after = ((UPDATE_BEFORE,), (UPDATE_AFTER,)) if self.changes else ((), ())
        first, both = max(place, self.start), min(self.end, len(old), len(new))
        for number, one, other in zip(range(first + 1, both + 1), old[first:], new[first:], strict=False):
            if one != other:
                found.append((*one, number, *before))
                found.append((*other, number, *after))
        rest, kind = (new, INSERT) if len(new) > len(old) else (old, DELETE)
        return [*found, *(self.result(rest[i], i, kind) for i in range(max(first, both), min(self.end, len(rest))))]

    def change_members(self, old: list[Row], new: list[Row], place: int, removes: bool) -> list[Row]:
        """Return the changes of rows that come in or fall out."""
        place = max(place, self.start)
        if place >= self.end:
            return []
        if removes:
            gone, came = old[place : place + 1], new[self.end - 1 : self.end]
        elif len(old) >= self.end:
            gone, came = old[self.end - 1 : self.end], new[place : place + 1]
        else:
            gone, came = [], new[place : place + 1]
        single = self.end - self.start == 1 and bool(gone) and bool(came)
        minus, plus = (UPDATE_BEFORE, UPDATE_AFTER) if single else (DELETE, INSERT)
        return [*(self.result(row, 0, minus) for row in gone), *(self.result(row, 0, plus) for row in came)]

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the rows of a complete key."""
        rows = self.state.value() or []
        for rank, row in enumerate(rows[self.start : self.end], self.start):
            yield self.result(cast("Row", row), rank, INSERT)
        self.state.clear()


class LastRow(KeyedProcessFunction):
    """Emits the newest row of each key, and what it replaces. Of rows of one time, the one that came last counts."""

    def __init__(self, time: int | None, *, number: bool, ttl_ms: int) -> None:
        """Take the position of the event time, None for the order of arrival; the others are those of Ranked."""
        self.time, self.rank, self.ttl_ms = time, 1 if number else None, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the row."""
        self.state: ValueState[Row] = runtime_context.get_state(self._describe())

    def _describe(self) -> ValueStateDescriptor[Row]:
        return value_state("row", self.ttl_ms)

    def block_loop(self, state: KeyedStateBackend) -> BlockLoop | None:
        """Return what does for a block what ``process_element`` does for a row; None if it cannot with this state."""
        found = _cells_of(state, self._describe())
        if found is None:
            return None
        direct, cells = found
        time, number = -1 if self.time is None else self.time, self.rank

        def run(
            rows: Iterator[Row],
            times: list[int] | None,
            key: Callable[[Row], object],
            field: int,
            results: list[Row],
            stamps: list[int],
        ) -> None:
            dirty = cells.dirty if direct.tracking else None
            keep_last(rows, times, key, field, cells.values, dirty, time, number, results, stamps)

        return run

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context[Row]) -> Sequence[Row]:
        """Keep a row, unless a newer one is known."""
        old, time, rank = self.state.value(), self.time, self.rank
        if old is not None and time is not None and _is_before(value[time], old[time]):
            return ()
        self.state.update(value)
        if old is None:
            return ((*value, rank, INSERT),)
        if rank is not None and old == value:
            return ()
        return (*old, rank, UPDATE_BEFORE), (*value, rank, UPDATE_AFTER)


def _is_before(one: object, other: object) -> bool:
    """Tell whether a time is before another one; one that is missing is before all others."""
    return other is not None and (one is None or one < other)  # type: ignore[operator]


class FirstByRowtime(KeyedProcessFunction):
    """Emits the first row of each key by event time, when the watermark has reached it. Later rows change nothing."""

    def __init__(self, time: int, *, number: bool, ttl_ms: int = 0) -> None:
        """Take the position of the time, whether results end with the number, and how long state stays (0: forever)."""
        self.time, self.rank, self.ttl_ms = time, 1 if number else None, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the first row so far, and whether it has been emitted."""
        self.late = runtime_context.get_metrics_group().counter(LATE_RECORDS)
        self.first: ValueState[Row] = runtime_context.get_state(value_state("first", self.ttl_ms))
        self.done: ValueState[int] = runtime_context.get_state(value_state("done", self.ttl_ms))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a row if it is earlier than the first one, unless it is late."""
        moment = millis(value[self.time])
        if moment < ctx.timer_service().current_watermark():
            self.late.inc()
        elif self.done.value() is None:
            first = self.first.value()
            if first is None or moment < millis(first[self.time]):
                self.first.update(value)
                ctx.timer_service().register_event_time_timer(moment)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the first row."""
        row = self.first.value()
        if row is not None:
            yield (*row, self.rank)
            self.first.clear()
            self.done.update(1)


class RankedInWindow(KeyedProcessFunction):
    """Emits the rows from number ``first`` to ``last`` of each key when its window has ended. A key has one window."""

    def __init__(
        self,
        order: RowOrder,
        first: int,
        last: int,
        *,
        newest: bool,
        end: int,
        event_time: bool,
        zone: Zone | None = None,
    ) -> None:
        """Take what :class:`Ranked` takes, the position of the end of the window, and its time zone."""
        self.order, self.start, self.end = order, first - 1, last
        self.newest, self.column, self.event_time, self.zone = newest, end, event_time, zone

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows, in their order."""
        self.late = runtime_context.get_metrics_group().counter(LATE_RECORDS)
        self.state: MapState[int, list[Row]] = runtime_context.get_map_state(map_state("rows"))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a row if it is one of the first."""
        end, service = millis(value[self.column]) - 1, ctx.timer_service()
        if self.zone is not None:
            end = self.zone.over(end)
        if self.event_time and end < service.current_watermark():
            self.late.inc()
            return iter(())
        rows = self.state.get(end) or []
        place = (bisect_left if self.newest else bisect_right)(rows, self.order(value), key=self.order)
        if place < self.end:
            self.state.put(end, [*rows[:place], value, *rows[place : self.end - 1]])
        if self.event_time:
            service.register_event_time_timer(end)
        else:
            service.register_processing_time_timer(end)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the rows of a window."""
        for rank, row in enumerate((self.state.get(timestamp) or [])[self.start :], self.start + 1):
            yield (*row, rank)
        if self.state.contains(timestamp):
            self.state.remove(timestamp)
