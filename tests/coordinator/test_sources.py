"""The driver discovers splits and assigns them."""

from __future__ import annotations

import pytest

from flintstream.checkpoint import codec
from flintstream.checkpoint.metadata import Metadata
from flintstream.connectors.source import Source, SplitEnumerator
from flintstream.coordinator.job import Job
from flintstream.coordinator.pace import Pace
from flintstream.coordinator.sources import Sources
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.plan import ChainPlan, JobPlan, JobSettings, NodePlan, Superstep
from flintstream.runtime.protocol import NodeReport, Report


class Numbers(SplitEnumerator):
    """Discover one split, the current number."""

    def __init__(self):
        self.found = 0
        self.closed = False
        self.heard = []

    def discover(self):
        self.found += 1
        return [self.found]

    def snapshot(self):
        return self.found

    def restore(self, state):
        self.found = state

    def epoch_read(self, progress):
        self.heard.append(("read", list(progress)))

    def checkpoint_completed(self, progress):
        self.heard.append(("saved", list(progress)))

    def close(self):
        self.closed = True


class NumberSource(Source):
    def __init__(self):
        self.enumerators = []

    def create_enumerator(self, parallelism):
        self.enumerators.append(Numbers())
        return self.enumerators[-1]

    def create_reader(self):
        raise NotImplementedError


class Broken(NumberSource):
    def create_enumerator(self, parallelism):
        raise OSError("no answer")


def sources_of(*sources, parallelism=3, start=None):
    """Return the sources with node ids from 1, each of them a chain."""
    chains = tuple(
        ChainPlan(
            number, 0, parallelism, 128, (NodePlan(number, "numbers", f"u{number}", Frozen(b"", "")),), (), (), ()
        )
        for number, _ in enumerate(sources, 1)
    )
    plan = JobPlan("job", "id", False, (Superstep(0, chains),), JobSettings())
    return Sources(Job(plan, dict(enumerate(sources, 1)), {}), plan, Pace(1000), start)


def checkpoint_of(sources):
    enumerators = {uid: codec.encode_one(state) for uid, state in sources.snapshot().items()}
    return Metadata("checkpoint", 1, "id", "job", 0, "", (), enumerators, {}, 1)


def test_splits_go_to_subtasks_in_turn():
    sources = sources_of(NumberSource())
    assert sources.deal({1: ["a", "b", "c", "d"]}) == {(1, 0): {1: ["a", "d"]}, (1, 1): {1: ["b"]}, (1, 2): {1: ["c"]}}
    assert sources.deal({1: ["e"]}) == {(1, 1): {1: ["e"]}}


def test_a_checkpoint_says_what_was_found_and_whose_turn_it_is():
    before = sources_of(NumberSource())
    before.deal(before.discover())
    before.deal(before.discover())
    after = sources_of(NumberSource(), start=checkpoint_of(before))
    assert after.deal(after.discover()) == {(1, 2): {1: [3]}}


def test_whose_turn_it_is_fits_fewer_subtasks():
    before = sources_of(NumberSource())
    before.deal({1: ["a", "b"]})
    after = sources_of(NumberSource(), parallelism=2, start=checkpoint_of(before))
    assert after.deal({1: ["c"]}) == {(1, 0): {1: ["c"]}}


def test_enumerators_are_closed_when_another_cannot_be_created():
    good = NumberSource()
    with pytest.raises(OSError, match="no answer"):
        sources_of(good, Broken())
    assert [enumerator.closed for enumerator in good.enumerators] == [True]


def test_enumerators_hear_of_all_epochs_that_a_checkpoint_contains():
    source = NumberSource()
    sources = sources_of(source)
    for told in ("x", "y"):
        sources.epoch_ended([Report(1, 0, "v", (NodeReport(1, {}, progress=told),))])
    sources.checkpoint_completed()
    sources.epoch_ended([Report(1, 0, "v", (NodeReport(1, {}, progress="z"),))])
    sources.epoch_counts()
    assert source.enumerators[0].heard == [("saved", ["x", "y"]), ("read", ["z"])]


def test_only_the_newest_progress_is_kept_of_sources_whose_progress_replaces_the_earlier_one(monkeypatch):
    monkeypatch.setattr(Numbers, "replaces_progress", True)
    source = NumberSource()
    sources = sources_of(source)
    for told in ("x", "y"):
        sources.epoch_ended([Report(1, 0, "v", (NodeReport(1, {}, progress=told),))])
    sources.checkpoint_completed()
    assert source.enumerators[0].heard == [("saved", ["y"])]
