"""Passwords appear neither in errors nor in logs, in the text of objects, or on a command line."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from flintstream.common import Configuration, SimpleStringSchema, Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder, ElasticsearchEmitter
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource
from flintstream.engine.spark.session import warn_of_unused

MARK = "m4rk3d-s3cr3t"
NOWHERE = "127.0.0.1:1"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} username="me" password="{MARK}";',
}


def environment():
    settings = {"flintstream.engine": "inline", "restart-strategy.type": "none", "sasl.password": MARK}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)), settings


def rabbit():
    return RMQConnectionConfig.Builder().set_uri(f"amqp://me:{MARK}@{NOWHERE}/").set_automatic_recovery(False).build()


def words(env):
    return env.from_collection(["a", "b"], Types.STRING())


def to_rabbitmq(env):
    words(env).add_sink(RMQSink(rabbit(), "queue", SimpleStringSchema()))


def from_rabbitmq(env):
    env.add_source(RMQSource(rabbit(), "queue", False, SimpleStringSchema())).print()


def to_elasticsearch(env):
    builder = Elasticsearch7SinkBuilder().set_hosts(f"http://me:{MARK}@{NOWHERE}")
    builder.set_emitter(ElasticsearchEmitter.static_index("words"))
    rows = words(env).map(lambda word: {"word": word}, Types.MAP(Types.STRING(), Types.STRING()))
    rows.sink_to(builder.build())


def to_postgresql(env):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    options = builder.with_url(f"jdbc:postgresql://{NOWHERE}/db?password={MARK}").with_user_name("me").build()
    assert MARK not in repr(options)
    rows = words(env).map(lambda word: (word,), Types.TUPLE([Types.STRING()]))
    rows.add_sink(JdbcSink.sink("insert into words values (?)", Types.TUPLE([Types.STRING()]), options))


def to_kafka(env):
    topic = KafkaRecordSerializationSchema.builder().set_topic("words")
    schema = topic.set_value_serialization_schema(SimpleStringSchema()).build()
    builder = KafkaSink.builder().set_bootstrap_servers(NOWHERE).set_record_serializer(schema)
    for key, value in {**LOGIN, "delivery.timeout.ms": "2000", "request.timeout.ms": "1000", "linger.ms": "0"}.items():
        builder.set_property(key, value)
    words(env).sink_to(builder.build())


def from_kafka(env):
    builder = KafkaSource.builder().set_bootstrap_servers(NOWHERE).set_topics("words").set_properties(LOGIN)
    builder.set_property("default.api.timeout.ms", "2000").set_property("request.timeout.ms", "1000")
    source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "words").print()


@pytest.mark.parametrize(
    "build",
    [to_rabbitmq, from_rabbitmq, to_elasticsearch, to_postgresql, to_kafka, from_kafka],
    ids=lambda f: f.__name__,
)
def test_a_connector_that_finds_no_server_does_not_show_the_password(build, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    env, _ = environment()
    build(env)
    assert MARK not in env.get_execution_plan()
    with pytest.raises(Exception) as raised:
        env.execute("job")
    out, err = capfd.readouterr()
    told = "".join(traceback.format_exception(raised.value))
    assert "127.0.0.1" in told + caplog.text, "it says which server"
    assert MARK not in told + caplog.text + out + err


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


def test_the_text_of_a_configuration_hides_secrets():
    _, settings = environment()
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


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc for the command lines")
def test_settings_of_spark_are_on_no_command_line():
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from flintstream.engine.spark.session import spark_context\n"
        "context = spark_context({'spark.master': 'local[1]', 'spark.some.password': sys.stdin.readline().strip()})\n"
        "print(context.getConf().get('spark.some.password'))\n"
        "jvm = context._gateway.proc.pid\n"
        "print(Path(f'/proc/{jvm}/cmdline').read_text())\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], input=MARK, capture_output=True, text=True, check=True
    )
    value, _, command = done.stdout.partition("\n")
    assert value == MARK
    assert "SparkSubmit" in command
    assert MARK not in command
