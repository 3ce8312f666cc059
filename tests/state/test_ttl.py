from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Time, Types
from flintstream.common._clock import another_clock
from flintstream.datastream.functions import AggregateFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.state import hash_map, ttl
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.rocksdb import backend as rocksdb
from flintstream.state.tables import restore

LONG = Types.LONG()
TTL = 100


class Clock:
    now = 1000

    def __call__(self):
        return self.now


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ttl._Ttl, "clock", clock)
    return clock


@pytest.fixture
def backend():
    backend = HashMapStateBackend()
    backend.key = "a"
    return backend


def config(*, on_read=False, return_expired=False, background=True):
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    if on_read:
        builder.update_ttl_on_read_and_write()
    if return_expired:
        builder.return_expired_if_not_cleaned_up()
    if not background:
        builder.disable_cleanup_in_background()
    return builder.build()


def with_ttl(descriptor, **settings):
    descriptor.enable_time_to_live(config(**settings))
    return descriptor


def value_state(**settings):
    return with_ttl(ValueStateDescriptor("v", LONG), **settings)


def list_state(**settings):
    return with_ttl(ListStateDescriptor("l", LONG), **settings)


def map_state(**settings):
    return with_ttl(MapStateDescriptor("m", LONG, LONG), **settings)


def reducing_state(**settings):
    return with_ttl(ReducingStateDescriptor("r", lambda a, b: a + b, LONG), **settings)


def aggregating_state(**settings):
    return with_ttl(AggregatingStateDescriptor("g", Total(), LONG), **settings)


class Uniform:
    """One face for all kinds of state: write a number, read what is there."""

    def __init__(self, backend, describe, **settings):
        self.state = backend.state(describe(**settings))
        self.kind = describe

    def write(self, value):
        if self.kind is value_state:
            self.state.update(value)
        elif self.kind is map_state:
            self.state.put(1, value)
        else:
            self.state.add(value)

    def read(self):
        if self.kind is value_state:
            return self.state.value()
        if self.kind is map_state:
            return self.state.get(1)
        if self.kind is list_state:
            return next(iter(self.state.get()), None)
        return self.state.get()


def assert_expires(state, clock):
    clock.now += TTL - 1
    assert state.read() == 5
    clock.now += 1
    assert state.read() is None


every_kind = pytest.mark.parametrize(
    "describe", [value_state, list_state, map_state, reducing_state, aggregating_state]
)


