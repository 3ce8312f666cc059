"""Tables read and write messages with schemas of the registry of AWS Glue."""

from __future__ import annotations

import io
import itertools
import json
import time
import zlib
from uuid import UUID, uuid4

import pytest

from flintstream.common import Row
from flintstream.connectors.aws import client, glue
from flintstream.connectors.aws.client import AwsAccess, AwsError
from flintstream.connectors.aws.glue import GlueRegistry, GlueSchema, Remembered, head_of, split_message
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError
from flintstream.table.connectors import FormatDeserializationSchema, FormatSerializationSchema

fastavro = pytest.importorskip("fastavro", reason="fastavro is not installed")
NAMES, TYPES = ["who", "n"], [DataTypes.STRING(), DataTypes.INT()]


@pytest.fixture
def registry(moto):
    """A client of the service, with an empty registry."""
    found = moto.session.client("glue", endpoint_url=moto.endpoint)
    found.name = f"shop-{uuid4()}"
    found.create_registry(RegistryName=found.name)
    yield found
    found.delete_registry(RegistryId={"RegistryName": found.name})


def settings(moto, registry, kind="avro-glue", **more):
    own = {f"aws.{key.removeprefix('aws.')}": value for key, value in moto.properties.items()}
    own |= {"registry.name": registry.name, "schema.name": "orders", "schema.autoRegistration": "true", **more}
    return {f"{kind}.{key}": value for key, value in own.items()}


def options(moto, registry, kind="avro-glue", **more):
    return Options("t", {"connector": "kinesis", **settings(moto, registry, kind, **more)})


def writer(moto, registry, kind="avro-glue", names=NAMES, types=TYPES, **more):
    return encoder(kind, names, types, options(moto, registry, kind, **more)).encode()


def reader(moto, registry, kind="avro-glue", names=NAMES, types=TYPES, **more):
    return decoder(kind, names, types, options(moto, registry, kind, **more)).decode()


def definitions(registry):
    latest = registry.get_schema(SchemaId={"RegistryName": registry.name, "SchemaName": "orders"})[
        "LatestSchemaVersion"
    ]
    schema = {"RegistryName": registry.name, "SchemaName": "orders"}
    return [
        registry.get_schema_version(SchemaId=schema, SchemaVersionNumber={"VersionNumber": number})
        for number in range(1, latest + 1)
    ]


@pytest.mark.parametrize("compression", ["NONE", "zlib"])
@pytest.mark.parametrize("kind", ["avro-glue", "json-glue"])
def test_a_message_has_the_version_the_compression_the_id_and_the_row(moto, registry, kind, compression):
    message = writer(moto, registry, kind, **{"schema.compression": compression})(("ann", 7))
    (version,) = definitions(registry)
    assert message[:2] == bytes([3, 5 if compression == "zlib" else 0])
    assert UUID(bytes=message[2:18]) == UUID(version["SchemaVersionId"])
    content = zlib.decompress(message[18:]) if compression == "zlib" else message[18:]
    schema = json.loads(version["SchemaDefinition"])
    if kind == "avro-glue":
        assert version["DataFormat"] == "AVRO"
        assert fastavro.schemaless_reader(io.BytesIO(content), schema) == {"who": "ann", "n": 7}
    else:
        assert version["DataFormat"] == "JSON"
        assert json.loads(content) == {"who": "ann", "n": 7}
        assert schema["properties"] == {"who": {"type": ["string", "null"]}, "n": {"type": ["integer", "null"]}}
    assert reader(moto, registry, kind)(message) == ("ann", 7)


def test_the_schema_is_registered_once_and_found_again_without_the_right_to_register(moto, registry):
    first = writer(moto, registry)(("ann", 1))
    assert writer(moto, registry, **{"schema.autoRegistration": "false"})(("ann", 1)) == first
    assert len(definitions(registry)) == 1


def test_a_schema_has_the_compatibility_and_the_names_of_the_options(moto, registry):
    more = {"schema.compatibility": "full_all", "avro.namespace": "com.shop", "avro.record-name": "Order"}
    writer(moto, registry, **more)
    schema = registry.get_schema(SchemaId={"RegistryName": registry.name, "SchemaName": "orders"})
    assert schema["Compatibility"] == "FULL_ALL"
    assert json.loads(definitions(registry)[0]["SchemaDefinition"])["name"] == "com.shop.Order"


