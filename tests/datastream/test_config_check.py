"""Checks of the configuration when a job is built: misspelt keys, bad values, a changelog without effect."""

from __future__ import annotations

import ast
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

import flintstream
from flintstream.checkpoint.moved import MOVED
from flintstream.common import Configuration
from flintstream.datastream import (
    JobManagerCheckpointStorage,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from flintstream.options.command_line import reset_defaults, set_defaults
from flintstream.options.flink_keys import keys_of_flink
from flintstream.options.table import OPTIONS, OURS, check_values, unknown_keys
from flintstream.options.types import TEXT

CHANGELOG = {"state.changelog.enabled": "true"}
INTERVAL = {"execution.checkpointing.interval": "10 s"}
CHECKED = [option for option in OPTIONS if option.type is not TEXT]


def environment(entries):
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **entries})


def said(env):
    """The warnings of a running program."""
    env.set_parallelism(1).from_collection([1]).map(lambda x: x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env.execute()
    assert all(warning.filename == __file__ for warning in caught), "a warning names the line that calls execute()"
    return [str(warning.message) for warning in caught]


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("execution.checkpointing.intervall", "execution.checkpointing.interval"),
        ("state.backend.typ", "state.backend.type"),
        ("state.checkpoint.dir", "state.checkpoints.dir"),
        ("restart-strategy.fixed-delay.attemps", "restart-strategy.fixed-delay.attempts"),
        ("state.backend.rocksdb.blok.blocksize", "state.backend.rocksdb.block.blocksize"),
        ("flintstream.sticky", "flintstream.sticky-subtasks"),
        ("pipeline.jar", "pipeline.jars"),
    ],
)
def test_a_misspelt_key_gives_one_warning_with_the_key_that_it_is_most_like(key, nearest):
    [message] = said(environment({key: "1"}))
    assert f"'{key}'" in message
    assert f"did you mean '{nearest}'?" in message
    assert "docs/reference/configuration.md" in message


def test_a_key_that_is_like_none_gives_a_warning_without_a_guess():
    [message] = said(environment({"flintstream.qqq": "1"}))
    assert "'flintstream.qqq'" in message
    assert "did you mean" not in message


def test_there_is_one_warning_for_each_key_however_it_was_set():
    set_defaults({"state.backend.typ": "rocksdb"}, None, None, [])
    try:
        env = environment({"flintstream.controll": "true"})
    finally:
        reset_defaults()
    env.configure(Configuration().set_string("restart-strategy.typ", "none"))
    messages = said(env)
    keys = ["flintstream.controll", "restart-strategy.typ", "state.backend.typ"]
    assert [next(key for key in keys if key in message) for message in messages] == keys


def test_each_execution_warns():
    env = environment({"state.backend.typ": "rocksdb"})
    assert len(said(env)) == len(said(env)) == 1


def test_nothing_is_said_of_keys_of_spark_of_the_program_and_of_flink():
    entries = {
        "spark.executor.memory": "1g",
        "my.own.key": "1",
        "taskmanager.numberOfTaskSlots": "4",
        "state.backend.rocksdb.metrics.bytes-read": "true",
        "state.backend.local-recovery": "true",
    }
    assert said(environment(entries)) == []


