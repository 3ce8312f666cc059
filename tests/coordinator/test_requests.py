"""Requests of other threads to a running job."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest.mock import Mock

import pytest

from flintstream.coordinator.job import Clock
from flintstream.coordinator.requests import CheckpointRequest, JobRequests, SavepointRequest
from flintstream.errors import CheckpointError
from flintstream.storage.memory import MemoryFileStore


@pytest.fixture
def requests():
    return JobRequests(Mock(), Clock())


def request():
    return SavepointRequest(MemoryFileStore("savepoints"))


def test_savepoints_are_taken_in_the_order_in_which_they_were_asked_for(requests):
    first, second = request(), request()
    requests.add_savepoint(first)
    requests.add_savepoint(second)
    assert [requests.next_savepoint(), requests.next_savepoint(), requests.next_savepoint()] == [first, second, None]


def test_all_who_wait_for_a_savepoint_are_told_why_there_is_none(requests):
    asked = [request(), request()]
    for item in asked:
        requests.add_savepoint(item)
    requests.refuse(OSError("the disk is full"))
    assert not requests.waiting
    for item in asked:
        with pytest.raises(CheckpointError, match="cannot take a savepoint: the disk is full"):
            item.result.result(0)


def test_checkpoints_that_are_asked_for_are_taken_in_order_or_refused(requests):
    first, second = CheckpointRequest(), CheckpointRequest(full=True)
    for item in (first, second):
        requests.add_checkpoint(item)
    assert requests.waiting
    assert requests.next_checkpoint() is first
    requests.refuse(OSError("the disk is full"))
    assert not requests.waiting
    assert requests.next_checkpoint() is None
    with pytest.raises(CheckpointError, match="cannot take a checkpoint: the disk is full"):
        second.result.result(0)


def test_a_cancellation_ends_a_wait_and_what_the_engine_does():
    engine: Any = Mock()
    requests = JobRequests(engine, Clock())
    threading.Timer(0.05, requests.cancel).start()
    assert not requests.wait(100_000)
    engine.cancel.assert_called_once_with()


def test_a_wait_goes_on_when_a_savepoint_is_asked_for(requests):
    threading.Timer(0.02, requests.add_savepoint, [request()]).start()
    began = time.monotonic()
    assert requests.wait(0.2)
    assert time.monotonic() - began >= 0.19
