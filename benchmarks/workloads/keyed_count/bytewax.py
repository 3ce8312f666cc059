"""On Bytewax, whose keys must be texts."""

import bytewax.operators as op

from benchmarks.sources_bytewax import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_count import to_pair


def build(flow, run):
    keys, half = run.settings["keys"], run.half

    def to_keyed(n):
        value = to_pair(n, keys, half)
        return str(value[0]), value

    def count(state, value):
        state = (state or 0) + 1
        return state, [(value[0], state)] if value[1] % SAMPLE == 0 else []

    keyed = op.map("to_pair", numbers(flow, run.records), to_keyed)
    counts = op.stateful_flat_map("count", keyed, count)
    return op.map("without_key", counts, lambda keyed: keyed[1])
