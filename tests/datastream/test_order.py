"""The order of results of collections, where PyFlink does not define it or has a usual one."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.datastream.inline import (
    MODES,
    NO_WATERMARKS,
    by_second_field,
    collect,
    make_env,
    rush_the_clock,
    stop_the_clock,
)
from tests.engine.sources import StepwiseSource

from flintstream.common import Types
from flintstream.datastream import BroadcastProcessFunction, CoMapFunction, OutputTag, ProcessFunction
from flintstream.datastream.state import MapStateDescriptor
from flintstream.runtime.plan import RECORDS_PER_BLOCK

pytestmark = pytest.mark.slow

NAMES = MapStateDescriptor("names", Types.INT(), Types.STRING())
every_mode = pytest.mark.parametrize("mode", MODES)
every_parallelism = pytest.mark.parametrize("parallelism", [1, 2, 3])


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Keep time from ending an epoch, and with it the order that holds within an epoch."""
    stop_the_clock(monkeypatch)


def add_one(number):
    return number + 1


@every_mode
@every_parallelism
@pytest.mark.parametrize("size", [0, 1, 10, 3 * RECORDS_PER_BLOCK + 1])
def test_a_collection_keeps_its_order(mode, parallelism, size):
    numbers = list(range(size))
    assert collect(make_env(mode, parallelism).from_collection(numbers)) == numbers
    mapped = make_env(mode, parallelism).from_collection(numbers).map(add_one).map(add_one, Types.LONG())
    assert collect(mapped) == [number + 2 for number in numbers]


@every_mode
@every_parallelism
def test_the_first_results_are_those_of_the_first_elements(mode, parallelism):
    stream = make_env(mode, parallelism).from_collection(["a", "b", "c", "d"])
    assert stream.execute_and_collect(limit=3) == ["a", "b", "c"]
    assert stream.map(str.upper).execute_and_collect(limit=3) == ["A", "B", "C"]


@every_mode
def test_printed_lines_are_in_the_order_of_the_collection(capsys, mode):
    env = make_env(mode, 2)
    env.from_collection(["a", "b", "c\nd", "e"]).map(str.upper).print()
    env.execute()
    assert capsys.readouterr().out == "1> A\n2> B\n1> C\nD\n2> E\n"


def test_the_order_goes_on_in_later_epochs():
    numbers = make_env(parallelism=2).from_source(StepwiseSource(9), NO_WATERMARKS, "numbers").set_parallelism(1)
    with numbers.map(add_one).execute_and_collect() as results:
        assert list(results) == list(range(1, 10))
        assert results._client.get_accumulators().result()["numEpochs"] >= 9


@every_mode
def test_what_does_not_come_from_one_subtask_stays_with_its_subtask(mode):
    env = make_env(mode, 2)
    kept = env.from_collection(list(range(8))).filter(lambda number: number != 2)
    assert collect(kept) == [0, 4, 6, 1, 3, 5, 7]


@every_mode
@pytest.mark.parametrize("parallelism", [1, 2])
def test_united_collections_come_one_after_the_other(mode, parallelism):
    env = make_env(mode, parallelism)
    first, second, third = (env.from_collection([f"{name}{i}" for i in range(5)]) for name in "abc")
    assert collect(first.union(second, third)) == [f"{name}{i}" for name in "abc" for i in range(5)]


def test_of_long_sources_one_does_not_wait_for_the_end_of_the_other():
    env = make_env()
    size = 4 * RECORDS_PER_BLOCK
    both = collect(env.from_collection([0] * size).union(env.from_collection([1] * size)))
    assert 0 < both.index(1) < size
    assert both.count(0) == both.count(1) == size


class Sides(CoMapFunction):
    def map1(self, value):
        return f"first {value}"

    def map2(self, value):
        return f"second {value}"


def test_connected_collections_come_in_turn():
    env = make_env()
    second = env.from_collection([5, 6])
    results = collect(env.from_collection([1, 2, 3]).connect(second).map(Sides()))
    assert results == ["first 1", "second 5", "first 2", "second 6", "first 3"]


