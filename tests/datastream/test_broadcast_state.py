"""A stream and a broadcast stream: broadcast state together with keyed state and timers, both modes."""

from __future__ import annotations

import time

import pytest
from tests.datastream.inline import (
    MODES,
    NO_WATERMARKS,
    SHORT_EPOCHS,
    by_second_field,
    collect,
    make_env,
    move_every_epoch,
    stop_the_clock,
)
from tests.engine.sources import PacedSource, StepwiseSource

from flintstream.common import Types
from flintstream.datastream import BroadcastProcessFunction, KeyedBroadcastProcessFunction, MapFunction
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import notes

NAMES = MapStateDescriptor("names", Types.LONG(), Types.STRING())
SEEN = MapStateDescriptor("seen", Types.STRING(), Types.LONG())
ITEMS = ListStateDescriptor("items", None)

anywhere = pytest.mark.parametrize(("mode", "parallelism"), [(mode, p) for mode in MODES for p in (1, 2)])
both_parallelisms = pytest.mark.parametrize("parallelism", [1, 2])
both_workers = pytest.mark.parametrize("moving", [False, True], ids=["same worker", "new workers"])


class Name(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        names = ctx.get_broadcast_state(NAMES)
        yield names.get(value) or f"no {value}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(NAMES).put(*value)


@both_parallelisms
def test_in_batch_mode_every_subtask_sees_all_broadcast_records_first(parallelism):
    env = make_env("BATCH", parallelism)
    names = env.from_collection([(1, "one"), (2, "two")]).broadcast(NAMES)
    stream = env.from_collection([1, 2, 3, 1, 2]).rebalance().connect(names).process(Name(), Types.STRING())
    assert sorted(collect(stream)) == ["no 3", "one", "one", "two", "two"]


@both_parallelisms
def test_in_batch_mode_a_broadcast_stream_that_takes_more_steps_still_comes_first(parallelism):
    env = make_env("BATCH", parallelism)
    names = env.from_collection([(1, "one")]).rebalance().map(lambda v: v).rebalance().map(lambda v: v)
    stream = env.from_collection([1, 1]).connect(names.broadcast(NAMES)).process(Name())
    assert collect(stream) == ["one", "one"]


class AtTheEnd(KeyedBroadcastProcessFunction):
    """Keep records in keyed state until event time ends, when the broadcast state is complete in any mode."""

    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ITEMS)

    def process_element(self, value, ctx):
        self.items.add(value)
        ctx.timer_service().register_event_time_timer(10_000)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(NAMES).put_all({value: str(value), -value: "negative"})
        ctx.get_broadcast_state(NAMES).remove(-value)

    def on_timer(self, timestamp, ctx):
        names = ctx.get_broadcast_state(NAMES)
        yield ctx.get_current_key(), timestamp, ctx.time_domain().name, sorted(self.items.get()), sorted(names.items())


@anywhere
def test_the_keyed_variant_has_keyed_state_and_timers(mode, parallelism):
    env = make_env(mode, parallelism)
    stream = by_second_field(env, [("a", 1), ("b", 2), ("a", 3)]).key_by(lambda v: v[0])
    names = env.from_collection([7, 8]).broadcast(NAMES)
    results = collect(stream.connect(names).process(AtTheEnd()))
    known = [(7, "7"), (8, "8")]
    assert sorted(results) == [
        ("a", 10_000, "EVENT_TIME", [("a", 1), ("a", 3)], known),
        ("b", 10_000, "EVENT_TIME", [("b", 2)], known),
    ]


