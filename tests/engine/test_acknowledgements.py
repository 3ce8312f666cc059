"""Acknowledgements of tasks show whether an epoch read the same results everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.engine.spark.acknowledgements import TaskAcknowledgement, difference, total

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def run_epoch(partitions, sends, run_of):
    """Return the acknowledgements of an epoch; ``run_of(level, partition, reader)`` is the run that a reader sees."""
    acknowledgements = []
    for level, count in enumerate(partitions):
        for partition in range(count):
            makers = [
                run_of(level - 1, maker, (level, partition))
                for maker in range(partitions[level - 1] if level else 0)
                if sends(level - 1, maker, partition)
            ]
            following = partitions[level + 1] if level + 1 < len(partitions) else 0
            targets = sum(1 << target for target in range(following) if sends(level, partition, target))
            acknowledgements.append(
                TaskAcknowledgement(level, partition, run_of(level, partition, None), targets, total(makers))
            )
    return acknowledgements


@given(shapes, st.randoms(use_true_random=False))
def test_an_epoch_whose_tasks_ran_once_fits(partitions, random):
    chosen: dict[tuple[int, int, int], bool] = {}

    def sends(level, maker, target):
        return chosen.setdefault((level, maker, target), random.random() < 0.7)

    acknowledgements = run_epoch(partitions, sends, lambda level, partition, reader: 1000 * level + partition + 1)
    random.shuffle(acknowledgements)
    assert difference(acknowledgements, partitions) is None


@given(st.lists(st.integers(2, 4), min_size=2, max_size=3), st.randoms(use_true_random=False), st.data())
def test_a_task_whose_second_run_only_some_read_is_found(partitions, random, data):
    level = data.draw(st.integers(0, len(partitions) - 2))
    again = data.draw(st.integers(0, partitions[level] - 1))
    readers = [(level + 1, partition) for partition in range(partitions[level + 1])]
    late = set(data.draw(st.lists(st.sampled_from(readers), min_size=1, max_size=len(readers) - 1, unique=True)))
    counts = data.draw(st.booleans())  # whether it is the second run whose acknowledgement reaches the driver

    def run_of(at, partition, reader):
        if (at, partition) == (level, again) and (reader in late or (reader is None and counts)):
            return 777_777
        return 1000 * at + partition + 1

    found = difference(run_epoch(partitions, lambda *_: True, run_of), partitions)
    assert found is not None
    assert f"of stage {level + 1} read results other" in found


def test_a_run_that_sent_to_others_than_the_one_that_counts_is_found():
    source = TaskAcknowledgement(
        0, 0, 5, 0b01, 0
    )  # sent to the first reader only, but an earlier run had something for both
    readers = [TaskAcknowledgement(1, 0, 6, 0, 5), TaskAcknowledgement(1, 1, 7, 0, 4)]
    assert difference([source, *readers], [1, 2]) == "task 1 of stage 1 read results other than those that count"


def test_a_receipt_that_is_missing_or_there_twice_is_found():
    assert difference([], [1]) == "task 0 of stage 0 left no acknowledgement"
    twice = [TaskAcknowledgement(0, 0, 1, 0, 0), TaskAcknowledgement(0, 0, 2, 0, 0)]
    assert difference(twice, [1]) == "two runs of task 0 of stage 0 count"


@pytest.mark.parametrize("large", [(1 << 64) - 1, 1 << 63])
def test_sums_wrap_round(large):
    acknowledgements = [
        TaskAcknowledgement(0, 0, large, 1, 0),
        TaskAcknowledgement(0, 1, large - 1, 1, 0),
        TaskAcknowledgement(1, 0, 3, 0, total([large, large - 1])),
    ]
    assert difference(acknowledgements, [2, 1]) is None
