"""Settings that a job gets from its configuration. The defaults come from Flink 2.3."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.common import Configuration, RestartStrategies
from flintstream.datastream import (
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    StreamExecutionEnvironment,
)
from flintstream.datastream._environment.job_settings import checkpoint_settings, state_settings
from flintstream.errors import MissingDependencyError, PlanError
from flintstream.options.table import THEMES
from flintstream.state.settings import StateSettings

INTERVAL = {"execution.checkpointing.interval": "10 s"}
WITH_EFFECT = [option for name in ("checkpointing", "state", "rocksdb", "restarts") for option in THEMES[name]]


def checkpoints(entries, **how):
    return checkpoint_settings(Configuration.from_dict(entries), **how)


def state(entries, **how):
    return state_settings(Configuration.from_dict(entries), **how)


def shown(settings):
    """Settings with stores by their URI, so that they compare."""
    values = dict(vars(settings))
    values["storage"] = values["storage"] and values["storage"].uri("")
    return values


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def samples(tmp_path):
    """A value other than the default for keys with older spellings."""
    return {
        "execution.checkpointing.num-retained": "3",
        "execution.checkpointing.storage": "jobmanager",
        "execution.checkpointing.dir": f"file://{tmp_path}/elsewhere",
        "execution.checkpointing.savepoint-dir": "/data/savepoints",
        "execution.checkpointing.data-inline-threshold": "1 kb",
        "execution.checkpointing.incremental": "true",
        "state.backend.type": "rocksdb",
        "state.changelog.enabled": "true",
        "state.changelog.periodic-materialize.enabled": "false",
        "state.changelog.periodic-materialize.interval": "1 min",
        "state.changelog.max-failures-allowed": "7",
        "execution.state-recovery.path": "/data/savepoints/savepoint-1",
        "execution.state-recovery.ignore-unclaimed-state": "true",
        "restart-strategy.type": "failure-rate",
    }


def everything(entries):
    configuration = Configuration.from_dict(entries)
    settings = state_settings(configuration)
    chosen = (settings.backend, settings.factory, settings.changelog)
    return shown(checkpoint_settings(configuration)), chosen, RestartStrategies.from_configuration(configuration)


def base(key, tmp_path):
    directory = {} if key == "execution.checkpointing.dir" else {"execution.checkpointing.dir": f"file://{tmp_path}/c"}
    kind = key.split(".")[1] if key.startswith("restart-strategy.") and key != "restart-strategy.type" else None
    return {**INTERVAL, **directory, **({"restart-strategy.type": kind} if kind else {})}


@pytest.mark.parametrize(
    "option", [option for option in WITH_EFFECT if option.deprecated_keys], ids=lambda option: option.key
)
def test_an_older_spelling_counts_until_the_newer_one_is_set(option, samples, tmp_path):
    if option.key == "state.backend.type":
        pytest.importorskip("rocksdict")
    start = base(option.key, tmp_path)
    expected = everything({**start, option.key: samples[option.key]})
    assert expected != everything(start)
    for older in option.deprecated_keys:
        assert everything({**start, older: samples[option.key]}) == expected
        assert everything({**start, option.key: samples[option.key], older: "nonsense"}) == expected


@pytest.mark.parametrize("option", [o for o in WITH_EFFECT if o.default is not None], ids=lambda option: option.key)
def test_the_default_of_the_table_is_the_default(option, tmp_path):
    start = base(option.key, tmp_path)
    assert everything({**start, option.key: option.default_text()}) == everything(start)


@pytest.mark.parametrize("option", THEMES["ignored"], ids=lambda option: option.key)
def test_what_is_said_to_have_no_effect_has_none(option, tmp_path):
    values = {
        "execution.checkpointing.aligned-checkpoint-timeout": "5 s",
        "execution.checkpointing.max-concurrent-checkpoints": "3",
        "execution.checkpointing.write-buffer-size": "1 kb",
        "execution.state-recovery.claim-mode": "CLAIM",
        "state.changelog.storage": "filesystem",
    }
    start = base(option.key, tmp_path)
    for key in option.keys:
        assert everything({**start, key: values.get(option.key, "true")}) == everything(start)


# -- checkpoints -------------------------------------------------------------------------------------------------------


def test_without_an_interval_there_are_no_checkpoints():
    assert checkpoints({}) == CheckpointSettings(exactly_once=False)


def test_a_batch_job_takes_no_checkpoints_and_says_nothing_of_it(tmp_path):
    entries = {**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}"}
    settings = checkpoints(entries, batch=True)
    assert (settings.interval_ms, settings.storage, settings.exactly_once) == (None, None, False)


def test_a_batch_job_cannot_start_from_a_savepoint():
    with pytest.raises(PlanError, match=r"'execution\.savepoint\.path' is '/data/s', but a BATCH job"):
        checkpoints({"execution.savepoint.path": "/data/s"}, batch=True)


def test_all_settings_of_the_checkpoint_config_arrive(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(20_000, CheckpointingMode.AT_LEAST_ONCE)
    config = env.get_checkpoint_config()
    config.set_min_pause_between_checkpoints(5).set_checkpoint_timeout(30).set_tolerable_checkpoint_failure_number(4)
    with pytest.warns(DeprecationWarning, match="set_checkpoint_storage_dir"):
        config.set_checkpoint_storage_dir(tmp_path.as_uri())
    env.set_default_savepoint_directory("hdfs://host/savepoints")
    settings = env._checkpoint_settings(batch=False)
    assert settings.storage is not None
    assert shown(settings) == {
        **shown(CheckpointSettings()),
        "interval_ms": 20_000,
        "exactly_once": False,
        "min_pause_ms": 5,
        "timeout_ms": 30,
        "tolerable_failures": 4,
        "storage": settings.storage.uri(""),
        "savepoint_directory": "hdfs://host/savepoints",
    }


@pytest.mark.parametrize(
    ("retention", "cancelled", "failed"),
    [
        (ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS, False, False),
        (ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION, False, True),
        (ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION, True, True),
    ],
)
def test_retention_says_what_outlives_the_job(retention, cancelled, failed):
    settings = checkpoints({**INTERVAL, "execution.checkpointing.externalized-checkpoint-retention": retention.name})
    assert (settings.keep_when_cancelled, settings.keep_when_failed) == (cancelled, failed)


def test_checkpoints_are_in_the_directory_that_is_configured(tmp_path):
    settings = checkpoints({**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}/new/checkpoints"})
    settings.storage.write("job/x", b"1")
    assert (tmp_path / "new" / "checkpoints" / "job" / "x").read_bytes() == b"1"


def test_nothing_is_made_of_the_directory_before_the_job_runs(tmp_path):
    checkpoints({**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}/new"})
    assert not (tmp_path / "new").exists()


def test_checkpoints_in_the_drivers_memory_have_a_limit_and_no_store():
    entries = {
        "execution.checkpointing.storage": "jobmanager",
        "flintstream.checkpointing.jobmanager.max-state-size": "9",
    }
    settings = checkpoints({**INTERVAL, **entries})
    assert (settings.storage, settings.max_state_size) == (None, 9)


def test_with_a_directory_the_drivers_memory_puts_state_into_the_metadata(tmp_path):
    entries = {"execution.checkpointing.storage": "jobmanager", "execution.checkpointing.dir": f"file://{tmp_path}"}
    settings = checkpoints({**INTERVAL, **entries})
    assert settings.storage is not None
    assert settings.max_state_size == 5 << 20


def test_with_a_directory_alone_state_has_no_limit(tmp_path):
    settings = checkpoints({**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}"})
    assert (settings.max_state_size, settings.inline_below) == (None, 20 << 10)


def test_a_directory_that_a_file_is_in_the_way_of_is_refused_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PlanError, match=r"cannot be written to file:.*/file/x: .*/file is not a directory"):
        checkpoints({**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}/file/x"})


@pytest.mark.parametrize(("below", "message"), [("", "it is not writable"), ("/x", "it does not exist, and .* is not")])
def test_a_directory_that_cannot_be_written_to_is_refused_at_once(tmp_path, monkeypatch, below, message):
    # The user of the tests may have the right to write anywhere, whatever a directory's mode.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(PlanError, match=message):
        checkpoints({**INTERVAL, "execution.checkpointing.dir": f"file://{tmp_path}{below}"})
    assert checkpoints({"execution.checkpointing.dir": f"file://{tmp_path}{below}"}).storage is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("execution.checkpointing.interval", "5 ms"),
        ("execution.checkpointing.num-retained", "0"),
        ("state.checkpoints.num-retained", "many"),
        ("execution.checkpointing.incremental", "perhaps"),
        ("execution.savepoint.path", None),
        ("execution.state-recovery.claim-mode", "MINE"),
        ("execution.savepoint-restore-mode", "MINE"),
        ("state.savepoints.dir", "/"),
        ("state.changelog.periodic-materialize.interval", "0 ms"),
        ("state.backend.changelog.periodic-materialize.interval", "soon"),
        ("state.changelog.max-failures-allowed", "-1"),
        ("state.backend.rocksdb.checkpoint.transfer.thread.num", "0"),
    ],
)
def test_a_bad_value_is_refused_with_the_key_that_was_used(key, value):
    with pytest.raises(ValueError, match=f"'{key}'"):
        checkpoints({**INTERVAL, key: value})


def test_a_job_that_is_to_delete_what_it_starts_from_is_told_that_it_does_not():
    entries = {"execution.state-recovery.path": "/s", "execution.state-recovery.claim-mode": "claim"}
    with pytest.warns(UserWarning, match="never deletes the checkpoint or savepoint that it starts from"):
        assert checkpoints(entries).restore_path == "/s"


# -- state -------------------------------------------------------------------------------------------------------------


def test_state_is_in_memory_by_default():
    assert state({"pipeline.name": "x"}) == StateSettings()


def test_the_tasks_get_the_keys_that_concern_state():
    entries = {"state.backend.type": "hashmap", "state.backend.rocksdb.localdir": "/d", "parallelism.default": "2"}
    assert set(state(entries).options) == {"state.backend.type", "state.backend.rocksdb.localdir"}


def test_a_batch_job_keeps_state_in_memory_without_a_changelog():
    entries = {"state.backend.type": "rocksdb", "state.changelog.enabled": "true"}
    settings = state(entries, batch=True)
    assert (settings.backend, settings.factory, settings.changelog) == ("hashmap", None, False)


def test_an_unknown_backend_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'state\.backend' must be 'hashmap' or 'rocksdb', or .*, got 'paper'"):
        state({"state.backend": "paper"})


def test_rocksdb_that_is_not_installed_is_missed_before_the_job_starts(monkeypatch):
    monkeypatch.setattr("flintstream.datastream._environment.job_settings.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"flintstream\[rocksdb\]"):
        state({"state.backend.type": "rocksdb"})
