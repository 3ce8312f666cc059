from __future__ import annotations

import copy
import math
import pickle

import pytest

from flintstream.common import ConfigOptions, Configuration, Duration, ExecutionConfig
from flintstream.common.execution_mode import ExecutionMode


def everything() -> Configuration:
    return (
        Configuration()
        .set_string("a", "b")
        .set_integer("i", 5)
        .set_boolean("b", True)
        .set_float("f", 1e10)
        .set_bytearray("y", bytearray(b"ab"))
    )


def test_values_are_read_back_with_the_type_they_were_set_with():
    config = everything()
    assert config.get_string("a", "") == "b"
    assert config.get_integer("i", 0) == 5
    assert config.get_boolean("b", False) is True
    assert config.get_float("f", 0) == 1e10
    assert config.get_bytearray("y", bytearray()) == bytearray(b"ab")


def test_a_key_that_is_not_set_gives_the_default():
    config = Configuration()
    assert config.get_string("z", "d") == "d"
    assert config.get_integer("z", 7) == 7
    assert config.get_boolean("z", True) is True
    assert config.get_float("z", 7.5) == 7.5
    assert config.get_bytearray("z", bytearray(b"q")) == bytearray(b"q")
    assert config.get_duration("z", Duration.of_millis(1)) == Duration.of_millis(1)


@pytest.mark.parametrize(
    ("text", "getter", "default", "expected"),
    [
        ("12", "get_integer", 0, 12),
        ("9999999999", "get_integer", 0, 9999999999),
        ("TRUE", "get_boolean", False, True),
        ("false", "get_boolean", True, False),
        (" 12 ", "get_float", 0.0, 12.0),
        ("1e3", "get_float", 0.0, 1000.0),
        ("10 s", "get_duration", Duration.of_millis(0), Duration.of_seconds(10)),
    ],
)
def test_texts_are_read_as_other_types(text, getter, default, expected):
    assert getattr(Configuration().set_string("s", text), getter)("s", default) == expected


def test_not_a_number_is_a_float():
    assert math.isnan(Configuration().set_string("s", "NaN").get_float("s", 0))


