# mypy: disable-error-code="name-defined"
"""Random window programs of a few records, and the parts from which PyFlink and flintstream build them.

Recorded by ``python -m tests.runtime.record_windows``, replayed by ``test_windows_as_in_pyflink.py``.
"""

from __future__ import annotations

import random
from pathlib import Path

GOLDENS = Path(__file__).parent / "windows_of_pyflink_2_3.json"

LAST_WATERMARK = 2**63 - 1
ASSIGNERS = {
    "tumbling": lambda api: api.TumblingEventTimeWindows(10, 0),
    "tumbling with offset": lambda api: api.TumblingEventTimeWindows(7, 3),
    "sliding": lambda api: api.SlidingEventTimeWindows(10, 5, 0),
    "sliding, uneven": lambda api: api.SlidingEventTimeWindows(10, 3, 0),
    "sliding with gaps": lambda api: api.SlidingEventTimeWindows(4, 6, 0),
    "sessions": lambda api: api.EventTimeSessionWindows(5),
    "sessions of dynamic gap": lambda api: api.EventTimeSessionWindows.with_dynamic_gap(gap_extractor(api)),
    "global": lambda api: api.GlobalWindows(),
    "count": lambda api: api.CountTumblingWindowAssigner(3),
    "sliding count": lambda api: api.CountSlidingWindowAssigner(3, 1),
    "sliding count with gaps": lambda api: api.CountSlidingWindowAssigner(2, 3),
}
TRIGGERS = {
    "default": lambda api, assigner: assigner.get_default_trigger(None),
    "purging": lambda api, assigner: api.PurgingTrigger(assigner.get_default_trigger(None)),
    "count": lambda api, assigner: api.CountTrigger(2),
    "purging count": lambda api, assigner: api.PurgingTrigger(api.CountTrigger(3)),
    "continuous": lambda api, assigner: api.ContinuousEventTimeTrigger(4),
    "purging continuous": lambda api, assigner: api.PurgingTrigger(api.ContinuousEventTimeTrigger(4)),
}
CONTENTS = ("list", "reduce", "aggregate")


def gap_extractor(api):
    """The gap of a record is its number."""
    return type("Gap", (api.SessionWindowTimeGapExtractor,), {"extract": lambda self, value: value[1]})()


def invent(seed):
    """Draw a program: its windows, and a sequence of records and watermarks."""
    dice = random.Random(seed)
    assigner = dice.choice(list(ASSIGNERS))
    timeless = "global" in assigner or "count" in assigner
    # PyFlink's continuous triggers fail with a TypeError when sessions merge
    triggers = [name for name in TRIGGERS if "continuous" not in name or not (timeless or "sessions" in assigner)]
    steps: list[list] = []
    watermark, now = -(10**6), dice.randint(-20, 20)
    for _ in range(dice.randint(4, 16)):
        if dice.random() < 0.3:
            watermark = max(watermark, now + dice.randint(-15, 25))
            steps.append([watermark])
            now += dice.randint(0, 8)
        else:
            steps.append([dice.choice("ab"), dice.randint(1, 9), now + dice.randint(-12, 12)])
    if dice.random() < 0.7:
        steps.append([LAST_WATERMARK])
    return {
        "assigner": assigner,
        "trigger": dice.choice(triggers),
        "contents": dice.choice(CONTENTS),
        "lateness": dice.choice([0, 0, 3, 8, 20]),
        "late output": dice.random() < 0.5,
        "steps": steps,
    }


def build(api, scenario):
    """Return the assigner and trigger, built from the classes of ``api``."""
    assigner = ASSIGNERS[scenario["assigner"]](api)
    return assigner, TRIGGERS[scenario["trigger"]](api, assigner)


def listing_function(functions):
    """Return a window function that emits its input, and records the dropped windows."""

    class Listing(functions.ProcessWindowFunction):
        def __init__(self):
            self.dropped = []

        def process(self, key, context, elements):
            yield [key, repr(context.window()), list(elements), context.current_watermark()]

        def clear(self, context):
            self.dropped.append(repr(context.window()))

    return Listing()


def add(one, other):
    return (one[0], one[1] + other[1])


def numbers_function(functions):
    """Return an aggregate function whose result is the numbers of the records."""

    class Numbers(functions.AggregateFunction):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            return [*accumulator, value[1]]

        def get_result(self, accumulator):
            return list(accumulator)

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    return Numbers()
