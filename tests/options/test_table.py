"""One table has all facts about each option, and all other code reads them from there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import assert_type

import flintstream
from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.common import Configuration, Duration, ExecutionConfig, RestartStrategies
from flintstream.common.execution_mode import ExecutionMode
from flintstream.compat.home.java_gateway import option_keys
from flintstream.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    MemorySize,
    PredefinedOptions,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from flintstream.options import checkpointing, execution, ignored, restarts, rocksdb
from flintstream.options.page import fill
from flintstream.options.table import OPTIONS, THEMES, option_of, unknown_keys
from flintstream.options.types import MAX_LONG

DURATIONS = [option for option in OPTIONS if option.type.name == "duration"]
SIZES = [option for option in OPTIONS if option.type.name == "size"]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"

by_key = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)


# -- the table ---------------------------------------------------------------------------------------------------------


def test_a_key_belongs_to_one_option():
    keys = [key for option in OPTIONS for key in option.keys]
    assert len(keys) == len(set(keys))
    assert all(option_of(key) is option for option in OPTIONS for key in option.keys)


def test_no_other_module_spells_a_key():
    """Keys that are spelled elsewhere drift away from the table. Docstrings and errors may have them as examples."""
    root = Path(flintstream.__file__).parent
    keys = {key for option in OPTIONS for key in option.keys}
    elsewhere = {
        (path.relative_to(root).as_posix(), node.value)
        for path in root.rglob("*.py")
        if "options" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in keys
    }
    assert elsewhere == set()


@by_key
def test_the_default_is_a_value_that_parses_back(option):
    text = option.default_text()
    assert (text is None) == (option.default is None)
    if text is not None:
        assert option.parse(text) == option.default
        assert option.read({option.key: text}) == option.read({}) == option.default


@by_key
def test_an_older_key_counts_until_a_newer_one_is_set(option):
    text = option.default_text() or _sample(option)
    for position, key in enumerate(option.keys):
        entries = {**dict.fromkeys(option.keys[position + 1 :], "nonsense"), key: text}
        assert option.read(entries) == option.parse(text)


def _sample(option):
    samples = (
        "10 s",
        "1",
        "true",
        "1 mb",
        "LEVEL",
        "none",
        "LZ4_COMPRESSION",
        "EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS",
    )
    for sample in samples:
        try:
            option.parse(sample)
        except ValueError:
            continue
        return sample
    raise AssertionError(option.key)


def test_the_tables_of_the_documentation_are_those_of_the_code():
    page = PAGE.read_text(encoding="utf-8")
    assert fill(page) == page, "run `make options`"
    assert all(f"<!-- options: {theme} -->" in page for theme in THEMES)


def test_the_keys_that_java_has_constants_for_are_known():
    keys = [key for constants in option_keys().values() for key in constants.values()]
    assert unknown_keys(keys) == {}
    assert all(option.key == key for key in keys if (option := option_of(key)) is not None), "newer keys exist"


# -- durations and sizes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", DURATIONS, ids=lambda option: option.key)
def test_every_duration_may_be_written_in_every_form(option):
    texts = ("300 s", "300s", "5 min", "300000", "300000 ms", "PT5M")
    assert {option.parse(text) for text in texts} == {300_000}
    assert option.parse(300_000) == option.parse(Duration.of_minutes(5)) == 300_000


@pytest.mark.parametrize("option", SIZES, ids=lambda option: option.key)
def test_every_size_may_be_written_in_every_form(option):
    assert {option.parse(text) for text in ("1 mb", "1MB", "1024 kb", str(1 << 20))} == {1 << 20}
    assert option.parse(MemorySize.of_mebi_bytes(1)) == 1 << 20


@given(option=st.sampled_from(DURATIONS + SIZES), data=st.data())
def test_what_an_option_prints_parses_back(option, data):
    value = data.draw(st.integers(max(option.type.minimum, -MAX_LONG), option.type.maximum))
    assert option.parse(option.type.write(value)) == value


@pytest.mark.parametrize("option", DURATIONS + SIZES, ids=lambda option: option.key)
@pytest.mark.parametrize("value", ["5 parsecs", "soon", "", "1.5", MAX_LONG + 1])
def test_a_bad_value_is_refused_with_key_value_and_what_is_accepted(option, value):
    with pytest.raises(ValueError, match=r"^'[a-z.-]+' must be a (duration|size).* such as '.*, got '.*'$") as refused:
        option.parse(value)
    assert option.key in str(refused.value)
    assert f"got '{value}'" in str(refused.value)


@pytest.mark.parametrize(("text", "millis"), [("-1", -1), ("-1 ms", -1), ("0", 0), ("5 s", 5_000)])
def test_the_buffer_timeout_may_be_none_at_all(text, millis):
    environment = StreamExecutionEnvironment.get_execution_environment({execution.BUFFER_TIMEOUT.key: text})
    assert environment.get_buffer_timeout() == millis


def test_epochs_are_as_long_as_a_duration_says():
    entries = {"flintstream.engine": "inline", "flintstream.epoch.max-duration": "3 s"}
    environment = StreamExecutionEnvironment.get_execution_environment(entries)
    environment.from_collection([1]).map(lambda x: x)
    settings = environment._program().compile("job").plan.settings
    assert (settings.max_epoch_ms, settings.idle_epoch_ms) == (3_000, 200)


# -- what reads it -----------------------------------------------------------------------------------------------------


def test_a_configuration_reads_an_option_whatever_it_was_set_with():
    option = execution.AUTO_WATERMARK_INTERVAL
    for value in ("5 s", "PT5S", 5_000, "5000", Duration.of_seconds(5)):
        assert Configuration().set(option, value).get(option) == 5_000
    assert Configuration().get(option) == option.default
    assert Configuration().set(execution.CHAINING, False).get(execution.CHAINING) is False


def test_a_type_checker_knows_what_an_option_is():
    configuration = Configuration()
    assert_type(configuration.get(checkpointing.TIMEOUT), int)
    assert_type(configuration.get(checkpointing.INTERVAL), int | None)
    assert_type(configuration.get(execution.JOB_NAME), str)
    assert_type(rocksdb.COMPRESSION.read({}), list[str] | None)
    assert assert_type(configuration.get(rocksdb.BLOOM_BITS), float) == 10.0


def test_a_configuration_knows_under_which_key_an_option_is_set():
    option = checkpointing.RETAINED
    assert Configuration().find(option) is None
    assert Configuration().set_string("state.checkpoints.num-retained", " 3 ").find(option) == (
        "state.checkpoints.num-retained",
        "3",
    )


@pytest.mark.parametrize(
    ("option", "members"),
    [
        (checkpointing.MODE, CheckpointingMode),
        (checkpointing.RETENTION, ExternalizedCheckpointRetention),
        (execution.RUNTIME_MODE, RuntimeExecutionMode),
        (ignored.EXECUTION_MODE, ExecutionMode),
        (rocksdb.PREDEFINED, PredefinedOptions),
    ],
)
def test_the_names_of_an_option_are_those_of_its_enumeration(option, members):
    assert {option.parse(name) for name in members.__members__} == set(members.__members__)
    assert all(f" {name}" in option.type.accepted for name in members.__members__)


def test_methods_return_the_defaults_of_the_table():
    config, checkpoints = ExecutionConfig(), CheckpointConfig()
    environment = StreamExecutionEnvironment.get_execution_environment()
    assert config.get_auto_watermark_interval() == execution.AUTO_WATERMARK_INTERVAL.default
    assert config.get_max_parallelism() == environment.get_max_parallelism() == execution.MAX_PARALLELISM.default
    assert config.get_task_cancellation_timeout() == ignored.CANCELLATION_TIMEOUT.default
    assert environment.get_buffer_timeout() == execution.BUFFER_TIMEOUT.default
    assert checkpoints.get_checkpoint_timeout() == CheckpointSettings().timeout_ms == checkpointing.TIMEOUT.default
    assert CheckpointSettings().transfer_threads == rocksdb.TRANSFER_THREADS.default


def test_a_restart_strategy_reads_spans_in_any_form():
    entries = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "PT2S"}
    strategy = ExecutionConfig(Configuration.from_dict(entries)).get_restart_strategy()
    assert strategy == RestartStrategies.fixed_delay_restart(restarts.FIXED_ATTEMPTS.default, 2_000)
