from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from flintstream.coordinator.checkpointing.materializer import Materializer
from flintstream.coordinator.job import SubtaskProgress
from flintstream.errors import CheckpointError
from flintstream.runtime.protocol import Report, StateHandle


class Slow:
    """An engine that folds on request."""

    def __init__(self):
        self.future: Future[StateHandle] = Future()

    def materialize(self, materialization):
        return self.future


def handle(version, *, full=False):
    return StateHandle(version, version, full, 10)


def progress(*handles):
    return SubtaskProgress(Report(0, 0, handles[-1].version, handles=handles))


def test_only_what_is_being_folded_has_to_stay_as_it_is():
    engine: Any = Slow()
    materializer = Materializer(engine, 10, 0, 0, lambda _: False)
    log = [handle("base", full=True), handle("1"), handle("2")]
    subtasks = {(0, 0): progress(*log)}
    assert materializer.materializing(0, 0) == 0
    assert list(materializer.poll(subtasks, 20)) == []
    assert materializer.materializing(0, 0) == 3
    assert materializer.materializing(0, 1) == materializer.materializing(1, 0) == 0
    subtasks[0, 0] = progress(*log, handle("3"))
    engine.future.set_result(handle("new base", full=True))
    assert list(materializer.poll(subtasks, 25)) == ["base", "1", "2"]
    assert [piece.name for piece in subtasks[0, 0].report.handles] == ["new base", "3"]
    assert materializer.materializing(0, 0) == 0


def test_a_base_of_pieces_that_were_merged_meanwhile_is_not_taken():
    engine: Any = Slow()
    materializer = Materializer(engine, 10, 0, 0, lambda _: False)
    subtasks = {(0, 0): progress(handle("base", full=True), handle("1"))}
    assert list(materializer.poll(subtasks, 20)) == []
    subtasks[0, 0] = progress(handle("base", full=True), handle("merged"))
    engine.future.set_result(handle("new base", full=True))
    assert list(materializer.poll(subtasks, 25)) == ["new base"]
    assert [piece.name for piece in subtasks[0, 0].report.handles] == ["base", "merged"]


def test_a_log_whose_files_are_gone_does_not_count_as_a_failure():
    engine: Any = Slow()
    lost = [True]
    materializer = Materializer(engine, 10, 0, 0, lambda handles: lost[0] and handles[0].name == "base")
    subtasks = {(0, 0): progress(handle("base", full=True), handle("1")), (0, 1): progress(handle("x"), handle("y"))}
    assert list(materializer.poll(subtasks, 20)) == []
    engine.future.set_exception(FileNotFoundError("base"))
    assert list(materializer.poll(subtasks, 21)) == []
    assert (materializer.failures, materializer.queue, materializer.running) == (0, [], None)
    lost[0] = False
    with pytest.raises(CheckpointError, match="subtask 0 of chain 0 could not be materialized: base"):
        list(materializer.poll(subtasks, 40))


def test_a_materialization_that_fails_after_a_new_log_has_started_does_not_count():
    engine: Any = Slow()
    materializer = Materializer(engine, 10, 0, 0, lambda _: False)
    subtasks = {(0, 0): progress(handle("base", full=True), handle("1"))}
    assert list(materializer.poll(subtasks, 20)) == []
    subtasks[0, 0] = progress(handle("new base", full=True))
    engine.future.set_exception(FileNotFoundError("base"))
    assert list(materializer.poll(subtasks, 25)) == []
    assert materializer.failures == 0
