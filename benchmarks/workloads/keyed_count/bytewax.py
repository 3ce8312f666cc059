"""On Bytewax: keys must be texts; as it has no timers of event time, the end of the input brings the last counts."""

import bytewax.operators as op
from bytewax.operators import StatefulBatchLogic

from benchmarks.sources_bytewax import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_count import to_pair


class CountToTheEnd(StatefulBatchLogic):
    def __init__(self, count):
        self.count = count or 0

    def on_batch(self, values):
        results = []
        for key, n in values:
            self.count += 1
            if n % SAMPLE == 0:
                results.append((key, self.count))
            self.key = key
        return results, StatefulBatchLogic.RETAIN

    def on_eof(self):
        return [(self.key, -self.count)], StatefulBatchLogic.DISCARD

    def snapshot(self):
        return self.count


def build(flow, run):
    keys, half = run.settings["keys"], run.half

    def to_keyed(n):
        value = to_pair(n, keys, half)
        return str(value[0]), value

    def count(state, value):
        state = (state or 0) + 1
        return state, [(value[0], state)] if value[1] % SAMPLE == 0 else []

    keyed = op.map("to_pair", numbers(flow, run.records), to_keyed)
    if run.settings.get("durable"):
        counts = op.stateful_batch("count", keyed, CountToTheEnd)
    else:
        counts = op.stateful_flat_map("count", keyed, count)
    return op.map("without_key", counts, lambda keyed: keyed[1])
