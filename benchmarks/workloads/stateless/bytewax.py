"""On Bytewax."""

import bytewax.operators as op

from benchmarks.sources_bytewax import numbers
from benchmarks.workloads.stateless import calibrate, is_sample, is_valid, split, to_reading


def build(flow, run):
    readings = op.map("to_reading", numbers(flow, run.records), to_reading)
    parts = op.flat_map("split", op.filter("is_valid", readings, is_valid), split)
    return op.filter("is_sample", op.map("calibrate", parts, calibrate), is_sample)
