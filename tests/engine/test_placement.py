"""The choice of the executor at which Spark is asked to run each task."""

from __future__ import annotations

from flintstream.engine.spark.acknowledgements import TaskAcknowledgement
from flintstream.engine.spark.placement import AVOIDED_SECONDS, Executor, Placement, own_executor


def cluster(*names, slots=1):
    return {name: Executor(name, "host", slots) for name in names}


def chosen(placement, executors, now=0.0):
    """Return the executors of the tasks of each stage, as letters."""
    return ["".join(place.rpartition("_")[2] for place in places or ()) for places in placement.places(executors, now)]


def ran(level, executors):
    return [TaskAcknowledgement(level, partition, 0, 0, 0, executor) for partition, executor in enumerate(executors)]


def test_spark_is_told_host_and_executor():
    places = Placement([1]).places({"7": Executor("7", "10.0.0.1", 1), "8": Executor("8", "10.0.0.2", 1)}, 0.0)
    assert places == [("executor_10.0.0.1_7",)]


def test_the_tasks_of_each_stage_are_spread_by_the_slots():
    executors = {"a": Executor("a", "host", 1), "b": Executor("b", "host", 3)}
    first, second = chosen(Placement([4, 8]), executors)
    assert sorted(first) == list("abbb")
    assert sorted(second) == list("aabbbbbb")


def test_a_task_stays_where_it_ran():
    placement = Placement([2, 2])
    placement.ran([*ran(0, "ab"), *ran(1, "ba")], 0.0)
    assert chosen(placement, cluster("a", "b")) == ["ab", "ba"]
    assert chosen(placement, cluster("a", "b")) == ["ab", "ba"]


def test_only_the_tasks_of_a_lost_executor_move():
    placement = Placement([4])
    placement.ran(ran(0, "abcd"), 0.0)
    assert chosen(placement, cluster("a", "c", "d", "e")) == ["aecd"]


def test_with_fewer_slots_executors_get_several_tasks():
    placement = Placement([4])
    placement.ran(ran(0, "abcd"), 0.0)
    [now] = chosen(placement, cluster("a", "c"))
    assert now[0] == "a"
    assert now[2] == "c"
    assert sorted(now) == list("aacc")


def test_a_new_executor_gets_tasks_from_those_with_more_than_their_slots():
    placement = Placement([3])
    placement.ran(ran(0, "aab"), 0.0)
    [now] = chosen(placement, cluster("a", "b", "c"))
    assert sorted(now) == list("abc")
    assert now[2] == "b"


def test_a_new_executor_that_is_not_needed_gets_none():
    placement = Placement([4])
    placement.ran(ran(0, "aabb"), 0.0)
    assert chosen(placement, cluster("a", "b", "c", slots=2)) == ["aabb"]


def test_a_task_that_its_home_had_no_room_for_stays_where_spark_put_it():
    placement = Placement([2])
    placement.ran(ran(0, "ab"), 0.0)
    executors = cluster("a", "b")
    assert chosen(placement, executors) == ["ab"]
    placement.ran(ran(0, "aa"), 0.0)
    assert chosen(placement, executors, AVOIDED_SECONDS - 1) == ["aa"]
    assert sorted(*chosen(placement, executors, AVOIDED_SECONDS + 1)) == ["a", "b"]


def test_a_single_executor_needs_no_executors():
    placement = Placement([2, 1])
    placement.ran([*ran(0, "aa"), *ran(1, "a")], 0.0)
    assert placement.places(cluster("a"), 0.0) == [None, None]
    assert placement.places({}, 0.0) == [None, None]


def test_tasks_have_homes_even_if_executors_do_not_tell_their_names():
    placement = Placement([2])
    executors = cluster("a", "b")
    assert chosen(placement, executors) == ["ab"]
    placement.ran(ran(0, ["", ""]), 0.0)
    assert chosen(placement, executors) == ["ab"]


def test_a_process_outside_of_executors_belongs_to_none():
    assert own_executor() == ""
