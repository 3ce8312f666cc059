"""Groups of rows: unbounded ones, whose results change, and those of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common import Time, Types
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, ProcessWindowFunction
from flintstream.datastream.state import StateTtlConfig, ValueStateDescriptor
from flintstream.datastream.window import TimeWindow
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.table._expressions.time_helpers import from_millis

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from flintstream.table._expressions.aggregates import Aggregation

NOTHING = 9
"""The kind of a record that stands for no row: it makes the group of all rows, whether or not there are any."""
END = (1 << 63) - 1
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)


class FirstColumns:
    """The key of a record: its first columns."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, record: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the key."""
        return record[: self.count]


class Changes(KeyedProcessFunction):
    """Emits the result of a group, and what becomes of it with each row.

    Records are (key..., arguments..., kind if ``changelog``); results are (key..., aggregates..., kind).
    """

    def __init__(self, aggregation: Aggregation, keys: int, *, changelog: bool, ttl_ms: int, final: bool) -> None:
        """Take the code, and whether only the final result counts (BATCH)."""
        self.aggregation, self.keys, self.changelog, self.ttl_ms, self.final = (
            aggregation,
            keys,
            changelog,
            ttl_ms,
            final,
        )

    def open(self, runtime_context: Any) -> None:
        """Get the state."""
        descriptor = ValueStateDescriptor("group", Types.PICKLED_BYTE_ARRAY())
        if self.ttl_ms:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(self.ttl_ms)).build())
        self.state = runtime_context.get_state(descriptor)
        code = self.aggregation.compiled()
        self.aggregation.open(runtime_context)
        self.start, self.add, self.remove, self.result = (code[n] for n in ("start", "add", "remove", "result"))

    def close(self) -> None:
        """Close the program's functions."""
        self.aggregation.close()

    def process_element(self, value: Any, ctx: Any) -> Generator[Any]:
        """Add a row, or take it back."""
        return self.process_rows([value], ctx)

    def process_rows(self, rows: list[Any], ctx: Any) -> Generator[Any]:
        """Add or take back rows of one group, and emit what becomes of it after all of them."""
        group = self.state.value()
        key = rows[0][: self.keys]
        before = None
        if group is None:
            group = self.start()
            if self.final:
                ctx.timer_service().register_event_time_timer(END)
        elif group[0] and not self.final:
            before = self.result(group)
        for row in rows:
            kind = row[-1] if self.changelog else INSERT
            if kind == NOTHING:
                ctx.timer_service().register_event_time_timer(END)
                self.state.update(group)
            elif kind in {INSERT, UPDATE_AFTER}:
                self.add(group, row)
            elif group[0]:  # else the group of the row has expired
                self.remove(group, row)
        if self.final:
            self.state.update(group)
            return
        if group[0] <= 0:
            if before is not None:
                self.state.clear()
                yield (*key, *before, DELETE)
            return
        self.state.update(group)
        after = self.result(group)
        if before is None:
            yield (*key, *after, INSERT)
        elif before != after or self.ttl_ms:
            yield (*key, *before, UPDATE_BEFORE)
            yield (*key, *after, UPDATE_AFTER)

    def on_timer(self, timestamp: int, ctx: Any) -> Generator[Any]:  # noqa: ARG002 - the contract
        """Emit the final result; if not all are final, that of a group without rows."""
        group = self.state.value()
        if group is not None and (self.final or not group[0]):
            if group[0] or not self.keys:
                yield (*ctx.get_current_key(), *self.result(group), INSERT)
            self.state.clear()


class ChangesOfBlocks(KeyedProcessOperator):
    """Runs :class:`Changes` once for each group of a block, so that results between its rows do not appear."""

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block."""
        state, key, changes = self.state, self.key, self.function.process_rows
        groups: dict[Any, list[Any]] = {}
        for value in values:
            groups.setdefault(key(value), []).append(value)
        results: list[Any] = []
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


class WindowAggregate(AggregateFunction):
    """The aggregates of a window."""

    def __init__(self, aggregation: Aggregation, *, changelog: bool) -> None:
        """Take the code, and whether records end with a kind of change."""
        self.aggregation, self.changelog = aggregation, changelog
        self._code: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_code": None}

    def open(self, runtime_context: Any) -> None:
        """Open the program's functions."""
        self.aggregation.open(runtime_context)

    def close(self) -> None:
        """Close the program's functions."""
        self.aggregation.close()

    def create_accumulator(self) -> Any:
        """Return the state of a window without rows."""
        if self._code is None:
            self._code = self.aggregation.compiled()
        return self._code["start"]()

    def _function(self, name: str) -> Any:
        if self._code is None:
            self._code = self.aggregation.compiled()
        return self._code[name]

    def add(self, value: Any, accumulator: Any) -> Any:
        """Add a row, or take it back."""
        taken_back = self.changelog and value[-1] in {UPDATE_BEFORE, DELETE}
        self._function("remove" if taken_back else "add")(accumulator, value)
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        """Return the aggregates; None if all rows were taken back."""
        return self._function("result")(accumulator) if accumulator[0] else None

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Combine two windows."""
        self._function("merge")(acc_a, acc_b)
        return acc_a


class WithWindow(ProcessWindowFunction):
    """Emits (key..., aggregates..., start, end, time) of a window."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Generator[Any]:
        """Emit the row."""
        window = context.window()
        times: tuple[Any, ...] = (None, None, None)  # of a number of rows
        if isinstance(window, TimeWindow):
            times = tuple(map(from_millis, (window.start, window.end, window.max_timestamp())))
        for result in elements:
            if result is not None:
                yield (*key, *result, *times)
