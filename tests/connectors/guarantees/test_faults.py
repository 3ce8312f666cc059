"""While a job writes, its server is away, hangs or is slow: nothing is lost, and the log has a line or two."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing
from typing import Any

import pytest
from tests.connectors.guarantees.programs import NO_WATERMARKS, SINKS, SOURCES
from tests.connectors.guarantees.proxy import Proxy
from tests.connectors.guarantees.systems import SYSTEMS
from tests.connectors.kafka.jobs import checkpointed
from tests.faults.counting import Count, check, counted

from flintstream.common import Types
from flintstream.datastream.connectors import NumberSequenceSource

RECORDS = 600
KEYS = 6
WRITTEN = [name for name in SINKS if name != "pulsar"]  # its broker gives clients an address that avoids a proxy
READ = ["kinesis", "mongodb"]  # a queue without ids of messages may repeat some


def leave(proxy: Proxy, seconds: float) -> None:
    """Be away, and come back."""
    proxy.leave()
    time.sleep(seconds)
    proxy.come_back()


def hang(proxy: Proxy, seconds: float) -> None:
    """Answer nothing, and then all."""
    proxy.hang()
    time.sleep(seconds)
    proxy.flow()


def be_slow(proxy: Proxy, seconds: float) -> None:
    """Answer later."""
    proxy.delay = 0.3
    time.sleep(seconds)
    proxy.delay = 0.0


PATIENT = {"restart-strategy.fixed-delay.attempts": "100", "restart-strategy.fixed-delay.delay": "1 s"}
FAULTS = [leave, hang, be_slow]


under_way = threading.Event()


def slowly(number):
    if number >= RECORDS // 6:
        under_way.set()
    time.sleep(0.005)
    return number


def numbers_of(env):
    numbers = env.from_source(NumberSequenceSource(0, RECORDS - 1), NO_WATERMARKS, "numbers")
    return numbers.map(slowly, output_type=Types.LONG())


def count(numbers):
    keyed = numbers.key_by(lambda number: number % KEYS, key_type=Types.INT())
    return keyed.process(Count(), output_type=Types.STRING())


def during(fault: Any, proxy: Proxy, seconds: float) -> threading.Thread:
    """Let a fault happen when the first records have been written."""
    under_way.clear()

    def run():
        under_way.wait(60)
        fault(proxy, seconds)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def warned(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.deep
@pytest.mark.server
@pytest.mark.timeout(400)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("seconds", [3, pytest.param(30, marks=pytest.mark.nightly)])
def test_a_sink_loses_nothing_while_its_server_fails(name, fault, seconds, tmp_path, caplog):
    with closing(SYSTEMS[name](tmp_path / "server")) as system, closing(Proxy(system.port)) as proxy:
        env = checkpointed(tmp_path, **PATIENT)
        SINKS[name](count(numbers_of(env)), system.settings(proxy.port) | {"batch": 20})
        thread = during(fault, proxy, seconds)
        with caplog.at_level(logging.WARNING, logger="flintstream"):
            caplog.clear()  # of the start of the server
            env.execute()
        thread.join()
        found = counted(system.texts())
        if system.once:
            check(found, RECORDS, KEYS)
        else:
            assert {number for number, _ in found} == set(range(RECORDS))
        # With restarts, one line for each attempt that failed and for each restart
        assert len(warned(caplog)) <= (2 + 3 * seconds if system.restarts else 2), warned(caplog)


@pytest.mark.deep
@pytest.mark.server
@pytest.mark.timeout(400)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("seconds", [3, pytest.param(30, marks=pytest.mark.nightly)])
def test_a_source_loses_and_repeats_nothing_while_its_server_fails(name, fault, seconds, tmp_path, caplog):
    with closing(SYSTEMS[name](tmp_path / "server")) as system, closing(Proxy(system.port)) as proxy:
        system.fill([str(number) for number in range(RECORDS)])
        env = checkpointed(tmp_path)
        numbers = SOURCES[name](env, system.settings(proxy.port) | {"batch": 20})
        numbers = numbers.map(int, output_type=Types.LONG()).map(slowly, output_type=Types.LONG())
        thread = during(fault, proxy, seconds)
        with caplog.at_level(logging.WARNING, logger="flintstream"), count(numbers).execute_and_collect() as results:
            caplog.clear()  # of the start of the server
            found = [next(results) for _ in range(RECORDS)]
        thread.join()
        check(counted(found), RECORDS, KEYS)
        assert len(warned(caplog)) <= 2, warned(caplog)
