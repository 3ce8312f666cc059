"""The window operator gives the recorded results of PyFlink's, down to order, timestamps and dropped windows."""

from __future__ import annotations

import json
from itertools import groupby

import pytest
from tests.runtime.window_scenarios import GOLDENS, add, build, listing_function, numbers_function

from flintstream.datastream import functions, window
from flintstream.datastream.output_tag import OutputTag
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
)
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.windows.operator import WindowOperator
from flintstream.state.hash_map import HashMapStateBackend

SCENARIOS = json.loads(GOLDENS.read_text(encoding="utf-8"))


class Sink:
    def __init__(self):
        self.records = []

    def emit(self, values, timestamps):
        self.records += zip(values, timestamps, strict=True)

    def emit_watermark(self, timestamp):
        pass

    def emit_idle(self, idle):
        pass


def replay(scenario, *, blocks):
    """Run a program record by record, or with all records between two watermarks in one block."""
    assigner, trigger = build(window, scenario)
    listing = listing_function(functions)
    incremental = None
    descriptor: StateDescriptor = ListStateDescriptor("contents", None)
    if scenario["contents"] == "reduce":
        incremental = functions.ReduceFunctionWrapper(add)
        descriptor = ReducingStateDescriptor("contents", incremental, None)
    elif scenario["contents"] == "aggregate":
        incremental = numbers_function(functions)
        descriptor = AggregatingStateDescriptor("contents", incremental, None)
    tag = OutputTag("late") if scenario["late output"] else None
    operator = WindowOperator(
        lambda value: value[0], assigner, trigger, descriptor, listing, scenario["lateness"], tag, incremental
    )
    state = HashMapStateBackend()
    runtime = StreamingRuntimeContext("window", 0, 1, 128, {}, state)
    context = OperatorContext("window", 0, 1, 128, False, runtime, state, InternalTimerService(lambda: 0))
    main, late = Sink(), Sink()
    operator.setup(context, main, {"late": late} if tag else {})
    operator.open()
    for is_block, steps in groupby(scenario["steps"], key=lambda step: len(step) == 3):
        rows = list(steps)
        if not is_block:
            for (watermark,) in rows:
                operator.process_watermark(watermark)
            continue
        for block in [rows] if blocks else [[row] for row in rows]:
            operator.process([(key, number) for key, number, _ in block], [timestamp for *_, timestamp in block])
    return {
        "results": [[*result, timestamp] for result, timestamp in main.records],
        "late": late.records,
        "dropped": context.metrics.get("numLateRecordsDropped", 0),
        "cleared": listing.dropped,
    }


def comparable(outcome, scenario):
    """In the form of JSON; the order of contents is undefined if several sessions were merged."""
    plain = json.loads(json.dumps(outcome))
    if "sessions" in scenario["assigner"] and scenario["contents"] != "reduce":
        for result in plain["results"]:
            contents = result[2] if scenario["contents"] == "list" else result[2][0]
            contents.sort()
    return plain


@pytest.mark.parametrize("blocks", [False, True], ids=["records", "blocks"])
@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_windows_give_what_they_give_in_pyflink(number, blocks):
    scenario = SCENARIOS[number]
    expected = {name: scenario[name] for name in ("results", "late", "dropped", "cleared")}
    assert comparable(replay(scenario, blocks=blocks), scenario) == comparable(expected, scenario)


def test_the_recorded_programs_use_everything():
    used = {
        (name, scenario[name]) for scenario in SCENARIOS for name in ("assigner", "trigger", "contents", "lateness")
    }
    assert len(used) == 11 + 6 + 3 + 4
    assert sum(len(scenario["results"]) for scenario in SCENARIOS) > 500
    assert sum(scenario["dropped"] + len(scenario["late"]) for scenario in SCENARIOS) > 50
