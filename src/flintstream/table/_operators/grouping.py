"""Groups of rows: unbounded ones, whose results change, and those of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction
from flintstream.datastream.window import TimeWindow
from flintstream.runtime.copies import copied_block
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.windows.emitter import OneRow
from flintstream.table._expressions.aggregation.blocks import RETRACTS, changes, merged_totals, totals
from flintstream.table._operators.group_state import GroupState
from flintstream.table._operators.rows import key_columns
from flintstream.table._operators.windows import times_of
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.datastream.window import GlobalWindow
    from flintstream.table._expressions.aggregation.code import Aggregation
    from flintstream.table._operators.group_state import Group
    from flintstream.table._operators.rows import Row
    from flintstream.table._operators.zones import Zone

NOTHING = 9
"""The kind of a record that stands for no row: it makes the group of all rows, whether or not there are any."""
END = (1 << 63) - 1


class Changes(KeyedProcessFunction):
    """Emits the result of a group, and what becomes of it with each row.

    Records are (key..., arguments..., kind if ``changelog``); results are (key..., aggregates..., kind).
    """

    def __init__(
        self, aggregation: Aggregation, keys: int, *, changelog: bool, ttl_ms: int, final: bool, combined: bool = False
    ) -> None:
        """Take the code, and whether only the final result counts (BATCH).

        Records that are ``combined`` come from :class:`PartialGroups`, which has their form.
        """
        self.aggregation, self.keys, self.changelog, self.ttl_ms, self.final, self.combined = (
            aggregation,
            keys,
            changelog,
            ttl_ms,
            final,
            combined,
        )

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        text = totals(self.aggregation, changelog=self.changelog)
        if self.combined:
            text = merged_totals(self.aggregation, self.keys)
        code = self.aggregation.compile_code(text)
        self.state = GroupState(runtime_context, code["start"], self.aggregation.distinct, self.ttl_ms)
        self.aggregation.open(runtime_context)
        self.total, self.result = code["total"], code["result"]

    def close(self) -> None:
        """Close the program's functions."""
        self.aggregation.close()

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context[Row]) -> Generator[Row]:
        """Add a row, or take it back."""
        return self.process_rows([value], ctx)

    def process_rows(self, rows: list[Row], ctx: KeyedProcessFunction.Context[Row]) -> Generator[Row]:
        """Add or take back rows of one group, and emit what becomes of it after all of them."""
        group = self.state.value()
        key = rows[0][: self.keys]
        before = None
        if group is None:
            group = self.state.start()
            if self.final:
                ctx.timer_service().register_event_time_timer(END)
        elif group[0] and not self.final:
            before = self.result(group)
        if not self.keys and self.changelog and any(row[-1] == NOTHING for row in rows):
            ctx.timer_service().register_event_time_timer(END)
            self.state.update(group)
            rows = [row for row in rows if row[-1] != NOTHING]
        self.total(rows, group)
        if self.final:
            self.state.update(group)
            return
        if group[0] <= 0:
            if before is not None:
                self.state.clear(group)
                yield (*key, *before, DELETE)
            return
        self.state.update(group)
        after = self.result(group)
        if before is None:
            yield (*key, *after, INSERT)
        elif before != after or self.ttl_ms:
            yield (*key, *before, UPDATE_BEFORE)
            yield (*key, *after, UPDATE_AFTER)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Generator[Row]:
        """Emit the final result; if not all are final, that of a group without rows."""
        group = self.state.value()
        if group is not None and (self.final or not group[0]):
            if group[0] or not self.keys:
                yield (*key_columns(ctx.get_current_key(), self.keys), *self.result(group), INSERT)
            self.state.clear(group)


class _OnGroups(KeyedProcessOperator):
    """Gives the function the operator's state."""

    def open(self) -> None:
        """Open the function, and give it the state."""
        super().open()
        self.function.state.attach(self.state)


