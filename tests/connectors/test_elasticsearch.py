"""The Elasticsearch sink, against a small server with its bulk API."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import ipaddress
import json
import ssl
import sys
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
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
from flintstream.errors import MissingDependencyError, PlanError, UnsupportedByDesignError

EMITTER = ElasticsearchEmitter


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        own = self.server.own  # type: ignore[attr-defined]
        lines = own.read(self.rfile, int(self.headers["Content-Length"])).splitlines()
        time.sleep(own.delay)
        own.requests.append((self.path, self.headers.get("Authorization"), self.headers["Content-Type"]))
        status = own.answers.pop(0) if own.answers else 200
        items, rest = [], iter(lines)
        for action in rest:
            ((kind, target),) = json.loads(action).items()
            content = None if kind == "delete" else json.loads(next(rest))
            code = own.codes.pop(str(target.get("_id")), 201) if status == 200 else status
            items.append({kind: {"status": code, "error": None if code < 300 else {"type": f"made {code}"}}})
            if code == 201:
                own.documents.append((target, content))
        body = json.dumps({"items": items} if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = own.hangs_up

    def log_message(self, *_):
        pass


class Fake:
    def __init__(self, tls=None):
        self.requests, self.documents, self.answers, self.codes = [], [], [], {}
        self.delay, self.hangs_up, self.pause = 0.0, False, 0.0
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.http.daemon_threads = True
        self.http.own = self  # type: ignore[attr-defined]
        self.host = f"127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}).start()

    def read(self, stream, size):
        found = b""
        while len(found) < size:
            time.sleep(self.pause)
            found += stream.read(min(1 << 20, size - len(found)))
        return found

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    found = Fake()
    yield found
    found.close()


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
        ElasticsearchError, match="1 documents were not written to Elasticsearch: the server responded with status 503"
    ):
        write(built.build(), [{"id": 1}])


def test_a_document_that_is_refused_is_named(server):
    server.codes = {"2": 400}
    with pytest.raises(ElasticsearchError, match=r"""rejected the document '{"id":2}': {'type': 'made 400'}"""):
        write(builder(server).set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 5, 1).build(), [{"id": 2}])
    server.answers = [401]
    with pytest.raises(ElasticsearchError, match="rejected a request with status 401"):
        write(builder(server).build(), [{"id": 1}])


def test_another_host_is_asked_when_one_is_away(server):
    built = builder(server).set_hosts(["127.0.0.1:1", server.host])
    with pytest.raises(ElasticsearchError, match=r"127\.0\.0\.1:1: "):
        write(built.build(), [{"id": 1}])
    write(built.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 1, 1).build(), [{"id": 1}])
    assert len(server.documents) == 1


def test_a_user_may_be_in_the_url_of_a_host(server):
    built = builder(server).set_hosts(f"http://ann:se%2Fcret@{server.host}")
    write(built.build(), [{"id": 1}])
    write(built.set_connection_username("bob").set_connection_password("b").build(), [{"id": 1}])
    sent = [base64.b64decode(authorization.removeprefix("Basic ")) for _, authorization, _ in server.requests]
    assert sent == [b"ann:se/cret", b"bob:b"]


def test_no_password_of_a_host_is_shown(server):
    built = builder(server).set_hosts("http://ann:se%2Fcret@127.0.0.1:1").build()
    with pytest.raises(ElasticsearchError, match=r"http://127\.0\.0\.1:1: ") as caught:
        write(built, [{"id": 1}])
    for shown in (repr(built._output), str(caught.value)):
        assert "cret" not in shown


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("http://ann:secret@localhost:port", "the port of http://localhost:port is not a number"),
        ("ftp://ann:secret@localhost", "host:port or https://host:port, got ftp://localhost"),
        ("https://", "host:port or https://host:port, got https://"),
        ("https://ann:secret@localhost/es", r"has a path: pass it to set_connection_path_prefix\(\)"),
    ],
)
def test_a_host_that_is_not_understood_is_refused(host, message):
    with pytest.raises(PlanError, match=message) as caught:
        Elasticsearch7SinkBuilder().set_hosts(host)
    assert "secret" not in str(caught.value)


def test_an_answer_is_waited_for_as_long_as_the_socket_timeout_says(server):
    server.delay = 0.3
    write(builder(server).set_connection_timeout(100).build(), [{"id": 1}])
    with pytest.raises(ElasticsearchError, match="Read timed out"):
        write(builder(server).set_socket_timeout(50).build(), [{"id": 2}])


@pytest.mark.slow
def test_a_large_request_may_take_longer_than_connecting(server):
    server.pause = 0.06
    documents = [{"id": number, "text": "x" * 2**20} for number in range(24)]
    write(builder(server).set_connection_timeout(500).build(), documents)
    assert len(server.documents) == 24
    assert len(server.requests) == 1


def test_a_connection_that_the_server_has_closed_is_made_again(server):
    server.hangs_up = True
    with closing(builder(server).build().create_writer(None)) as writer:
        for number in range(3):
            writer.write([{"id": number}], None)
            writer.prepare_commit(end_of_input=False)
            time.sleep(0.1)  # until this side knows
    assert len(server.documents) == 3


@pytest.fixture
def certificate(tmp_path):
    """Return a file with a key and a self-signed certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "search")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = dt.datetime.now(dt.timezone.utc)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + dt.timedelta(1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path / "both.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain) + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


def test_the_certificate_of_a_server_must_be_one_that_the_machine_trusts(certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Fake(context)
    try:
        built = builder(server).set_hosts(f"https://{server.host}").build()
        with pytest.raises(ElasticsearchError, match="CERTIFICATE_VERIFY_FAILED"):
            write(built, [{"id": 1}])
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        write(built, [{"id": 1}])
        assert len(server.documents) == 1
    finally:
        server.close()


def test_without_the_package_the_builder_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(MissingDependencyError, match=r"urllib3: pip install 'flintstream\[elasticsearch\]'"):
        Elasticsearch7SinkBuilder().set_hosts("localhost").set_emitter(EMITTER.static_index("users")).build()


def test_records_that_are_no_documents_are_named(server):
    for record, error in (
        ("text", "must be dicts, or Rows with field names"),
        ({"name": "a"}, "field 'id', which holds the key, is missing"),
    ):
        with pytest.raises((TypeError, ElasticsearchError), match=error):
            write(builder(server).build(), [record])


def test_what_is_missing_or_cannot_be_is_named():
    with pytest.raises(PlanError, match="needs the address of the server"):
        Elasticsearch7SinkBuilder().set_emitter(EMITTER.static_index("users")).build()
    with pytest.raises(PlanError, match="needs an emitter"):
        Elasticsearch7SinkBuilder().set_hosts("localhost:9200").build()
    with pytest.raises(PlanError, match="no EXACTLY_ONCE: use AT_LEAST_ONCE and a key_field"):
        Elasticsearch7SinkBuilder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(UnsupportedByDesignError):
        Elasticsearch7SinkBuilder().get_http_host_class()