class Both(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield sorted(ctx.get_broadcast_state(NAMES).items()), sorted(ctx.get_broadcast_state(SEEN).items())

    def process_broadcast_element(self, value, ctx):
        seen = ctx.get_broadcast_state(SEEN)
        ctx.get_broadcast_state(NAMES)[len(value)] = value
        seen[value] = (seen[value] or 0) + 1


@both_parallelisms
def test_one_stream_may_fill_several_broadcast_states(parallelism):
    env = make_env("BATCH", parallelism)
    words = env.from_collection(["a", "bb", "a"]).broadcast(NAMES, SEEN)
    stream = env.from_collection([0]).connect(words).process(Both())
    assert collect(stream) == [([(1, "a"), (2, "bb")], [("a", 2), ("bb", 1)])]


class Everything(BroadcastProcessFunction):
    """Try the methods of each kind of broadcast state."""

    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(NAMES)
        yield state.get(1), state.contains(9), 1 in state, sorted(state), sorted(state.values()), state.is_empty()

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(NAMES)
        assert state.is_empty()
        state.put(0, "gone")
        state.clear()
        state.put_all([(1, "one"), (2, "two"), (3, "three")])
        del state[3]
        state.remove(3)
        assert list(state.keys()) == [1, 2]
        yield ctx.timestamp(), ctx.current_watermark(), abs(ctx.current_processing_time() - time.time() * 1000) < 60_000


def test_broadcast_state_is_a_map():
    env = make_env("BATCH")
    names = by_second_field(env, [("x", 5)]).broadcast(NAMES)
    results = collect(env.from_collection([0]).connect(names).process(Everything()))
    assert results == [(5, -(2**63), True), ("one", False, True, [1, 2], ["one", "two"], False)]


class CountNames(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield "record", len(list(ctx.get_broadcast_state(NAMES)))

    def process_broadcast_element(self, value, ctx):
        names = ctx.get_broadcast_state(NAMES)
        names.put(value, "name")
        yield "names", len(list(names))


@both_workers
def test_broadcast_state_lasts_over_many_epochs(moving, monkeypatch):
    if moving:
        move_every_epoch(monkeypatch)
    env = make_env("STREAMING", 2)
    names = env.from_source(StepwiseSource(15), NO_WATERMARKS, "names").broadcast(NAMES)
    records = env.from_source(StepwiseSource(25), NO_WATERMARKS, "records").rebalance()
    with records.connect(names).process(CountNames()).execute_and_collect() as results:
        rows = list(results)
        epochs = results._client.get_accumulators().result()["numEpochs"]
    assert sorted(n for kind, n in rows if kind == "names") == sorted([*range(1, 16)] * 2)
    assert sum(kind == "record" for kind, _ in rows) == 25
    assert epochs >= 25


class Totals(KeyedBroadcastProcessFunction):
    """Sum per key; a broadcast record emits all sums, or drops those of a key."""

    SUM = ValueStateDescriptor("sum", Types.LONG())

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(self.SUM)

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])

    def process_broadcast_element(self, value, ctx):
        sums = {}

        def visit(key, state):
            sums[key] = state.value()
            if key == value:
                state.clear()
            else:
                state.update(state.value() + 100)

        ctx.apply_to_keyed_state(self.SUM, visit)
        yield from sums.items()


class Nth(MapFunction):
    def __init__(self, values):
        self.values = values

    def map(self, value):
        return self.values[value]


@both_workers
@both_parallelisms
def test_a_broadcast_record_visits_the_keyed_state_of_all_keys(parallelism, moving, monkeypatch):
    if moving:
        move_every_epoch(monkeypatch)
    stop_the_clock(monkeypatch)  # so that all records arrive in the first epoch
    env = make_env("STREAMING", parallelism)
    records = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4)]).key_by(lambda v: v[0])
    # The first one arrives in the epoch of the records, and so before them.
    told = env.from_source(StepwiseSource(3), NO_WATERMARKS, "told").map(Nth(["b", "b", "nobody"]))
    told = told.broadcast(NAMES)
    results = collect(records.connect(told).process(Totals()))
    assert sorted(results) == [("a", 4), ("a", 104), ("b", 2), ("c", 4), ("c", 104)]


def test_keys_that_are_not_hashable_are_visited_as_they_are():
    env = make_env()
    records = env.from_collection([("a", 1)]).key_by(lambda v: [v[0]])
    told = env.from_source(StepwiseSource(2), NO_WATERMARKS, "told").broadcast(NAMES)

    class Keys(Totals):
        def process_broadcast_element(self, value, ctx):
            keys = []
            ctx.apply_to_keyed_state(self.SUM, lambda key, _: keys.append(key))
            return keys

    assert collect(records.connect(told).process(Keys())) == [["a"]]


class Ring(KeyedBroadcastProcessFunction):
    def __init__(self, rung):
        self.rung = rung

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.current_processing_time() + 30)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(NAMES).put(value, "name")

    def on_timer(self, timestamp, ctx):
        self.rung.touch()
        yield ctx.get_current_key(), ctx.time_domain().name, ctx.timestamp() == timestamp


