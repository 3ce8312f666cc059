"""Programs' uses of PyFlink's Java objects act on ours, or raise an error that names the alternative."""

from __future__ import annotations

import importlib
from datetime import datetime, timedelta
from typing import Any

import pytest

from flintstream.common import Configuration
from flintstream.common._java_view import behind
from flintstream.compat import pyflink as compat
from flintstream.datastream import DataStream, RuntimeExecutionMode, SinkFunction, StreamExecutionEnvironment
from flintstream.errors import UnsupportedByDesignError


@pytest.fixture(autouse=True)
def _installed():
    compat.install()
    yield
    compat.uninstall()


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})


def utils() -> Any:
    return importlib.import_module("pyflink.util.java_utils")


def jvm() -> Any:
    return importlib.import_module("pyflink.java_gateway").get_gateway().jvm


def test_options_set_on_the_configuration_of_an_environment_are_set(env):
    config = Configuration(j_configuration=utils().get_j_env_configuration(env._j_stream_execution_environment))
    config.set_integer("parallelism.default", 3).set_boolean("python.fn-execution.memory.managed", True)
    assert env.get_parallelism() == 3
    same = env._j_stream_execution_environment.getConfiguration()
    same.setString("execution.runtime-mode", "BATCH")
    same.setInteger("python.fn-execution.bundle.size", 1)
    assert config.get_integer("python.fn-execution.bundle.size", 0) == 1
    assert same.toMap()["parallelism.default"] == "3"
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    assert same.getString("execution.runtime-mode", None) == "STREAMING"


def test_options_are_read_by_key_or_by_their_constant_in_java(env):
    options = jvm().org.apache.flink.configuration
    config = env._j_stream_execution_environment.getConfiguration()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert config.getValue(options.ExecutionOptions.RUNTIME_MODE) == "BATCH"
    assert config.getOptional(options.RestartStrategyOptions.RESTART_STRATEGY).orElse("none set") == "none set"
    config.set(options.CoreOptions.DEFAULT_PARALLELISM, 2)
    assert env.get_parallelism() == 2
    assert options.CheckpointingOptions.CHECKPOINTING_INTERVAL.key() == "execution.checkpointing.interval"
    assert jvm().PythonOptions.PYTHON_EXECUTABLE.key() == "python.executable"
    assert config.getString("no.such.key", None) is None
    assert config.getString("no.such.key", "default") == "default"
    assert not config.containsKey("no.such.key")
    with pytest.raises(UnsupportedByDesignError, match="use the option's key as a string"):
        _ = options.ExecutionOptions.NO_SUCH_OPTION


def test_settings_are_reached_through_the_objects_of_an_environment(env):
    j_env = env._j_stream_execution_environment
    j_env.setParallelism(2).setMaxParallelism(16)
    assert (env.get_parallelism(), env.get_max_parallelism()) == (2, 16)
    j_env.getConfig().setAutoWatermarkInterval(50)
    assert env.get_config()._j_execution_config.getAutoWatermarkInterval() == 50
    j_env.enableCheckpointing(1000)
    assert env.get_checkpoint_config()._j_checkpoint_config.getCheckpointInterval() == 1000
    assert utils().get_field_value(j_env, "configuration") == j_env.getConfiguration()
    assert utils().invoke_method(j_env, "org.apache.flink.Some", "getParallelism") == 2
    with pytest.raises(UnsupportedByDesignError, match=r"has no method get_stream_graph\(\)"):
        j_env.getStreamGraph(True)


def test_environments_made_by_a_gateway_are_environments(capsys):
    java = jvm().org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
    configuration = Configuration().set_string("flintstream.engine", "inline").set_integer("rest.port", 8099)
    env = StreamExecutionEnvironment(java.createLocalEnvironmentWithWebUI(configuration._j_configuration))
    env.set_parallelism(1).from_collection(["a", "b"]).print()
    env.execute()
    assert capsys.readouterr().out == "a\nb\n"
    assert java.createLocalEnvironment(3).getParallelism() == 3


