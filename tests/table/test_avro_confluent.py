"""Messages of Avro whose schemas are in a registry."""

from __future__ import annotations

import datetime as dt
import io
import ipaddress
import json
import pickle
import ssl
import threading
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("fastavro", reason="the extra 'avro' is not installed: make setup")

pytest.importorskip("cryptography", reason="the extra 'kafka' is not installed: make setup")

import fastavro
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

from flintstream.common._types.data_types import DataTypes
from flintstream.connectors.formats.schema_registry import SchemaRegistry, SchemaRegistryError
from flintstream.connectors.kafka.stores import StoreError
from flintstream.errors import PlanError
from flintstream.table._connectors.messages import change_decoder, change_encoder, decoder, encoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE


class Registry(ThreadingHTTPServer):
    """A registry in memory; it wants ann's password or a token if ``guarded``, and speaks TLS with a context."""

    def __init__(self, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.schemas: list[str] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.guarded = False
        self.url = f"http{'' if context is None else 's'}://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def answer(self, code, content):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def allowed(self):
        self.server.asked.append(self.path)
        if self.server.guarded and self.headers["Authorization"] not in {"Basic YW5uOnBX", "Bearer t0ken"}:
            self.answer(401, {"message": "Unauthorized"})
            return False
        return True

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        if not self.allowed():
            return
        if number > len(self.server.schemas):
            self.answer(404, {"error_code": 40403, "message": "Schema not found"})
        else:
            self.answer(200, {"schema": self.server.schemas[number - 1]})

    def do_POST(self):
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.allowed():
            self.answer(200, {"id": add(self.server, self.path.split("/")[2], content["schema"])})

    def log_message(self, *_):
        pass


def add(registry, subject, schema):
    if schema not in registry.schemas:
        registry.schemas.append(schema)
    number = registry.schemas.index(schema) + 1
    registry.subjects.setdefault(subject, []).append(number)
    return number


@contextmanager
def running(context=None):
    found = Registry(context)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        found.shutdown()
        thread.join()
        found.server_close()


@pytest.fixture
def registry():
    with running() as found:
        yield found


NAMES, TYPES = ["id", "name", "price"], [DataTypes.INT(), DataTypes.STRING(), DataTypes.DECIMAL(6, 2)]


def options(registry, **more):
    given = {"connector": "kafka", "topic": "orders", "avro-confluent.url": registry.url}
    return Options("t", {**given, **{f"avro-confluent.{key}": value for key, value in more.items()}})


def test_what_is_written_is_read_back_and_its_schema_is_registered_once(registry):
    encode = encoder("avro-confluent", NAMES, TYPES, options(registry)).encode()
    rows = [(1, "pen", Decimal("1.50")), (None, None, None)]
    messages = [encode(row) for row in rows]
    assert {message[:5] for message in messages} == {b"\0\0\0\0\1"}
    decode = decoder("avro-confluent", NAMES, TYPES, options(registry)).decode()
    assert [decode(message) for message in messages] == rows
    assert registry.subjects == {"orders-value": [1]}
    assert registry.asked == ["/subjects/orders-value/versions", "/schemas/ids/1"]


def test_records_of_other_schemas_get_the_columns_of_the_table(registry):
    other = {
        "type": "record", "name": "shop.Order",
        "fields": [{"name": "more", "type": "long"}, {"name": "name", "type": "string"}, {"name": "id", "type": "int"}],
    }  # fmt: skip
    number = add(registry, "orders-value", json.dumps(other))
    stream = io.BytesIO(b"\0" + number.to_bytes(4, "big"))
    stream.seek(5)
    fastavro.schemaless_writer(stream, other, {"more": 9, "name": "ink", "id": 7})
    decode = decoder("avro-confluent", NAMES, TYPES, options(registry)).decode()
    assert decode(stream.getvalue()) == (7, "ink", None)


def test_nested_records_of_other_names_are_read_and_other_types_are_not(registry):
    inner = {"type": "record", "name": "Person", "fields": [{"name": "city", "type": "string"}]}
    other = {
        "type": "record", "name": "Order", "namespace": "shop",
        "fields": [{"name": "who", "type": ["null", inner]}, {"name": "all", "type": {"type": "array", "items": "Person"}}],
    }  # fmt: skip
    number = add(registry, "orders-value", json.dumps(other))
    stream = io.BytesIO()
    stream.write(b"\0" + number.to_bytes(4, "big"))
    fastavro.schemaless_writer(stream, other, {"who": {"city": "Rome"}, "all": [{"city": "Oslo"}]})
    row = DataTypes.ROW([DataTypes.FIELD("city", DataTypes.STRING()), DataTypes.FIELD("zip", DataTypes.STRING())])
    decode = decoder("avro-confluent", ["who"], [row], options(registry)).decode()
    found = decode(stream.getvalue())
    assert found is not None
    assert tuple(found[0]) == ("Rome", None)
    decode = decoder("avro-confluent", ["who"], [DataTypes.INT()], options(registry)).decode()
    with pytest.raises(Exception, match="chema mismatch"):
        decode(stream.getvalue())


def test_a_subject_and_credentials_may_be_given(registry):
    registry.guarded = True
    more = {"subject": "a/b", "basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "ann:pW"}
    encoder("avro-confluent", NAMES, TYPES, options(registry, **more)).encode()
    assert registry.asked == ["/subjects/a%2Fb/versions"]
    url = registry.url.replace("//", "//ann:pW@")
    assert SchemaRegistry([url]).schema(1) == registry.schemas[0]
    with pytest.raises(SchemaRegistryError, match=r"refuses /schemas/ids/1: 401"):
        SchemaRegistry([registry.url.replace("//", "//ann:secret@")]).schema(1)


@pytest.mark.parametrize(
    "more",
    [
        {"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "t0ken"},
        {"properties.bearer.auth.token": "t0ken"},
        {"properties.basic.auth.credentials.source": "USER_INFO", "properties.basic.auth.user.info": "ann:pW"},
        {"properties.schema.registry.basic.auth.user.info": "ann:pW"},
    ],
)
def test_a_token_or_properties_of_the_client_are_credentials(registry, more):
    registry.guarded = True
    encoder("avro-confluent", NAMES, TYPES, options(registry, **more)).encode()
    assert registry.subjects == {"orders-value": [1]}


def test_credentials_of_another_kind_and_unknown_properties_are_told(registry):
    with pytest.raises(
        SqlError, match=r"'avro-confluent.bearer-auth.credentials-source' must be STATIC_TOKEN, but got"
    ):
        encoder("avro-confluent", NAMES, TYPES, options(registry, **{"bearer-auth.credentials-source": "OAUTH"}))
    with pytest.warns(
        UserWarning,
        match=r"the property 'bearer.auth.tokn' of the registry's client is unknown and has no effect; did you mean",
    ):
        encoder("avro-confluent", NAMES, TYPES, options(registry, **{"properties.bearer.auth.tokn": "x"}))


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Return a folder with a key and its certificate for 127.0.0.1 as PEM, and stores of Java with both."""
    folder = tmp_path_factory.mktemp("keys")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "registry")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = dt.datetime.now(dt.timezone.utc)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + dt.timedelta(1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = key.private_bytes(serialization.Encoding.PEM, *plain) + made.public_bytes(serialization.Encoding.PEM)
    (folder / "both.pem").write_bytes(pem)
    (folder / "trusted.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    closed = serialization.BestAvailableEncryption(b"pW")
    (folder / "both.p12").write_bytes(pkcs12.serialize_key_and_certificates(b"own", key, made, None, closed))
    return folder


def test_a_registry_with_tls_is_trusted_by_a_truststore_and_may_want_a_key(keys):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys / "both.pem")
    context.load_verify_locations(keys / "both.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    trust = {"ssl.truststore.location": str(keys / "trusted.pem")}
    own = {"ssl.keystore.location": str(keys / "both.p12"), "ssl.keystore.password": "pW"}
    with running(context) as registry:
        made = pickle.loads(pickle.dumps(encoder("avro-confluent", NAMES, TYPES, options(registry, **trust, **own))))
        made.encode()
        assert registry.subjects == {"orders-value": [1]}
        properties = {f"properties.schema.registry.{key}": value for key, value in {**trust, **own}.items()}
        encoder("avro-confluent", NAMES, TYPES, options(registry, **properties)).encode()
        with pytest.raises(SchemaRegistryError, match="CERTIFICATE_VERIFY_FAILED"):
            encoder("avro-confluent", NAMES, TYPES, options(registry, **own)).encode()
        with pytest.raises(SchemaRegistryError, match="does not answer"):
            encoder("avro-confluent", NAMES, TYPES, options(registry, **trust)).encode()
    wrong = {"ssl.truststore.location": str(keys / "both.p12"), "ssl.truststore.password": "other"}
    with pytest.raises(StoreError, match="password") as failed:
        encoder("avro-confluent", NAMES, TYPES, options(registry, **wrong)).encode()
    assert "other" not in str(failed.value)


def change_options(registry):
    return Options("t", {"connector": "kafka", "topic": "orders", "debezium-avro-confluent.url": registry.url})


def test_changes_of_debezium_in_avro_are_written_and_read_back(registry):
    kind = "debezium-avro-confluent"
    rows = [(1, "pen", Decimal("1.50")), (2, None, None)]
    encode = change_encoder(kind, NAMES, TYPES, change_options(registry), "").encode()
    written = [encode((*rows[0], INSERT)), encode((*rows[0], UPDATE_BEFORE)), encode((*rows[1], UPDATE_AFTER))]
    decode = change_decoder(kind, NAMES, TYPES, change_options(registry), "").decode()
    assert [decode(message) for message in written] == [[(rows[0], INSERT)], [(rows[0], DELETE)], [(rows[1], INSERT)]]
    assert decode(b"") is None


def test_changes_are_read_from_the_envelope_that_debezium_writes(registry):
    value = {
        "type": "record", "name": "Value",
        "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None}],
    }  # fmt: skip
    envelope = {
        "type": "record", "name": "Envelope", "namespace": "shop.orders",
        "fields": [
            {"name": "before", "type": ["null", value], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": "string"},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }  # fmt: skip
    head = b"\0" + add(registry, "orders-value", json.dumps(envelope)).to_bytes(4, "big")

    def message(**fields):
        stream = io.BytesIO()
        stream.write(head)
        fastavro.schemaless_writer(stream, envelope, {"source": "s", **fields})
        return stream.getvalue()

    decode = change_decoder("debezium-avro-confluent", NAMES, TYPES, change_options(registry), "").decode()
    old, new = {"id": 1, "name": "pen"}, {"id": 1, "name": "ink"}
    assert decode(message(op="r", after=old)) == [((1, "pen", None), INSERT)]
    assert decode(message(op="u", before=old, after=new)) == [
        ((1, "pen", None), UPDATE_BEFORE), ((1, "ink", None), UPDATE_AFTER),
    ]  # fmt: skip
    assert decode(message(op="d", before=new)) == [((1, "ink", None), DELETE)]
    with pytest.raises(ValueError, match="needs REPLICA IDENTITY FULL"):
        decode(message(op="u", after=new))
    with pytest.raises(ValueError, match="unknown 'op' 'x'"):
        decode(message(op="x"))


def test_the_first_registry_that_answers_is_asked(registry):
    add(registry, "s", '"int"')
    assert SchemaRegistry(["http://127.0.0.1:1", registry.url]).schema(1) == '"int"'
    with pytest.raises(SchemaRegistryError, match="does not answer /schemas/ids/1") as failed:
        SchemaRegistry(["http://ann:secret@127.0.0.1:1"]).schema(1)
    assert "secret" not in str(failed.value)


def test_what_is_wrong_is_named(registry):
    decode = decoder("avro-confluent", NAMES, TYPES, options(registry)).decode()
    with pytest.raises(ValueError, match="not a message of avro-confluent"):
        decode(b"{}")
    with pytest.raises(SchemaRegistryError, match=r"404.*Schema not found"):
        decode(b"\0\0\0\0\7abc")
    with pytest.raises(SqlError, match=r"the option 'avro-confluent.url' is missing"):
        decoder("avro-confluent", NAMES, TYPES, Options("t", {"connector": "kafka"}))
    with pytest.raises(PlanError, match="needs an address with http or https"):
        decoder("avro-confluent", NAMES, TYPES, options(registry, url="file:///etc/passwd"))
