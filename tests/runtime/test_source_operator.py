"""The time at which a source emits the records it has read."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.datastream.inline import stop_the_clock

from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.runtime.epoch import Epoch
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.source import SourceOperator


@dataclass
class Trickle(SourceSplit):
    batches: int
    """The number of batches before the first moment without a record; after it, one batch per poll."""


class Trickling(Source):
    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism):
        return StaticEnumerator([])

    def create_reader(self):
        return TrickleReader()


class TrickleReader(SourceReader):
    def read(self, split, fetch):
        for _ in range(max(split.batches, 1)):
            split.batches -= 1
            yield [split.split_id]
        return False


class Collected(list):
    def emit(self, values, timestamps):
        self.extend(values)

    def emit_watermark(self, timestamp):
        raise AssertionError("the source does not make any before its end")

    def emit_idle(self, idle):
        raise AssertionError("that is for watermark strategies")


def read(splits, **settings):
    """Return the records that an epoch reads from the splits."""
    operator = SourceOperator(Trickling())
    runtime = StreamingRuntimeContext("source", 0, 1, 128, {}, None)
    collected = Collected()
    operator.setup(OperatorContext("source", 0, 1, 128, False, runtime), collected, {})
    operator.open()
    operator.begin_epoch(Epoch(**settings), splits)
    for steps, _ in enumerate(operator.reads()):
        assert steps < 1_000_000, "the epoch does not end"
    return collected


def test_an_epoch_ends_once_all_records_are_read_although_new_ones_keep_coming(monkeypatch):
    stop_the_clock(monkeypatch)
    assert read([Trickle("a", 3)]) == ["a", "a", "a"]


def test_an_epoch_reads_on_while_one_of_several_splits_still_has_records(monkeypatch):
    stop_the_clock(monkeypatch)
    records = read([Trickle("a", 1), Trickle("b", 20)])
    assert records.count("b") == 20
    assert records.count("a") > 1  # it was polled again meanwhile


@pytest.mark.parametrize("longest", [0, 30])
def test_an_epoch_of_a_source_that_never_catches_up_ends_in_time(longest):
    assert len(read([Trickle("a", 10**9)], max_epoch_ms=longest)) > 0