def test_connected_collections_come_one_after_the_other_in_batch_mode():
    env = make_env("BATCH")
    second = env.from_collection([5, 6])
    results = collect(env.from_collection([1, 2]).connect(second).map(Sides()))
    assert results == ["first 1", "first 2", "second 5", "second 6"]


class Name(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_broadcast_state(NAMES).get(value[0])

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(NAMES).put(*value[:2])


either_first = pytest.mark.parametrize("rules_first", [False, True])
either_timed = pytest.mark.parametrize("timed", ["", "rules", "events"])


def named(env, wanted, rules_first, timed):
    """Return a stream of the names that events find in the rules, which are in the order of their numbers.

    Each event wants one of the rules, by its number.
    """

    def rules():
        records = [(i, i, f"name {i}") for i in range(len(wanted))]
        stream = by_second_field(env, records) if timed == "rules" else env.from_collection(records)
        return stream.map(lambda rule: (rule[0], rule[2])).broadcast(NAMES)

    def events():
        records = [(number, i) for i, number in enumerate(wanted)]
        return by_second_field(env, records) if timed == "events" else env.from_collection(records)

    if rules_first:
        broadcast = rules()
        stream = events()
    else:
        stream = events()
        broadcast = rules()
    return stream.connect(broadcast).process(Name(), Types.STRING())


@every_mode
@every_parallelism
@pytest.mark.parametrize("size", [3, 2 * RECORDS_PER_BLOCK])
@either_first
@either_timed
def test_every_event_finds_the_rules_that_are_broadcast(mode, parallelism, size, rules_first, timed):
    wanted = range(size)[::-1]  # the first event wants the last rule
    names = collect(named(make_env(mode, parallelism), wanted, rules_first, timed))
    assert Counter(names) == Counter(f"name {i}" for i in range(size))


@every_parallelism
@either_first
@either_timed
def test_an_event_finds_the_rules_of_its_epoch_however_early_that_ends(parallelism, rules_first, timed, monkeypatch):
    rush_the_clock(monkeypatch)
    names = named(make_env("STREAMING", parallelism), range(9), rules_first, timed)
    with names.execute_and_collect() as results:
        assert Counter(results) == Counter(f"name {i}" for i in range(9))
        assert results._client.get_accumulators().result()["numEpochs"] >= 9


class Odd(ProcessFunction):
    TAG = OutputTag("odd", Types.INT())

    def process_element(self, value, ctx):
        yield (self.TAG, value) if value % 2 else value


@every_mode
def test_side_outputs_are_printed_after_the_rest(capsys, mode):
    env = make_env(mode)
    stream = env.from_collection([1, 2, 3, 4]).process(Odd())
    stream.get_side_output(Odd.TAG).print("side")
    stream.print("main")
    env.execute()
    assert capsys.readouterr().out == "main> 2\nmain> 4\nside> 1\nside> 3\n"


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_broadcast_stream_is_collected_once(parallelism):
    env = make_env(parallelism=parallelism)
    assert collect(env.from_collection([1, 2, 3]).broadcast()) == [1, 2, 3]


def test_a_collection_has_one_subtask_whatever_the_program_says():
    numbers = make_env(parallelism=4).from_collection([1, 2])
    assert collect(numbers.set_parallelism(1)) == [1, 2]
    with pytest.raises(
        ValueError, match=r"parallelism of non parallel operator must be 1: 'Collection Source' runs in"
    ):
        numbers.set_parallelism(2)
    with pytest.raises(ValueError, match="max parallelism of non parallel operator must be 1"):
        numbers.set_max_parallelism(2)


def test_what_is_forced_into_one_subtask_stays_there():
    forced = make_env().from_collection([1]).map(add_one).force_non_parallel()
    with pytest.raises(ValueError, match="non parallel"):
        forced.set_parallelism(2)
