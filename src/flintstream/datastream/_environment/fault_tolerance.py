"""Methods of the environment for state, checkpoints and restarts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.datastream._environment.job_settings import checkpoint_settings, state_settings, warn_of_idle_changelog
from flintstream.datastream._settings import check_bool, warn_removed
from flintstream.datastream.checkpoint_storage import check_savepoint_directory, savepoint_directory
from flintstream.datastream.state_backend import StateBackend
from flintstream.options.checkpointing import SAVEPOINT_DIRECTORY
from flintstream.options.flink_keys import misleading
from flintstream.options.state import BACKEND, CHANGELOG
from flintstream.options.table import DOCUMENTATION, check_values, unknown_keys

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.checkpoint.settings import CheckpointSettings
    from flintstream.common.configuration import Configuration
    from flintstream.common.execution_config import ExecutionConfig
    from flintstream.common.restart_strategy import RestartStrategyConfiguration
    from flintstream.datastream.checkpoint_config import CheckpointConfig
    from flintstream.datastream.checkpointing_mode import CheckpointingMode
    from flintstream.state.settings import StateSettings

_STARTS_JOB = 4
"""Number of stack frames from :meth:`FaultTolerance._check_configuration` up to the caller of ``execute()``."""


class FaultTolerance:
    """The methods of an environment for fault tolerance. Every setting is a key of its configuration.

    Objects that no key can express, such as a custom backend, are kept separately and apply while the key names them.
    """

    _configuration: Configuration
    _config: ExecutionConfig
    _checkpoint_config: CheckpointConfig
    _state_backend: StateBackend | None = None

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint configuration.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> _ = env.get_checkpoint_config().set_checkpoint_interval(10_000)
        >>> env.get_checkpoint_interval()
        10000
        """
        return self._checkpoint_config

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
        """Take a checkpoint every ``interval`` ms.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().enable_checkpointing(10_000)
        >>> env.get_checkpoint_interval(), env.get_checkpointing_mode().name
        (10000, 'EXACTLY_ONCE')
        """
        self._checkpoint_config.set_checkpoint_interval(interval)
        if mode is not None:
            self._checkpoint_config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the checkpoint interval in ms; -1 if checkpointing is off.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().get_checkpoint_interval()
        -1
        """
        return self._checkpoint_config.get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the checkpointing mode.

        >>> from flintstream.datastream import CheckpointingMode, StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.enable_checkpointing(10_000, CheckpointingMode.AT_LEAST_ONCE).get_checkpointing_mode().name
        'AT_LEAST_ONCE'
        """
        return self._checkpoint_config.get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the checkpointing mode.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().enable_checkpointing(10_000)
        >>> env.get_checkpointing_consistency_mode().name
        'EXACTLY_ONCE'
        """
        return self._checkpoint_config.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are unaligned, which has no effect here.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().is_unaligned_checkpoints_enabled()
        False
        """
        return self._checkpoint_config.is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether checkpoints are always unaligned, which has no effect here.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().is_force_unaligned_checkpoints()
        False
        """
        return self._checkpoint_config.is_force_unaligned_checkpoints()

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set the default directory of savepoints.

        Args:
            directory: a URI, or a local path, relative to the working directory.

        Raises:
            ValueError: The directory is empty, or the root of a file system.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.set_default_savepoint_directory("file:///backup/saved").get_default_savepoint_directory()
        'file:/backup/saved'
        """
        shown = check_savepoint_directory(directory, "the default directory of savepoints")
        self._configuration.set_string(SAVEPOINT_DIRECTORY.key, shown)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return the default directory of savepoints; None if it is not set.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().get_default_savepoint_directory() is None
        True
        """
        return savepoint_directory(self._configuration)

    # -- state -------------------------------------------------------------------------------------------------------

    def set_state_backend(self, state_backend: StateBackend) -> Self:
        """Set the state backend.

        Deprecated: newer programs set ``state.backend.type``.

        Raises:
            TypeError: ``state_backend`` is not a :class:`StateBackend`.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.state_backend import EmbeddedRocksDBStateBackend
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> type(env.set_state_backend(EmbeddedRocksDBStateBackend()).get_state_backend()).__name__
        'EmbeddedRocksDBStateBackend'
        """
        warn_removed(
            "StreamExecutionEnvironment.set_state_backend()", "the key 'state.backend.type' of the configuration"
        )
        if not isinstance(state_backend, StateBackend):
            raise TypeError(
                f"set_state_backend() needs a StateBackend, such as HashMapStateBackend(), but got {state_backend!r}"
            )
        for key in BACKEND.keys:
            self._configuration.remove_config(key)
        state_backend.write_to(self._configuration)
        self._state_backend = state_backend
        return self

    def get_state_backend(self) -> StateBackend | None:
        """Return the state backend, as set by method or key; None if neither was used. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().get_state_backend() is None
        True
        """
        warn_removed("StreamExecutionEnvironment.get_state_backend()", "StateBackend.from_configuration() instead")
        if self._configuration.find(BACKEND) is None:
            return None
        return self._chosen_backend() or StateBackend.from_configuration(self._configuration)

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Let checkpoints refer to a log of state changes, which keeps them fast for state of any size.

        Raises:
            TypeError: ``enabled`` is neither True nor False.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().enable_changelog_state_backend(True)
        >>> env.is_changelog_state_backend_enabled()
        True
        """
        self._configuration.set_boolean(CHANGELOG.key, check_bool(enabled, "enabled"))
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return whether checkpoints refer to a log of state changes; None if not set.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().is_changelog_state_backend_enabled() is None
        True
        """
        return self._configuration.get(CHANGELOG) if self._configuration.find(CHANGELOG) else None

    def _chosen_backend(self) -> StateBackend | None:
        """Return the argument of :meth:`set_state_backend`, unless the configuration was changed later."""
        chosen = self._state_backend
        found = self._configuration.find(BACKEND)
        return chosen if chosen is not None and found == (BACKEND.key, chosen.kind) else None

    def _checkpoint_settings(self, *, batch: bool) -> CheckpointSettings:
        """Return the checkpoint settings of a job."""
        return checkpoint_settings(self._configuration, self._checkpoint_config, batch=batch)

    def _state_settings(self, *, batch: bool) -> StateSettings:
        """Return the state settings of a job."""
        settings = state_settings(self._configuration, self._chosen_backend(), batch=batch)
        if settings.changelog:
            warn_of_idle_changelog(self._configuration, self._checkpoint_config, stacklevel=_STARTS_JOB + 1)
        return settings

    def _check_configuration(self) -> None:
        """Raise an error for invalid values, and warn of keys that are unknown or have no effect."""
        entries = self._configuration.to_dict()
        check_values(entries)
        for key in entries:
            because = misleading(key)
            if because is not None:
                warnings.warn(f"the configuration key '{key}' has no effect here: {because}", stacklevel=_STARTS_JOB)
        for key, nearest in unknown_keys(entries).items():
            hint = "" if nearest is None else f" (did you mean '{nearest}'?)"
            warnings.warn(
                f"the configuration key '{key}' is unknown and has no effect{hint}; {DOCUMENTATION} lists "
                "the known keys",
                stacklevel=_STARTS_JOB,
            )

    # -- restarts ----------------------------------------------------------------------------------------------------

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> None:
        """Set the restart strategy; see ``RestartStrategies``.

        Deprecated: newer programs set ``restart-strategy.type``.

        Raises:
            TypeError: The argument is not a restart strategy.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> from flintstream.common import RestartStrategies
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, 10_000))
        >>> env.get_restart_strategy().get_description()
        'up to 3 restarts, each after 10.0 s'
        """
        warn_removed(
            "StreamExecutionEnvironment.set_restart_strategy()", "the key 'restart-strategy.type' of the configuration"
        )
        self._config.set_restart_strategy(restart_strategy_configuration)

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the restart strategy, as set by method or key; the fallback if neither was used. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().get_restart_strategy().get_description()
        'the configured restart strategy'
        """
        warn_removed(
            "StreamExecutionEnvironment.get_restart_strategy()", "RestartStrategies.from_configuration() instead"
        )
        return self._config.get_restart_strategy()
