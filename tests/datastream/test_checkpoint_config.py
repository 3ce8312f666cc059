"""The expected values come from PyFlink 2.3.0."""

from __future__ import annotations

import pickle
import re

import pytest

from flintstream.common.configuration import Configuration
from flintstream.common.time import Duration
from flintstream.datastream.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup
from flintstream.datastream.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from flintstream.datastream.checkpointing_mode import CheckpointingMode
from flintstream.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

PREFIX = "execution.checkpointing."
PATH = "file:///data/x"

DEFAULTS = {
    "is_checkpointing_enabled": False,
    "get_checkpointing_mode": CheckpointingMode.AT_LEAST_ONCE,
    "get_checkpoint_interval": -1,
    "get_checkpoint_timeout": 600_000,
    "get_min_pause_between_checkpoints": 0,
    "get_max_concurrent_checkpoints": 1,
    "get_tolerable_checkpoint_failure_number": 0,
    "is_fail_on_checkpointing_errors": True,
    "is_externalized_checkpoints_enabled": False,
    "get_externalized_checkpoint_retention": ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS,
    "is_unaligned_checkpoints_enabled": False,
    "is_force_unaligned_checkpoints": False,
    "get_aligned_checkpoint_timeout": Duration.of_millis(0),
    "get_alignment_timeout": Duration.of_millis(0),
}


def values(config):
    return {getter: getattr(config, getter)() for getter in DEFAULTS}


def changed(config):
    return {getter: value for getter, value in values(config).items() if value != DEFAULTS[getter]}


def by_keys(**entries):
    configuration = Configuration()
    for key, value in entries.items():
        configuration.set_string(PREFIX + key.replace("__", ".").replace("_", "-"), value)
    return CheckpointConfig(configuration)


def test_defaults_are_those_of_pyflink():
    assert values(CheckpointConfig()) == DEFAULTS


def test_the_mode_is_exactly_once_as_soon_as_an_interval_is_set():
    config = CheckpointConfig().set_checkpoint_interval(1000)
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE is CheckpointConfig.DEFAULT_MODE


def test_a_mode_has_no_effect_without_an_interval():
    config = CheckpointConfig().set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    config.set_checkpoint_interval(10)
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE


def test_there_is_no_exactly_once_in_batch_mode():
    configuration = Configuration().set_string("execution.runtime-mode", "BATCH")
    config = CheckpointConfig(configuration).set_checkpoint_interval(1000)
    assert config.is_checkpointing_enabled()
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("setter", "argument", "key", "text", "expected"),
    [
        ("set_checkpoint_timeout", 10, "timeout", "10 ms", {"get_checkpoint_timeout": 10}),
        ("set_min_pause_between_checkpoints", 7, "min-pause", "7", {"get_min_pause_between_checkpoints": 7}),
        (
            "set_max_concurrent_checkpoints",
            3,
            "max-concurrent-checkpoints",
            "3",
            {"get_max_concurrent_checkpoints": 3},
        ),
        (
            "set_tolerable_checkpoint_failure_number",
            4,
            "tolerable-failed-checkpoints",
            "4",
            {"get_tolerable_checkpoint_failure_number": 4, "is_fail_on_checkpointing_errors": False},
        ),
        (
            "set_fail_on_checkpointing_errors",
            False,
            "tolerable-failed-checkpoints",
            "2147483647",
            {"get_tolerable_checkpoint_failure_number": 2147483647, "is_fail_on_checkpointing_errors": False},
        ),
        (
            "set_externalized_checkpoint_retention",
            ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION,
            "externalized-checkpoint-retention",
            "retain_on_cancellation",
            {
                "get_externalized_checkpoint_retention": ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION,
                "is_externalized_checkpoints_enabled": True,
            },
        ),
        (
            "set_aligned_checkpoint_timeout",
            Duration.of_seconds(9),
            "aligned-checkpoint-timeout",
            "9 s",
            {
                "get_aligned_checkpoint_timeout": Duration.of_seconds(9),
                "get_alignment_timeout": Duration.of_seconds(9),
            },
        ),
        (
            "set_alignment_timeout",
            Duration.of_seconds(8),
            "alignment-timeout",
            "8 s",
            {
                "get_aligned_checkpoint_timeout": Duration.of_seconds(8),
                "get_alignment_timeout": Duration.of_seconds(8),
            },
        ),
        ("set_force_unaligned_checkpoints", True, "unaligned.forced", "TRUE", {"is_force_unaligned_checkpoints": True}),
    ],
)
def test_a_setter_and_its_key_agree_and_change_nothing_else(setter, argument, key, text, expected):
    config = CheckpointConfig()
    assert getattr(config, setter)(argument) is config
    assert changed(config) == expected
    assert changed(CheckpointConfig(Configuration().set_string(PREFIX + key, text))) == expected


