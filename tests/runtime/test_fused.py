"""Consecutive functions that are compiled to one loop give the same results as one after the other."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiled.plain import plain
from tests.datastream.inline import collect, make_env

from flintstream.common import Types, WatermarkStrategy
from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.compiled.fused import LONGEST
from flintstream.datastream import FlatMapFunction, MapFunction, OutputTag
from flintstream.errors import notes
from flintstream.runtime.copies import ATOMS, copy_mutable
from flintstream.runtime.task import fused
from flintstream.testing import CollectSink

FUNCTIONS = {"map": lambda n: n + 1, "filter": lambda n: n % 3, "flat_map": lambda n: range(n, n + n % 4)}
LOOPS = [plain("fused").FusedLoop] + ([module.FusedLoop] if (module := load("fused")) else [])


def one_after_the_other(kinds, values):
    """Return the results, the position of the record of each, and the number of records that each function got."""
    records, taken = list(enumerate(values)), []
    for kind in kinds:
        taken.append(len(records))
        function = FUNCTIONS[kind]
        if kind == "map":
            records = [(place, function(value)) for place, value in records]
        elif kind == "filter":
            records = [(place, value) for place, value in records if function(value)]
        else:
            records = [(place, result) for place, value in records for result in function(value)]
    return [value for _, value in records], [place for place, _ in records], taken


@pytest.mark.parametrize("loop", LOOPS)
@settings(deadline=None)
@given(
    st.lists(st.sampled_from(list(FUNCTIONS)), min_size=2, max_size=6),
    st.lists(st.integers(0, 20)),
    st.frozensets(st.integers(0, 5)),
)
def test_a_loop_does_what_its_functions_do_one_after_the_other(loop, kinds, values, keeping):
    expected, places, taken = one_after_the_other(kinds, values)
    functions = [FUNCTIONS[kind] for kind in kinds]
    settled = [ATOMS if stage in keeping else None for stage in range(len(kinds))]
    for timestamps, stamps, expected_stamps in ((None, None, None), (list(range(len(values))), [], places)):
        results: list[int] = []
        formulas = [formula_of(function, 1) for function in functions]
        counts = loop(kinds, settled, copy_mutable).run(iter(values), timestamps, functions, formulas, results, stamps)
        assert (results, stamps, counts) == (expected, expected_stamps, taken)


@pytest.fixture
def loops(monkeypatch):
    """The sequences of functions with a compiled loop."""
    made = []

    class Noted(fused.FusedOperators):
        def __init__(self, operators):
            super().__init__(operators)
            made.append(self.methods)

    monkeypatch.setattr(fused, "FusedOperators", Noted)
    return made


class Buffer(FlatMapFunction):
    """Emit one list again and again."""

    def open(self, runtime_context):
        self.buffer = []

    def flat_map(self, value):
        for item in range(value):
            self.buffer.append(item)
            yield self.buffer
        self.buffer.clear()


class Same(MapFunction):
    def map(self, value):
        return value


def test_what_changes_after_it_was_emitted_is_kept_as_it_was(loops):
    stream = make_env().from_collection([2, 3]).flat_map(Buffer()).filter(lambda _: True).map(Same())
    assert collect(stream) == [[0], [0, 1], [0], [0, 1], [0, 1, 2]]
    assert loops == [("flat_map", "filter", "map")]


class Pairs(FlatMapFunction):
    """Emit a number in a pair, or with a list that it changes later."""

    def open(self, runtime_context):
        self.buffer = []

    def flat_map(self, value):
        for item in range(value):
            yield item, item
            self.buffer.append(item)
            yield item, self.buffer


def test_the_next_function_is_given_a_copy_of_what_may_change(loops):
    pairs = make_env().from_collection([2]).flat_map(Pairs())
    assert collect(pairs.map(lambda pair: [pair[1]])) == [[0], [[0]], [1], [[0, 1]]]
    assert loops == [("flat_map", "map")]
    pairs = make_env().from_collection([2]).flat_map(Pairs()).filter(lambda pair: isinstance(pair[1], list))
    assert collect(pairs.map(lambda pair: (pair[1].pop(), len(pair[1])))) == [(0, 0), (1, 1)]


class Uncopied:
    """An object that cannot be copied."""

    def __copied__(self):
        raise AssertionError("there is no need to")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("value", [1, (1, "a"), (1, [])])
def test_what_a_plain_function_makes_is_not_copied(loop, value):
    found: list[Uncopied] = []
    functions = [lambda _: iter([value]), lambda _: Uncopied(), bool]
    made = loop(("flat_map", "map", "filter"), [ATOMS, None, None], copy_mutable)
    made.run(iter([1]), None, functions, [None] * 3, found, None)
    assert len(found) == 1


def test_a_result_that_cannot_be_copied_is_blamed_on_the_function_that_made_it(loops):
    class Locks(MapFunction):
        def map(self, value):
            return threading.Lock()

    stream = make_env().from_collection([1]).map(Locks()).name("locks").filter(lambda _: True).map(str)
    with pytest.raises(TypeError, match="cannot pickle") as raised:
        collect(stream)
    assert notes(raised.value) == ["in operator 'locks', subtask 1 while processing 1"]
    assert loops == [("map", "filter", "map")]


@pytest.mark.parametrize("length", [17, 40])
def test_a_chain_may_be_longer_than_a_loop(loops, length):
    stream = make_env().from_collection([1, 2])
    for _ in range(length):
        stream = stream.flat_map(lambda n: [n] if n < 3 else [])
    assert collect(stream) == [1, 2]
    assert sum(map(len, loops)) >= length - 1
    assert max(map(len, loops)) == LONGEST


def test_a_result_passes_all_functions_before_the_next_one_is_made(loops):
    seen = make_env().from_collection([2]).flat_map(Buffer()).map(sum).map(str)
    assert collect(seen) == ["0", "1"]
    assert loops == [("flat_map", "map", "map")]


@pytest.mark.parametrize("stamped", [False, True])
@pytest.mark.parametrize("bad", ["first", "keep", "split", "last"])
def test_a_failure_names_the_function_and_its_record(loops, bad, stamped):
    def failing(name, function):
        def call(value):
            if name == bad and value == {"first": 1, "keep": 10, "split": 10, "last": 100}[bad]:
                raise ValueError("no")
            return function(value)

        return call

    env = make_env()
    stream = env.from_collection([0, 1])
    if stamped:
        stream = stream.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    stream = stream.map(failing("first", lambda n: n * 10)).name("first").filter(failing("keep", bool)).name("keep")
    stream = stream.flat_map(failing("split", lambda n: iter([n, n * 10]))).name("split")
    stream = stream.map(failing("last", str)).name("last")
    record = {"first": 1, "keep": 10, "split": 10, "last": 100}[bad]
    with pytest.raises(ValueError, match="no") as raised:
        collect(stream)
    assert notes(raised.value) == [f"in operator '{bad}', subtask 1 while processing {record}"]
    assert "<flintstream" not in str(raised.value.__cause__)
    assert loops == [("map", "filter", "flat_map", "map")]


class Exploding:
    def __iter__(self):
        yield 1
        raise ValueError("in the middle")


def test_a_generator_that_fails_names_its_function():
    stream = make_env().from_collection([7]).flat_map(lambda _: Exploding()).name("split").map(str)
    with pytest.raises(ValueError, match="in the middle") as raised:
        collect(stream)
    assert notes(raised.value) == ["in operator 'split', subtask 1 while processing 7"]


def test_what_has_other_consumers_other_inputs_or_side_outputs_is_not_fused(loops):
    env = make_env()
    first = env.from_collection([1, 2]).map(lambda n: n + 1)
    both = first.map(lambda n: n * 10).union(first.filter(lambda n: n > 2))
    assert sorted(collect(both.map(str))) == ["20", "3", "30"]
    tag = OutputTag("side")
    split = env.from_collection([1]).flat_map(lambda n: [n, (tag, 2)])
    both = split.map(str).union(split.get_side_output(tag).map(str))
    assert sorted(collect(both)) == ["1", "2"]
    split = env.from_collection([1]).map(lambda n: n + 1).flat_map(lambda n: [n, (tag, "side")])
    assert sorted(collect(split.map(str).union(split.get_side_output(tag)))) == ["2", "side"]
    split = env.from_collection([1]).flat_map(lambda n: [n, (tag, "side")])
    split.get_side_output(tag)
    assert collect(split.map(str)) == ["1"]
    assert loops == []


def test_results_of_a_type_are_brought_to_it_where_chaining_is_off(loops):
    env = make_env(settings={"pipeline.operator-chaining.enabled": "false"})
    rows = env.from_collection([1]).map(lambda n: (n,), Types.TUPLE([Types.DOUBLE()])).map(lambda row: str(row[0]))
    assert collect(rows) == ["1.0"]
    assert loops == []


def test_each_function_tells_how_many_records_came_and_went(loops):
    env = make_env()
    stream = env.from_collection(list(range(10))).map(lambda n: n + 1).name("map")
    stream = stream.filter(lambda n: n % 2).name("filter").flat_map(lambda n: [n] * n).name("flat map")
    stream.map(str).name("last").sink_to(CollectSink())
    told = env.execute().get_all_accumulator_results()
    names = ("map", "filter", "flat map", "last")
    counts = {name: (told[f"{name}.numRecordsIn"], told[f"{name}.numRecordsOut"]) for name in names}
    assert counts == {"map": (10, 10), "filter": (10, 5), "flat map": (5, 25), "last": (25, 25)}
    assert loops == [("map", "filter", "flat_map", "map")]