def test_older_and_newer_writers_are_read(moto, registry):
    older = writer(moto, registry)(("ann", 1))
    more = [*NAMES, "price"], [DataTypes.STRING(), DataTypes.BIGINT(), DataTypes.DOUBLE()]
    newer = writer(moto, registry, names=more[0], types=more[1])(("bob", 2, 0.5))
    assert len(definitions(registry)) == 2
    of_newer = reader(moto, registry, names=more[0], types=more[1])
    assert [of_newer(older), of_newer(newer)] == [("ann", 1, None), ("bob", 2, 0.5)]
    of_few = reader(moto, registry, names=["who"], types=[DataTypes.STRING()])
    assert [of_few(older), of_few(newer)] == [("ann",), ("bob",)]


def test_records_are_written_with_the_latest_schema_of_the_registry_by_option(moto, registry):
    theirs = {"type": "record", "name": "Order", "namespace": "com.shop", "fields": [
        {"name": "n", "type": "int"}, {"name": "who", "type": "string"}]}  # fmt: skip
    registry.create_schema(
        RegistryId={"RegistryName": registry.name}, SchemaName="orders", DataFormat="AVRO", Compatibility="NONE",
        SchemaDefinition=json.dumps(theirs))  # fmt: skip
    message = writer(moto, registry, **{"schema.fetchFromRegistry": "true"})(("ann", 7))
    assert fastavro.schemaless_reader(io.BytesIO(message[18:]), theirs) == {"n": 7, "who": "ann"}
    assert reader(moto, registry)(message) == ("ann", 7)
    assert len(definitions(registry)) == 1


def test_the_schema_of_the_columns_is_used_if_there_is_none_to_fetch(moto, registry):
    message = writer(moto, registry, **{"schema.fetchFromRegistry": "true"})(("ann", 7))
    assert reader(moto, registry)(message) == ("ann", 7)


def test_a_schema_that_may_not_be_registered_is_named(moto, registry):
    with pytest.raises(AwsError, match=r"schema 'orders' of the registry 'shop-.*'schema.autoRegistration' to true"):
        writer(moto, registry, **{"schema.autoRegistration": "false"})


def test_a_registry_that_is_missing_is_named(moto, registry):
    with pytest.raises(AwsError, match="AWS Glue has no registry 'nowhere'"):
        writer(moto, registry, **{"registry.name": "nowhere"})


def test_messages_without_the_head_or_with_an_unknown_schema_are_refused(moto, registry):
    read = reader(moto, registry)
    good = writer(moto, registry)(("ann", 1))
    for wrong in (b"", good[:17], b"\0" + good[1:], good[:1] + b"\1" + good[2:]):
        with pytest.raises(ValueError, match="not a message with a schema of AWS Glue: it begins with"):
            read(wrong)
    with pytest.raises(ValueError, match="is not compressed"):
        read(good[:1] + b"\5" + good[2:])
    unknown = uuid4()
    with pytest.raises(AwsError, match=f"AWS Glue has no schema version {unknown}"):
        read(head_of(unknown) + good[18:])


def test_content_that_is_cut_or_becomes_too_large_is_refused(monkeypatch):
    head = head_of(uuid4(), compressed=True)
    with pytest.raises(ValueError, match="the content of a message of AWS Glue is incomplete"):
        split_message(head + zlib.compress(b"text")[:-2])
    monkeypatch.setattr(glue, "MOST_BYTES", 1000)
    assert split_message(head + zlib.compress(bytes(1000)))[1] == bytes(1000)
    with pytest.raises(ValueError, match="has more than 1000 bytes"):
        split_message(head + zlib.compress(bytes(100_000)))


def test_a_schema_of_another_format_is_refused(moto, registry):
    message = writer(moto, registry, "json-glue")(("ann", 1))
    with pytest.raises(AwsError, match="has the format JSON, not AVRO"):
        reader(moto, registry)(message)


