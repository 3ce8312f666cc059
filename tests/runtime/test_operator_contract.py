"""The contract between a subtask and its operators."""

from __future__ import annotations

import importlib
import pkgutil

import cloudpickle
import pytest

import flintstream.runtime.state_log
import flintstream.runtime.task
from flintstream.runtime.epoch import Epoch
from flintstream.runtime.exchange.receiving import InputGate
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.plan import ChainPlan, JobPlan, JobSettings, LocalEdge, NodePlan, Superstep
from flintstream.runtime.protocol import Instruction, NodeReport, Report, SnapshotRequest
from flintstream.runtime.state_log.log import MemoryStateLog
from flintstream.runtime.task.subtask import Subtask
from flintstream.runtime.times import MAX_TIMESTAMP


class Countdown(Operator):
    """An operator unknown to the runtime, which reads a split: from its number down to zero."""

    finished = False

    def begin_epoch(self, epoch, given):
        self.epoch, self.left = epoch, sum(given)

    def reads(self):
        for read in range(1, self.left + 1):
            self.output.emit([self.left - read], None)
            yield read
        if self.context.node in self.epoch.no_more_splits:
            self.finished = True
            self.output.emit_watermark(MAX_TIMESTAMP)
            yield self.left

    def end_epoch(self, epoch):
        return super().end_epoch(epoch)._replace(records=self.left, more=True, progress="counted")


class Ledger(Operator):
    """Another one, which prepares its input together with facts about the epoch."""

    def setup(self, context, output, side_outputs):
        super().setup(context, output, side_outputs)
        self.values, self.released = [], False

    def process(self, values, timestamps):
        self.values += values

    def end_epoch(self, epoch):
        prepared, self.values = [(epoch.number, epoch.end_of_input, value) for value in self.values], []
        return super().end_epoch(epoch)._replace(committables=prepared)

    def next_processing_time(self):
        return 2**62

    def release(self):
        self.released = True


@pytest.fixture
def subtask():
    nodes = tuple(
        NodePlan(node, name, name, Frozen(cloudpickle.dumps(operator), name))
        for node, name, operator in ((4, "countdown", Countdown()), (5, "ledger", Ledger()))
    )
    chain = ChainPlan(0, 0, 1, 128, nodes, (LocalEdge(4, 5),), (), ())
    plan = JobPlan("job", "id", batch=False, supersteps=(Superstep(0, (chain,)),), settings=JobSettings())
    return Subtask(plan, chain, 0, MemoryStateLog())


def run(subtask, number, split, **more):
    """Return the report of a subtask for an epoch."""
    version = None if number == 0 else subtask.version
    instruction = Instruction(number, 0, 0, 0, version, new_splits={4: [split]}, keep_state=False, **more)
    (report,) = subtask.run(instruction, InputGate())
    assert isinstance(report, Report)
    return report


def test_an_operator_of_a_new_kind_reads_prepares_and_reports(subtask):
    report = run(subtask, 0, 3)
    source, sink = report.nodes
    assert (source.node, source.records, source.more, source.progress) == (4, 3, True, "counted")
    assert (sink.node, sink.records, sink.committables) == (5, 3, [(0, False, value) for value in (2, 1, 0)])
    assert report.more
    assert report.next_processing_time == 2**62
    assert not report.finished
    assert run(subtask, 1, 1).nodes[1].committables == [(1, False, 0)]


def test_the_last_epoch_of_a_subtask_is_told_to_its_operators(subtask):
    report = run(subtask, 0, 2, no_more_splits=frozenset({4}))
    assert report.finished
    assert report.nodes[1].committables == [(0, True, 1), (0, True, 0)]
    assert report.next_processing_time is None, "nothing follows"
    subtask.release()
    assert subtask.operators[5].released


def test_an_epoch_is_what_the_instruction_says_and_does_not_change():
    settings = JobSettings(max_epoch_ms=500)
    request = SnapshotRequest(1, "full", None)
    given = Instruction(7, 0, 0, 0, None, run="r", snapshot=request, savepoint=True, drain=True, max_epoch_ms=900)
    epoch = Epoch.of(given, settings, "v", tracks_changes=False, waits=True)
    assert (epoch.number, epoch.version, epoch.run) == (7, "v", "r")
    assert epoch.checkpoint
    assert epoch.savepoint
    assert epoch.drain
    assert not epoch.tracks_changes
    assert not epoch.end_of_input
    assert epoch.max_epoch_ms == 500, "the job's own limit is lower"
    with pytest.raises(AttributeError):
        epoch.drain = False  # type: ignore[misc]


def test_a_report_puts_together_what_its_operators_say():
    nodes = (
        NodeReport(1, {}, unread=True, next_processing_time=20),
        NodeReport(2, {}, next_processing_time=10),
        NodeReport(3, {}, unread=True),
    )
    report = Report(0, 0, "v", nodes)
    assert report.unread == {1, 3}
    assert report.next_processing_time == 10
    assert not report.more


@pytest.mark.parametrize("room", [flintstream.runtime.task, flintstream.runtime.state_log])
def test_what_runs_operators_knows_no_kind_of_them(room):
    modules = [
        importlib.import_module(f"{room.__name__}.{found.name}") for found in pkgutil.iter_modules(room.__path__)
    ]
    known = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Operator)
    }
    assert known <= {Operator}
