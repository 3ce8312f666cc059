"""Passwords appear neither in errors, logs and checkpoints nor in the text of objects, on command lines, or in what
other programs are told.
"""

from __future__ import annotations

import base64
import json
import logging
import pickle
import re
import subprocess
import sys
import threading
import traceback
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest
from pyspark.sql import SparkSession
from tests.waiting import wait_for

from flintstream.checkpoint.codec import decode_one, encode_one
from flintstream.checkpoint.metadata import from_bytes
from flintstream.common import Configuration, Encoder, SimpleStringSchema, Types, WatermarkStrategy
from flintstream.common._text.secrets import without_secrets
from flintstream.connectors.kafka import client, offsets, transactions, writing
from flintstream.connectors.kafka.dynamic import DynamicSplit
from flintstream.connectors.kafka.reader import KafkaSplit
from flintstream.coordinator.monitoring.descriptions import checkpoints_of, metrics_of, status_of
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors import DeliveryGuarantee
from flintstream.datastream.connectors.data_frame import DataFrameSink
from flintstream.datastream.connectors.dynamic_kafka import DynamicKafkaSource, SingleClusterTopicMetadataService
from flintstream.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder, ElasticsearchEmitter
from flintstream.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource
from flintstream.datastream.formats.csv import CsvReaderFormat, CsvSchema
from flintstream.datastream.formats.orc import OrcColumnarRowInputFormat
from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat
from flintstream.engine.frames.sessions import check_spark
from flintstream.engine.spark.connect import refuse_connect
from flintstream.engine.spark.session import warn_of_unused
from flintstream.errors import FlintstreamError, PlanError
from flintstream.savepoint import Savepoint
from flintstream.storage.location import Location
from flintstream.storage.remote import FsspecFileStore
from flintstream.storage.stores import file_store
from flintstream.table import DataTypes

pytestmark = pytest.mark.slow

