"""On Bytewax, whose state does not expire."""

import bytewax.operators as op

from benchmarks.sources_bytewax import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_state import item_of, to_visit


def count_items(counts, value):
    key, n = value
    counts = counts or {}
    item = item_of(n)
    count = counts[item] = counts.get(item, 0) + 1
    return counts, [(key, item, count)] if n % SAMPLE == 0 else []


def gather(gathered, value):
    key, n = value
    gathered = gathered or []
    gathered.append(n)
    if n % SAMPLE:
        return gathered, []
    return None, [(key, len(gathered), sum(gathered))]


def build(flow, run):
    half = run.half

    def to_keyed(n):
        value = to_visit(n, half)
        return str(value[0]), value

    keyed = op.map("to_visit", numbers(flow, run.records), to_keyed)
    function = count_items if run.settings["kind"] == "map" else gather
    return op.map("without_key", op.stateful_flat_map("keep", keyed, function), lambda keyed: keyed[1])
