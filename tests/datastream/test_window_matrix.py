"""Each kind of window with each trigger gives what PyFlink 2.3 gives, whichever time its assigner says it is of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flintstream.common import Configuration
from flintstream.compat import pyflink

RECORDED = json.loads(Path(__file__).with_name("window_matrix.json").read_text(encoding="utf-8"))

ORDER = "in PyFlink, a timer that is registered while others fire fires after all that were due"
ENDLESS = "in PyFlink, timers after the end of a window fire as long as there are watermarks"
RACE = "in PyFlink, the job may end before processing-time timers for the past fire"

DEVIATIONS = {
    "EventTimeSession / ContinuousEventTime / future": (ORDER, {"a": [14, 14, 14, 13], "b": [5, 5]}),
    "EventTimeSession / ContinuousEventTime / past": (ORDER, {"a": [14, 14, 14, 13], "b": [5, 5]}),
    "own session event / ContinuousEventTime / future": (ORDER, {"a": [14, 14, 14, 13], "b": [5, 5]}),
    "own session event / ContinuousEventTime / past": (ORDER, {"a": [14, 14, 14, 13], "b": [5, 5]}),
    "own session processing / ContinuousEventTime / future": (ENDLESS, {"a": [14, 14, 14, 13], "b": [5, 5]}),
    "own sliding processing / ContinuousEventTime / future": (
        ENDLESS,
        {"a": [1, 4, 4, 7, 10, 10, 6, 6, 13, 13, 13], "b": [5, 5]},
    ),
    "own sliding processing / ContinuousEventTime / past": (
        ENDLESS,
        {"a": [1, 4, 7, 10, 10, 6, 13, 13], "b": [5, 5, 5]},
    ),
    "own tumbling processing / ContinuousEventTime / future": (ENDLESS, {"a": [4, 4, 10, 10, 13, 13], "b": [5]}),
    "own tumbling processing / ContinuousEventTime / past": (ENDLESS, {"a": [4, 10, 10, 13], "b": [5]}),
    "own sliding processing / own processing / past": (RACE, {}),
    "own tumbling processing / own processing / past": (RACE, {}),
}
"""What differs, and why."""


@pytest.fixture
def results():
    """Return the results of a combination on an engine."""
    was_installed = pyflink.is_installed()
    pyflink.install()
    try:
        from tests.datastream import window_matrix

        def run(name, engine):
            options = {
                "flintstream.engine": engine,
                "restart-strategy.type": "none",
                "pipeline.auto-watermark-interval": "60 s",  # PyFlink read these records within its 200 ms
            }
            return window_matrix.results(name, Configuration.from_dict(options))

        assert set(window_matrix.names()) == set(RECORDED)
        yield run
    finally:
        if not was_installed:
            pyflink.uninstall()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_windows_fire_as_in_pyflink(name, results):
    expected = DEVIATIONS[name][1] if name in DEVIATIONS else RECORDED[name]
    assert results(name, "inline") == expected
    assert name not in DEVIATIONS or expected != RECORDED[name]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["tumbling", "session"])
@pytest.mark.parametrize("trigger", ["default", "Count"])
def test_windows_fire_so_on_spark_too(kind, trigger, results):
    name = f"own {kind} processing / {trigger} / past"
    assert results(name, "spark") == RECORDED[name]
