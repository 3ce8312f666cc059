"""What a driver keeps for those who watch its job: samples of totals, checkpoints, lines of the log."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

from flintstream.coordinator.checkpointing.history import KEPT_CHECKPOINTS, CheckpointHistory
from flintstream.coordinator.job import Progress
from flintstream.coordinator.monitoring import recent_log
from flintstream.coordinator.monitoring.curves import CAPACITY, Curves

LOAD: Any = SimpleNamespace(latency=dict, by_chain=list)


def test_samples_cover_the_whole_life_of_a_job_and_stay_few():
    curves, progress = Curves(0, sample_ms=1), Progress()
    for second in range(10 * CAPACITY):
        progress.records_in = second
        curves.add(progress, LOAD, 2 * second)
    samples = curves.since(0)
    assert CAPACITY // 4 < len(samples) < CAPACITY
    seen = [sample["in"] for sample in samples]
    assert seen == sorted(seen)
    assert seen[0] < CAPACITY
    assert seen[-1] > 9 * CAPACITY


def test_only_later_samples_are_asked_for():
    curves = Curves(0, sample_ms=0)
    curves.add(Progress(), LOAD, 0)
    (first,) = curves.since(0)
    assert first["watermark"] is None
    assert curves.since(first["at_ms"]) == []


def test_the_last_failed_checkpoints_are_known_with_their_reasons():
    history = CheckpointHistory()
    report: Any = SimpleNamespace(state_ms=5)
    for number in range(KEPT_CHECKPOINTS + 3):
        history.add_failed(number, "checkpoint", [report], f"reason {number}")
    told = history.to_json()
    assert [item["number"] for item in told] == list(range(3, KEPT_CHECKPOINTS + 3))
    assert (told[-1]["reason"], told[-1]["duration_ms"]) == (f"reason {KEPT_CHECKPOINTS + 2}", 5)


def test_what_is_logged_is_kept_without_a_handler():
    log = logging.getLogger("tests.what_is_kept")
    handlers = list(logging.getLogger().handlers)
    before = logging.getLogRecordFactory()
    try:
        recent_log.keep()
        recent_log.keep()
        log.warning("one %s", "argument")
        log.debug("too low")
        try:
            int("why")
        except ValueError:
            log.exception("it broke")
    finally:
        logging.setLogRecordFactory(before)
    mine = [line for line in recent_log.lines() if line["logger"] == log.name]
    assert [item["text"] for item in mine] == [
        "one argument",
        "it broke\nValueError: invalid literal for int() with base 10: 'why'",
    ]
    assert [item["level"] for item in mine] == ["WARNING", "ERROR"]
    assert logging.getLogger().handlers == handlers
