"""Runs of :mod:`tests.table.kills`: windows and patterns of SQL from Kafka to Kafka, exactly once."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")

from tests.connectors.kafka.broker import NoBrokerError, jars
from tests.connectors.kafka.kills import VICTIMS, run_kills
from tests.table.kills import MatchesCourse, WindowsCourse

pytestmark = [pytest.mark.spark, pytest.mark.kills, pytest.mark.server]


@pytest.fixture(autouse=True)
def kafka():
    try:
        jars()
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_each_window_is_in_kafka_once_although_a_worker_and_the_driver_are_killed():
    assert run_kills(1_000, ["worker", "driver"], 1, print, kind=WindowsCourse) == {"worker": 1, "driver": 1}


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_each_match_is_in_kafka_once_although_a_worker_and_the_driver_are_killed_within_matches():
    assert run_kills(1_000, ["worker", "driver"], 1, print, kind=MatchesCourse) == {"worker": 1, "driver": 1}


@pytest.mark.nightly
@pytest.mark.timeout(6000)
def test_each_window_is_in_kafka_once_whatever_is_killed_again_and_again():
    rng = random.Random(3)
    plan = [rng.choice(VICTIMS) for _ in range(20)]
    said: list[str] = []
    assert run_kills(20_000, plan, 3, said.append, kind=WindowsCourse).total() == len(plan)
    assert said[-1].startswith("20000 distinct lines, 0 missing")