def test_settings_travel_as_text_under_flinks_keys():
    configuration = Configuration()
    config = CheckpointConfig(configuration)
    config.set_checkpoint_interval(180_000).set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
    config.enable_unaligned_checkpoints()
    assert configuration.to_dict() == {
        "execution.checkpointing.interval": "180000 ms",
        "execution.checkpointing.mode": "AT_LEAST_ONCE",
        "execution.checkpointing.unaligned.enabled": "true",
    }
    assert values(CheckpointConfig(Configuration.from_dict(configuration.to_dict()))) == values(config)


@pytest.mark.parametrize("text", ["3 min", "180000", "180 s", "PT3M"])
def test_the_interval_by_key_takes_any_spelling_of_a_duration(text):
    config = by_keys(interval=text)
    assert config.get_checkpoint_interval() == 180_000
    assert config.is_checkpointing_enabled()


def test_a_change_of_the_configuration_is_seen_at_once():
    configuration = Configuration()
    config = CheckpointConfig(configuration)
    configuration.set_string("execution.checkpointing.interval", "1 min")
    assert config.get_checkpoint_interval() == 60_000


@pytest.mark.parametrize(("mode", "unaligned"), [("exactly_once", True), ("AT_LEAST_ONCE", False)])
def test_unaligned_checkpoints_need_exactly_once(mode, unaligned):
    config = by_keys(interval="1 s", mode=mode).enable_unaligned_checkpoints()
    assert config.is_unaligned_checkpoints_enabled() is unaligned
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()


def test_an_older_key_counts_until_the_newer_one_is_set():
    config = by_keys(interval="1 s", unaligned="true")
    assert config.is_unaligned_checkpoints_enabled()
    assert not config.enable_unaligned_checkpoints(False).is_unaligned_checkpoints_enabled()


def test_failing_on_errors_means_that_no_failure_is_tolerated():
    config = CheckpointConfig().set_tolerable_checkpoint_failure_number(3).set_fail_on_checkpointing_errors(True)
    assert config.get_tolerable_checkpoint_failure_number() == 0


@pytest.mark.parametrize(
    ("setter", "argument", "message"),
    [
        ("set_checkpoint_interval", 9, "the checkpoint interval in ms must be at least 10, got 9; leave the interval"),
        ("set_checkpoint_interval", 0, "must be at least 10, got 0"),
        ("set_checkpoint_interval", 2**63, "must be at most"),
        ("set_checkpoint_timeout", 9, "the checkpoint timeout in ms must be at least 10, got 9"),
        ("set_min_pause_between_checkpoints", -1, "the pause between checkpoints in ms must be at least 0, got -1"),
        ("set_max_concurrent_checkpoints", 0, "the number of concurrent checkpoints must be at least 1, got 0"),
        ("set_tolerable_checkpoint_failure_number", -1, "must be at least 0, got -1"),
        ("set_tolerable_checkpoint_failure_number", 2**31, "must be at most 2147483647, got 2147483648"),
        ("set_aligned_checkpoint_timeout", Duration.of_millis(-3), "the alignment timeout in ms must be at least 0"),
    ],
)
def test_a_value_out_of_range_is_refused_and_leaves_the_setting(setter, argument, message):
    config = CheckpointConfig()
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(config, setter)(argument)
    assert values(config) == DEFAULTS


