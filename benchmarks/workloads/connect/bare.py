"""On plain Python: two dicts of dicts per process; an order, then its payment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import SAMPLE
from benchmarks.workloads.connect import order, payment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run

State = dict[int, dict[int, int]]


def subtask(number: int, run: Run) -> Iterator[tuple[int, int, int]]:
    """Read one half of the orders and of the payments."""
    half = run.half // 2
    orders: State = {}
    payments: State = {}

    def match(value: tuple[int, int, int], mine: State, others: State, sign: int) -> Iterator[tuple[int, int, int]]:
        customer, n, amount = value
        waiting = others.get(customer, {})
        other = waiting.pop(n, None)
        if other is None:
            mine.setdefault(customer, {})[n] = amount
        elif n % SAMPLE == 0:
            yield customer, n, sign * (amount - other)

    for n in range(number * half, (number + 1) * half):
        yield from match(order(n, half), orders, payments, 1)
        yield from match(payment(n, half), payments, orders, -1)
