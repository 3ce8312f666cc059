"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types

from benchmarks.sources import numbers
from benchmarks.workloads.stateless import calibrate, is_sample, is_valid, split, to_reading

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


def build(env, run):
    return (
        numbers(env, run.records)
        .map(to_reading, output_type=PAIR)
        .filter(is_valid)
        .flat_map(split, output_type=PAIR)
        .map(calibrate, output_type=PAIR)
        .filter(is_sample)
    )