def test_a_remote_environment_runs_here_with_a_warning():
    gateway = importlib.import_module("pyflink.java_gateway").get_gateway()
    jars = gateway.new_array(gateway.jvm.java.lang.String, 1)
    jars[0] = "a.jar"
    java = gateway.jvm.org.apache.flink.streaming.api.environment
    with pytest.warns(
        UserWarning,
        match=r"createRemoteEnvironment\('localhost', 8081\): flintstream does not connect",
    ):
        made = java.StreamExecutionEnvironment.createRemoteEnvironment("localhost", 8081, jars)
    assert isinstance(StreamExecutionEnvironment(made), StreamExecutionEnvironment)
    with pytest.warns(UserWarning, match="does not connect"):
        java.RemoteStreamEnvironment("localhost", 8081, jars)


def test_an_environment_of_another_ones_java_object_is_another_face_of_it(env):
    same = StreamExecutionEnvironment(env._j_stream_execution_environment)
    same.set_parallelism(7)
    assert env.get_parallelism() == 7


def test_a_configuration_is_made_by_a_gateway():
    made = jvm().org.apache.flink.configuration.Configuration()
    made.setLong("a.long", 5)
    made.setDouble("a.double", 0.5)
    assert Configuration(j_configuration=made).to_dict() == {"a.long": "5", "a.double": "0.5"}
    assert made.getLong("a.long", 0) == 5
    assert made.clone() == made
    assert jvm().org.apache.flink.configuration.Configuration.fromMap({"a": "b"}).toString() == "{a=b}"


def test_spans_of_time_go_to_java_and_back():
    helpers = utils()
    assert helpers.from_j_duration(helpers.to_j_duration(timedelta(seconds=2))) == timedelta(seconds=2)
    assert helpers.from_j_flink_time(helpers.to_j_flink_time(1500)) == timedelta(seconds=1.5)
    assert jvm().java.time.Duration.ofSeconds(3).toMillis() == 3000


def test_a_stream_answers_in_the_names_of_java(env):
    stream = env.from_collection([1]).map(lambda n: n).name("same")
    assert stream._j_data_stream.getName() == "same"
    with pytest.raises(UnsupportedByDesignError, match=r"DataStream.sinkInto: flintstream has no Flink JVM"):
        stream._j_data_stream.sinkInto(None)
    assert isinstance(stream, DataStream)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("org.apache.flink.connector.kinesis.source.KinesisStreamsSource", "use pyflink.datastream.connectors"),
        ("org.apache.flink.table.api.Table", "use Spark SQL"),
        ("org.apache.flink.walkthrough.common.source.TransactionSource", "methods of PyFlink's Python API"),
        ("com.example.OwnFunction", "write the class in Python"),
        ("java.util.Properties", "use its Python equivalent"),
    ],
)
def test_classes_of_java_can_be_named_and_say_what_to_use_when_called(name, advice):
    found = utils().load_java_class(name)
    with pytest.raises(UnsupportedByDesignError, match=f"{name}: flintstream has no Flink JVM; .*{advice}"):
        found()
    with pytest.raises(UnsupportedByDesignError, match=advice):
        found.builder()
    assert not utils().is_instance_of(1, found)


def test_a_configuration_of_something_else_is_a_type_error():
    with pytest.raises(TypeError, match=r"needs env\._j_stream_execution_environment"):
        utils().get_j_env_configuration(object())
    with pytest.raises(TypeError, match="j_configuration must come from get_j_env_configuration"):
        Configuration(j_configuration=object())  # type: ignore[arg-type]


def test_jars_are_accepted_with_a_warning():
    with pytest.warns(UserWarning, match="a.jar: jars have no effect"):
        utils().add_jars_to_context_class_loader(["a.jar"])


