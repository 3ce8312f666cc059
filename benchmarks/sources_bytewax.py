"""Sources of the Bytewax flows."""

import bytewax.operators as op
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

BATCH = 4096


class Numbers(StatefulSourcePartition):
    def __init__(self, first, last):
        self.next, self.last = first, last

    def next_batch(self):
        if self.next >= self.last:
            raise StopIteration
        first, self.next = self.next, min(self.next + BATCH, self.last)
        return range(first, self.next)

    def snapshot(self):
        return self.next


class Halves(FixedPartitionedSource):
    def __init__(self, records):
        self.records = records

    def list_parts(self):
        return ["0", "1"]

    def build_part(self, step_id, for_part, resume_state):
        first, last = (0, self.records // 2) if for_part == "0" else (self.records // 2, self.records)
        return Numbers(resume_state or first, last)


def numbers(flow, records, name="numbers"):
    """Return the numbers from 0, in two parts."""
    return op.input(name, flow, Halves(records))
