"""The sink of Elasticsearch, against a small server that has its bulk API."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.datastream.inline import make_env

from flintstream.common import Row
from flintstream.connectors.elasticsearch import ElasticsearchError
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)
from flintstream.errors import PlanError, UnsupportedByDesignError

EMITTER = ElasticsearchEmitter


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
        own = self.server.own  # type: ignore[attr-defined]
        own.requests.append((self.path, self.headers.get("Authorization"), self.headers["Content-Type"]))
        status = own.answers.pop(0) if own.answers else 200
        items = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            target, content = json.loads(action)["index"], json.loads(document)
            code = own.codes.pop(str(target.get("_id")), 201) if status == 200 else status
            items.append({"index": {"status": code, "error": None if code < 300 else {"type": f"made {code}"}}})
            if code == 201:
                own.documents.append((target, content))
        body = json.dumps({"items": items} if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Fake:
    def __init__(self):
        self.requests, self.documents, self.answers, self.codes = [], [], [], {}
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.own = self  # type: ignore[attr-defined]
        self.host = f"127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}).start()


@pytest.fixture
def server():
    found = Fake()
    yield found
    found.http.shutdown()
    found.http.server_close()


def builder(server, emitter=None):
    found = Elasticsearch7SinkBuilder().set_hosts(server.host)
    return found.set_emitter(emitter or EMITTER.static_index("users", "id"))


def write(sink, records, parallelism=1):
    env = make_env(parallelism=parallelism)
    env.from_collection(records).sink_to(sink)
    env.execute()


def test_documents_are_written_in_bulk(server):
    users = [{"id": number, "name": f"user {number}"} for number in range(25)]
    write(builder(server).set_bulk_flush_max_actions(10).build(), users)
    assert server.documents == [({"_index": "users", "_id": str(user["id"])}, user) for user in users]
    assert server.requests == [("/_bulk", None, "application/x-ndjson")] * 3


def test_requests_are_no_larger_than_wanted(server):
    write(builder(server).set_bulk_flush_max_size_mb(1).build(), [{"id": n, "text": "x" * 600_000} for n in range(4)])
    assert len(server.requests) == 2


def test_an_index_and_a_type_may_depend_on_the_record_and_the_version(server):
    write(builder(server, EMITTER.dynamic_index("kind")).build(), [{"kind": "a"}, {"kind": "b"}])
    old = Elasticsearch6SinkBuilder().set_hosts(server.host)
    write(old.set_emitter(EMITTER.static_index("users")).build(), [{"id": 1}])
    write(old.set_emitter(EMITTER.static_index("users", doc_type="user")).build(), [{"id": 1}])
    assert [target for target, _ in server.documents] == [
        {"_index": "a"}, {"_index": "b"}, {"_index": "users", "_type": "_doc"}, {"_index": "users", "_type": "user"},
    ]  # fmt: skip


def test_rows_and_values_that_json_does_not_have_are_written(server):
    row = Row(id=1, day=dt.date(2026, 1, 2), price=decimal.Decimal("1.50"), raw=b"ab", inner=Row(a=1))
    write(builder(server).build(), [row])
    inner = {"id": 1, "day": "2026-01-02", "price": "1.50", "raw": base64.b64encode(b"ab").decode(), "inner": {"a": 1}}
    assert server.documents[0][1] == inner


def test_user_and_prefix_are_sent(server):
    built = builder(server).set_connection_username("ann").set_connection_password("secret")
    write(built.set_connection_path_prefix("/search/").set_connection_timeout(1000).build(), [{"id": 1}])
    assert server.requests[0][:2] == ("/search/_bulk", f"Basic {base64.b64encode(b'ann:secret').decode()}")
    assert "secret" not in repr(built.build()._output)


@pytest.mark.parametrize("kind", [FlushBackoffType.CONSTANT, FlushBackoffType.EXPONENTIAL])
def test_what_the_server_has_no_time_for_is_sent_again_and_nothing_else(server, kind):
    server.answers = [503, 200]
    server.codes = {"3": 429}
    built = builder(server).set_bulk_flush_backoff_strategy(kind, 2, 1).build()
    write(built, [{"id": number} for number in range(5)])
    assert [content["id"] for _, content in server.documents] == [0, 1, 2, 4, 3]
    assert len(server.requests) == 3


def test_without_a_backoff_the_job_fails(server):
    server.answers = [503]
    built = builder(server).set_bulk_flush_backoff_strategy(FlushBackoffType.NONE, 5, 1)
    with pytest.raises(
        ElasticsearchError, match="1 documents were not written to Elasticsearch: the server answers 503"
    ):
        write(built.build(), [{"id": 1}])


def test_a_document_that_is_refused_is_named(server):
    server.codes = {"2": 400}
    with pytest.raises(ElasticsearchError, match=r"""refuses the document '{"id":2}': {'type': 'made 400'}"""):
        write(builder(server).set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 5, 1).build(), [{"id": 2}])
    server.answers = [401]
    with pytest.raises(ElasticsearchError, match="refuses a request, 401"):
        write(builder(server).build(), [{"id": 1}])


def test_another_host_is_asked_when_one_is_away(server):
    built = builder(server).set_hosts(["127.0.0.1:1", server.host])
    with pytest.raises(ElasticsearchError, match=r"127\.0\.0\.1:1: "):
        write(built.build(), [{"id": 1}])
    write(built.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 1, 1).build(), [{"id": 1}])
    assert len(server.documents) == 1


def test_records_that_are_no_documents_are_named(server):
    for record, error in (
        ("text", "made of dicts and Rows"),
        ({"name": "a"}, "field 'id', which has the key, is missing"),
    ):
        with pytest.raises((TypeError, ElasticsearchError), match=error):
            write(builder(server).build(), [record])


def test_what_is_missing_or_cannot_be_is_named():
    with pytest.raises(PlanError, match="needs to know where the server is"):
        Elasticsearch7SinkBuilder().set_emitter(EMITTER.static_index("users")).build()
    with pytest.raises(PlanError, match="needs an emitter"):
        Elasticsearch7SinkBuilder().set_hosts("localhost:9200").build()
    with pytest.raises(PlanError, match="no EXACTLY_ONCE: use AT_LEAST_ONCE and a key_field"):
        Elasticsearch7SinkBuilder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(UnsupportedByDesignError):
        Elasticsearch7SinkBuilder().get_http_host_class()
