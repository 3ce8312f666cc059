"""Functions with any number of rows for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.contracts.functions import KeyedProcessFunction
from flintstream.runtime.copies import copy_mutable
from flintstream.table._operators.joins.sides import LAST
from flintstream.table._operators.opening import close_all, open_all
from flintstream.table._operators.rows import key_columns, value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, is_insert_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import ValueState
    from flintstream.table._functions.user_defined import TableAggregateFunction
    from flintstream.table._operators.rows import Change, Row


class TableAggregate(KeyedProcessFunction):
    """Takes back the rows of a group, and emits its new ones, whenever a row comes.

    Records are (key..., arguments..., kind if ``changelog``); results are (key..., columns..., kind unless ``batch``).
    """

    def __init__(
        self,
        function: TableAggregateFunction,
        rows: Callable[[Iterable[object]], list[Row]],
        keys: int,
        *,
        changelog: bool,
        batch: bool,
        ttl_ms: int,
    ) -> None:
        """Take the function, what makes tuples of its rows, and the number of keys."""
        self.function, self.rows, self.keys = function, rows, keys
        self.changelog, self.batch, self.ttl_ms = changelog, batch, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the number of rows and the accumulator."""
        self.state: ValueState[tuple[int, object]] = runtime_context.get_state(value_state("group", self.ttl_ms))
        open_all((self.function,), runtime_context)

    def close(self) -> None:
        """Close the function."""
        close_all((self.function,))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Add a row, or take it back."""
        row, kind = (value[:-1], value[-1]) if self.changelog else (value, INSERT)
        key, arguments = row[: self.keys], row[self.keys :]
        count, accumulator = self.state.value() or (0, None)
        taken_back = not is_insert_like(kind)
        if not count and taken_back:
            return  # its state has expired
        if not count:
            accumulator = self.function.create_accumulator()
        elif not self.batch:
            yield from self.results(key, accumulator, DELETE)
        (self.function.retract if taken_back else self.function.accumulate)(accumulator, *arguments)
        count += -1 if taken_back else 1
        if not count:
            self.state.clear()
            return
        self.state.update((count, accumulator))
        if self.batch:
            ctx.timer_service().register_event_time_timer(LAST)
        else:
            yield from self.results(key, accumulator, INSERT)

    def results(self, key: Row, accumulator: object, kind: int) -> Iterator[Row]:
        """Yield the rows of a group."""
        end = () if self.batch else (kind,)
        for row in self.rows(self.function.emit_value(accumulator)):
            yield (*key, *copy_mutable(row), *end)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the rows of a complete group."""
        found = self.state.value()
        if found is not None:
            yield from self.results(key_columns(ctx.get_current_key(), self.keys), found[1], INSERT)
            self.state.clear()