@pytest.mark.parametrize(
    ("setter", "argument", "message"),
    [
        ("set_checkpoint_interval", 1.5, "must be a whole number (int), got 1.5 of type float"),
        ("set_checkpoint_interval", "1000", "got '1000' of type str"),
        ("set_checkpoint_interval", True, "got True of type bool"),
        ("set_checkpoint_interval", None, "got None of type NoneType"),
        ("set_checkpointing_mode", "EXACTLY_ONCE", "must be one of CheckpointingMode.EXACTLY_ONCE, CheckpointingMode"),
        ("set_externalized_checkpoint_retention", 1, "must be one of ExternalizedCheckpointRetention.DELETE_ON_CAN"),
        ("set_aligned_checkpoint_timeout", 300, "must be a Duration, got 300; use Duration.of_millis(...)"),
        ("enable_unaligned_checkpoints", "yes", "enabled must be True or False, got 'yes' of type str"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(setter, argument, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        getattr(CheckpointConfig(), setter)(argument)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("interval", "5 ms", "'execution.checkpointing.interval' must be a duration of at least 10 ms, such as '10 s'"),
        ("interval", "0", "got '0'"),
        ("interval", "-1", "got '-1'"),
        ("timeout", "5 ms", "'execution.checkpointing.timeout' must be a duration of at least 10 ms"),
        ("mode", "foo", "'execution.checkpointing.mode' must be one of EXACTLY_ONCE, AT_LEAST_ONCE, got 'foo'"),
        ("max-concurrent-checkpoints", "0", "must be a whole number of at least 1, got '0'"),
        ("tolerable-failed-checkpoints", "x", "'execution.checkpointing.tolerable-failed-checkpoints' must be"),
        ("externalized-checkpoint-retention", "x", "must be one of NO_EXTERNALIZED_CHECKPOINTS, RETAIN_ON"),
        ("unaligned.enabled", "yes", "'execution.checkpointing.unaligned.enabled' must be 'true' or 'false'"),
        (
            "storage",
            "tape",
            "'execution.checkpointing.storage' must be 'jobmanager' or 'filesystem', or 'module:Class'",
        ),
        ("storage", "filesystem", "'execution.checkpointing.dir' must name the directory"),
        (
            "dir",
            "/data",
            "'execution.checkpointing.dir' must be a URI with a scheme, got '/data'; write 'file:///data'",
        ),
    ],
)
def test_a_bad_value_of_a_key_is_refused_when_the_configuration_is_taken(key, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        CheckpointConfig(Configuration().set_string(PREFIX + key, text))


def test_validate_finds_what_was_set_wrongly_later():
    configuration = Configuration()
    config = CheckpointConfig(configuration)
    configuration.set_string("execution.checkpointing.timeout", "1 ms")
    with pytest.raises(ValueError, match=re.escape("'execution.checkpointing.timeout'")):
        config.validate()


def test_a_pickled_config_keeps_its_settings():
    config = by_keys(interval="1 s").set_max_concurrent_checkpoints(2)
    assert values(pickle.loads(pickle.dumps(config))) == values(config)


# -- names of PyFlink 1 ------------------------------------------------------------------------------------------------


def test_constants_of_pyflink_1_are_still_there():
    assert CheckpointConfig.DEFAULT_TIMEOUT == 600_000
    assert CheckpointConfig.DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS == 0
    assert CheckpointConfig.DEFAULT_MAX_CONCURRENT_CHECKPOINTS == 1


@pytest.mark.parametrize("setter", ["enable_externalized_checkpoints", "set_externalized_checkpoint_cleanup"])
def test_cleanup_is_an_older_name_of_retention_and_warns(setter):
    config = CheckpointConfig()
    with pytest.warns(DeprecationWarning, match=rf"{setter}\(\).*use set_externalized_checkpoint_retention") as warned:
        assert getattr(config, setter)(ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION) is config
    assert warned[0].filename == __file__
    assert config.get_externalized_checkpoint_retention() is ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    with pytest.warns(DeprecationWarning, match="use get_externalized_checkpoint_retention"):
        assert config.get_externalized_checkpoint_cleanup() is ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION


@pytest.mark.filterwarnings("ignore:CheckpointConfig:DeprecationWarning")
@pytest.mark.parametrize(
    "storage",
    [
        JobManagerCheckpointStorage(),
        JobManagerCheckpointStorage("file:///data/meta", 100),
        FileSystemCheckpointStorage(PATH),
        FileSystemCheckpointStorage(PATH, 100, 50),
        FileSystemCheckpointStorage(PATH, 0, 0),
    ],
)
def test_a_storage_set_by_method_is_read_back_also_from_the_keys(storage):
    config = CheckpointConfig()
    assert config.get_checkpoint_storage() is None
    assert config.set_checkpoint_storage(storage) is config
    assert config.get_checkpoint_storage() == pickle.loads(pickle.dumps(storage))


@pytest.mark.filterwarnings("ignore:CheckpointConfig:DeprecationWarning")
def test_a_storage_takes_the_place_of_the_one_before():
    config = CheckpointConfig(Configuration().set_string("state.checkpoints.dir", PATH))
    config.set_checkpoint_storage(FileSystemCheckpointStorage("file:///elsewhere", 7, 8))
    config.set_checkpoint_storage(JobManagerCheckpointStorage())
    assert config.get_checkpoint_storage() == JobManagerCheckpointStorage()


def test_the_deprecated_storage_methods_warn():
    config = CheckpointConfig()
    with pytest.warns(DeprecationWarning, match=r"set_checkpoint_storage_dir\(\).*'execution.checkpointing.dir'"):
        config.set_checkpoint_storage_dir(PATH)
    with pytest.warns(DeprecationWarning, match=r"get_checkpoint_storage\(\)"):
        assert config.get_checkpoint_storage() == FileSystemCheckpointStorage(PATH)
    with (
        pytest.warns(DeprecationWarning, match=r"set_checkpoint_storage\(\)"),
        pytest.raises(TypeError, match="got 'file:///data/x'; for a directory call set_checkpoint_storage_dir"),
    ):
        config.set_checkpoint_storage("file:///data/x")  # type: ignore[arg-type]


# -- storages ----------------------------------------------------------------------------------------------------------


def test_storages_have_the_defaults_of_pyflink():
    in_memory = JobManagerCheckpointStorage()
    assert (in_memory.get_checkpoint_path(), in_memory.get_savepoint_path()) == (None, None)
    assert in_memory.get_max_state_size() == JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE == 5242880
    for files in [FileSystemCheckpointStorage(PATH), FileSystemCheckpointStorage(PATH, -1, -1)]:
        assert (files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (20480, 4096)
        assert files.get_savepoint_path() is None
    assert FileSystemCheckpointStorage.MAX_FILE_STATE_THRESHOLD == 1048576


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("file:///data/x", "file:/data/x"),
        ("file:/data/x/", "file:/data/x"),
        ("file:///data//x/../y", "file:/data/y"),
        ("file:///data/a b", "file:/data/a b"),
        ("hdfs://host:1/x", "hdfs://host:1/x"),
        ("s3://bucket/c/", "s3://bucket/c"),
        (" hdfs:///x ", "hdfs:/x"),
    ],
)
def test_a_directory_is_shown_as_flink_does(uri, shown):
    assert FileSystemCheckpointStorage(uri).get_checkpoint_path() == shown
    assert JobManagerCheckpointStorage(uri).get_checkpoint_path() == shown


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("/data/x", "must be a URI with a scheme, got '/data/x'; write 'file:///data/x'"),
        ("data/x", "must be a URI with a scheme, got 'data/x'"),
        ("", "must be a URI with a scheme, got ''"),
        ("C:/x", "must be a URI with a scheme, got 'C:/x'"),
        ("file:x", "must be an absolute path, got 'file:x'; write 'file:///x'"),
        ("file:///", "must not be the root of a file system, got 'file:///'"),
        ("s3://bucket", "must not be the root of a file system, got 's3://bucket'"),
    ],
)
def test_a_directory_that_flink_refuses_is_refused(uri, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        FileSystemCheckpointStorage(uri)
    with pytest.raises(ValueError, match=re.escape(message)):
        JobManagerCheckpointStorage(uri)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (FileSystemCheckpointStorage, "checkpoint_path must not be None; name a directory"),
        (
            lambda: FileSystemCheckpointStorage(PATH, -2),
            "file_state_size_threshold (bytes) must be at least -1, got -2",
        ),
        (lambda: FileSystemCheckpointStorage(PATH, 1048577), "must be at most 1048576, got 1048577"),
        (lambda: FileSystemCheckpointStorage(PATH, None, -7), "write_buffer_size (bytes) must be at least -1, got -7"),
        (lambda: JobManagerCheckpointStorage(None, 0), "max_state_size (bytes) must be at least 1, got 0"),
    ],
)
def test_a_size_out_of_range_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_a_storage_by_keys_may_use_the_older_spellings():
    keys = {
        "state.checkpoints.dir": PATH,
        "state.savepoints.dir": "file:///data/savepoints",
        "state.storage.fs.memory-threshold": "1 kb",
    }
    storage = CheckpointStorage.from_configuration(Configuration.from_dict(keys))
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_min_file_size_threshold() == 1024
    assert storage.get_savepoint_path() == "file:/data/savepoints"


def test_a_size_left_open_leaves_that_of_the_configuration():
    configuration = Configuration().set_string("state.storage.fs.memory-threshold", "1 kb")
    FileSystemCheckpointStorage(PATH).write_to(configuration)
    storage = CheckpointStorage.from_configuration(configuration)
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_min_file_size_threshold() == 1024
