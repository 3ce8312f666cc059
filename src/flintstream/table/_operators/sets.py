"""Set operations: how often a row is there on both sides decides how often it is in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.contracts.functions import KeyedCoProcessFunction
from flintstream.table._operators.joins.sides import LAST
from flintstream.table._operators.rows import value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, is_insert_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import ValueState
    from flintstream.table._operators.rows import Change, Row

NUMBERS: dict[str, Callable[[int, int], int]] = {
    "UNION": lambda a, b: int(a + b > 0),
    "INTERSECT": lambda a, b: int(a > 0 and b > 0),
    "INTERSECT ALL": min,
    "EXCEPT": lambda a, b: int(a > 0 and b <= 0),
    "EXCEPT ALL": lambda a, b: max(a - b, 0),
}
"""How often a row is in the result, from the numbers on both sides."""


class CountedRows(KeyedCoProcessFunction):
    """Counts a row on both sides, and emits it when the number in the result changes. The key is the row."""

    def __init__(self, operation: str, kinds: tuple[bool, bool], *, changes: bool, batch: bool, ttl_ms: int) -> None:
        """Take the operation, and whether both inputs and the results have kinds of change."""
        self.operation, self.kinds, self.changes, self.batch, self.ttl_ms = operation, kinds, changes, batch, ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the numbers."""
        self.state: ValueState[tuple[int, int]] = runtime_context.get_state(value_state("numbers", self.ttl_ms))

    def process_element1(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Count a row of the first input."""
        return self.count_row(value, ctx, 0)

    def process_element2(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row]) -> Iterator[Row]:
        """Count a row of the second input."""
        return self.count_row(value, ctx, 1)

    def count_row(self, value: Change, ctx: KeyedCoProcessFunction.Context[Row], side: int) -> Iterator[Row]:
        """Emit what one more or less row changes."""
        row, kind = (value[:-1], value[-1]) if self.kinds[side] else (value, INSERT)
        old = self.state.value() or (0, 0)
        by = 1 if is_insert_like(kind) else -1
        new = (old[0] + by, old[1]) if side == 0 else (old[0], old[1] + by)
        if new == (0, 0):
            self.state.clear()
        else:
            self.state.update(new)
        if self.batch:
            ctx.timer_service().register_event_time_timer(LAST)
            return
        number = NUMBERS[self.operation]
        more = number(*new) - number(*old)
        for _ in range(abs(more)):
            yield (*row, INSERT if more > 0 else DELETE) if self.changes else row

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit a complete row."""
        yield from [ctx.get_current_key()] * NUMBERS[self.operation](*(self.state.value() or (0, 0)))
        self.state.clear()