@every_kind
def test_a_value_lives_until_its_time_has_passed(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    assert_expires(state, clock)


@every_kind
def test_reading_does_not_prolong_a_life_by_default(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    clock.now += TTL - 1
    state.read()
    clock.now += 1
    assert state.read() is None


@every_kind
def test_reading_prolongs_a_life_when_asked_to(backend, clock, describe):
    state = Uniform(backend, describe, on_read=True)
    state.write(5)
    for _ in range(3):
        clock.now += TTL - 1
        assert state.read() == 5
    clock.now += TTL
    assert state.read() is None


@every_kind
def test_writing_starts_the_time_anew(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    clock.now += TTL - 1
    state.write(6)
    clock.now += TTL - 1
    assert state.read() == {list_state: 6, reducing_state: 11, aggregating_state: 11}.get(describe, 6)


@every_kind
def test_an_expired_value_is_handed_out_once_more_when_asked_to(backend, clock, describe):
    state = Uniform(backend, describe, return_expired=True)
    state.write(5)
    clock.now += TTL
    assert state.read() == 5
    assert state.read() is None


@every_kind
def test_an_expired_value_is_removed_when_it_is_met(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    clock.now += TTL
    state.read()
    assert not next(iter(backend.tables.values())).values


@pytest.mark.parametrize("describe", [reducing_state, aggregating_state])
def test_what_is_added_after_expiry_starts_anew(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    clock.now += TTL
    state.write(1)
    assert state.read() == 1


def test_list_elements_expire_one_by_one(backend, clock):
    state = backend.state(list_state())
    state.add(1)
    clock.now += 60
    state.add_all([2, 3])
    clock.now += 60
    assert list(state.get()) == [2, 3]
    clock.now += 60
    assert list(state.get()) == []


def test_updating_a_list_gives_all_elements_the_same_time(backend, clock):
    state = backend.state(list_state())
    state.add(1)
    clock.now += 60
    state.update([1, 2])
    clock.now += 60
    assert list(state.get()) == [1, 2]
    state.update([])
    assert list(state.get()) == []


def test_map_entries_expire_one_by_one(backend, clock):
    state = backend.state(map_state())
    state.put(1, 10)
    clock.now += 60
    state.put_all({2: 20, 3: 30})
    clock.now += 60
    assert not state.contains(1)
    assert dict(state.items()) == {2: 20, 3: 30}
    clock.now += 60
    assert state.is_empty()
    assert list(state.keys()) == []


@pytest.mark.parametrize("on_read", [False, True])
def test_a_map_may_be_read_while_iterating_over_it_even_if_entries_expire(backend, clock, on_read):
    state = backend.state(map_state(on_read=on_read))
    state.put(1, 10)
    clock.now += 60
    state.put_all({2: 20, 3: 30})
    seen = []
    for key in state:
        clock.now += 25
        seen.append((key, state.get(key)))
    assert seen[0] == (1, 10)
    assert seen[2] == (3, 30)


def test_an_iterator_over_a_map_removes_entries(backend, clock):
    state = backend.state(map_state())
    state.put_all({1: 10, 2: 20})
    iterator = state.keys()
    next(iterator)
    iterator.remove()
    assert dict(state.items()) == {2: 20}


def test_writing_to_a_map_while_iterating_over_it_raises(backend, clock):
    state = backend.state(map_state())
    state.put_all({1: 10, 2: 20})
    iterator = state.items()
    next(iterator)
    state.put(3, 30)
    with pytest.raises(RuntimeError, match="Concurrent modification"):
        next(iterator)


@pytest.mark.parametrize("describe", [list_state, reducing_state, aggregating_state])
def test_merged_state_lives_on_with_the_latest_time(backend, clock, describe):
    state = backend.state(describe())
    backend.key = 1
    state.add(1)
    clock.now += 60
    backend.key = 2
    state.add(2)
    state.merge_into(1, [2])
    clock.now += 60
    backend.key = 1
    assert state.get() == {list_state: [2]}.get(describe, 3)


def test_a_disabled_configuration_keeps_state_for_ever(backend, clock):
    descriptor = ValueStateDescriptor("v", LONG)
    descriptor.enable_time_to_live(
        StateTtlConfig.new_builder(Time.milliseconds(TTL)).set_update_type(StateTtlConfig.UpdateType.Disabled).build()
    )
    state = backend.state(descriptor)
    state.update(5)
    clock.now += 10 * TTL
    assert state.value() == 5


# -- clean-up in the background ----------------------------------------------------------------------------------------


@every_kind
def test_cleanup_removes_what_has_expired(backend, clock, describe):
    state = Uniform(backend, describe)
    state.write(5)
    backend.cleanup(clock.now + TTL - 1)
    assert state.read() == 5
    clock.now += TTL
    backend.cleanup(clock.now)
    assert not next(iter(backend.tables.values())).values


def test_cleanup_gets_round_to_every_entry_although_most_of_them_live(backend, clock):
    state = backend.state(value_state())
    for backend.key in range(50_000):
        state.update(0)
    clock.now += TTL - 1
    for backend.key in range(49_990):
        state.update(1)
    for _ in range(20):
        backend.cleanup(clock.now + 1)
    assert len(backend.tables["v", False].values) == 49_990


@every_kind
def test_a_stream_that_rests_is_cleaned_up_when_all_that_is_there_will_have_expired(backend, clock, describe):
    state = Uniform(backend, describe)
    assert backend.next_cleanup(clock.now) is None
    state.write(5)
    backend.take_delta()
    backend.cleanup(clock.now)
    assert backend.next_cleanup(clock.now) == clock.now + 1000, "a time-to-live of 100 ms is no reason to hurry"
    clock.now += 1000
    backend.cleanup(clock.now)
    backend.take_delta()
    assert backend.next_cleanup(clock.now) is None


def test_how_long_a_stream_that_rests_is_not_cleaned_up(backend, clock):
    def state(name, seconds):
        descriptor = ValueStateDescriptor(name, LONG)
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(seconds)).build())
        return backend.state(descriptor)

    minute, day = state("minute", 60), state("day", 86_400)
    day.update(1)
    assert backend.next_cleanup(5) == 5 + 3_600_000, "an hour at most"
    minute.update(1)
    assert backend.next_cleanup(5) == 5 + 60_000


def test_a_round_of_clean_ups_that_has_begun_goes_on_soon(backend, clock, monkeypatch):
    monkeypatch.setattr(hash_map, "ACCESSES", 20)  # of which each looks at 5 entries by default
    monkeypatch.setattr(rocksdb, "CLEANED_AT_ONCE", 100)
    descriptor = ValueStateDescriptor("v", LONG)
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.minutes(1)).build())
    state = backend.state(descriptor)
    for backend.key in range(250):
        state.update(0)
    backend.take_delta()
    waits = []
    for _ in range(4):
        backend.cleanup(clock.now)
        waits.append(backend.next_cleanup(clock.now) - clock.now)
    assert waits == [1000, 1000, 60_000, 1000]


@pytest.mark.parametrize("settings", [{"background": False}, None], ids=["disabled", "without"])
def test_a_stream_rests_where_there_is_nothing_to_clean_up(backend, clock, settings):
    descriptor = ValueStateDescriptor("v", LONG)
    backend.state(descriptor if settings is None else with_ttl(descriptor, **settings)).update(1)
    assert backend.next_cleanup(clock.now) is None


def test_cleanup_leaves_state_alone_whose_background_cleanup_is_disabled(backend, clock):
    state = backend.state(value_state(background=False, return_expired=True))
    state.update(5)
    clock.now += TTL
    backend.cleanup(clock.now)
    assert state.value() == 5


def incremental(builder):
    return builder.cleanup_incrementally(10, run_cleanup_for_every_record=True)


def compact_filter(builder):
    return builder.cleanup_in_rocksdb_compact_filter(1)


def cleaned_up_by(strategy):
    """Return a state with this strategy and no other one."""
    descriptor = ValueStateDescriptor("v", LONG)
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    descriptor.enable_time_to_live(strategy(builder).disable_cleanup_in_background().build())
    return descriptor


@pytest.mark.parametrize("strategy", [incremental, compact_filter])
def test_disabling_the_background_leaves_a_strategy_that_was_asked_for(backend, clock, strategy):
    own = incremental if isinstance(backend, HashMapStateBackend) else compact_filter
    backend.state(cleaned_up_by(strategy)).update(5)
    backend.take_delta()
    assert (backend.next_cleanup(clock.now) is not None) is (strategy is own), "one of another backend is none"
    clock.now += TTL
    backend.cleanup(clock.now)
    assert backend.keys("v") == ([] if strategy is own else ["a"])


def test_a_larger_clean_up_size_looks_at_more_entries_at_once(clock, monkeypatch):
    monkeypatch.setattr(hash_map, "ACCESSES", 10)
    left = {}
    for size in (1, 3):
        heap = HashMapStateBackend()
        state = heap.state(cleaned_up_by(lambda builder, size=size: builder.cleanup_incrementally(size, False)))
        for heap.key in range(100):
            state.update(0)
        heap.cleanup(clock.now + TTL)
        left[size] = len(heap.keys("v"))
    assert left == {1: 90, 3: 70}


@pytest.mark.parametrize("size", [0, -1])
def test_a_clean_up_that_looks_at_nothing_is_an_error(size):
    with pytest.raises(ValueError, match=f"needs a positive cleanup_size, but got {size}"):
        cleaned_up_by(lambda builder: builder.cleanup_incrementally(size, False))


def test_cleanup_leaves_state_without_a_time_to_live_alone(backend, clock):
    state = backend.state(ValueStateDescriptor("v", LONG))
    state.update(5)
    backend.cleanup(clock.now + 10 * TTL)
    assert state.value() == 5


def test_a_full_snapshot_leaves_expired_state_out_when_asked_to(backend, clock):
    for name, in_snapshot in (("kept", False), ("dropped", True)):
        descriptor = ValueStateDescriptor(name, LONG)
        builder = StateTtlConfig.new_builder(Time.milliseconds(TTL)).disable_cleanup_in_background()
        if in_snapshot:
            builder.cleanup_full_snapshot()
        descriptor.enable_time_to_live(builder.build())
        backend.state(descriptor).update(1)
    clock.now += TTL
    other = HashMapStateBackend()
    restore(other, list(backend.take_snapshot()), [])
    assert list(other.tables["kept", False].values) == ["a"]
    assert ("dropped", False) not in other.tables


# -- between epochs ----------------------------------------------------------------------------------------------------


@every_kind
def test_the_time_of_a_value_survives_a_restore(backend, clock, describe):
    Uniform(backend, describe).write(5)
    snapshot = pickle.loads(pickle.dumps(list(backend.take_snapshot())))
    clock.now += TTL - 1
    other = HashMapStateBackend()
    other.key = "a"
    state = Uniform(other, describe)
    restore(other, snapshot, [])
    assert state.read() == 5
    clock.now += 1
    assert state.read() is None


def without_ttl(describe):
    def described():
        descriptor = describe()
        descriptor._ttl_config = None
        return descriptor

    return described


@every_kind
def test_state_of_a_snapshot_without_times_lives_from_its_restore_on(backend, clock, describe):
    written = Uniform(backend, without_ttl(describe))
    written.kind = describe
    written.write(5)
    other = HashMapStateBackend()
    other.key = "a"
    restore(other, backend.take_snapshot(), [])
    with another_clock(clock):
        state = Uniform(other, describe)
    assert_expires(state, clock)


@every_kind
def test_state_that_has_lost_its_time_to_live_stays(backend, clock, describe):
    Uniform(backend, describe).write(5)
    other = HashMapStateBackend()
    other.key = "a"
    restore(other, backend.take_snapshot(), [])
    state = Uniform(other, without_ttl(describe))
    state.kind = describe
    clock.now += TTL
    assert state.read() == 5


@every_kind
def test_expiry_and_prolonged_lives_are_part_of_a_delta(backend, clock, describe):
    backend.tracking = True
    state = Uniform(backend, describe, on_read=True)
    state.write(5)
    base = pickle.loads(pickle.dumps(list(backend.take_snapshot())))
    clock.now += TTL - 1
    state.read()
    prolonged = pickle.loads(pickle.dumps(backend.take_delta()))
    clock.now += TTL
    state.read()
    expired = pickle.loads(pickle.dumps(backend.take_delta()))
    other = HashMapStateBackend()
    restore(other, base, [prolonged])
    assert next(iter(other.tables.values())).values
    restore(other, base, [prolonged, expired])
    assert not next(iter(other.tables.values())).values


# -- against a model ---------------------------------------------------------------------------------------------------


@given(
    steps=st.lists(st.tuples(st.integers(0, 70), st.sampled_from("wrc"), st.integers(0, 9)), max_size=25),
    on_read=st.booleans(),
    return_expired=st.booleans(),
    cleanup=st.booleans(),
)
def test_value_and_map_entries_behave_as_the_model_says(steps, on_read, return_expired, cleanup):
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ttl._Ttl, "clock", clock)
        backend = HashMapStateBackend()
        settings = {"on_read": on_read, "return_expired": return_expired}
        value, mapped = backend.state(value_state(**settings)), backend.state(map_state(**settings))
        model = None
        for wait, step, number in steps:
            clock.now += wait
            if cleanup:
                backend.cleanup(clock.now)
                if model is not None and model[1] + TTL <= clock.now:
                    model = None
            if step == "w":
                value.update(number)
                mapped.put(1, number)
                model = (number, clock.now)
            elif step == "c":
                value.clear()
                mapped.clear()
                model = None
            else:
                expected = None
                if model is not None:
                    expired = model[1] + TTL <= clock.now
                    expected = model[0] if return_expired or not expired else None
                    model = None if expired else (model[0], clock.now if on_read else model[1])
                assert value.value() == mapped.get(1) == expected
