"""Each message of a queue is read once, whatever fails."""

from __future__ import annotations

import random
import threading
import time

import pytest
from tests.connectors.kafka.jobs import checkpointed
from tests.connectors.rabbitmq.jobs import END, source
from tests.connectors.rabbitmq.server import NoServerError, Server
from tests.engine.faults import Faults, FaultyMap, Ledger, ledger_numbers

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.rabbitmq import receiver
from flintstream.connectors.rabbitmq import source as reading
from flintstream.connectors.rabbitmq.link import RabbitServer
from flintstream.connectors.rabbitmq.receiver import Message
from flintstream.connectors.rabbitmq.source import RabbitEnumerator, RabbitInput
from flintstream.datastream.functions import MapFunction

COUNT = 3000


class Slow(MapFunction):
    def __init__(self, seconds):
        self.seconds = seconds

    def map(self, value):
        time.sleep(self.seconds)
        return value


def run(env, built, tmp_path, faults=None, seconds=0.0003):
    """Read a queue into a table, and return its rows."""
    ledger = Ledger(tmp_path / "ledger", Faults(tmp_path / "none"))
    stream = env.add_source(built).map(Slow(seconds))
    (stream if faults is None else stream.map(FaultyMap(faults))).map(int).sink_to(ledger)
    env.execute()
    return ledger_numbers(tmp_path / "ledger")


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_with_correlation_ids_nothing_is_lost_or_read_twice(server, tmp_path, parallelism, seed):
    queue = f"exactly {parallelism} {seed}"
    server.send(queue, [*map(str, range(COUNT)), END])
    faults = Faults(tmp_path / "faults", [("map", str(random.Random(seed).randrange(COUNT))) for _ in range(3)])
    env = checkpointed(tmp_path, parallelism)
    assert run(env, source(server, queue, ids=True), tmp_path, faults) == list(range(COUNT))
    assert faults.happened() == faults.planned()
    assert server.drain(queue) == [END]


def test_without_correlation_ids_nothing_is_lost(server, tmp_path):
    server.send("at least", [*map(str, range(COUNT)), END])
    faults = Faults(tmp_path / "faults", [("map", "1500")])
    found = run(checkpointed(tmp_path), source(server, "at least"), tmp_path, faults)
    assert sorted(set(found)) == list(range(COUNT))
    assert faults.happened() == faults.planned()


@pytest.mark.deep
@pytest.mark.kills
def test_a_server_that_is_killed_and_comes_up_again_has_nothing_lost_or_read_twice(tmp_path, monkeypatch, caplog):
    try:
        own = Server.somewhere(tmp_path / "server")
    except NoServerError as error:
        pytest.skip(f"no RabbitMQ on this machine: {error}")
    try:
        monkeypatch.setattr(receiver, "WINDOW", 50)
        own.send("killed", list(map(str, range(COUNT))))
        config = own.builder().set_network_recovery_interval(500).build()

        def kill():
            time.sleep(1)
            own.kill()
            own.start()
            own.send("killed", [END])  # only after it has connected again, the job gets this

        killer = threading.Thread(target=kill)
        killer.start()
        found = run(checkpointed(tmp_path), source(own, "killed", ids=True, config=config), tmp_path, seconds=0.001)
        killer.join()
        assert found == list(range(COUNT))
        assert "reconnecting in 500 ms: cannot read from the queue 'killed'" in caplog.text
    finally:
        own.close()


class Stand:
    """A replacement of a receiver."""

    def __init__(self):
        self.number = 0
        self.messages = []
        self.acknowledged = []
        self.single = []
        self.confirms = True
        self.is_connected = True

    def take(self, most, most_bytes):
        taken, self.messages = self.messages, []
        return taken

    def acknowledge(self, tag):
        self.acknowledged.append((self.number, tag))
        return self.confirms

    def acknowledge_these(self, tags):
        self.single += tags


@pytest.fixture
def stand(monkeypatch):
    found = Stand()
    monkeypatch.setattr(reading, "Receiver", lambda *_, **__: found)
    return found


def enumerator(state=None):
    made = RabbitInput(RabbitServer(), "q", SimpleStringSchema(), with_ids=True, setup=lambda _: None)
    found = RabbitEnumerator(made, parallelism=1)
    if state is not None:
        found.restore(state)
    found.start(checkpoints=True, batch=False)
    return found


def came(stand, *ids, first=1):
    stand.messages = [Message(first + place, name, name.encode()) for place, name in enumerate(ids)]


def bodies(splits):
    return [body for split in splits for body in split.messages]


def test_what_a_checkpoint_contains_is_acknowledged_and_not_read_again(stand):
    first = enumerator()
    came(stand, "a", "b")
    assert bodies(first.discover()) == [b"a", b"b"]
    state = first.snapshot()
    later = enumerator(state)  # the job ended before it could acknowledge
    came(stand, "a", "b", "c", first=7)
    assert bodies(later.discover()) == [b"c"]
    assert stand.single == [7, 8]
    later.checkpoint_completed([True])
    assert stand.acknowledged == [(0, 9)]


def test_what_no_checkpoint_contains_is_read_again(stand):
    first = enumerator()
    state = first.snapshot()
    came(stand, "a")
    first.discover()
    came(stand, "a")
    assert bodies(enumerator(state).discover()) == [b"a"]


def test_what_comes_again_by_another_connection_is_acknowledged_there_and_not_read_again(stand):
    job = enumerator()
    came(stand, "a", "b")
    job.discover()
    stand.number = 1
    came(stand, "a")
    assert job.discover() == []
    assert stand.single == []  # no checkpoint contains it yet
    job.checkpoint_completed([True])
    assert stand.acknowledged == [(1, 1)]
    came(stand, "b", first=2)
    assert job.discover() == []
    assert stand.single == [2]


@pytest.mark.parametrize(("seconds", "known"), [(10, ["a", "b"]), (-1, ["b"])])
def test_ids_are_forgotten_a_while_after_the_server_has_confirmed_them(stand, monkeypatch, seconds, known):
    monkeypatch.setattr(reading, "ACKNOWLEDGED_SECONDS", seconds)
    job = enumerator()
    came(stand, "a")
    job.discover()
    job.checkpoint_completed([True])
    stand.confirms = False
    came(stand, "b")
    job.discover()
    for _ in range(2):
        job.checkpoint_completed([True])
    assert list(job.snapshot()[1]) == known


def test_what_was_acknowledged_is_known_after_an_outage_of_any_length(stand, monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    job = enumerator()
    came(stand, "a")
    job.discover()
    job.checkpoint_completed([True])
    stand.is_connected = False
    now += reading.ACKNOWLEDGED_SECONDS + 1
    job.discover()
    job.checkpoint_completed([True])
    stand.is_connected, stand.number = True, 1
    job.discover()
    now += reading.ACKNOWLEDGED_SECONDS + 1
    job.checkpoint_completed([True])
    came(stand, "a")  # the server, which crashed, has forgotten what it confirmed
    assert job.discover() == []