def test_an_encoder_made_by_a_gateway_writes_files(env, tmp_path):
    connectors = importlib.import_module("pyflink.datastream.connectors")
    serialization = importlib.import_module("pyflink.common.serialization")
    encoder = serialization.Encoder(jvm().org.apache.flink.api.common.serialization.SimpleStringEncoder())
    sink = connectors.FileSink.for_row_format(str(tmp_path), encoder).build()
    env.from_collection(["Hello", "Flink"]).sink_to(sink)
    env.execute()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(line for path in files for line in path.read_text().splitlines()) == ["Flink", "Hello"]


def test_schemas_and_offsets_made_by_a_gateway_are_pyflinks():
    kafka = importlib.import_module("pyflink.datastream.connectors.kafka")
    flink = jvm().org.apache.flink
    charset = jvm().java.nio.charset.Charset.forName("UTF-8")
    schema = flink.api.common.serialization.SimpleStringSchema(charset)
    assert schema.serialize("text") == b"text"
    reset = jvm().org.apache.kafka.clients.consumer.OffsetResetStrategy
    assert reset.EARLIEST is reset.valueOf("EARLIEST") is kafka.KafkaOffsetResetStrategy.EARLIEST
    offsets = flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer.committedOffsets(reset.EARLIEST)
    assert isinstance(kafka.KafkaOffsetsInitializer(offsets), kafka.KafkaOffsetsInitializer)
    builder = flink.connector.kafka.source.KafkaSource.builder()
    source = builder.setBootstrapServers("localhost:1").setTopics("a").setStartingOffsets(offsets)
    source = source.setGroupId("group").setValueOnlyDeserializer(schema).build()
    assert isinstance(behind(source), kafka.KafkaSource)


def test_members_of_enums_are_found_by_their_name(env):
    flink = jvm().org.apache.flink
    env._j_stream_execution_environment.setRuntimeMode(flink.api.common.RuntimeExecutionMode.BATCH)
    assert env._j_stream_execution_environment.getConfiguration().getString("execution.runtime-mode", "") == "BATCH"
    cleanup = flink.streaming.api.environment.CheckpointConfig.ExternalizedCheckpointCleanup
    assert cleanup.RETAIN_ON_CANCELLATION.name == "RETAIN_ON_CANCELLATION"


def test_classes_can_be_imported_with_py4j():
    java_import = importlib.import_module("py4j.java_gateway").java_import
    assert java_import(jvm(), "org.apache.flink.api.common.time.Time") is None


STREAMS = "org.apache.flink.streaming.api.functions.sink"


@pytest.mark.parametrize(
    ("name", "output"),
    [
        (f"{STREAMS}.DiscardingSink", ""),
        (f"{STREAMS}.legacy.DiscardingSink", ""),
        (f"{STREAMS}.v2.DiscardingSink", ""),
        (f"{STREAMS}.PrintSinkFunction", "to\nbe\n"),
        (f"{STREAMS}.legacy.PrintSinkFunction", "to\nbe\n"),
    ],
)
@pytest.mark.parametrize("by", ["name", "object"])
def test_sinks_of_java_that_need_no_java_have_a_counterpart(env, capsys, name, output, by):
    functions = importlib.import_module("pyflink.datastream.functions")
    given: Any = name
    if by == "object":
        given = jvm()
        for part in name.split("."):
            given = getattr(given, part)
        given = given()
    env.set_parallelism(1).from_collection(["to", "be"]).add_sink(functions.SinkFunction(given))
    env.execute()
    assert capsys.readouterr().out == output


def test_an_own_sink_may_wrap_a_sink_of_java(env, tmp_path):
    class Own(SinkFunction):
        def __init__(self):
            super().__init__(jvm().org.apache.flink.streaming.api.functions.sink.DiscardingSink())

        def invoke(self, value, context):
            (tmp_path / str(value)).touch()

    env.from_collection([1, 2]).add_sink(Own())
    env.execute()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


