from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.tables import restore


class Domain:
    """One face for both time domains."""

    def __init__(self, timers, event):
        self.timers, self.event = timers, event
        self.register = timers.register_event_time if event else timers.register_processing_time
        self.delete = timers.delete_event_time if event else timers.delete_processing_time
        self.due = timers.advance_watermark if event else timers.due_processing

    @property
    def queue(self):
        return self.timers.event if self.event else self.timers.processing


@pytest.fixture
def timers():
    return InternalTimerService(clock=lambda: 42)


@pytest.fixture(params=[True, False], ids=["event", "processing"])
def domain(timers, request):
    return Domain(timers, request.param)


def test_timers_fire_in_the_order_of_their_time_over_all_keys(domain):
    for timestamp, key in [(30, "a"), (10, "b"), (20, "c"), (15, "a")]:
        domain.register(timestamp, key)
    assert list(domain.due(20)) == [(10, "b", None), (15, "a", None), (20, "c", None)]
    assert list(domain.due(30)) == [(30, "a", None)]


def test_timers_of_the_same_time_fire_in_the_order_of_their_registration(domain):
    keys = ["c", "a", "b", ("mixed", 1), 7, None]
    for key in keys:
        domain.register(5, key)
    assert [key for _, key, _ in domain.due(5)] == keys


def test_a_timer_fires_once_however_often_it_was_registered(domain):
    for _ in range(3):
        domain.register(5, "a")
    assert list(domain.due(5)) == [(5, "a", None)]
    assert list(domain.due(5)) == []


def test_keys_times_and_namespaces_tell_timers_apart(domain):
    domain.register(5, "a", "w1")
    domain.register(5, "a", "w2")
    domain.register(5, "b", "w1")
    domain.register(6, "a", "w1")
    assert len(list(domain.due(6))) == 4


def test_a_deleted_timer_does_not_fire(domain):
    domain.register(5, "a")
    domain.register(6, "a")
    domain.delete(5, "a")
    assert list(domain.due(10)) == [(6, "a", None)]


def test_deleting_a_timer_that_is_not_there_does_nothing(domain):
    domain.delete(5, "a")
    domain.register(5, "a", "w")
    domain.delete(5, "a")
    assert list(domain.due(5)) == [(5, "a", "w")]


def test_a_timer_that_is_deleted_and_registered_again_fires_once_in_its_new_place(domain):
    domain.register(5, "a")
    domain.register(5, "b")
    domain.delete(5, "a")
    domain.register(5, "a")
    assert list(domain.due(5)) == [(5, "b", None), (5, "a", None)]


def test_a_timer_that_fired_can_be_registered_again(domain):
    domain.register(5, "a")
    list(domain.due(5))
    domain.register(5, "a")
    assert list(domain.due(5)) == [(5, "a", None)]


def test_timers_registered_while_others_fire_join_in_when_they_are_due(domain):
    domain.register(10, "a")
    fired = []
    for timestamp, key, _ in domain.due(12):
        fired.append(timestamp)
        domain.register(timestamp + 1, key)
    assert fired == [10, 11, 12]
    assert list(domain.due(13)) == [(13, "a", None)]


def test_timers_registered_while_others_fire_come_in_the_order_of_their_time(domain):
    domain.register(10, "a")
    domain.register(50, "a")
    fired = []
    for timestamp, key, _ in domain.due(100):
        fired.append(timestamp)
        if timestamp == 10:
            domain.register(15, key)
    assert fired == [10, 15, 50]


def test_timers_deleted_while_others_fire_do_not_fire(domain):
    domain.register(10, "a")
    domain.register(11, "b")
    fired = []
    for timestamp, key, _ in domain.due(20):
        fired.append((timestamp, key))
        domain.delete(11, "b")
    assert fired == [(10, "a")]


def test_a_timer_is_gone_when_it_fires(domain):
    """A function can delete the timer that is firing, or register it again."""
    domain.register(10, "a")
    due = domain.due(10)
    next(due)
    domain.delete(10, "a")
    assert list(due) == []


def test_keys_and_namespaces_need_no_order(domain):
    class Opaque:
        pass

    for _ in range(20):
        domain.register(5, Opaque(), Opaque())
    assert len(list(domain.due(5))) == 20


def test_an_event_timer_of_the_past_waits_for_the_next_watermark(timers):
    list(timers.advance_watermark(100))
    timers.register_event_time(50, "a")
    assert list(timers.advance_watermark(101)) == [(50, "a", None)]


