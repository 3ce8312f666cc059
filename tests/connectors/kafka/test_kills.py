"""A small run of :mod:`tests.connectors.kafka.kills`."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.kills import run_kills

pytestmark = [pytest.mark.spark, pytest.mark.kills, pytest.mark.timeout(600)]


def test_each_record_is_in_kafka_once_although_a_worker_is_killed(broker):
    assert run_kills(6_000, ["worker"], 1, print) == {"worker": 1}


@pytest.mark.deep
def test_each_record_is_in_kafka_once_whatever_is_killed(broker):
    said: list[str] = []
    killed = run_kills(40_000, ["worker", "tree", "broker", "driver"], 1, said.append)
    assert killed == {"worker": 1, "tree": 1, "broker": 1, "driver": 1}
    assert said[-1].startswith("40000 distinct lines, 0 missing")
