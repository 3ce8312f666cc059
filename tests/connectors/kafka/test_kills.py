"""A small run of :mod:`tests.connectors.kafka.kills`."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.kills import VICTIMS_OF_TASKS, WHILE_IT_COMMITS, run_kills

pytestmark = [pytest.mark.spark, pytest.mark.kills, pytest.mark.timeout(600)]


def test_each_record_is_in_kafka_once_although_a_worker_is_killed(broker):
    assert run_kills(6_000, ["worker"], 1, print) == {"worker": 1}


@pytest.mark.nightly
def test_each_record_is_in_kafka_once_whatever_is_killed(broker):
    said: list[str] = []
    killed = run_kills(40_000, ["worker", "tree", "broker", "driver"], 1, said.append)
    assert killed == {"worker": 1, "tree": 1, "broker": 1, "driver": 1}
    assert said[-1].startswith("40000 distinct lines, 0 missing")


@pytest.mark.nightly
@pytest.mark.timeout(1500)
def test_each_record_is_in_kafka_once_when_tasks_that_write_it_are_lost(broker):
    said: list[str] = []
    plan = [f"executor {WHILE_IT_COMMITS}", f"driver {WHILE_IT_COMMITS}"]
    killed = run_kills(10_000, plan, 2, said.append, tasks=True)
    assert killed == dict.fromkeys(plan, 1)
    assert said[-1].startswith("10000 distinct lines, 0 missing")


@pytest.mark.nightly
@pytest.mark.timeout(6000)
def test_each_record_is_in_kafka_once_when_whatever_writes_it_is_killed_again_and_again(broker):
    said: list[str] = []
    plan = [*VICTIMS_OF_TASKS, *reversed(VICTIMS_OF_TASKS), *VICTIMS_OF_TASKS[:4], *VICTIMS_OF_TASKS[2:]]
    assert run_kills(100_000, plan, 3, said.append, tasks=True).total() == len(plan)
    assert said[-1].startswith("100000 distinct lines, 0 missing")
