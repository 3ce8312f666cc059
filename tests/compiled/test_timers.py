"""The compiled queue of timers does what the one in Python does."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiled.plain import plain

from flintstream.compiled import load
from flintstream.runtime.operators.timers import whole_time
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

keyed = load("keyed")
if keyed is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)

IN_PYTHON = plain("keyed")

few_times = st.integers(0, 8)
times = few_times | st.sampled_from([MIN_TIMESTAMP, MAX_TIMESTAMP, True, 3.0, 3.5])
bad_times = st.sampled_from([MIN_TIMESTAMP - 1, MAX_TIMESTAMP + 1, float("nan"), float("inf"), "5", None])
keys = st.sampled_from(["a", 1, True, ("a", 1), None])
namespaces = st.sampled_from([None, (0, 5)])
timers = st.tuples(times | bad_times, keys, namespaces)
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["register", "register", "delete"]), timers),
        st.tuples(st.just("add"), st.tuples(few_times | st.integers(-(2**70), 2**70), keys, namespaces)),
        st.tuples(st.just("fire"), st.tuples(times.map(int))),
        st.tuples(st.just("close"), st.tuples(st.booleans())),
        st.tuples(st.sampled_from(["take", "clear"]), st.just(())),
    )
)


def queues():
    return IN_PYTHON.TimerQueue(whole_time), keyed.TimerQueue(whole_time)


def outcome(queue, name, arguments):
    """Return what a step does: fired timers, changes, or an error."""
    if name == "fire":
        found = []
        for timer in queue.due(*arguments):
            found.append(timer)
            if len(found) == 1:
                queue.register(5, "while firing")
                queue.delete(6, "a")
        return found
    if name == "take":
        taken = list(queue.registered)[-queue.fresh :] if queue.fresh else [], set(queue.removed)
        queue.mark()
        return taken
    if name == "close":
        queue.closing = arguments[0]
        return None
    try:
        return getattr(queue, name)(*arguments)
    except (TypeError, OverflowError) as error:
        return type(error), str(error)


def seen(queue):
    later = [time for time, _, _ in queue.registered if time <= MAX_TIMESTAMP]
    return repr(
        (
            list(queue.registered),
            queue.fresh,
            queue.removed,
            queue.closing,
            max(queue.next_time(), MIN_TIMESTAMP) if later else None,
        )
    )


@given(steps)
@settings(max_examples=300)
def test_queues_do_the_same(steps):
    in_python, compiled = queues()
    for name, arguments in steps:
        assert repr(outcome(in_python, name, arguments)) == repr(outcome(compiled, name, arguments))
        assert seen(in_python) == seen(compiled)


def test_queues_of_many_timers_fire_in_the_same_order():
    results = []
    for queue in queues():
        for n in range(20_000):
            queue.register(n * 7919 % 4099, n % 100)
            if n % 3:
                queue.delete((n // 2) * 7919 % 4099, n // 2 % 100)
        results.append((len(queue), list(queue.due(2_000)), list(queue.due(MAX_TIMESTAMP)), len(queue)))
    assert results[0] == results[1]


def test_a_key_that_fails_to_compare_leaves_a_whole_queue():
    class Refusing:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise ZeroDivisionError

    for queue in queues():
        queue.register(1, Refusing())
        for call in (queue.register, queue.delete):
            with pytest.raises(ZeroDivisionError):
                call(1, Refusing())
        queue.register(2, "b")
        assert [time for time, _, _ in queue.due(5)] == [1, 2]


def test_a_service_of_timers_uses_the_current_key():
    state = SimpleNamespace(key="a")
    timers = SimpleNamespace(event=keyed.TimerQueue(whole_time), processing=keyed.TimerQueue(whole_time))
    service = keyed.TimerAccess(state, timers)
    service.register_event_time_timer(5)
    service.register_processing_time_timer(6)
    state.key = "b"
    service.register_event_time_timer(5)
    service.delete_event_time_timer(6)
    service.delete_processing_time_timer(6)
    state.key = "a"
    service.delete_event_time_timer(5)
    assert [list(queue.registered) for queue in (timers.event, timers.processing)] == [
        [(5, "b", None)], [(6, "a", None)],
    ]  # fmt: skip