def test_the_domains_do_not_mix(timers):
    timers.register_event_time(5, "a")
    timers.register_processing_time(5, "a")
    timers.delete_processing_time(5, "a")
    assert list(timers.due_processing(5)) == []
    assert list(timers.advance_watermark(5)) == [(5, "a", None)]


def test_the_watermark_is_that_of_the_advance_while_timers_fire(timers):
    assert timers.current_watermark == MIN_TIMESTAMP
    timers.register_event_time(5, "a")
    for _ in timers.advance_watermark(9):
        assert timers.current_watermark == 9


def test_the_last_watermark_fires_everything(timers):
    timers.register_event_time(MAX_TIMESTAMP, "a")
    timers.register_event_time(MIN_TIMESTAMP, "b")
    assert [key for _, key, _ in timers.advance_watermark(MAX_TIMESTAMP)] == ["b", "a"]


def test_next_processing_time_skips_deleted_timers(timers):
    assert timers.next_processing_time() is None
    timers.register_processing_time(5, "a")
    timers.register_processing_time(9, "a")
    assert timers.next_processing_time() == 5
    timers.delete_processing_time(5, "a")
    assert timers.next_processing_time() == 9
    list(timers.due_processing(9))
    assert timers.next_processing_time() is None


def test_the_clock_is_the_one_given(timers):
    assert timers.clock() == 42


def test_deleted_timers_do_not_pile_up(domain):
    """The usual session timeout: each record deletes the previous timer and registers a later one."""
    for now in range(50_000):
        domain.delete(now + 999_999, "a")
        domain.register(now + 1_000_000, "a")
    assert len(domain.queue) < 5_000
    assert list(domain.due(MAX_TIMESTAMP)) == [(1_049_999, "a", None)]


def test_many_timers_can_be_deleted_while_others_fire(domain):
    for timestamp in range(5_000):
        domain.register(timestamp, "a")
    fired = []
    for timestamp, key, _ in domain.due(MAX_TIMESTAMP):
        fired.append(timestamp)
        if timestamp == 0:
            for other in range(1, 4_999):
                domain.delete(other, key)
    assert fired == [0, 4_999]


def test_the_last_call_of_a_key_ignores_new_timers_and_leaves_none(domain):
    domain.register(10, "a")
    domain.register(20, "a")
    fired = []
    with domain.timers.last_call():
        for timestamp, key, _ in domain.due(MAX_TIMESTAMP):
            fired.append(timestamp)
            domain.register(timestamp + 1, key)
            domain.timers.register_processing_time(timestamp, key)
    assert fired == [10, 20]
    assert domain.timers.current_watermark == MIN_TIMESTAMP
    assert list(domain.timers.due_processing(MAX_TIMESTAMP)) == []
    domain.register(5, "b")
    assert list(domain.due(5)) == [(5, "b", None)]


# -- between epochs --------------------------------------------------------------------------------------------------


def restored(snapshot, deltas=()):
    timers = InternalTimerService()
    restore(timers, pickle.loads(pickle.dumps(snapshot)), pickle.loads(pickle.dumps(list(deltas))))
    return timers


def test_a_snapshot_keeps_timers_and_the_order_of_their_registration(domain):
    for timestamp, key in [(7, "b"), (5, "z"), (5, "a"), (7, "a")]:
        domain.register(timestamp, key)
    other = Domain(restored(list(domain.timers.take_snapshot())), domain.event)
    assert list(other.due(9)) == list(domain.due(9)) == [(5, "z", None), (5, "a", None), (7, "b", None), (7, "a", None)]


def test_a_delta_holds_what_came_and_went(domain):
    domain.register(5, "fires")
    domain.register(6, "is deleted")
    domain.register(9, "stays")
    base = list(domain.timers.take_snapshot())
    domain.register(8, "is new")
    domain.delete(6, "is deleted")
    list(domain.due(5))
    other = Domain(restored(base, [domain.timers.take_delta()]), domain.event)
    assert list(other.due(9)) == [(8, "is new", None), (9, "stays", None)]


def test_restoring_replaces_what_was_there(domain):
    base = list(domain.timers.take_snapshot())
    domain.register(5, "a")
    restore(domain.timers, base, [])
    assert list(domain.due(5)) == []


