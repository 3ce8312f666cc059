"""Answers over HTTP: limits of size and time, and credentials that go to no other server."""

from __future__ import annotations

import io
import itertools
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request

import pytest
from tests.datastream.inline import make_env

from flintstream.common import Types
from flintstream.common._http import AnswerError, RefusalError, ask, read_answer
from flintstream.connectors import elasticsearch
from flintstream.connectors.elasticsearch import ElasticsearchError
from flintstream.connectors.formats.schema_registry import SchemaRegistry, SchemaRegistryError
from flintstream.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder, ElasticsearchEmitter
from flintstream.errors import PlanError
from flintstream.reporters import short_answers


@contextmanager
def serving(answer):
    """Serve with a function of the handler; yields the address and the headers of the requests."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(dict(self.headers))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                answer(self)
            except OSError:
                return  # the client has left

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def get(url, seconds=30, most_bytes=1 << 20):
    return ask(Request(url), seconds, most_bytes)  # noqa: S310 - our own server


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 65536)


def silent(until):
    """Return an answer that sends nothing at all until the event is set."""
    return lambda handler: until.wait(60)


def trickling(until):
    """Return an answer whose header never ends."""

    def answer(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
        for number in itertools.count():
            handler.wfile.write(b"X-%d: a\r\n"[: 2 + number % 3])
            if until.wait(0.01):
                return

    return answer


@pytest.mark.promise("S27")
def test_an_endless_answer_is_refused_when_it_is_too_long():
    with serving(endless) as (url, _), pytest.raises(AnswerError, match="longer than 1000000 bytes"):
        get(url, 30, 1_000_000)


@pytest.mark.promise("S27")
@pytest.mark.parametrize("kind", [silent, trickling])
def test_an_answer_that_takes_too_long_is_refused_even_if_a_byte_arrives_now_and_then(kind):
    until = threading.Event()
    with serving(kind(until)) as (url, _):
        with pytest.raises((AnswerError, TimeoutError)):
            get(url, 0.3)
        until.set()


def test_a_body_that_never_ends_is_cut_after_its_time():
    class Trickle:
        def read1(self, amount):
            return b"x"

    with pytest.raises(AnswerError, match=r"longer than 0\.01 s"):
        read_answer(Trickle(), 0.01)
    assert read_answer(io.BytesIO(b"abc"), 1) == b"abc"


@pytest.mark.promise("S26")
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("other", [True, False], ids=["another server", "the same server"])
def test_the_registry_s_credentials_follow_a_redirect_only_within_the_same_server(code, other):
    def schema(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b'{"schema": "1"}')

    def redirecting(handler):
        if handler.path.startswith("/moved"):
            return schema(handler)
        handler.send_response(code)
        handler.send_header("Location", f"{target if other else ''}/moved/schemas/ids/1")
        handler.end_headers()
        return None

    with serving(schema) as (target, there), serving(redirecting) as (url, here):
        assert SchemaRegistry([url], "ann:pw").schema(1) == "1"
    assert "Authorization" in here[0]
    assert [("Authorization" in headers) for headers in (there if other else here[1:])] == [not other]


def test_a_registry_that_never_ends_its_answer_fails_the_job():
    with serving(endless) as (url, _), pytest.raises(SchemaRegistryError, match="the response is longer than"):
        SchemaRegistry([url]).schema(1)


def test_the_answer_of_a_registry_that_refuses_is_cut():
    def refuse(handler):
        handler.send_response(403)
        handler.end_headers()
        while True:
            handler.wfile.write(b"n" * 65536)

    with serving(refuse) as (url, _):
        with pytest.raises(RefusalError) as refused:
            get(url)
        assert len(refused.value.text) == 4096


def test_a_registry_of_another_scheme_is_refused_without_its_password():
    with pytest.raises(PlanError, match="needs an address with http or https") as refused:
        SchemaRegistry(["ftp://ann:m4rk3d@host"])
    assert "m4rk3d" not in str(refused.value)


@pytest.mark.promise("S27")
def test_an_endless_answer_of_elasticsearch_fails_the_job(monkeypatch):
    monkeypatch.setattr(elasticsearch, "MOST_BYTES", 1 << 20)
    with serving(endless) as (url, _):
        env = make_env()
        builder = Elasticsearch7SinkBuilder().set_hosts(url).set_emitter(ElasticsearchEmitter.static_index("words"))
        rows = env.from_collection([{"n": "1"}], Types.MAP(Types.STRING(), Types.STRING()))
        rows.sink_to(builder.build())
        with pytest.raises(ElasticsearchError, match="the response is longer than"):
            env.execute("job")


def test_an_endless_answer_to_metrics_is_refused(monkeypatch):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    monkeypatch.setattr(short_answers, "MOST_BYTES", 1 << 16)
    with serving(endless) as (url, asked):
        session = short_answers.session(5)
        with pytest.raises(AnswerError, match="the response is longer than"):
            session.post(url, data=b"metrics", timeout=5)
    assert asked