@pytest.mark.parametrize(
    ("text", "getter", "default"),
    [
        ("true", "get_integer", 0),
        (" 12 ", "get_integer", 0),
        ("1e3", "get_integer", 0),
        ("yes", "get_boolean", False),
        (" true", "get_boolean", False),
        ("12", "get_boolean", False),
        ("true", "get_float", 0.0),
        ("b", "get_bytearray", bytearray()),
        ("soon", "get_duration", Duration.of_millis(0)),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_with_its_key(text, getter, default):
    with pytest.raises(ValueError, match="the value of 'key'"):
        getattr(Configuration().set_string("key", text), getter)("key", default)


@pytest.mark.parametrize(
    ("setter", "value"),
    [("set_string", 5), ("set_string", None), ("set_integer", "5"), ("set_integer", True), ("set_boolean", 1)],
)
def test_a_value_of_the_wrong_type_is_refused_when_it_is_set(setter, value):
    with pytest.raises(TypeError, match="the value of 'k' must be"):
        getattr(Configuration(), setter)("k", value)


def test_all_entries_can_be_had_as_texts():
    config = everything().remove_config("y")
    assert config is True
    assert Configuration(everything()).to_dict() == {"a": "b", "i": "5", "b": "true", "f": "1.0E10", "y": "6162"}
    assert str(Configuration().set_integer("b", 1).set_boolean("a", False)) == "{a=false, b=1}"


def test_entries_are_taken_over_with_a_prefix():
    config = Configuration.from_dict({"k": "v"}).add_all(Configuration.from_dict({"a": "b"}), "p.")
    assert config.key_set() == {"k", "p.a"}
    assert config.add_all(Configuration.from_dict({"c": "d"})).contains_key("c")


def test_entries_are_put_into_a_dict_as_they_were_set():
    target = {"x": 1}
    Configuration().set_boolean("b", True).add_all_to_dict(target)
    assert target == {"x": 1, "b": True}


def test_removing_tells_whether_there_was_anything():
    config = Configuration().set_boolean("a", False)
    assert [config.remove_config("a"), config.remove_config("a"), config.contains_key("a")] == [True, False, False]


def test_a_copy_is_equal_and_independent():
    config = everything()
    for other in (Configuration(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert other == config
        assert hash(other) == hash(config)
        other.set_string("new", "x")
        assert other != config
    assert Configuration.from_dict({"a": "1"}) != Configuration().set_integer("a", 1)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        ("a;b", ["a", "b"]),
        ("[a, b]", ["a", "b"]),
        ('["x"]', ["x"]),
        ("a", ["a"]),
        ("a, b", ["a, b"]),
        ("[]", []),
    ],
)
def test_lists_are_read_in_both_spellings(text: str, items: list[str]):
    assert Configuration.parse_list_value(text) == items


def test_options_are_typed_and_have_defaults():
    retries = ConfigOptions.key("retries").int_type().default_value(3)
    pause = ConfigOptions.key("pause").duration_type().no_default_value()
    config = Configuration()
    assert (config.get(retries), config.get(retries, 5), config.get(pause)) == (3, 5, None)
    config.set(retries, "7").set(pause, "2 s")
    assert (config.get(retries), config.get(pause)) == (7, Duration.of_seconds(2))
    assert retries == ConfigOptions.key("retries").long_type().default_value(3)
    assert len({retries, ConfigOptions.key("retries").int_type().default_value(3)}) == 1
    with pytest.raises(ValueError, match="remove_config"):
        config.set(retries, None)


def test_options_of_every_type():
    key = ConfigOptions.key("k")
    config = Configuration().set_string("k", "1")
    assert config.get(key.string_type().no_default_value()) == "1"
    assert config.get(key.float_type().default_value(2.0)) == config.get(key.double_type().default_value(2.0)) == 1.0
    with pytest.raises(ValueError):
        config.get(key.boolean_type().default_value(True))


def test_the_defaults_of_an_execution_config_are_those_of_flink():
    config = ExecutionConfig()
    assert config.get_auto_watermark_interval() == 200
    assert config.get_latency_tracking_interval() == 0
    assert config.get_parallelism() == ExecutionConfig.PARALLELISM_DEFAULT == -1
    assert config.get_max_parallelism() == -1
    assert config.get_task_cancellation_interval() == 30_000
    assert config.get_task_cancellation_timeout() == 180_000
    assert config.get_execution_mode() is ExecutionMode.PIPELINED
    assert config.get_global_job_parameters() == {}
    assert config.has_auto_generated_uids_enabled()
    assert config.is_closure_cleaner_enabled()
    assert not config.is_object_reuse_enabled()
    assert not config.is_use_snapshot_compression()
    assert not config.has_generic_types_disabled()
    assert not config.is_force_avro_enabled()
    assert not config.is_force_kryo_enabled()
    assert config.get_default_kryo_serializer_classes() == {}
    assert config.get_registered_kryo_types() == config.get_registered_pojo_types() == []


@pytest.mark.parametrize(
    ("setter", "getter", "value"),
    [
        ("set_auto_watermark_interval", "get_auto_watermark_interval", 0),
        ("set_latency_tracking_interval", "get_latency_tracking_interval", -1),
        ("set_parallelism", "get_parallelism", 3),
        ("set_parallelism", "get_parallelism", -1),
        ("set_max_parallelism", "get_max_parallelism", 32768),
        ("set_task_cancellation_interval", "get_task_cancellation_interval", 5),
        ("set_task_cancellation_timeout", "get_task_cancellation_timeout", 5),
        ("set_use_snapshot_compression", "is_use_snapshot_compression", True),
        ("set_execution_mode", "get_execution_mode", ExecutionMode.BATCH),
    ],
)
def test_settings_are_kept(setter, getter, value):
    config = ExecutionConfig()
    assert getattr(config, setter)(value) is config
    assert getattr(config, getter)() == value


@pytest.mark.parametrize(
    ("switch", "question", "answer_when_on"),
    [
        ("auto_generated_uids", "has_auto_generated_uids_enabled", True),
        ("closure_cleaner", "is_closure_cleaner_enabled", True),
        ("object_reuse", "is_object_reuse_enabled", True),
        ("force_kryo", "is_force_kryo_enabled", True),
        ("force_avro", "is_force_avro_enabled", True),
        ("generic_types", "has_generic_types_disabled", False),
    ],
)
def test_switches_go_on_and_off(switch, question, answer_when_on):
    config = ExecutionConfig()
    assert getattr(config, f"enable_{switch}")() is config
    assert getattr(config, question)() is answer_when_on
    assert getattr(config, f"disable_{switch}")() is config
    assert getattr(config, question)() is not answer_when_on


@pytest.mark.parametrize(
    ("setter", "value"),
    [
        ("set_parallelism", 0),
        ("set_parallelism", -3),
        ("set_max_parallelism", 0),
        ("set_max_parallelism", 32769),
        ("set_auto_watermark_interval", -1),
    ],
)
def test_settings_out_of_range_are_refused(setter, value):
    with pytest.raises(ValueError, match=str(value)):
        getattr(ExecutionConfig(), setter)(value)


def test_an_unknown_parallelism_leaves_the_setting_alone():
    config = ExecutionConfig().set_parallelism(3)
    assert config.set_parallelism(ExecutionConfig.PARALLELISM_UNKNOWN).get_parallelism() == 3


def test_an_execution_config_is_a_view_of_the_configuration():
    configuration = Configuration.from_dict(
        {
            "parallelism.default": "3",
            "pipeline.auto-watermark-interval": "1 s",
            "pipeline.global-job-parameters": "a:1, b:x",
        }
    )
    config = ExecutionConfig(configuration)
    assert (config.get_parallelism(), config.get_auto_watermark_interval()) == (3, 1_000)
    assert config.get_global_job_parameters() == {"a": "1", "b": "x"}
    config.set_parallelism(5)
    assert configuration.get_integer("parallelism.default", 0) == 5


def test_global_job_parameters_may_have_a_key_each():
    named = {
        "pipeline.global-job-parameters.a": "1",
        "pipeline.global-job-parameters.b.c": "x:y, z",
        "pipeline.name": "n",
    }
    config = ExecutionConfig(Configuration.from_dict(named))
    assert config.get_global_job_parameters() == {"a": "1", "b.c": "x:y, z"}
    both = ExecutionConfig(Configuration.from_dict({**named, "pipeline.global-job-parameters": "d:4"}))
    assert both.get_global_job_parameters() == {"d": "4"}


def test_global_job_parameters_are_texts():
    config = ExecutionConfig().set_global_job_parameters({"a": 1, "b": "x", "c": None})
    assert config.get_global_job_parameters() == {"a": "1", "b": "x", "c": "None"}


def test_execution_configs_with_the_same_settings_are_equal():
    assert ExecutionConfig().set_parallelism(2) == ExecutionConfig().set_parallelism(2)
    assert hash(ExecutionConfig().set_parallelism(2)) == hash(ExecutionConfig().set_parallelism(2))
    assert ExecutionConfig().set_parallelism(2) != ExecutionConfig()
    assert ExecutionConfig().set_global_job_parameters({"a": 1}) != ExecutionConfig()