def test_processing_time_timers_fire_beside_broadcast_state(tmp_path):
    env = make_env("STREAMING", 1, SHORT_EPOCHS)
    rung = tmp_path / "rung"  # the source ends only then, as no timer fires after the end
    names = env.from_source(PacedSource(2, 0, hold=rung), NO_WATERMARKS, "names").broadcast(NAMES)
    stream = env.from_collection(["k"]).key_by(lambda v: v).connect(names).process(Ring(rung))
    assert collect(stream) == [("k", "PROCESSING_TIME", True)]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.put(1, "one"),
        lambda state: state.put_all({1: "one"}),
        lambda state: state.remove(1),
        lambda state: state.clear(),
        lambda state: state.__setitem__(1, "one"),
        lambda state: state.__delitem__(1),
    ],
    ids=["put", "put_all", "remove", "clear", "[]=", "del"],
)
@pytest.mark.parametrize("keyed", [False, True], ids=["plain", "keyed"])
def test_only_broadcast_records_may_change_broadcast_state(change, keyed):
    class Changes(KeyedBroadcastProcessFunction if keyed else BroadcastProcessFunction):  # type: ignore[misc]
        def process_element(self, value, ctx):
            change(ctx.get_broadcast_state(NAMES))

        def process_broadcast_element(self, value, ctx):
            return []

    env = make_env()
    stream = env.from_collection([1])
    stream = stream.key_by(lambda v: v) if keyed else stream
    with pytest.raises(AttributeError, match="broadcast state 'names' is read-only here"):
        collect(stream.connect(env.from_collection([2]).broadcast(NAMES)).process(Changes()))


def test_a_state_that_was_not_given_to_broadcast_is_a_new_one_with_a_warning(caplog):
    class Asks(Name):
        other = MapStateDescriptor("other", Types.LONG(), Types.LONG())

        def process_element(self, value, ctx):
            yield value, list(ctx.get_broadcast_state(self.other).items())

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(self.other).put(*value)

    env = make_env()
    rules = env.from_collection([(1, 10)]).broadcast(NAMES, SEEN)
    assert collect(env.from_collection([1]).connect(rules).process(Asks())) == [(1, [(1, 10)])]
    assert "the broadcast state 'other' was not passed to broadcast()" in caplog.text
    assert "['names', 'seen']" in caplog.text


def test_a_broadcast_record_has_no_key_whose_state_it_could_use():
    class Uses(Totals):
        def process_broadcast_element(self, value, ctx):
            self.sum.update(1)

    env = make_env()
    stream = env.from_collection([("a", 1)]).key_by(lambda v: v[0])
    with pytest.raises(Exception, match=r"broadcast record has no key.*apply_to_keyed_state"):
        collect(stream.connect(env.from_collection([2]).broadcast(NAMES)).process(Uses()))


def test_an_exception_names_the_broadcast_record():
    class Fails(Name):
        def process_broadcast_element(self, value, ctx):
            raise LookupError(value)

    env = make_env()
    stream = env.from_collection([1]).connect(env.from_collection([(1, "one")]).broadcast(NAMES)).process(Fails())
    with pytest.raises(LookupError) as failure:
        collect(stream.name("naming"))
    assert notes(failure.value) == ["in operator 'naming', subtask 1 while processing (1, 'one')"]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda plain, keyed, names: plain.connect(names).process(AtTheEnd()), "AtTheEnd is applied to is not keyed"),
        (lambda plain, keyed, names: keyed.connect(names).process(Name()), "Name is applied to is keyed"),
        (lambda plain, keyed, names: plain.connect(names).process(len), "needs a BroadcastProcessFunction .* len"),
        (lambda plain, keyed, names: plain.broadcast(NAMES, "seen"), "must be a MapStateDescriptor, but got 'seen'"),
        (lambda plain, keyed, names: plain.broadcast(ITEMS), "must be a MapStateDescriptor, but got .*ListState"),
    ],
)
def test_wrong_arguments_are_type_errors_that_say_what_was_given(operation, message):
    env = make_env()
    plain = env.from_collection([1])
    with pytest.raises(TypeError, match=message):
        operation(plain, plain.key_by(lambda v: v), env.from_collection([2]).broadcast(NAMES))
