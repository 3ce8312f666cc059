"""Methods of environments for state, checkpoints and restarts. The expected values come from PyFlink 2.3."""

from __future__ import annotations

import pytest

from flintstream.common import Configuration, RestartStrategies
from flintstream.datastream import (
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StreamExecutionEnvironment,
)


def test_a_backend_that_was_set_is_returned():
    backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(DeprecationWarning, match="set_state_backend"):
        env.set_state_backend(backend)
    with pytest.warns(DeprecationWarning, match="get_state_backend"):
        assert env.get_state_backend() is backend


def test_no_backend_is_set_at_first_and_one_that_is_configured_is_returned():
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(DeprecationWarning, match="get_state_backend"):
        assert env.get_state_backend() is None
    env.configure(Configuration.from_dict({"state.backend": "filesystem"}))
    with pytest.warns(DeprecationWarning, match="get_state_backend"):
        assert env.get_state_backend() == HashMapStateBackend()


def test_what_is_no_backend_cannot_be_set():
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(DeprecationWarning, match="set_state_b"), pytest.raises(TypeError, match="needs a StateBackend"):
        env.set_state_backend("rocksdb")  # type: ignore[arg-type]


def test_the_changelog_is_undecided_until_it_is_set():
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.is_changelog_state_backend_enabled() is None
    assert env.enable_changelog_state_backend(True).is_changelog_state_backend_enabled() is True
    with pytest.warns(UserWarning, match="has no effect yet"):
        assert env._state_settings(batch=False).changelog
    assert env.enable_changelog_state_backend(False).is_changelog_state_backend_enabled() is False
    with pytest.raises(TypeError, match="must be True or False"):
        env.enable_changelog_state_backend("x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("directory", "shown_as"),
    [("/tmp/x", "/tmp/x"), ("file:///tmp//a/", "file:/tmp/a"), ("hdfs://h/a", "hdfs://h/a")],  # noqa: S108
)
def test_the_directory_of_savepoints_is_shown_as_flink_shows_it(directory, shown_as):
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_default_savepoint_directory() is None
    assert env.set_default_savepoint_directory(directory).get_default_savepoint_directory() == shown_as
    env.get_checkpoint_config().validate()
    assert env._checkpoint_settings(batch=False).savepoint_directory == shown_as


def test_a_relative_directory_of_savepoints_starts_where_the_program_runs(tmp_path, monkeypatch):
    env = StreamExecutionEnvironment.get_execution_environment()
    monkeypatch.chdir(tmp_path)
    env.set_default_savepoint_directory("rel/a")
    monkeypatch.chdir("/")
    assert env._checkpoint_settings(batch=False).savepoint_directory == f"{tmp_path}/rel/a"


@pytest.mark.parametrize("directory", ["", "/"])
def test_a_directory_of_savepoints_that_is_none_is_refused(directory):
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(ValueError, match="the default directory of savepoints must"):
        env.set_default_savepoint_directory(directory)


@pytest.mark.parametrize(
    "strategy",
    [
        RestartStrategies.no_restart(),
        RestartStrategies.fixed_delay_restart(3, 500),
        RestartStrategies.failure_rate_restart(2, 60_000, 10),
        RestartStrategies.ExponentialDelayRestartStrategyConfiguration(5, 50, 3.0, 500, 0.0, 9),
    ],
)
def test_a_restart_strategy_is_kept_in_the_configuration(strategy):
    configuration = Configuration.from_dict({"restart-strategy": "fixed-delay"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    with pytest.warns(DeprecationWarning, match="set_restart_strategy"):
        env.set_restart_strategy(strategy)
    with pytest.warns(DeprecationWarning, match="get_restart_strategy"):
        assert env.get_restart_strategy() == strategy
    assert env.get_config().get_restart_strategy() == strategy


def test_the_fallback_brings_back_what_was_configured():
    entries = {"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.attempts": "9"}
    config = StreamExecutionEnvironment.get_execution_environment(entries).get_config()
    config.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 1))
    config.set_restart_strategy(RestartStrategies.no_restart())
    config.set_restart_strategy(RestartStrategies.fall_back_restart())
    assert config.get_restart_strategy() == RestartStrategies.fixed_delay_restart(9, 1000)


def test_the_restart_strategy_is_the_fallback_until_it_is_set():
    config = StreamExecutionEnvironment.get_execution_environment().get_config()
    assert config.get_restart_strategy() == RestartStrategies.fall_back_restart()
    with pytest.raises(TypeError, match="must come from RestartStrategies"):
        config.set_restart_strategy("none")  # type: ignore[arg-type]
