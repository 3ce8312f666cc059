"""On Bytewax with recovery. It has no event-time timers, so the last counts are emitted at the end of the input."""

import bytewax.operators as op
from bytewax.operators import StatefulBatchLogic

from benchmarks.sources_bytewax import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_count import to_pair


class Count(StatefulBatchLogic):
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

    keyed = op.map("to_pair", numbers(flow, run.records), to_keyed)
    return op.map("without_key", op.stateful_batch("count", keyed, Count), lambda keyed: keyed[1])