MARK = "m4rk3d-s3cr3t"
NOWHERE = "127.0.0.1:1"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} username="me" password="{MARK}";',
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Ask a Kafka broker only once: nothing listens on the port."""
    for module in (offsets, writing, transactions):
        once = {"REQUEST_SECONDS": 0.2, "TIMEOUT_SECONDS": 0.2, "patiently": partial(client.patiently, seconds=0.1)}
        for name in once.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, once[name])


def environment(tmp_path):
    settings = {
        "flintstream.engine": "inline",
        "restart-strategy.type": "none",
        "sasl.password": MARK,
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)), settings


def rabbit():
    return RMQConnectionConfig.Builder().set_uri(f"amqp://me:{MARK}@{NOWHERE}/").set_automatic_recovery(False).build()


def words(env):
    return env.from_collection(["a", "b"], Types.STRING())


def to_rabbitmq(env):
    words(env).add_sink(RMQSink(rabbit(), "queue", SimpleStringSchema()))


def from_rabbitmq(env):
    env.add_source(RMQSource(rabbit(), "queue", False, SimpleStringSchema())).print()


def to_elasticsearch(env, host=f"http://me:{MARK}@{NOWHERE}", password=None):
    builder = Elasticsearch7SinkBuilder().set_hosts(host)
    builder.set_emitter(ElasticsearchEmitter.static_index("words"))
    if password is not None:
        builder.set_connection_username("me").set_connection_password(password)
    rows = words(env).map(lambda word: {"word": word}, Types.MAP(Types.STRING(), Types.STRING()))
    rows.sink_to(builder.build())


def to_elasticsearch_with_a_password(env):
    to_elasticsearch(env, f"http://{NOWHERE}", MARK)


def to_database(env, url, password=None):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if password is not None:
        builder.with_user_name("me").with_password(password)
    options = builder.build()
    assert MARK not in repr(options)
    rows = words(env).map(lambda word: (word,), Types.TUPLE([Types.STRING()]))
    once = JdbcExecutionOptions.builder().with_max_retries(0).build()
    rows.add_sink(JdbcSink.sink("insert into words values (?)", Types.TUPLE([Types.STRING()]), options, once))


def to_postgresql(env):
    to_database(env, f"jdbc:postgresql://{NOWHERE}/db?user=me&password={MARK}")


def to_postgresql_with_a_password(env):
    to_database(env, f"jdbc:postgresql://{NOWHERE}/db", MARK)


def to_mysql(env):
    to_database(env, f"jdbc:mysql://me:{MARK}@{NOWHERE}/db")


def to_another_database(env):
    to_database(env, f"postgresql+psycopg://me:{MARK}@{NOWHERE}/db")


def to_kafka(env, guarantee=DeliveryGuarantee.AT_LEAST_ONCE):
    topic = KafkaRecordSerializationSchema.builder().set_topic("words")
    schema = topic.set_value_serialization_schema(SimpleStringSchema()).build()
    builder = KafkaSink.builder().set_bootstrap_servers(NOWHERE).set_record_serializer(schema)
    builder.set_delivery_guarantee(guarantee).set_transactional_id_prefix("words")
    for key, value in {**LOGIN, "delivery.timeout.ms": "200", "request.timeout.ms": "100", "linger.ms": "0"}.items():
        builder.set_property(key, value)
    words(env).sink_to(builder.build())


def from_kafka(env):
    builder = KafkaSource.builder().set_bootstrap_servers(NOWHERE).set_topics("words").set_properties(LOGIN)
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "words").print()


def from_several_clusters(env):
    service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": NOWHERE, **LOGIN})
    builder = DynamicKafkaSource.builder().set_kafka_metadata_service(service).set_stream_ids({"words"})
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "words").print()


CONNECTORS = [
    to_rabbitmq,
    from_rabbitmq,
    to_elasticsearch,
    to_elasticsearch_with_a_password,
    to_postgresql,
    to_postgresql_with_a_password,
    to_mysql,
    to_another_database,
    to_kafka,
    from_kafka,
    from_several_clusters,
]


@pytest.mark.promise("S22")
@pytest.mark.parametrize("build", CONNECTORS, ids=lambda f: f.__name__)
def test_a_connector_that_finds_no_server_does_not_show_the_password(build, caplog, capfd, tmp_path):
    caplog.set_level(logging.DEBUG)
    env, _ = environment(tmp_path)
    build(env)
    assert MARK not in env.get_execution_plan()
    job = env.execute_async("job")
    with pytest.raises(Exception) as raised:
        job.get_job_execution_result().result()
    out, err = capfd.readouterr()
    told = "".join(traceback.format_exception(raised.value)) + "".join(map(repr, causes(raised.value)))
    running = job._handle._job
    answers = json.dumps([status_of(running), checkpoints_of(running), metrics_of(running)])
    assert "127.0.0.1" in told + caplog.text, "it says which server"
    assert MARK not in told + caplog.text + out + err + answers
    assert not secrets_in(tmp_path)


@pytest.mark.promise("S24")
def test_output_for_kafka_that_waits_for_its_commit_in_a_checkpoint_has_no_password(tmp_path):
    env, _ = environment(tmp_path)
    to_kafka(env, DeliveryGuarantee.EXACTLY_ONCE)
    job = env.execute_async("job")
    (written,) = wait_for(lambda: list(tmp_path.rglob("_metadata"))[:1], job)
    assert from_bytes(written.read_bytes(), "here").committables
    assert not secrets_in(tmp_path)
    job.cancel().result()


def causes(error):
    """Return an error and all that it came from, whether or not Python shows them."""
    found: list[Any] = []
    waiting = [error]
    while waiting:
        cause = waiting.pop()
        if cause is not None and all(cause is not known for known in found):
            found.append(cause)
            waiting += [cause.__cause__, cause.__context__]
    return found


def secrets_in(directory):
    """Return the files that contain the secret, plain or in base 64 at any offset."""
    texts = [MARK.encode()]
    texts += [base64.b64encode(b"x" * shift + MARK.encode())[4 if shift else 0 : -4] for shift in range(3)]
    files = [path for path in directory.rglob("*") if path.is_file()]
    return [path for path in files if any(text in path.read_bytes() for text in texts)]


def test_the_search_for_secrets_in_files_finds_them(tmp_path):
    for shift in range(3):
        (tmp_path / f"{shift}").write_bytes(base64.b64encode(b"." * shift + MARK.encode() + b"..."))
    (tmp_path / "plain").write_text(f"..{MARK}..")
    (tmp_path / "none").write_text(MARK[:-1])
    assert len(secrets_in(tmp_path)) == 4


@pytest.mark.promise("S24")
def test_a_checkpoint_of_a_dynamic_kafka_source_has_no_passwords_and_a_restored_one_asks_for_them():
    service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": NOWHERE, **LOGIN})
    builder = DynamicKafkaSource.builder().set_kafka_metadata_service(service).set_stream_ids({"words"})
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    enumerator: Any = source.create_enumerator(1)
    enumerator._look()
    properties = enumerator._clusters["east"].properties
    split = DynamicSplit("east/words-0", "east", properties, KafkaSplit("words-0", "words", 0, 7))
    data = encode_one((enumerator.snapshot(), [split]))
    assert MARK.encode() not in data
    state, (restored,) = decode_one(data, allow_pickle=False)
    again: Any = source.create_enumerator(1)
    again.restore(state)
    assert again._clusters["east"].properties == properties
    assert restored.properties["sasl.jaas.config"] == "***"
    assert again._source.properties_of("east", restored.properties) == properties
    assert again._source.properties_of("west", restored.properties) is None


@pytest.mark.promise("S25")
@pytest.mark.parametrize("uri", [f"ftp://me:{MARK}@host/in", f"simplecache::sftp://me:{MARK}@host/in"])
def test_a_path_with_a_password_is_refused_because_paths_are_shown(uri):
    with pytest.raises(PlanError, match=r"must not contain a password, got '\w.*://me:\*\*\*@host/in'") as refused:
        Location.parse(uri)
    assert MARK not in "".join(traceback.format_exception(refused.value))
    for harmless in ("hdfs://name:8020/a@b", "abfs://container@account/x", "https://host:80/in?user=a@b", "/a://b:c@d"):
        assert str(Location.parse(harmless)) == harmless.replace("://b", ":/b")


WRONG: Any = [MARK]
"""A password of the wrong type."""


def kafka(properties):
    return KafkaSource.builder().set_bootstrap_servers(NOWHERE).set_topics("t").set_properties(properties)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: RMQConnectionConfig.Builder().set_uri(f"http://me:{MARK}@host"),
        lambda: RMQConnectionConfig.Builder().set_uri(f"amqp://me:{MARK}@"),
        lambda: RMQConnectionConfig.Builder().set_password(WRONG),
        lambda: Elasticsearch7SinkBuilder().set_hosts(f"http://me:{MARK}@host:port"),
        lambda: Elasticsearch7SinkBuilder().set_hosts(f"http://me:{MARK}@host/path"),
        lambda: Elasticsearch7SinkBuilder().set_hosts(f"ftp://me:{MARK}@host"),
        lambda: Elasticsearch7SinkBuilder().set_connection_password(WRONG),
        lambda: (
            JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:odd://h/d?password={MARK}").build()
        ),
        lambda: JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_password(WRONG),
        lambda: kafka({"sasl.jaas.config": f'odd.LoginModule required password="{MARK}";'}).build(),
        lambda: kafka({"sasl.jaas.config": f'{PLAIN} password="{MARK}";'}).build(),
        lambda: kafka({"sasl.password": WRONG}),
        lambda: kafka({"ssl.keystore.password": MARK, "ssl.keystore.location": "/nowhere.jks"}).build(),
    ],
)
def test_a_refused_setting_does_not_show_the_password(refused):
    with pytest.raises((ValueError, TypeError, NotImplementedError)) as raised:
        refused()
    assert MARK not in "".join(traceback.format_exception(raised.value))


# -- files of other file systems ---------------------------------------------------------------------------------------


class _Answers(BaseHTTPRequestHandler):
    """Answers of a web server that may refuse all requests, or those for parts of a file."""

    protocol_version = "HTTP/1.1"  # for clients that ask before they send
    server: Any

    def log_message(self, *_: Any) -> None:
        """Be quiet."""

    def do_HEAD(self) -> None:
        self._answer(self.server.code)

    def do_GET(self) -> None:
        self.wfile.write(self._answer(self.server.code_of_parts if "Range" in self.headers else self.server.code))

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.wfile.write(self._answer(self.server.code))

    do_POST = do_PUT  # noqa: N815

    def _answer(self, code: int) -> bytes:
        data: bytes = self.server.data if code == 200 else self.server.refusal
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        return data


@pytest.fixture
def web():
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.code, server.code_of_parts, server.data, server.refusal = 200, 200, b"", b""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def all_of(error):
    """Return everything that an error says, and everything that it came from."""
    return "".join(traceback.format_exception(error)) + "".join(f"{cause}{cause!r}" for cause in causes(error))


def columns():
    return DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])


FORMATS: dict[str, Any] = {
    "txt": lambda url: FileSource.for_record_stream_format(StreamFormat.text_line_format("UTF-8"), url),
    "csv": lambda url: FileSource.for_record_stream_format(
        CsvReaderFormat.for_schema(CsvSchema.builder().add_number_column("n").build()), url
    ),
    "parquet": lambda url: FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(columns()), url),
    "orc": lambda url: FileSource.for_bulk_file_format(OrcColumnarRowInputFormat(columns()), url),
}


@pytest.mark.parametrize(("kind", "code"), [*((kind, 403) for kind in FORMATS), ("csv", 200), ("parquet", 200)])
def test_a_file_that_cannot_be_read_is_named_without_the_token_of_its_signed_url(kind, code, web, caplog, tmp_path):
    caplog.set_level(logging.INFO)
    web.code_of_parts, web.data = code, b"damaged\n" * 100
    env, _ = environment(tmp_path)
    url = f"http://127.0.0.1:{web.server_port}/in.{kind}?version=1&sig={MARK}"
    env.from_source(FORMATS[kind](url).build(), WatermarkStrategy.no_watermarks(), "file").print()
    with pytest.raises(Exception, match=re.escape(f"127.0.0.1:{web.server_port}/in.{kind}?version=1&sig=***")) as no:
        env.execute("job")
    assert MARK not in all_of(no.value) + caplog.text


@pytest.mark.parametrize("code", [403, 404, 500])
def test_a_file_that_is_refused_after_the_job_was_built_fails_it(code, web, tmp_path):
    web.data = b"one\n"
    env, _ = environment(tmp_path)
    url = f"http://127.0.0.1:{web.server_port}/in.txt?sig={MARK}"
    env.from_source(FORMATS["txt"](url).build(), WatermarkStrategy.no_watermarks(), "file").print()
    web.code = code
    with pytest.raises(Exception, match=r"in\.txt") as no:
        env.execute("job")
    assert MARK not in all_of(no.value)


def test_a_file_that_does_not_exist_is_named_without_the_token_of_its_signed_url(web):
    web.code = 404
    with pytest.raises(FileNotFoundError, match=r"the input path .*&sig=\*\*\* does not exist") as no:
        FORMATS["txt"](f"http://127.0.0.1:{web.server_port}/in.txt?v=1&sig={MARK}").build()
    assert MARK not in all_of(no.value)


def test_a_signed_url_is_read(web, capfd, tmp_path):
    web.data = b"one\ntwo\n"
    env, _ = environment(tmp_path)
    url = f"http://127.0.0.1:{web.server_port}/in.txt?sig={MARK}"
    env.set_parallelism(1).read_text_file(url).print()
    assert "Text file http://127.0.0.1" in env.get_execution_plan()
    assert MARK not in env.get_execution_plan()
    env.execute("job")
    assert capfd.readouterr().out == "one\ntwo\n"


@pytest.mark.parametrize(
    "refused",
    [
        lambda url: Location.parse(url).local_path(),
        lambda url: Location.parse(f"{url}\0"),
        lambda url: Location.parse(f"{url}\ud800"),
        lambda url: Location.parse(url.replace("//", "")),
        lambda url: file_store(url.replace("https", "odd")),
        lambda url: DataFrameSink(url, Types.ROW([Types.INT()])),
    ],
)
def test_a_refused_path_is_shown_without_the_token_of_its_signed_url(refused):
    with pytest.raises(PlanError, match=r"sig=\*\*\*") as no:
        refused(f"https://host/in?sig={MARK}")
    assert MARK not in all_of(no.value)


@pytest.fixture(params=["no server", "a server that refuses the key", "a wrong address"])
def refusing_s3(request, web, monkeypatch):
    """S3 with marked secrets in the configuration of its client, and in the environment."""
    web.code, web.refusal = 403, b"<Error><Code>SignatureDoesNotMatch</Code><Message>the key is wrong</Message></Error>"
    endpoint = {"no server": f"http://{NOWHERE}", "a wrong address": "http://127.0.0.1:0"}
    given = {"key": "me", "secret": MARK, "token": MARK, "endpoint_url": endpoint.get(request.param, "")}
    if not given["endpoint_url"]:
        given["endpoint_url"] = f"http://127.0.0.1:{web.server_port}"
    once = {"config_kwargs": {"retries": {"max_attempts": 0}, "connect_timeout": 2, "read_timeout": 2}}
    monkeypatch.setitem(fsspec.config.conf, "s3", {**given, **once, "anon": False})
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, MARK)
    kind = fsspec.get_filesystem_class("s3")
    kind.clear_instance_cache()
    yield
    kind.clear_instance_cache()


def from_s3(env):
    FORMATS["txt"]("s3://bucket/in").build()


def to_s3(env):
    words(env).sink_to(FileSink.for_row_format("s3://bucket/out", Encoder.simple_string_encoder()).build())


def with_state_in_s3(env):
    env._configuration.set_string("execution.checkpointing.dir", "s3://bucket/checkpoints")
    env._configuration.set_string("execution.checkpointing.tolerable-failed-checkpoints", "0")
    endless = env.from_source(
        NumberSequenceSource(0, 1 << 60), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
    )
    endless.key_by(lambda n: n % 3).reduce(lambda a, b: a + b).filter(lambda _: False).print()


def from_a_savepoint_in_s3(env):
    Savepoint.load("s3://bucket/savepoint")


@pytest.mark.parametrize("build", [from_s3, to_s3, with_state_in_s3, from_a_savepoint_in_s3], ids=lambda f: f.__name__)
def test_failures_of_s3_do_not_show_its_keys(build, refusing_s3, caplog, capfd, tmp_path):
    caplog.set_level(logging.INFO)
    env, _ = environment(tmp_path)

    def run():
        build(env)
        assert MARK not in env.get_execution_plan()
        env.execute("job")

    with pytest.raises(Exception) as raised:
        run()
    out, err = capfd.readouterr()
    assert MARK not in all_of(raised.value) + caplog.text + out + err
    assert not secrets_in(tmp_path)


@pytest.mark.parametrize("scheme", ["ftp", "sftp", "smb", "webhdfs"])
def test_a_store_with_a_password_in_its_configuration_is_pickled_without_it(scheme, monkeypatch):
    monkeypatch.setitem(fsspec.config.conf, scheme, {"username": "me", "password": MARK})
    store = FsspecFileStore.of_checked_root(f"{scheme}://host/x")
    assert MARK not in repr(store)
    assert MARK.encode() not in pickle.dumps(store) + encode_one(store)


def test_the_text_of_a_configuration_hides_secrets():
    settings = {"flintstream.engine": "inline", "sasl.password": MARK}
    given = Configuration.from_dict(
        {**settings, "spark.hadoop.fs.s3a.secret.key": MARK, "uri": f"amqp://me:{MARK}@host"}
    )
    for text in (str(given), repr(given)):
        assert "flintstream.engine=inline" in text
        assert MARK not in text
    assert given.get_string("sasl.password", "") == MARK


def test_the_warning_about_a_setting_that_is_not_used_hides_secrets(caplog):
    warn_of_unused({"spark.odd.password": MARK}, {"spark.odd.password": f"other {MARK}"})
    assert "spark.odd.password=*** of the job is not used" in caplog.text
    assert MARK not in caplog.text


OPTIONS_OF_A_FRAME = {
    "password": MARK,
    "sasl.jaas.config": f'{PLAIN} username="me" password="{MARK}";',
    "url": f"jdbc:postgresql://{NOWHERE}/db?user=me&password={MARK}",
    "uri": f"amqp://me:{MARK}@{NOWHERE}",
}


def spark_session(tmp_path):
    check_spark({"flintstream.master": "local[2]", **environment(tmp_path)[1], "flintstream.engine": "spark"})
    return SparkSession.builder.getOrCreate()


@pytest.fixture
def broken_frame(tmp_path):
    """Return a function that makes DataFrames, of marked options, whose data cannot be read."""
    datasource = pytest.importorskip("pyspark.sql.datasource", reason="needs Spark 4")
    spark = spark_session(tmp_path)

    def read(self, partition):
        raise ConnectionError(f"no server at {NOWHERE}")
        yield

    batches = type("Batches", (datasource.DataSourceReader,), {"read": read})
    stream: dict[str, Any] = {
        "read": read,
        "initialOffset": lambda self: {"at": 0},
        "latestOffset": lambda self: {"at": 1},
        "partitions": lambda self, start, end: [datasource.InputPartition(0)],
    }
    streams = type("Streams", (datasource.DataSourceStreamReader,), stream)
    kind: dict[str, Any] = {
        "name": classmethod(lambda cls: "broken"),
        "schema": lambda self: "n int",
        "reader": lambda self, schema: batches(),
        "streamReader": lambda self, schema: streams(),
    }
    spark.dataSource.register(type("Broken", (datasource.DataSource,), kind))
    for item in (batches, streams):
        item.__module__ = "__main__"

    def make(streaming):
        reader = spark.readStream if streaming else spark.read
        return reader.format("broken").options(**OPTIONS_OF_A_FRAME).load()

    return make


@pytest.mark.spark
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_a_data_frame_that_cannot_be_read_does_not_show_its_options(streaming, broken_frame, caplog, capfd, tmp_path):
    caplog.set_level(logging.INFO)
    env, _ = environment(tmp_path)
    env.from_dataframe(broken_frame(streaming), trigger="0 seconds").print()
    assert MARK not in env.get_execution_plan()
    with pytest.raises(Exception, match=f"no server at {NOWHERE}") as raised:
        env.execute("job")
    out, err = capfd.readouterr()
    assert MARK not in all_of(raised.value) + caplog.text + out + err
    assert not secrets_in(tmp_path)


@pytest.mark.spark
def test_a_directory_for_data_frames_is_shown_without_its_secrets(tmp_path):
    frame = spark_session(tmp_path).createDataFrame([(1,)], "n int")
    for directory in (f"ftp://me:{MARK}@host/x", f"https:x?sig={MARK}"):
        env, _ = environment(tmp_path)
        env.from_dataframe(frame, directory=directory).print()
        with pytest.raises(PlanError, match=r"\*\*\*") as no:
            env.execute("job")
        assert MARK not in all_of(no.value)
    for directory in (f"ftp://me:{MARK}@host/x", f"https://host/x?sig={MARK}"):
        env, _ = environment(tmp_path)
        with pytest.raises(PlanError, match=r"\*\*\*") as no:
            env.from_collection([(1,)], Types.ROW_NAMED(["n"], [Types.INT()])).to_dataframe(directory=directory)
        assert MARK not in all_of(no.value)


@pytest.mark.parametrize(
    ("variable", "settings"),
    [
        ({"SPARK_REMOTE": "URL"}, {}),
        ({"PYSPARK_SUBMIT_ARGS": "--remote URL pyspark-shell"}, {}),
        ({}, {"flintstream.master": "URL"}),
        ({}, {"spark.remote": "URL"}),
    ],
)
def test_an_address_of_spark_connect_is_shown_without_its_token(variable, settings, monkeypatch):
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    url = f"sc://host:15002/;user_id=me;token={MARK};x=y"
    for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variable.items():
        monkeypatch.setenv(name, value.replace("URL", url))
    with pytest.raises(FlintstreamError, match=r"sc://host:15002/;user_id=me;token=\*\*\*;x=y") as no:
        refuse_connect({key: value.replace("URL", url) for key, value in settings.items()})
    assert MARK not in all_of(no.value)


SETTINGS_OF_SPARK = {
    "spark.some.password": MARK,
    "spark.hadoop.fs.azure.account.key.acct": MARK,
    "spark.hadoop.some.uri": f"ftp://me:{MARK}@host",
    "spark.driver.extraJavaOptions": f"-Dsome.trustStorePassword={MARK}",
    "spark.my.pwd": MARK,
    "spark.hadoop.fs.azure.sas.container.acct": MARK,
    "spark.sentryDsn": MARK,
    "spark.my.http.header.authorization": MARK,
    "spark.my.session-cookie": MARK,
    "spark.my.database": f"jdbc:oracle:thin:me/{MARK}@host",
    "spark.my.place": f"https://{MARK}@host/x",
}


@pytest.mark.promise("S23")
@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc for the command lines")
def test_settings_of_spark_are_on_no_command_line_in_no_log_of_events_and_not_in_its_web_interface(tmp_path):
    program = (
        "import json, sys, urllib.request\n"
        "from pathlib import Path\n"
        "from flintstream.datastream import StreamExecutionEnvironment\n"
        "from flintstream.engine.spark.session import spark_context\n"
        "given = json.loads(sys.stdin.readline())\n"
        "context = spark_context(given)\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "print(*env.from_collection([1]).map(lambda x: x).execute_and_collect())\n"
        "conf = dict(context.getConf().getAll())\n"
        "print(all(value in conf[key] for key, value in given.items() if key != 'spark.master'))\n"
        "print(context._jvm.System.getProperty('some.trustStorePassword') == given['spark.some.password'])\n"
        "print(*(file.read_text() for file in Path('/proc').glob('[0-9]*/cmdline') if file.exists()))\n"
        "for page in ('environment/', f'api/v1/applications/{context.applicationId}/environment'):\n"
        "    print(urllib.request.urlopen(f'{context.uiWebUrl}/{page}').read().decode())\n"
        "context.stop()\n"
    )
    events = tmp_path / "events"
    events.mkdir()
    given = {
        **SETTINGS_OF_SPARK,
        "spark.master": "local[1]",
        "spark.ui.enabled": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{events}",
        "spark.eventLog.compress": "false",
    }
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], input=json.dumps(given) + "\n", capture_output=True, text=True, check=True
    )
    result, settings, option, rest = done.stdout.split("\n", 3)
    assert (result, settings, option) == ("1", "True", "True")
    assert "SparkSubmit" in rest
    assert "spark.hadoop.fs.azure.account.key.acct" in rest
    assert "spark.hadoop.fs.azure.account.key.acct" in "".join(
        path.read_text() for path in events.rglob("*") if path.is_file()
    )
    shown = done.stdout + done.stderr
    assert [shown[max(0, at.start() - 200) : at.end()] for at in re.finditer(MARK, shown)] == []
    assert not secrets_in(events)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("before", "letter"), [("", "9"), ("see ", "a"), ("key ", "%")])
def test_a_text_with_a_very_long_word_is_read_once(before, letter):
    text = before + letter * 1_000_000
    hidden = without_secrets(f"{text} password=abc")
    assert len(hidden) == len(text) + len(" password=***")
    assert hidden.endswith(" password=***")
