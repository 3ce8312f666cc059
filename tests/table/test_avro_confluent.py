"""Messages of Avro whose schemas are in a registry."""

from __future__ import annotations

import io
import json
import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("fastavro", reason="the extra 'avro' is not installed: make setup")

import fastavro

from flintstream.common._types.data_types import DataTypes
from flintstream.connectors.formats.schema_registry import SchemaRegistry, SchemaRegistryError
from flintstream.errors import PlanError
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError


class Registry(ThreadingHTTPServer):
    """A registry in memory; it wants ann's password if ``guarded``."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.schemas: list[str] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.guarded = False
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def answer(self, code, content):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def allowed(self):
        self.server.asked.append(self.path)
        if self.server.guarded and self.headers["Authorization"] != "Basic YW5uOnBX":
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


@pytest.fixture
def registry():
    found = Registry()
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


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