def test_a_plan_that_is_only_shown_warns_of_nothing():
    env = environment({"state.backend.typ": "rocksdb"})
    env.from_collection([1]).map(lambda x: x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.get_execution_plan()


def test_every_spelling_is_known_and_no_key_both_has_an_effect_and_has_none():
    spellings = [key for option in OPTIONS for key in option.keys]
    assert len(spellings) == len(set(spellings))
    assert not keys_of_flink() & set(spellings)
    assert unknown_keys([*spellings, *keys_of_flink()]) == {}


def test_every_key_that_stands_in_the_code_is_known():
    root = Path(flintstream.__file__).parent
    key = re.compile(rf"({'|'.join(map(re.escape, OURS))})[a-z0-9.-]*[a-z0-9]")
    found = {
        node.value
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and key.fullmatch(node.value)
    }
    assert len(found) > len(OPTIONS) / 2
    no_keys = {"flintstream.slot", *MOVED}  # a local property of Spark, and modules of earlier releases
    assert {name for name in unknown_keys(found) if name not in no_keys and find_spec(name) is None} == set()


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", CHECKED, ids=lambda option: option.key)
def test_a_bad_value_is_refused_with_key_value_and_what_it_may_be(option):
    for key in option.keys:
        with pytest.raises(ValueError, match=re.escape(f"'{key}' must be {option.type.accepted}, got 'nonsense'")):
            check_values({key: "nonsense"})


@pytest.mark.parametrize("option", [o for o in OPTIONS if o.default is not None], ids=lambda option: option.key)
def test_the_default_is_a_value_that_the_key_may_have(option):
    assert option.parse(option.default_text()) == option.default


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("flintstream.control", "TRUE", "yes"),
        ("flintstream.epoch.max-duration", "5 s", "-5 s"),
        ("parallelism.default", "-1", "0"),
        ("pipeline.max-parallelism", "32768", "32769"),
        ("execution.runtime-mode", "batch", "BATCHED"),
        ("execution.checkpointing.mode", "at_least_once", "EXACTLY"),
        ("execution.checkpointing.interval", "PT10S", "5 ms"),
        ("restart-strategy.type", "fixedDelay", "fix"),
        ("restart-strategy.exponential-delay.backoff-multiplier", "1.1", "1.0"),
        ("restart-strategy.exponential-delay.jitter-factor", "0", "nan"),
        ("restart-strategy.failure-rate.failure-rate-interval", "1 min", "1 minit"),
        ("state.backend.rocksdb.compression.per.level", "NO_COMPRESSION; lz4_compression", "LZ5_COMPRESSION"),
        ("state.backend.rocksdb.compaction.style", "universal", "FIFO"),
        ("state.backend.rocksdb.writebuffer.size", "64mb", "64 megs"),
        ("execution.checkpointing.data-inline-threshold", "1 mb", "2 mb"),
        ("flintstream.checkpointing.jobmanager.max-state-size", "1", "0"),
        ("state.backend.rocksdb.memory.write-buffer-ratio", "1", "0"),
    ],
)
def test_which_values_a_key_may_have(key, good, bad):
    check_values({key: good})
    with pytest.raises(ValueError, match=re.escape(f"got '{bad}'")):
        check_values({key: bad})


def test_a_bad_value_is_refused_when_a_job_is_built_even_if_the_job_does_not_read_it():
    env = environment({"state.backend.rocksdb.files.open": "many"})
    env.from_collection([1]).map(lambda x: x)
    with pytest.raises(ValueError, match=r"'state\.backend\.rocksdb\.files\.open' must be a whole number .*'many'"):
        env.execute()


def test_what_methods_of_the_environment_set_passes():
    env = environment({})
    env.get_config().set_auto_watermark_interval(50).set_max_parallelism(64).disable_generic_types()
    env.set_buffer_timeout(-1).set_runtime_mode(RuntimeExecutionMode.AUTOMATIC).enable_checkpointing(1_000)
    env.get_config().set_latency_tracking_interval(5).set_use_snapshot_compression(True).enable_object_reuse()
    assert said(env) == []


def test_the_older_spelling_of_chaining_counts():
    assert not environment({"pipeline.operator-chaining": "false"}).is_chaining_enabled()
    both = {"pipeline.operator-chaining": "false", "pipeline.operator-chaining.enabled": "true"}
    assert environment(both).is_chaining_enabled()


# -- the changelog -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["state.changelog.enabled", "state.backend.changelog.enabled"])
def test_a_changelog_without_interval_and_directory_warns_and_says_what_to_set(key):
    [message] = said(environment({key: "true"}))
    assert f"'{key}' has no effect" in message
    assert "'execution.checkpointing.interval'" in message
    assert "'execution.checkpointing.dir'" in message


def test_a_changelog_without_a_directory_warns_of_that_alone():
    [message] = said(environment({**CHANGELOG, **INTERVAL}))
    assert "'execution.checkpointing.dir'" in message
    assert "interval" not in message


def test_a_changelog_without_an_interval_warns_of_that_alone(tmp_path):
    [message] = said(environment({**CHANGELOG, "execution.checkpointing.dir": f"file://{tmp_path}"}))
    assert "'execution.checkpointing.interval'" in message
    assert ".dir" not in message


def test_a_changelog_warns_if_checkpoints_are_in_the_memory_of_the_driver(tmp_path):
    env = environment({**CHANGELOG, **INTERVAL})
    with pytest.warns(DeprecationWarning, match="set_checkpoint_storage"):
        env.get_checkpoint_config().set_checkpoint_storage(JobManagerCheckpointStorage(f"file://{tmp_path}"))
    [message] = said(env)
    assert "'execution.checkpointing.storage' to 'filesystem'" in message


def test_a_changelog_that_is_written_is_off_or_belongs_to_a_batch_job_says_nothing(tmp_path):
    written = {**CHANGELOG, **INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}"}
    assert said(environment(written)) == []
    assert said(environment({"state.changelog.enabled": "false"})) == []
    assert said(environment({**CHANGELOG, "execution.runtime-mode": "BATCH"})) == []