def test_a_timer_that_comes_and_goes_between_two_deltas_is_in_none(domain):
    domain.register(5, "a")
    domain.timers.take_delta()
    domain.register(6, "fires")
    domain.register(9, "is deleted")
    domain.delete(9, "is deleted")
    assert list(domain.due(6)) == [(5, "a", None), (6, "fires", None)]
    [change] = domain.timers.take_delta()
    assert (change.keys, change.deleted) == ([], [(5, "a", None)])
    assert domain.timers.take_delta() == []


def test_a_timer_that_is_deleted_and_registered_again_keeps_its_new_place_in_a_delta(domain):
    domain.register(5, "a")
    domain.register(5, "b")
    base = list(domain.timers.take_snapshot())
    domain.delete(5, "a")
    domain.register(5, "a")
    other = Domain(restored(base, [domain.timers.take_delta()]), domain.event)
    assert list(other.due(5)) == list(domain.due(5)) == [(5, "b", None), (5, "a", None)]


def test_clear_all_drops_both_domains(timers):
    timers.register_event_time(5, "a")
    timers.register_processing_time(5, "a")
    timers.clear_all()
    assert timers.next_processing_time() is None
    assert list(timers.advance_watermark(MAX_TIMESTAMP)) == []


# -- against a model -------------------------------------------------------------------------------------------------


class AgainstSortedList(RuleBasedStateMachine):
    """The model is a list of timers, sorted each time by time and then by registration."""

    times = st.integers(0, 12)
    keys = st.sampled_from("ab")
    namespaces = st.sampled_from([None, 1])

    @initialize(event=st.booleans())
    def start(self, event):
        self.event = event
        self.model: list[tuple] = []
        self.open(InternalTimerService())
        self.base, self.deltas = list(self.timers.take_snapshot()), []

    def open(self, timers):
        self.timers, self.domain = timers, Domain(timers, self.event)

    @rule(time=times, key=keys, namespace=namespaces)
    def register(self, time, key, namespace):
        self.domain.register(time, key, namespace)
        self.add((time, key, namespace))

    @rule(time=times, key=keys, namespace=namespaces)
    def delete(self, time, key, namespace):
        self.domain.delete(time, key, namespace)
        self.model = [timer for timer in self.model if timer != (time, key, namespace)]

    @rule(until=times, again=st.none() | st.integers(0, 3), drop=st.none() | times)
    def fire(self, until, again, drop):
        """Callbacks may register a timer once more, later, and delete another."""
        fired, expected = [], []
        calls = 3
        for time, key, namespace in self.domain.due(until):
            fired.append((time, key, namespace))
            if again is not None and len(fired) <= calls:
                self.domain.register(time + again, key, namespace)
            if drop is not None:
                self.domain.delete(drop, "a", None)
        while due := [timer for timer in self.model if timer[0] <= until]:
            timer = min(due, key=lambda timer: timer[0])
            self.model.remove(timer)
            expected.append(timer)
            if again is not None and len(expected) <= calls:
                self.add((timer[0] + again, *timer[1:]))
            if drop is not None:
                self.model = [other for other in self.model if other != (drop, "a", None)]
        assert fired == expected

    def add(self, timer):
        if timer not in self.model:
            self.model.append(timer)

    @rule(full=st.booleans(), move=st.booleans())
    def end_epoch(self, full, move):
        if full:
            self.base, self.deltas = pickle.loads(pickle.dumps(list(self.timers.take_snapshot()))), []
        else:
            self.deltas.append(pickle.loads(pickle.dumps(self.timers.take_delta())))
        if move:
            self.open(restored(self.base, self.deltas))

    @invariant()
    def the_same_timers_are_registered(self):
        assert set(self.domain.queue.registered) == set(self.model)
        if not self.event:
            assert self.timers.next_processing_time() == min((time for time, _, _ in self.model), default=None)


AgainstSortedList.TestCase.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)
TestAgainstSortedList = AgainstSortedList.TestCase


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 3)), max_size=40), st.lists(st.integers(-60, 60)))
def test_watermarks_fire_every_timer_once_in_order(registrations, watermarks):
    timers = InternalTimerService()
    for timestamp, key in registrations:
        timers.register_event_time(timestamp, key)
    fired = [timer[:2] for watermark in sorted(watermarks) for timer in timers.advance_watermark(watermark)]
    fired += [timer[:2] for timer in timers.advance_watermark(MAX_TIMESTAMP)]
    assert [timestamp for timestamp, _ in fired] == sorted(timestamp for timestamp, _ in set(registrations))
    assert sorted(fired) == sorted(set(registrations))
