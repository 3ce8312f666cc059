"""The programs of the page about Redis, HTTP and MQTT, against servers, with failures."""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.own.servers import mqtt_broker, redis_server
from tests.datastream.inline import make_env
from tests.documentation.blocks import blocks
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Types

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "redis-http-mqtt.md"


def programs(tmp_path, monkeypatch, library):
    """Return a module with those blocks of the page that import a library, and no other."""
    libraries = {"redis", "paho.mqtt.client", "urllib.request"}
    if library != "urllib.request":
        pytest.importorskip(library.partition(".")[0], reason=f"{library} is not installed: make setup")
    code = [block.text for block in blocks(PAGE) if f"import {library}" in block.text]
    assert len(code) == 2
    assert not any(f"import {other}" in text for text in code for other in libraries - {library})
    name = f"own_{library.partition('.')[0]}"
    (tmp_path / f"{name}.py").write_text("\n".join(code))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def take(stream, count):
    with stream.execute_and_collect() as found:
        return [next(found) for _ in range(count)]


@pytest.mark.server
def test_entries_of_redis_are_read_once_and_its_hash_is_right_whatever_fails(tmp_path, monkeypatch):
    own = programs(tmp_path, monkeypatch, "redis")
    server = redis_server(tmp_path)
    try:
        url = f"redis://127.0.0.1:{server.port}"
        client = own.redis.Redis.from_url(url, decode_responses=True)
        for number in range(600):
            client.xadd("a" if number % 3 else "b", {"n": number})
        faults = Faults(tmp_path / "faults", [("map", str(number)) for number in (50, 301, 599)])
        env = checkpointed(tmp_path, 2)
        numbers = env.from_source(own.RedisStream(url, "a", "b"), NO_WATERMARKS, "entries").map(
            lambda entry: entry["n"]
        )
        assert sorted(take(numbers.map(FaultyMap(faults)), 600), key=int) == [str(n) for n in range(600)]
        assert faults.happened() == faults.planned()

        faults = Faults(tmp_path / "more", [("map", number) for number in (77, 400)])
        env = checkpointed(tmp_path / "sink")
        pairs = env.from_collection(range(600), Types.INT()).map(FaultyMap(faults)).map(lambda n: (f"k{n % 50}", n))
        pairs.add_sink(own.RedisHash(url, "totals"))
        env.execute()
        assert client.hgetall("totals") == {f"k{n}": str(550 + n) for n in range(50)}
        client.close()
    finally:
        server.kill()


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = parse_qs(urlsplit(self.path).query)
        after, limit = int(asked["after"][0]), int(asked["limit"][0])
        self.answer(200, [{"id": n} for n in range(after + 1, min(after + limit, 500) + 1)])

    def do_POST(self):
        own = self.server.own  # type: ignore[attr-defined]
        records = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = own.answers.pop(0) if own.answers else 200
        if status == 200:
            own.taken += records
        self.answer(status, {})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    http = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    http.daemon_threads = True
    http.own = SimpleNamespace(answers=[], taken=[], url=f"http://127.0.0.1:{http.server_address[1]}/events")  # type: ignore[attr-defined]
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}).start()
    yield http.own  # type: ignore[attr-defined]
    http.shutdown()
    http.server_close()


def test_events_of_a_service_are_read_once_whatever_fails(tmp_path, monkeypatch, service):
    own = programs(tmp_path, monkeypatch, "urllib.request")
    faults = Faults(tmp_path / "faults", [("map", number) for number in (3, 250, 500)])
    env = checkpointed(tmp_path)
    events = env.from_source(own.HttpEvents(service.url), NO_WATERMARKS, "events").map(lambda event: event["id"])
    assert take(events.map(FaultyMap(faults)), 500) == list(range(1, 501))
    assert faults.happened() == faults.planned()


def test_a_service_that_has_no_time_gets_the_records_again_and_one_that_refuses_fails_the_job(
    tmp_path, monkeypatch, service
):
    own = programs(tmp_path, monkeypatch, "urllib.request")
    service.answers = [503, 429, 200, 500]
    env = make_env()
    env.from_collection(range(1200), Types.INT()).add_sink(own.HttpSink(service.url))
    env.execute()
    assert sorted(service.taken) == list(range(1200))
    service.answers = [400]
    env = make_env()
    env.from_collection([1], Types.INT()).add_sink(own.HttpSink(service.url))
    with pytest.raises(Exception, match="HTTP Error 400"):
        env.execute()
    monkeypatch.setattr(own.HttpSink, "attempts", 2)
    env = make_env()
    env.from_collection([1], Types.INT()).add_sink(own.HttpSink("http://127.0.0.1:1/"))
    with pytest.raises(Exception, match="did not take 1 records"):
        env.execute()


@pytest.mark.server
def test_messages_go_from_topic_to_topic_of_mqtt(tmp_path, monkeypatch):
    own = programs(tmp_path, monkeypatch, "paho.mqtt.client")
    broker = mqtt_broker(tmp_path)
    try:
        env = make_env()
        received: list[tuple[str, bytes]] = []

        def publish():
            time.sleep(1)  # until the job has subscribed
            writing = make_env()
            messages = writing.from_collection([("sensors/a", f"{n}") for n in range(500)])
            messages.add_sink(own.MqttSink("127.0.0.1", broker.port))
            writing.execute()

        with env.add_source(own.MqttSource("127.0.0.1", broker.port, "sensors/#")).execute_and_collect() as found:
            thread = threading.Thread(target=publish)
            thread.start()
            received += [next(found) for _ in range(500)]
            thread.join()
        assert received == [("sensors/a", str(n).encode()) for n in range(500)]
    finally:
        broker.kill()