class Service:
    """A client that answers as it is told."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def _answer(self, name, arguments):
        self.asked.append(name)
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            raise client.core("exceptions").ClientError({"Error": {"Code": answer}}, name)
        return answer

    def __getattr__(self, name):
        return lambda **arguments: self._answer(name, arguments)


ID = UUID(int=7)
FOUND = {"SchemaVersionId": str(ID), "SchemaDefinition": "{}", "DataFormat": "AVRO", "Status": "AVAILABLE"}
MISSING = "EntityNotFoundException"


def asking(monkeypatch, *answers):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    found = GlueRegistry(AwsAccess({"aws.region": "eu-west-1"}), GlueSchema("shop", "orders", "AVRO", registers=True))
    found._client = service = Service(*answers)
    return found, service


def test_requests_are_repeated_while_the_service_is_overloaded(monkeypatch, caplog):
    found, service = asking(monkeypatch, "ThrottlingException", "InternalServiceException", FOUND)
    monkeypatch.setattr(client, "THROTTLING", client.THROTTLING | {"InternalServiceException"})
    assert found.definition(ID) == "{}"
    assert service.asked == ["get_schema_version"] * 3
    assert len(caplog.records) == 1


def test_requests_are_not_repeated_for_ever_or_when_they_are_refused(monkeypatch):
    monkeypatch.setattr(glue, "PATIENCE_SECONDS", 0)
    for code in ("ThrottlingException", "AccessDeniedException"):
        found, service = asking(monkeypatch, code)
        with pytest.raises(AwsError, match=f"AWS Glue refuses a request for the schema 'orders'.*{code}"):
            found.definition(ID)
        assert len(service.asked) == 1


def test_a_version_counts_once_the_service_has_checked_it(monkeypatch):
    pending = {**FOUND, "Status": "PENDING"}
    found, service = asking(monkeypatch, MISSING, pending, pending, FOUND)
    assert found.version_of("{}") == ID
    assert service.asked == ["get_schema_by_definition", "register_schema_version", *["get_schema_version"] * 2]
    found, _ = asking(monkeypatch, MISSING, pending, {**FOUND, "Status": "FAILURE"})
    with pytest.raises(AwsError, match=r"does not accept a version of the schema 'orders'.*FAILURE"):
        found.version_of("{}")


def test_a_schema_that_another_task_has_created_gets_a_version(monkeypatch):
    found, service = asking(monkeypatch, MISSING, MISSING, "AlreadyExistsException", FOUND, FOUND)
    assert found.version_of("{}") == ID
    assert service.asked[2:4] == ["create_schema", "register_schema_version"]


def test_the_last_schemas_are_remembered_for_some_time(monkeypatch):
    made: list[UUID] = []
    remembered: Remembered[None] = Remembered(2, 10)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for number in (1, 2, 1, 3, 1, 2):
        remembered.get(UUID(int=number), made.append)
    assert [schema.int for schema in made] == [1, 2, 3, 2]
    now[0] = 11
    remembered.get(UUID(int=2), made.append)
    assert len(made) == 5


@pytest.mark.parametrize(
    ("more", "asked"), [({}, 2), ({"cache.size": "1"}, 4), ({"cache.ttlMs": "0"}, 4), ({"cache.ttlMs": "60000"}, 2)]
)
def test_readers_ask_once_for_each_schema_that_they_remember(moto, registry, monkeypatch, more, asked):
    older = writer(moto, registry)(("ann", 1))
    newer = writer(moto, registry, names=["who"], types=TYPES[:1])(("bob",))
    requests = []
    definition = GlueRegistry.definition

    def counted(own, key):
        requests.append(key)
        return definition(own, key)

    monkeypatch.setattr(GlueRegistry, "definition", counted)
    read = reader(moto, registry, **more)
    assert [read(message)[0] for message in (older, newer, older, newer)] == ["ann", "bob", "ann", "bob"]
    assert len(requests) == asked


def test_heads_can_be_read():
    assert split_message(head_of(ID, compressed=True) + zlib.compress(b"x")) == (ID, b"x")


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        ("avro-glue", {"aws.region": None}, "the option 'avro-glue.aws.region' is missing"),
        ("avro-glue", {"registry.name": None}, "the option 'avro-glue.registry.name' is missing"),
        ("json-glue", {"schema.name": None}, "the option 'json-glue.schema.name' is missing"),
        ("avro-glue", {"schema.compression": "GZIP"}, "must be one of NONE, ZLIB, got 'GZIP'"),
        ("avro-glue", {"schema.compatibility": "SOME"}, "must be one of NONE, DISABLED, BACKWARD, .*got 'SOME'"),
        ("avro-glue", {"aws.credentials.provider": "MINE"}, "'aws.credentials.provider' must be one of"),
        ("avro-glue", {"schema.type": "POJO"}, "must be one of GENERIC_RECORD, SPECIFIC_RECORD"),
    ],
)
def test_mistakes_in_options_are_found_when_a_statement_is_planned(kind, changed, message):
    given = {"aws.region": "eu-west-1", "registry.name": "r", "schema.name": "s", **changed}
    chosen = {f"{kind}.{key}": value for key, value in given.items() if value is not None}
    with pytest.raises(SqlError, match=message):
        decoder(kind, NAMES, TYPES, Options("t", {"connector": "kinesis", **chosen}))


def test_types_without_a_json_schema_are_refused(moto, registry):
    for kind in (DataTypes.MULTISET(DataTypes.INT()), DataTypes.MAP(DataTypes.INT(), DataTypes.INT())):
        with pytest.raises(SqlError, match=r"JSON Schema has no type for .* of the column 'm'"):
            reader(moto, registry, "json-glue", ["m"], [kind])


def test_a_json_schema_has_all_types(moto, registry):
    types = {
        "b": DataTypes.BOOLEAN(), "l": DataTypes.BIGINT(False), "d": DataTypes.DECIMAL(5, 2), "x": DataTypes.BYTES(),
        "at": DataTypes.TIMESTAMP(3), "a": DataTypes.ARRAY(DataTypes.INT()),
        "m": DataTypes.MAP(DataTypes.STRING(), DataTypes.DOUBLE()),
        "r": DataTypes.ROW([DataTypes.FIELD("p", DataTypes.DATE())]),
    }  # fmt: skip
    writer(moto, registry, "json-glue", list(types), list(types.values()))
    schema = json.loads(definitions(registry)[0]["SchemaDefinition"])
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["required"] == ["l"]
    assert schema["properties"]["l"] == {"type": "integer"}
    assert schema["properties"]["x"] == {"type": ["string", "null"], "contentEncoding": "base64"}
    assert schema["properties"]["at"]["format"] == "date-time"
    assert schema["properties"]["a"]["items"] == {"type": ["integer", "null"]}
    assert schema["properties"]["m"]["additionalProperties"] == {"type": ["number", "null"]}
    assert schema["properties"]["r"]["properties"]["p"] == {"type": ["string", "null"], "format": "date"}


@pytest.mark.parametrize("kind", ["avro-glue", "json-glue"])
def test_a_stream_of_kinesis_is_written_and_read_with_schemas(moto, registry, kind):
    stream = f"glue-{kind}"
    moto.create(stream, 2)
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    given = {"connector": "kinesis", "stream": stream, "format": kind, "source.init.position": "TRIM_HORIZON"}
    given |= {**moto.properties, **settings(moto, registry, kind)}
    given = {key: value for key, value in given.items() if not key.startswith(f"{kind}.aws.credentials")}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE orders (who STRING, n INT, at TIMESTAMP(3)) WITH ({text})")
    t_env.execute_sql(
        "INSERT INTO orders VALUES ('ann', 1, TIMESTAMP '2020-01-02 03:04:05.006'), ('bob', CAST(NULL AS INT), NULL)"
    ).wait()
    assert all(record["Data"][0] == 3 for record in moto.records(stream))
    with t_env.execute_sql("SELECT who, n, CAST(at AS STRING) FROM orders").collect() as rows:
        found = sorted(tuple(row) for row in itertools.islice(rows, 2))
    assert found == [("ann", 1, "2020-01-02 03:04:05.006"), ("bob", None, None)]


@pytest.mark.parametrize("kind", ["avro-glue", "json-glue"])
def test_streams_have_schemas_with_both_formats(moto, registry, kind):
    row_type = DataTypes.ROW([DataTypes.FIELD(name, of) for name, of in zip(NAMES, TYPES, strict=True)])
    given = settings(moto, registry, kind)
    message = FormatSerializationSchema(kind, row_type, given).serialize(Row(who="ann", n=7))
    assert UUID(bytes=message[2:18]) == UUID(definitions(registry)[0]["SchemaVersionId"])
    assert FormatDeserializationSchema(kind, row_type, given).deserialize(message) == Row(who="ann", n=7)
    with pytest.raises(SqlError, match=rf"FormatSerializationSchema\('{kind}'\).*'{kind}.registry.name' is missing"):
        FormatSerializationSchema(kind, row_type, {f"{kind}.aws.region": "us-east-1"})
