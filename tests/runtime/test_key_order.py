"""BATCH mode processes keys in Flink's order, and the inputs of a key in turn. The expected lines are PyFlink's."""

from __future__ import annotations

import pytest
from tests.datastream.inline import by_second_field, collect, make_env

from flintstream.common import Types
from flintstream.datastream import KeyedCoProcessFunction
from flintstream.runtime.exchange.receiving import InputGate
from flintstream.runtime.task import key_order
from flintstream.runtime.task.key_order import merge_positions, sorted_keys

EVENTS = [("k", "1"), ("l", "2"), ("m", "3"), ("k", "4")]
NAMES = [("k", "K"), ("l", "L"), ("m", "M")]


class Tell(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield f"first {value[0]}{value[1]}"

    def process_element2(self, value, ctx):
        yield f"second {value[0]}{value[1]}"


def told(first, second):
    env = make_env("BATCH")
    connected = env.from_collection(first).connect(env.from_collection(second))
    return collect(connected.key_by(lambda v: v[0], lambda v: v[0]).process(Tell()))


def test_the_input_with_fewer_records_begins_and_the_inputs_take_turns():
    expected = ["Kk", "1k", "4k", "Ll", "2l", "Mm", "3m"]
    events_first = [line.split()[1] for line in told(EVENTS, NAMES)]
    names_first = [line.split()[1] for line in told(NAMES, EVENTS)]
    assert events_first == names_first == [text[::-1] for text in expected]


def test_of_as_many_records_the_first_input_begins():
    lines = told([("a", 1), ("a", 2), ("b", 1)], [("a", 3), ("a", 4), ("b", 2)])
    assert lines == ["first a1", "second a3", "first a2", "second a4", "first b1", "second b2"]


def test_timestamps_come_before_turns():
    env = make_env("BATCH")
    first, second = by_second_field(env, [("a", 5), ("a", 1)]), by_second_field(env, [("a", 3), ("a", 0)])
    lines = collect(first.connect(second).key_by(lambda v: v[0], lambda v: v[0]).process(Tell()))
    assert lines == ["second a0", "first a1", "second a3", "first a5"]


def test_long_runs_of_one_time_are_not_cut_to_single_records():
    count = 2 * key_order.TURNS
    order = merge_positions([0] * (2 * count), [0] * count + [1] * count, 1)
    assert sorted(order) == list(range(2 * count))
    assert order[:4] == [0, count, 1, count + 1]
    assert order[key_order.TURNS :] == sorted(order[key_order.TURNS :])


@pytest.mark.parametrize("declared", [None, Types.STRING()])
def test_words_come_by_length_and_then_by_letters(declared):
    words = ["to", "not", "be", "or", "question", "a", "to"]
    stream = make_env("BATCH").from_collection(words).key_by(lambda word: word, declared)
    assert collect(stream.reduce(lambda one, _: one)) == ["a", "be", "or", "to", "not", "question"]


def test_typed_integers_come_by_their_signed_bytes():
    assert sorted_keys([0, 600, 200, -300, -200, -100], typed=True) == [-300, -100, -200, 200, 0, 600]


def test_many_keys_or_keys_that_cannot_be_pickled_stay_as_they_are(monkeypatch):
    class Unpicklable:
        def __reduce__(self):
            raise TypeError("no")

    keys = [Unpicklable(), Unpicklable()]
    assert sorted_keys(keys, typed=False) == keys
    monkeypatch.setattr(key_order, "SORTED_KEYS", 1)
    assert sorted_keys(["b", "a"], typed=False) == ["b", "a"]


def test_large_input_is_taken_range_by_range(monkeypatch):
    monkeypatch.setattr("flintstream.runtime.task.batch_input.SORTED_BYTES", 0)
    batches: list[bool] = []
    batch = InputGate.batch

    def noted(gate, priority, *, by_bucket):
        batches.append(by_bucket)
        return batch(gate, priority, by_bucket=by_bucket)

    monkeypatch.setattr(InputGate, "batch", noted)
    numbers = [number % 50 for number in range(1000)]
    results = collect(make_env("BATCH").from_collection(numbers).key_by(lambda n: n).reduce(lambda one, _: one))
    assert sorted(results) == list(range(50))
    assert True in batches
