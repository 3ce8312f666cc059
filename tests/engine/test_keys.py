"""Keys that are not just strings and numbers."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from tests.engine.sources import PacedSource

from flintstream.common import Row, Types, WatermarkStrategy
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor


class SpoilTheKey(KeyedProcessFunction):
    """Count per key, and change the key object."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        value[0].append("spoiled")
        ctx.get_current_key().append("also changed")
        yield ctx.get_current_key(), self.count.value()


def test_changing_an_object_that_was_a_key_changes_no_key(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    paced = env.from_source(PacedSource(10, 0.02), WatermarkStrategy.no_watermarks(), "paced")
    counts = paced.map(lambda n: (["key"], n)).key_by(lambda pair: pair[0]).process(SpoilTheKey())
    assert counts.execute_and_collect(limit=20) == [(["key"], n) for n in range(1, 11)]


def count_keys(env, keys):
    """Return the running count of each key; keys come from several subtasks."""
    pairs = env.from_collection(keys).rebalance().map(lambda key: (key, 1))
    return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.on_spark
def test_equal_keys_of_different_types_meet_in_one_subtask(make_env):
    noon = datetime(2020, 1, 1, 12, tzinfo=timezone.utc)
    half, one, twelve = (
        [0.5, Decimal("0.5"), Fraction(1, 2)],
        [1, Level.LOW, 1.0, True, Decimal(1)],
        [noon, *(noon.astimezone(timezone(timedelta(hours=hours))) for hours in range(1, 6))],
    )
    counts = count_keys(make_env(4), [*half, *one, *twelve])
    most: dict = {}
    for key, count in counts.execute_and_collect(limit=100):
        most[key] = max(count, most.get(key, 0))
    assert most == {0.5: len(half), 1: len(one), noon: len(twelve)}


def test_rows_with_lists_and_objects_of_local_classes_are_keys(make_env):
    @dataclass(frozen=True, slots=True)
    class Place:
        name: str

    keys = [Row(1, [2]), Row(1, [2]), Place("a"), Place("a"), Place("b")]
    counts = count_keys(make_env(2), keys)
    texts = sorted(f"{key} {count}" for key, count in counts.execute_and_collect(limit=100))
    place = Place.__qualname__
    assert texts == [
        "<Row(1, [2])> 1",
        "<Row(1, [2])> 2",
        *(f"{place}(name={t}" for t in ("'a') 1", "'a') 2", "'b') 1")),
    ]
