"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

import json

from pyflink.common import Types

from benchmarks.sources import numbers
from benchmarks.workloads.json_lines import is_order, is_sample, text_of, to_order


def build(env, run):
    return (
        numbers(env, run.records)
        .map(text_of, output_type=Types.STRING())
        .map(json.loads)
        .filter(is_order)
        .map(to_order, output_type=Types.TUPLE([Types.LONG(), Types.STRING(), Types.LONG()]))
        .filter(is_sample)
    )
