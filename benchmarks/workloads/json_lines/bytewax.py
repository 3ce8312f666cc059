"""On Bytewax."""

import json

import bytewax.operators as op

from benchmarks.sources_bytewax import numbers
from benchmarks.workloads.json_lines import is_order, is_sample, text_of, to_order


def build(flow, run):
    events = op.map("parse", op.map("text_of", numbers(flow, run.records), text_of), json.loads)
    orders = op.map("to_order", op.filter("is_order", events, is_order), to_order)
    return op.filter("is_sample", orders, is_sample)
