"""Requests of other threads to a running job."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest.mock import Mock

import pytest

from flintstream.coordinator.job import Clock
from flintstream.coordinator.requests import JobRequests, SavepointRequest
from flintstream.errors import CheckpointError
from flintstream.storage.memory import MemoryFileStore


@pytest.fixture
def orders():
    return JobRequests(Mock(), Clock())


def request():
    return SavepointRequest(MemoryFileStore("savepoints"))


def test_savepoints_are_taken_in_the_order_in_which_they_were_asked_for(orders):
    first, second = request(), request()
    orders.add_savepoint(first)
    orders.add_savepoint(second)
    assert [orders.next_savepoint(), orders.next_savepoint(), orders.next_savepoint()] == [first, second, None]


def test_all_who_wait_for_a_savepoint_are_told_why_there_is_none(orders):
    asked = [request(), request()]
    for item in asked:
        orders.add_savepoint(item)
    orders.refuse(OSError("the disk is full"))
    assert not orders.waiting
    for item in asked:
        with pytest.raises(CheckpointError, match="cannot take a savepoint: the disk is full"):
            item.result.result(0)


def test_a_cancellation_ends_a_wait_and_what_the_engine_does():
    engine: Any = Mock()
    orders = JobRequests(engine, Clock())
    threading.Timer(0.05, orders.cancel).start()
    assert not orders.wait(100_000)
    engine.cancel.assert_called_once_with()


def test_a_wait_goes_on_when_a_savepoint_is_asked_for(orders):
    threading.Timer(0.02, orders.ask_for, [request()]).start()
    began = time.monotonic()
    assert orders.wait(0.2)
    assert time.monotonic() - began >= 0.19
