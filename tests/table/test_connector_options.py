"""A walk over the options of connectors and formats: each changes what is read or written, or is listed with a reason.

The results of CSV and raw values come from PyFlink 2.3.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka", reason="the extra 'kafka' is not installed: make setup")

from tests.options.fingerprints import text_of
from tests.table import page

from flintstream.table._connectors import changes, messages, registry
from flintstream.table._connectors.contract import ConnectorTable, SinkConnector, SourceConnector
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.times import alignment_of
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Column
from flintstream.table.types import DataTypes as T

TESTS = Path(__file__).parent
ROW = T.ROW([T.FIELD("x", T.INT())])
COLUMNS = [
    ("a", T.STRING()),
    ("n", T.INT()),
    ("d", T.DECIMAL(20, 10)),
    ("t", T.TIMESTAMP(3)),
    ("m", T.MAP(T.STRING(), T.INT())),
]
NULL_KEY = ("x", 1, None, None, {None: 2})

READS: dict[str, Any] = {
    "csv.allow-comments": ("true", "#x,1", 2),
    "csv.allow-trailing-comma": ("false", "x,1,", 2, {"csv.ignore-parse-errors": "true"}),
    "csv.array-element-delimiter": ("|", "1|2", [("l", T.ARRAY(T.INT()))]),
    "csv.disable-quote-character": ("true", '"x",1', 2),
    "csv.empty-string-as-null": ("true", ",1", 2),
    "csv.escape-character": ("\\", "x\\,y,1", 2),
    "csv.fail-on-missing-columns": ("true", "x", 2, {"csv.ignore-parse-errors": "true"}),
    "csv.field-delimiter": (";", "x;1", 2),
    "csv.ignore-parse-errors": ("true", "x,y", 2),
    "csv.ignore-trailing-unmappable": ("true", "x,1,2", 2),
    "csv.null-literal": ("NULL", "NULL,1", 2),
    "csv.quote-character": ("'", "'x',1", 2),
    "csv.trim-spaces": ("true", " x ,1", 2),
    "json.fail-on-missing-field": ("true", '{"a": "x"}'),
    "json.ignore-parse-errors": ("true", '{"n": "x"}'),
    "json.timestamp-format.standard": ("ISO-8601", '{"t": "2020-01-01T00:00:00"}'),
    "raw.charset": ("UTF-16LE", "x\0", 1),
    "raw.endianness": ("little-endian", "abcd", [("n", T.INT())]),
    "canal-json.database.include": ("b", '{"type": "INSERT", "database": "a", "data": [{"n": "1"}]}'),
    "canal-json.table.include": ("b", '{"type": "INSERT", "table": "a", "data": [{"n": "1"}]}'),
    "debezium-json.schema-include": ("true", '{"schema": {}, "payload": {"op": "c", "after": {"n": 1}}}'),
    **{f"{kind}.ignore-parse-errors": ("true", "?") for kind in changes.FORMATS},
    **{
        f"{kind}.timestamp-format.standard": ("ISO-8601", text)
        for kind, text in {
            "canal-json": '{"type": "INSERT", "data": [{"t": "2020-01-01T00:00:00"}]}',
            "debezium-json": '{"op": "c", "after": {"t": "2020-01-01T00:00:00"}}',
            "maxwell-json": '{"type": "insert", "data": {"t": "2020-01-01T00:00:00"}}',
            "ogg-json": '{"op_type": "I", "after": {"t": "2020-01-01T00:00:00"}}',
        }.items()
    },
}
"""For options of reading: a value, a message that is then read in another way, and its columns, or how many there are."""

_JSONS = ("json", *changes.FORMATS)
WRITES: dict[str, Any] = {
    "avro.encoding": ("json", ("x", 1), 2),
    "raw.endianness": ("little-endian", (1,), [("n", T.INT())]),
    "raw.charset": ("UTF-16", ("x",), 1),
    **{f"{kind}.encode.decimal-as-plain-number": ("true", ("x", 1, "1E-9", None, None)) for kind in _JSONS},
    **{f"{kind}.encode.ignore-null-fields": ("true", ("x", None, None, None, None)) for kind in _JSONS},
    **{f"{kind}.map-null-key.mode": ("DROP", NULL_KEY) for kind in _JSONS},
    **{
        f"{kind}.map-null-key.literal": ("none", NULL_KEY, 5, {f"{kind}.map-null-key.mode": "LITERAL"})
        for kind in _JSONS
    },
}
"""The same for options of writing, with a row."""

BUILT = {
    "datagen": {
        "fields.k.kind": "sequence fields.k.start=1 fields.k.end=3",
        "fields.k.start": "1 fields.k.kind=sequence fields.k.end=3",
        "fields.k.end": "3 fields.k.kind=sequence fields.k.start=1",
        "fields.k.length": "3",
        "fields.k.min": "3",
        "fields.k.max": "3",
        "fields.k.null-rate": "0.5",
        "fields.k.max-past": "5s",
        "fields.k.var-len": "true",
        "number-of-rows": "3",
        "rows-per-second": "3",
    },
    "faker": {
        "fields.k.expression": "y",
        "fields.k.null-rate": "0.5",
        "fields.k.locale": "de",
        "number-of-rows": "3",
        "rows-per-second": "3",
    },
    "filesystem": {
        "path": str(TESTS.parent),
        "format": "raw",
        "parquet.utc-timezone": "true format=parquet",
        "parquet.write.int64.timestamp": "true format=parquet",
        "parquet.timestamp.time.unit": "nanos format=parquet parquet.write.int64.timestamp=true",
        "orc.stripe.size": "1000000 format=orc",
        "partition.default-name": "none",
        "sink.parallelism": "3",
        "source.monitor-interval": "3s",
        "sink.rolling-policy.file-size": "1mb",
        "sink.rolling-policy.rollover-interval": "3s",
    },
    "mongodb": {
        "uri": "mongodb://y",
        "database": "y",
        "collection": "y",
        "scan.fetch-size": "3",
        "scan.partition.strategy": "single",
        "scan.partition.size": "3mb",
        "scan.partition.samples": "3",
        "scan.partition.record-size": "3",
        "lookup.cache": "PARTIAL",
        "lookup.max-retries": "5",
        "lookup.retry.interval": "3s",
        "lookup.partial-cache.max-rows": "3 lookup.cache=PARTIAL",
        "lookup.partial-cache.expire-after-write": "3s lookup.cache=PARTIAL",
        "lookup.partial-cache.expire-after-access": "3s lookup.cache=PARTIAL",
        "lookup.partial-cache.cache-missing-key": "false lookup.cache=PARTIAL",
        "sink.buffer-flush.interval": "3s",
        "sink.buffer-flush.max-rows": "3",
        "sink.bypass-document-validation": "true",
        "sink.max-retries": "5",
        "sink.ordered-writes": "false",
        "sink.parallelism": "3",
        "sink.retry.interval": "3s",
    },
    "jdbc": {
        "url": "jdbc:sqlite:y",
        "table-name": "y",
        "username": "y",
        "password": "y",
        "driver": "y",
        "lookup.cache": "PARTIAL",
        "lookup.cache.max-rows": "3 lookup.cache.ttl=3s",
        "lookup.cache.ttl": "3s lookup.cache.max-rows=3",
        "lookup.cache.caching-missing-key": "false lookup.cache=PARTIAL",
        "lookup.partial-cache.max-rows": "3 lookup.cache=PARTIAL",
        "lookup.partial-cache.expire-after-write": "3s lookup.cache=PARTIAL",
        "lookup.partial-cache.expire-after-access": "3s lookup.cache=PARTIAL",
        "lookup.partial-cache.cache-missing-key": "false lookup.cache=PARTIAL",
        "lookup.max-retries": "1",
        "scan.partition.column": "k scan.partition.num=2 scan.partition.lower-bound=1 scan.partition.upper-bound=9",
        "scan.partition.num": "2 scan.partition.column=k scan.partition.lower-bound=1 scan.partition.upper-bound=9",
        "scan.partition.lower-bound": "1 scan.partition.column=k scan.partition.num=2 scan.partition.upper-bound=9",
        "scan.partition.upper-bound": "9 scan.partition.column=k scan.partition.num=2 scan.partition.lower-bound=1",
        "sink.buffer-flush.max-rows": "3",
        "sink.buffer-flush.interval": "3s",
        "sink.max-retries": "1",
        "sink.parallelism": "3",
    },
    "kafka": {
        "topic": "y",
        "topic-pattern": "y topic=",
        "format": "raw",
        "key.format": "raw key.fields=k",
        "key.fields": "k key.format=raw",
        "key.fields-prefix": "k key.fields=k key.format=json value.fields-include=EXCEPT_KEY",
        "value.format": "raw",
        "value.fields-include": "EXCEPT_KEY key.fields=k key.format=raw",
        "properties.bootstrap.servers": "y:1",
        "properties.group.id": "y",
        "properties.auto.offset.reset": "latest",
        "scan.bounded.mode": "latest-offset",
        "scan.bounded.specific-offsets": "partition:0,offset:3 scan.bounded.mode=specific-offsets",
        "scan.bounded.timestamp-millis": "3 scan.bounded.mode=timestamp",
        "scan.startup.mode": "latest-offset",
        "scan.startup.specific-offsets": "partition:0,offset:3 scan.startup.mode=specific-offsets",
        "scan.startup.timestamp-millis": "3 scan.startup.mode=timestamp",
        "scan.topic-partition-discovery.interval": "3s",
        "sink.delivery-guarantee": "none",
        "sink.semantic": "none",
        "sink.parallelism": "3",
        "sink.partitioner": "fixed",
        "sink.transactional-id-prefix": "y sink.delivery-guarantee=exactly-once",
    },
    "print": {"print-identifier": "y", "standard-error": "true", "sink.parallelism": "3"},
}
"""For options of connectors: another value, and the options without which it has no meaning."""

ELSEWHERE = {
    "test_aws.py": (
        "aws.region delivery-stream stream stream.arn scan.stream.initpos scan.stream.initpos-timestamp "
        "scan.stream.initpos-timestamp-format scan.shard.discovery.intervalmillis scan.shard.getrecords.intervalmillis "
        "scan.shard.getrecords.maxrecordcount sink.batch.max-size sink.fail-on-error sink.flush-buffer.size "
        "sink.partitioner-field-delimiter table-name sink.ignore-nulls"
    ),
    "../connectors/aws/test_glue.py": (
        "avro-glue.aws.region registry.name schema.name schema.autoRegistration schema.compatibility "
        "schema.compression schema.fetchFromRegistry avro.namespace avro.record-name cache.size cache.ttlMs "
        "json-glue.aws.region"
    ),
    "../connectors/aws/test_glue_protobuf.py": "protobuf-glue.aws.region message-index",
    "test_avro_confluent.py": (
        "avro-confluent.schema avro-confluent.subject avro-confluent.url user-info credentials-source token "
        "truststore.location truststore.password keystore.location keystore.password "
        "debezium-avro-confluent.schema debezium-avro-confluent.subject debezium-avro-confluent.url"
    ),
    "test_protobuf.py": "message-class-name descriptor-set read-default-values write-null-string-literal "
    "protobuf.ignore-parse-errors",
    "test_files.py": "auto-compaction compaction.file-size json-parser.enabled compression compress",
    "test_directories_of_files.py": (
        "class kind timestamp-formatter timestamp-pattern trigger delay watermark-time-zone success-file.name"
    ),
    "test_elasticsearch.py": (
        "hosts index document-type document-id.key-delimiter username password failure-handler connection.path-prefix "
        "max-actions max-size strategy max-retries delay connection.timeout socket.timeout"
    ),
    "test_faker.py": "fields.k.length",
    "lakes/test_delta_tables.py": (
        "mode versionAsOf timestampAsOf startingVersion startingTimestamp updateCheckIntervalMillis ignoreDeletes "
        "ignoreChanges"
    ),
    "lakes/test_inserts.py": "table-path catalog-type catalog-name catalog-database catalog-table uri warehouse",
    "lakes/test_iceberg_catalogs.py": (
        "streaming monitor-interval starting-strategy start-snapshot-id start-snapshot-timestamp end-snapshot-id "
        "snapshot-id as-of-timestamp branch tag upsert-enabled compaction-enabled"
    ),
    "test_watermarks.py": "scan.watermark.idle-timeout group max-drift",
}
"""Options that another test of this folder shows: its text has the last part."""

HERE = {
    "avro.codec",
    "avro.timestamp_mapping.legacy",
    "source.path.regex-pattern",
    "scan.parallelism",
    "scan.watermark.alignment.update-interval",
}
"""Options whose effect a test below shows."""


def columns_of(given):
    return given if isinstance(given, list) else COLUMNS[:given]


def outcome(work):
    try:
        return work()
    except (ValueError, SqlError) as error:
        return type(error).__name__


def read(kind, message, columns, options):
    names, types = zip(*columns, strict=True)
    given = Options("t", {"connector": "kafka", **options})
    decoder: Any
    if kind in changes.FORMATS:
        decoder = changes.ChangeDecoder(kind, names, types, given, "")
    else:
        decoder = messages.decoder(kind, names, types, given)
    return outcome(lambda: decoder.decode()(message.encode()))


def write(kind, row, columns, options):
    names, types = zip(*columns, strict=True)
    given = Options("t", {"connector": "kafka", **options})
    made = [Decimal(value) if name == "d" and value else value for (name, _), value in zip(columns, row, strict=True)]
    if kind in changes.FORMATS:
        return outcome(lambda: changes.ChangeEncoder(kind, names, types, given, "").encode()([*made, 0]))
    return outcome(lambda: messages.encoder(kind, names, types, given).encode()(made))


@pytest.mark.parametrize("key", sorted(READS))
def test_an_option_changes_what_is_read(key):
    value, message, count, other = (*READS[key], 5, {})[:4] if len(READS[key]) == 2 else (*READS[key], {})[:4]
    kind, columns = key.partition(".")[0], columns_of(count)
    assert read(kind, message, columns, {**other, key: value}) != read(kind, message, columns, other)


@pytest.mark.parametrize("key", sorted(WRITES))
def test_an_option_changes_what_is_written(key):
    value, row, count, other = (*WRITES[key], 5, {})[:4] if len(WRITES[key]) == 2 else (*WRITES[key], {})[:4]
    kind, columns = key.partition(".")[0], columns_of(count)
    assert write(kind, row, columns, {**other, key: value}) != write(kind, row, columns, other)


_NEEDED = {
    "avro-confluent": {"avro-confluent.url": "http://x"},
    "debezium-avro-confluent": {"debezium-avro-confluent.url": "http://x"},
    "avro-glue": {"avro-glue.aws.region": "r", "avro-glue.registry.name": "r", "avro-glue.schema.name": "s"},
    "json-glue": {"json-glue.aws.region": "r", "json-glue.registry.name": "r", "json-glue.schema.name": "s"},
    "protobuf-glue": {
        "protobuf-glue.aws.region": "r",
        "protobuf-glue.registry.name": "r",
        "protobuf-glue.schema.name": "s",
    },
    "protobuf": {"protobuf.message-class-name": "google.protobuf.wrappers_pb2.StringValue"},
}
"""The options that a format does not do without."""


def _accepted():
    """Return the options that connectors accept with each format, and those of them that are listed without effect."""
    accepted, listed = set(), set()
    for name in registry.BUILT_IN:
        formats = {"filesystem": page._FORMATS["filesystem"], "kafka": (*messages.FORMATS, *messages.OF_CHANGES)}
        for kind in formats.get(name, ("",)):
            more = {"format": kind, **_NEEDED.get(kind, {})} if kind else {}
            options = Options("t", {"connector": name, **page._REQUIRED.get(name, {}), **more})
            column = "value" if kind == "protobuf" else "k"
            table = ConnectorTable("t", [Column(column, T.STRING())], options, [column])
            connector = registry.find("t", name)
            if isinstance(connector, SourceConnector):
                connector.source(table)
            if isinstance(connector, SinkConnector):
                connector.sink(table)
            accepted |= set(options.read)
            listed |= set(options.without_effect)
    return {key.removeprefix("key.json.").removeprefix("value.json.") for key in accepted - listed} - {"connector"}


def _built(name, options):
    """Return the text of all parts of what a connector makes of a table."""
    given = {"connector": name, **page._REQUIRED.get(name, {}), **options}
    given = {key: value for key, value in given.items() if value}
    kind = T.INT() if name == "datagen" and ("fields.k.min" in options or "fields.k.max" in options) else T.STRING()
    columns = (
        [Column("k", kind)] if given.get("value.fields-include") is None else [Column("k", kind), Column("v", kind)]
    )
    table = ConnectorTable("t", columns, Options("t", given), ["k"], ["k"] if "partition.default-name" in given else ())
    if "partition.default-name" in given:
        table = replace(table, columns=[*columns, Column("v", kind)])
    connector = registry.find("t", name)
    made = []
    if isinstance(connector, SourceConnector):
        source = outcome(lambda: connector.source(table))
        made += [source, getattr(source, "lookup", None) and outcome(lambda: source.lookup([0]))]
    if isinstance(connector, SinkConnector):
        made.append(outcome(lambda: connector.sink(table)))
    return text_of(made)


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in BUILT.items() for key in keys])
def test_an_option_changes_what_a_connector_makes(name, key):
    value, *others = BUILT[name][key].split(" ")
    own = dict(item.split("=", 1) for item in others)
    assert _built(name, {**own, key: value}) != _built(name, own)


def test_every_option_is_shown_to_act_or_listed():
    named = {word for words in ELSEWHERE.values() for word in words.split()}
    parts = {key.partition(".")[2] for key in (*READS, *WRITES)}  # of the formats of keys and values
    built = {key for keys in BUILT.values() for key in keys}
    of_debezium = {
        "database.include",
        "table.include",
    }  # those of Canal are the same code; schema-include is Debezium's
    open_ = [
        key
        for key in sorted(_accepted())
        if key not in {*READS, *WRITES, *HERE, *built, *parts}
        and not any(key == word or key.endswith(f".{word}") for word in named)
        and key.replace("json-glue.", "json.") not in {*READS, *WRITES}  # the same code
        and not (key.partition(".")[2] in {*of_debezium, "schema-include"} and key.partition(".")[0] in changes.FORMATS)
    ]
    assert open_ == []


@pytest.mark.parametrize("file", sorted(ELSEWHERE))
def test_another_test_names_an_option(file):
    text = (TESTS / file).read_text(encoding="utf-8")
    assert [word for word in ELSEWHERE[file].split() if word.rpartition(".")[2] not in text] == []


# -- options that are shown here ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "order", "message"),
    [
        (T.SMALLINT(), 258, "big-endian", b"\x01\x02"),
        (T.SMALLINT(), 258, "little-endian", b"\x02\x01"),
        (T.INT(), 16909060, "big-endian", b"\x01\x02\x03\x04"),
        (T.BIGINT(), 72623859790382856, "little-endian", b"\x08\x07\x06\x05\x04\x03\x02\x01"),
        (T.FLOAT(), 1.5, "big-endian", b"?\xc0\x00\x00"),
        (T.DOUBLE(), 1.5, "little-endian", b"\x00\x00\x00\x00\x00\x00\xf8?"),
        (T.BOOLEAN(), True, "big-endian", b"\x01"),
        (T.TINYINT(), 5, "little-endian", b"\x05"),
    ],
)
def test_raw_numbers_have_an_order_of_bytes(kind, value, order, message):
    options = {"raw.endianness": order}
    assert write("raw", (value,), [("a", kind)], options) == message
    decoder = messages.decoder("raw", ["a"], [kind], Options("t", {"connector": "kafka", **options}))
    assert decoder.decode()(message) == (value,)
    with pytest.raises(ValueError, match="the format 'raw' reads"):
        decoder.decode()(message + b"x")


@pytest.mark.parametrize(
    ("charset", "message"),
    [
        ("UTF-8", b"h\xc3\xa9llo"),
        ("ISO-8859-1", b"h\xe9llo"),
        ("UTF-16", b"\xfe\xff\x00h\x00\xe9\x00l\x00l\x00o"),
        ("UTF-16LE", b"h\x00\xe9\x00l\x00l\x00o\x00"),
        ("GBK", b"h\xa8\xa6llo"),
    ],
)
def test_raw_texts_have_a_charset(charset, message):
    options = {"raw.charset": charset}
    assert write("raw", ("h\xe9llo",), [("a", T.STRING())], options) == message
    decoder = messages.decoder("raw", ["a"], [T.STRING()], Options("t", {"connector": "kafka", **options}))
    assert decoder.decode()(message) == ("h\xe9llo",)


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({"csv.ignore-trailing-unmappable": "true"}, "x,1,y,z", [("x", 1, "y")]),
        ({"csv.fail-on-missing-columns": "true", "csv.ignore-parse-errors": "true"}, "x,1", []),
        ({"csv.ignore-parse-errors": "true"}, "x,1", [("x", 1, None)]),
        ({"csv.ignore-parse-errors": "true"}, "x,1,y,z", []),
        ({"csv.empty-string-as-null": "true"}, ",,", [(None, None, None)]),
        ({"csv.empty-string-as-null": "true"}, '"",1,""', [(None, 1, None)]),
        ({}, '"",1,""', [("", 1, "")]),
        ({}, "x,1,y,", [("x", 1, "y")]),
        ({"csv.allow-trailing-comma": "false", "csv.ignore-parse-errors": "true"}, "x,1,y,", []),
        ({"csv.trim-spaces": "true"}, '  x y , 1,  " y, z " ', [("x y", 1, " y, z ")]),
        ({}, " x ,1, y ", [(" x ", 1, " y ")]),
    ],
)
def test_csv_files_are_read_as_options_say(t_env, tmp_path, options, text, expected):
    (tmp_path / "rows.csv").write_text(f"{text}\n")
    more = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        "CREATE TABLE f (a STRING, b INT, c STRING) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv'{more})"
    )
    with t_env.execute_sql("SELECT * FROM f").collect() as rows:
        assert [tuple(row) for row in rows] == expected


def test_avro_files_are_compressed(t_env, tmp_path):
    t_env.execute_sql(
        f"CREATE TABLE f (a STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro', "
        "'avro.codec' = 'deflate')"
    )
    t_env.execute_sql("INSERT INTO f VALUES ('x')").wait()
    assert all(b"deflate" in file.read_bytes() for file in tmp_path.iterdir())
    with t_env.execute_sql("SELECT * FROM f").collect() as rows:
        assert [tuple(row) for row in rows] == [("x",)]


def test_avro_files_have_local_timestamps_without_the_legacy_mapping(t_env, tmp_path):
    import fastavro

    columns = "(a TIMESTAMP(3), b TIMESTAMP(6), c TIMESTAMP_LTZ(3), d ARRAY<TIMESTAMP(3)>)"
    time = "TIMESTAMP '2020-01-02 03:04:05.006'"
    found = {}
    for legacy in ("true", "false"):
        path = tmp_path / legacy
        t_env.execute_sql(
            f"CREATE TABLE f_{legacy} {columns} WITH ('connector' = 'filesystem', 'path' = '{path}', "
            f"'format' = 'avro', 'avro.timestamp_mapping.legacy' = '{legacy}')"
        )
        t_env.execute_sql(f"INSERT INTO f_{legacy} SELECT {time}, {time}, TO_TIMESTAMP_LTZ(1, 3), ARRAY[{time}]").wait()
        with next(path.iterdir()).open("rb") as file:
            schema: Any = fastavro.reader(file).writer_schema
        kinds = {field["name"]: field["type"][1] for field in schema["fields"]}
        found[legacy] = [kinds[name]["logicalType"] for name in "abc"] + [kinds["d"]["items"][1]["logicalType"]]
        with t_env.execute_sql(
            f"SELECT CAST(a AS STRING), b = a, c = TO_TIMESTAMP_LTZ(1, 3), d[1] = a FROM f_{legacy}"
        ).collect() as rows:
            assert [tuple(row) for row in rows] == [("2020-01-02 03:04:05.006", True, True, True)]
    assert found["true"] == ["timestamp-millis", "timestamp-micros", "timestamp-millis", "timestamp-millis"]
    assert found["false"] == [
        "local-timestamp-millis", "local-timestamp-micros", "timestamp-millis", "local-timestamp-millis",
    ]  # fmt: skip


def test_messages_of_avro_as_json_are_read_back():
    columns = [("a", T.STRING()), ("t", T.TIMESTAMP(3)), ("l", T.ARRAY(T.INT())), ("d", T.DECIMAL(6, 2))]
    names, types = zip(*columns, strict=True)
    given = Options("t", {"connector": "kafka", "avro.encoding": "json"})
    rows = [("x", dt.datetime(2020, 1, 1), [1, None], Decimal("1.50")), (None, None, None, None)]
    encode = messages.encoder("avro", names, types, given).encode()
    decode = messages.decoder("avro", names, types, given).decode()
    written = [encode(row) for row in rows]
    assert json.loads(written[0])["a"] == {"string": "x"}
    assert [decode(message) for message in written] == rows
    with pytest.raises(SqlError, match=r"'avro.encoding' must be binary or json, but got 'xml'"):
        messages.decoder("avro", names, types, Options("t", {"connector": "kafka", "avro.encoding": "xml"}))


@pytest.mark.parametrize(("unit", "arrow"), [("millis", "ms"), ("micros", "us"), ("nanos", "ns")])
def test_parquet_files_have_timestamps_in_a_unit(t_env, tmp_path, unit, arrow):
    import pyarrow.parquet as pq

    t_env.execute_sql(
        "CREATE TABLE f (a TIMESTAMP(6), b ARRAY<TIMESTAMP_LTZ(6)>) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'parquet', 'parquet.utc-timezone' = 'true', "
        f"'parquet.write.int64.timestamp' = 'true', 'parquet.timestamp.time.unit' = '{unit}')"
    )
    t_env.execute_sql(
        "INSERT INTO f SELECT TIMESTAMP '2020-01-01 00:00:00.123456', ARRAY[TO_TIMESTAMP_LTZ(1500, 3)]"
    ).wait()
    kinds = pq.read_schema(next(tmp_path.iterdir())).types
    assert str(kinds[0]) == f"timestamp[{arrow}]"
    assert f"timestamp[{arrow}, tz=UTC]" in str(kinds[1])
    with t_env.execute_sql("SELECT CAST(a AS STRING), b[1] = TO_TIMESTAMP_LTZ(1500, 3) FROM f").collect() as rows:
        assert [tuple(row) for row in rows] == [(f"2020-01-01 00:00:00.{123000 if unit == 'millis' else 123456}", True)]


def test_a_source_has_a_parallelism(t_env):
    t_env.execute_sql("CREATE TABLE g (a INT) WITH ('connector' = 'datagen', 'scan.parallelism' = '3')")
    table = t_env.from_path("g")
    stream = table._node.open(table._executor.env)
    assert stream._transformation.parallelism == 3


@pytest.mark.parametrize("partitions", [[0], [0, 1, 2, 3]])
def test_the_fixed_partitioner_chooses_one_partition(partitions):
    from flintstream.table._connectors.kafka.writing import OnePartition

    chosen = OnePartition()
    assert len({chosen(None, None, None, "t", partitions) for _ in range(20)}) == 1


def test_sources_compare_their_watermarks_so_often():
    options = {f"scan.watermark.alignment.{key}": value for key, value in (("group", "g"), ("max-drift", "1s"))}
    assert alignment_of("t", options) == ("g", 1_000, 1_000)
    assert alignment_of("t", {**options, "scan.watermark.alignment.update-interval": "5s"}) == ("g", 1_000, 5_000)


def test_the_older_name_of_the_guarantee_is_read():
    values = {"connector": "kafka", **page._REQUIRED["kafka"], "sink.semantic": "at-least-twice"}
    table = ConnectorTable("t", [Column("k", T.STRING())], Options("t", values))
    with pytest.raises(SqlError, match=r"'sink.delivery-guarantee' does not accept 'at-least-twice'"):
        registry.sink_of(table)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r".*/a-\d+\.csv", {1, 2}), (r".*\.csv", {1, 2, 3, 4}), ("a-1", set()), (".*/sub/.*(?<=x|[ab])-2.csv", {2})],
)
def test_files_are_read_whose_whole_path_matches(t_env, tmp_path, pattern, expected):
    for number, name in enumerate(["a-1.csv", "sub/a-2.csv", "b-1.csv", "sub/deep/c.csv"], 1):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{number}\n")
    (tmp_path / "_a-3.csv").write_text("5\n")
    t_env.execute_sql(
        f"CREATE TABLE f (n INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv', "
        f"'source.path.regex-pattern' = '{pattern}')"
    )
    with t_env.execute_sql("SELECT * FROM f").collect() as rows:
        assert {row[0] for row in rows} == expected


def test_a_table_with_options_of_readers_is_written_too(t_env, tmp_path):
    t_env.execute_sql(
        "CREATE TABLE f (n INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true', "
        f"'csv.trim-spaces' = 'true', 'csv.ignore-trailing-unmappable' = 'true', 'path' = '{tmp_path}')"
    )
    t_env.execute_sql("INSERT INTO f VALUES (1)").wait()
    with t_env.execute_sql("SELECT * FROM f").collect() as rows:
        assert [tuple(row) for row in rows] == [(1,)]