@pytest.mark.parametrize(
    ("wrapper", "name", "advice"),
    [
        ("SinkFunction", "org.example.MySink", "derive a class from SinkFunction in Python"),
        (
            "SinkFunction",
            f"{STREAMS}.filesystem.StreamingFileSink",
            "use pyflink.datastream.connectors.file_system.FileSink",
        ),
        ("SourceFunction", "org.apache.flink.python.util.MyCustomSourceFunction", "derive a class from SourceFunction"),
        (
            "SourceFunction",
            "org.apache.flink.streaming.api.functions.source.SocketTextStreamFunction",
            r"use env\.socket_text_stream\(\)",
        ),
    ],
)
def test_other_classes_of_java_are_named_with_what_to_use(wrapper, name, advice):
    functions = importlib.import_module("pyflink.datastream.functions")
    with pytest.raises(
        UnsupportedByDesignError, match=rf"{wrapper}\('{name}'\): flintstream has no Flink JVM; {advice}"
    ):
        getattr(functions, wrapper)(name)


def test_bucket_assigners_of_java_have_a_counterpart():
    connectors = importlib.import_module("pyflink.datastream.connectors.file_system")
    assigners = jvm().org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners
    by_day = connectors.BucketAssigner(assigners.DateTimeBucketAssigner("'date='yyyy-MM-dd"))
    assert by_day.common_bucket_id(1_700_000_000_000) == "date=2023-11-14"
    assert connectors.BucketAssigner(j_bucket_assigner=assigners.BasePathBucketAssigner()).common_bucket_id(0) == ""


def test_libraries_get_the_rows_of_a_table_as_batches_of_arrow():
    pytest.importorskip("pyarrow", reason="the extra 'dataframes' is not installed: make setup")
    table, serializers = importlib.import_module("pyflink.table"), importlib.import_module("pyflink.table.serializers")
    jvm_settings = jvm().org.apache.flink.table.api.EnvironmentSettings.inBatchMode().getConfiguration()
    assert jvm_settings.toMap() == {"execution.runtime-mode": "BATCH"}
    inline = table.EnvironmentSettings.new_instance().in_batch_mode()
    inline.with_configuration(Configuration.from_dict({"flintstream.engine": "inline"}))
    t_env = table.TableEnvironment.create(inline.build())
    t_env.get_config().set("python.fn-execution.arrow.batch.size", "2").set_local_timezone("Asia/Tokyo")
    rows = t_env.sql_query(
        "SELECT * FROM (VALUES (1, ROW('a', 1), TO_TIMESTAMP_LTZ(0, 3)), (2, ROW('b', 2), NULL), (3, NULL, NULL)) "
        "AS t (id, pair, at_)"
    )
    config = rows._j_table.getTableEnvironment().getConfig()
    assert config.getLocalTimeZone().getId() == "Asia/Tokyo"
    size = config.get(jvm().org.apache.flink.python.PythonOptions.MAX_ARROW_BATCH_SIZE)
    collect = jvm().org.apache.flink.table.runtime.arrow.ArrowUtils.collectAsPandasDataFrame
    schema = rows.get_schema()
    arrow = importlib.import_module("pyflink.table.types").create_arrow_schema(
        schema.get_field_names(), schema.get_field_data_types()
    )
    serializer = serializers.ArrowSerializer(arrow, schema.to_row_data_type(), "Asia/Tokyo")
    batches = list(serializer.load_from_iterator(collect(rows._j_table, size)))
    assert [batch.num_rows for batch in batches] == [2, 1]
    assert [row["id"] for batch in batches for row in batch.to_pylist()] == [1, 2, 3]
    assert batches[0].to_pylist()[0]["at_"] == datetime(1970, 1, 1)  # that of UTC, as PyFlink has it
    assert list(serializer.load_from_iterator(collect(rows.filter(rows.id > 5)._j_table, size))) == []
