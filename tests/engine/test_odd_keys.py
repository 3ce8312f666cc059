"""Odd keys: the same ones are equal on both engines, at any parallelism, in each backend, and after a savepoint."""

from __future__ import annotations

import datetime as dt
import enum
import math
import threading
import uuid
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from tests.engine.sources import PacedSource
from tests.engine.test_recovery import STATES, settings
from tests.waiting import wait_for_numbers

from flintstream.common import Row, Types, WatermarkStrategy
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
from flintstream.testing import CollectSink


class Colour(enum.Enum):
    RED = 1


UTC = dt.timezone.utc
NOON = dt.datetime(2020, 1, 1, 12, tzinfo=UTC)

EQUAL: list[list[object]] = [
    [None],
    [math.nan, float("nan"), -math.nan],
    [0.0, -0.0, 0, False, Decimal("-0")],
    [1, True, 1.0, Decimal("1.00"), Fraction(1), 1 + 0j],
    ["1"],
    [b"1", b"1"],
    [math.inf, Decimal("Infinity")],
    [-math.inf],
    [""],
    [b""],
    ["\ud800", "\ud800"],
    ["\udcff\x00"],
    ["é", "\u00e9"],
    ["e\u0301"],
    ["x" * 200_000, "x" * 200_000],
    [2**63, float(2**63)],
    [2**63 - 1],
    [-(2**63) - 1],
    [10**400, 10**400],
    [-(10**400)],
    [(), ()],
    [(1, "a"), (True, "a"), (1.0, "a")],
    [(1, None)],
    [(math.nan,), (float("nan"),)],
    [((0.0,), b"\xff"), ((-0.0,), b"\xff")],
    [Decimal("0.1"), Decimal("0.10")],
    [0.1],
    [dt.date(2020, 1, 1)],
    [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, fold=1)],
    [NOON, NOON.astimezone(dt.timezone(dt.timedelta(hours=5)))],
    [dt.time(1, 2, 3)],
    [dt.timedelta(days=1), dt.timedelta(hours=24)],
    [uuid.UUID(int=7), uuid.UUID(int=7)],
    [Colour.RED],
    [[], []],
    [[1, [2]], [True, [2.0]]],
    [{"a": 1, "b": [2]}, {"b": [2], "a": 1.0}],
    [{1, 2}, frozenset([2, 1.0])],
    [Row(1, "a"), Row(1, "a")],
    [Row(a=1, b=2), Row(a=1.0, b=2)],
]
KEYS = [(number, key) for number, keys in enumerate(EQUAL) for key in keys]


class Seen(KeyedProcessFunction):
    """Emit the group of a key, and how often the key has occurred in each kind of state."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.groups = runtime_context.get_map_state(MapStateDescriptor("groups", Types.LONG(), Types.LONG()))

    def process_element(self, value, ctx):
        group, _ = KEYS[value % len(KEYS)]
        self.count.update((self.count.value() or 0) + 1)
        self.groups.put(group, (self.groups.get(group) or 0) + 1)
        yield group, self.count.value(), list(self.groups.items())


def counted(env, limit, pause=0.0, sink=None):
    sink = sink or CollectSink()
    numbers = env.from_source(PacedSource(limit, pause), WatermarkStrategy.no_watermarks(), "paced").uid("numbers")
    spread = numbers.rebalance().map(lambda n: n).uid("spread")
    spread.key_by(lambda n: KEYS[n % len(KEYS)][1]).process(Seen()).uid("seen").sink_to(sink).uid("sink")
    return sink


def check(rows):
    """Check that each key has met all its equals, and no others."""
    wanted: Counter[int] = Counter(KEYS[n % len(KEYS)][0] for n in range(len(rows)))
    found: dict[int, list[int]] = {}
    for group, count, groups in rows:
        assert groups == [(group, count)], f"key {EQUAL[group][0]!r:.80}"
        found.setdefault(group, []).append(count)
    for group, count in wanted.items():
        assert sorted(found[group]) == list(range(1, count + 1)), f"keys {EQUAL[group]!r:.80}"


@pytest.mark.parametrize("parallelism", [1, 3])
def test_equal_keys_meet_and_others_do_not(make_env, parallelism):
    env = make_env(parallelism)
    sink = counted(env, 2 * len(KEYS))
    env.execute("keys")
    rows = sink.get_results(True, False)
    assert len(rows) == 2 * len(KEYS)
    check(rows)


@pytest.mark.on_spark("rocksdb")
@pytest.mark.parametrize("state", ["hashmap", "hashmap-changelog", "rocksdb"])
def test_keys_survive_a_savepoint_another_parallelism_and_backend(make_env, tmp_path, state):
    env = make_env(2, settings(tmp_path, state))
    sink = counted(env, None, 0.001)
    job = env.execute_async("keys")
    wait_for_numbers(job, numRecordsIn=len(KEYS) + 10)
    path = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    rows = sink.get_results(True, False)
    other = "rocksdb" if state == "hashmap" else "hashmap"
    more = {"execution.state-recovery.path": path, **STATES[other]}
    env = make_env(3, settings(tmp_path / "second", other) | more)
    counted(env, len(rows) + len(KEYS), sink=sink)
    env.execute("keys")
    rows += sink.get_results(True, False)
    assert len(rows) > 2 * len(KEYS)
    check(rows)


def a_generator():
    yield 1


@pytest.mark.parametrize("make", [threading.Lock, a_generator, lambda: [threading.Lock()]])
def test_a_key_that_cannot_be_stored_is_an_error_at_its_record(make_env, make):
    env = make_env(1)
    pairs = env.from_collection([7]).map(lambda n: n)
    pairs.key_by(lambda n: make()).reduce(lambda a, b: a).print()
    with pytest.raises(TypeError, match="cannot pickle") as raised:
        env.execute("keys")
    assert "while processing 7" in str(raised.value.__cause__) + "".join(getattr(raised.value, "__notes__", []))