class ChangesOfBlocks(_OnGroups):
    """Runs :class:`Changes` once for each group of a block, so that results between its rows do not appear."""

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Process a block."""
        state, key, changes = self.state, self.key, self.function.process_rows
        groups: dict[object, list[object]] = {}
        for value in values:
            groups.setdefault(key(value), []).append(value)
        results: list[object] = []
        self.cursor = None
        try:
            for name, rows in groups.items():
                state.key = name
                results += changes(rows, self.ctx)
        except BaseException as error:
            failure = self.failure(error, [])
            failure.record = f"a row of the group {name!r}"
            raise failure from error
        self.send(results, None if timestamps is None else [max(timestamps)] * len(results))


class ChangesOfRows(_OnGroups):
    """Runs :class:`Changes` over blocks: emits what each row changes, and writes the state of a group once.

    Rows of :data:`NOTHING` cannot be among them.
    """

    def __init__(self, function: Changes, selector: Callable[[object], object], *, copies: bool) -> None:
        """Take the function, the key of a row, and whether results contain lists or maps of rows and state."""
        super().__init__(function, selector)
        self.copies = copies
        self._compiled: dict[tuple[bool, bool], Callable[..., None]] = {}

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_compiled": {}}

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Process a block."""
        stamped, frozen = timestamps is not None, self.key is not self.selector
        run = self._compiled.get((stamped, frozen)) or self._code(stamped=stamped, frozen=frozen)
        groups: dict[object, Group] = {}
        results: list[object] = []
        stamps: list[int] = []
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if timestamps is None:
                run(cursor, groups, self._loading(groups), self.key, results.append)
            else:
                rows = zip(cursor, timestamps, strict=False)
                run(rows, groups, self._loading(groups), self.key, results.append, stamps.append)
        except BaseException as error:
            raise self.failure(error, values) from error
        state, cell = self.state, self.function.state
        for key, (group, _) in groups.items():
            state.key = key
            if group[0]:
                cell.update(group)
            else:
                cell.clear(group)
        if self.copies:
            results = copied_block(results)
        self.send(results, stamps if stamped else None)

    def _code(self, *, stamped: bool, frozen: bool) -> Callable[..., None]:
        changed: Changes = self.function
        code = changes(
            changed.aggregation,
            changed.keys,
            stamped=stamped,
            frozen=frozen,
            changelog=changed.changelog,
            always=changed.ttl_ms > 0,
        )
        made = changed.aggregation.compile_code(code)
        made["empty"] = changed.state.empty
        run = self._compiled[stamped, frozen] = made["changes"]
        return run

    def _loading(self, groups: dict[object, Group]) -> Callable[[object, Row], Group]:
        """Return a function that brings the state of a key, and its result, into ``groups``."""
        state, cell, result = self.state, self.function.state, self.function.result
        keys = self.function.keys

        def load(key: object, row: Row) -> Group:
            state.key = key
            group = cell.value()
            found = [cell.start(), None] if group is None else [group, (*row[:keys], *result(group))]
            groups[key] = found
            return found

        return load


class WindowAggregate(AggregateFunction):
    """The aggregates of a window."""

    def __init__(self, aggregation: Aggregation, *, changelog: bool) -> None:
        """Take the code, and whether records end with a kind of change."""
        self.aggregation, self.changelog = aggregation, changelog
        self._code: dict[str, Callable[..., Any]] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_code": None}

    def open(self, runtime_context: object) -> None:
        """Open the program's functions."""
        self.aggregation.open(runtime_context)

    def close(self) -> None:
        """Close the program's functions."""
        self.aggregation.close()

    def _function(self, name: str) -> Callable[..., Any]:
        if self._code is None:
            change = f"def change(r, a): return (remove if {RETRACTS} else add)(r, a)"
            self._code = self.aggregation.compile_code(f"{change}\ndef rest(a): return result(a) if a[0] else None")
        return self._code[name]

    @property
    def add(self) -> Callable[[Row, list[object]], None]:
        """The function that adds a row, or retracts it: generated code itself, as it is called for each row."""
        return self._function("change" if self.changelog else "add")

    @property
    def create_accumulator(self) -> Callable[[], list[object]]:
        """The function that returns the state of a window without rows."""
        return self._function("start")

    @property
    def get_result(self) -> Callable[[list[object]], Row | None]:
        """The function that returns the aggregates, None if all rows were retracted."""
        return self._function("rest")

    def merge(self, acc_a: object, acc_b: object) -> object:
        """Combine two windows."""
        self._function("merge")(acc_a, acc_b)
        return acc_a


class WithWindow(OneRow):
    """Emits (key..., aggregates..., start, end, time) of a window."""

    def __init__(self, keys: int, zone: Zone | None = None, *, event_time: bool = True) -> None:
        """Take the number of columns of the key, and the zone of local times, which windows of event time have."""
        self.keys, self.zone, self.event_time = keys, zone, event_time
        self._window: object = None
        self._times: Row = ()
        self.start_of: Callable[[int], int] | None = None
        """Returns the start of a window by its end, if windows are known by their ends alone."""

    def row_of(self, key: Row, window: TimeWindow | GlobalWindow, value: Row) -> Row:
        """Return the row. Windows of many keys end one after the other, so the times of the last window are kept."""
        if window is not self._window:
            self._window, self._times = window, self._times_of(window)
        return (key, *value, *self._times) if self.keys == 1 else (*key, *value, *self._times)

    def _times_of(self, window: TimeWindow | GlobalWindow) -> Row:
        if not isinstance(window, TimeWindow):  # of a number of rows
            return (None, None, None)
        if self.start_of is not None:
            window = TimeWindow(self.start_of(window.end), window.end)
        return times_of(window, self.zone, event_time=self.event_time)
