"""On Bytewax."""

from pathlib import Path

import bytewax.operators as op
from bytewax.connectors.files import DirSource

from benchmarks.workloads.word_count import is_written, split


def count(state, word):
    state = (state or 0) + 1
    return state, (word, state)


def build(flow, run):
    words = op.flat_map("split", op.input("lines", flow, DirSource(Path(run.input), batch_size=1000)), split)
    counted = op.stateful_map("count", op.map("keyed", words, lambda word: (word, word)), count)
    return op.filter("is_written", op.map("without_key", counted, lambda keyed: keyed[1]), is_written)
