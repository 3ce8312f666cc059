"""On Bytewax: the flow merges both streams, and a step with state distinguishes them."""

import bytewax.operators as op

from benchmarks.sources_bytewax import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.connect import order, payment


def match(state, tagged):
    waiting = state or ({}, {})
    side, (customer, number, amount) = tagged
    other = waiting[1 - side].pop(number, None)
    if other is None:
        waiting[side][number] = amount
        return waiting, []
    return waiting, [(customer, number, other - amount if side else amount - other)] if number % SAMPLE == 0 else []


def build(flow, run):
    total, half = run.half, run.half // 2

    def keyed(side, value):
        return str(value[0]), (side, value)

    orders = op.map("order", numbers(flow, total, "orders"), lambda n: keyed(0, order(n, half)))
    payments = op.map("payment", numbers(flow, total, "payments"), lambda n: keyed(1, payment(n, half)))
    matched = op.stateful_flat_map("match", op.merge("both", orders, payments), match)
    return op.map("without_key", matched, lambda keyed: keyed[1])
