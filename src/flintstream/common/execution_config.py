"""Settings of the execution of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._java_view import JavaView
from flintstream.common.configuration import Configuration
from flintstream.common.execution_mode import ExecutionMode
from flintstream.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from flintstream.common.time import Duration
from flintstream.options import execution, ignored, restarts

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.options.option import Option

__all__ = ["ExecutionConfig"]


class ExecutionConfig:
    """Settings of one environment.

    This is a view of a :class:`~flintstream.common.configuration.Configuration`: a value that a method sets appears
    there under Flink's key, and vice versa. All intervals are in milliseconds. Settings of Java serializers (Kryo,
    Avro, generic types, closures) are stored and have no effect.

    >>> config = ExecutionConfig()
    >>> config.set_auto_watermark_interval(50).get_auto_watermark_interval()
    50

    Parallelism and key groups:

    >>> config = ExecutionConfig()
    >>> config.set_parallelism(4).set_max_parallelism(256).get_parallelism(), config.get_max_parallelism()
    (4, 256)

    Whether every operator with state needs a ``uid(...)``:

    >>> config.disable_auto_generated_uids().has_auto_generated_uids_enabled()
    False
    >>> config.enable_auto_generated_uids().has_auto_generated_uids_enabled()
    True

    Compression of checkpoints, and the restart strategy:

    >>> config.set_use_snapshot_compression(True).is_use_snapshot_compression()
    True
    >>> config.set_restart_strategy(RestartStrategies.no_restart())
    >>> config.get_restart_strategy().get_description()
    'no restart'

    Parameters for functions:

    >>> config.set_global_job_parameters({"city": "Bern", "limit": 3}).get_global_job_parameters()
    {'city': 'Bern', 'limit': '3'}

    Settings for Flink's tasks and serializers are stored, so that programs run unchanged, and have no effect:

    >>> config.disable_closure_cleaner().is_closure_cleaner_enabled(), config.enable_closure_cleaner() is config
    (False, True)
    >>> config.enable_object_reuse().is_object_reuse_enabled(), config.disable_object_reuse() is config
    (True, True)
    >>> config.enable_force_kryo().is_force_kryo_enabled(), config.disable_force_kryo() is config
    (True, True)
    >>> config.enable_force_avro().is_force_avro_enabled(), config.disable_force_avro() is config
    (True, True)
    >>> config.disable_generic_types().has_generic_types_disabled(), config.enable_generic_types() is config
    (True, True)
    >>> config.set_latency_tracking_interval(500).get_latency_tracking_interval()
    500
    >>> config.set_task_cancellation_interval(1_000).get_task_cancellation_interval()
    1000
    >>> config.set_task_cancellation_timeout(0).get_task_cancellation_timeout()
    0
    >>> config.set_execution_mode(ExecutionMode.BATCH).get_execution_mode().name
    'BATCH'
    >>> config.get_default_kryo_serializer_classes(), config.get_registered_kryo_types()
    ({}, [])
    >>> config.get_registered_pojo_types()
    []
    """

    PARALLELISM_DEFAULT = execution.PARALLELISM.default
    """The default parallelism of the environment."""

    PARALLELISM_UNKNOWN = -2
    """Leaves the parallelism unchanged."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration
        self._global_job_parameters: dict[str, str] | None = None
        self._configured_restart: dict[str, str] | None = None

    @property
    def _j_execution_config(self) -> JavaView:
        return JavaView(self)

    def _flag(self, option: Option[bool], value: bool) -> Self:
        self._configuration.set_boolean(option.key, value)
        return self

    def _interval(self, option: Option[int], value: int) -> Self:
        minimum = option.type.minimum
        if value < minimum:
            raise ValueError(f"'{option.key}' must be at least {minimum} ms, got {value}")
        self._configuration.set(option, Duration.of_millis(value))
        return self

    def enable_closure_cleaner(self) -> Self:
        """Store the setting. It has no effect, as Python functions are pickled without changes."""
        self._configuration.set(ignored.CLOSURE_CLEANER, "RECURSIVE")
        return self

    def disable_closure_cleaner(self) -> Self:
        """Undo :meth:`enable_closure_cleaner`."""
        self._configuration.set(ignored.CLOSURE_CLEANER, "NONE")
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        """Return the setting. By default it is on."""
        return self._configuration.get(ignored.CLOSURE_CLEANER) != "NONE"

    def set_auto_watermark_interval(self, interval: int) -> Self:
        """Set the interval (ms) at which watermark generators emit watermarks; 0 for never.

        Raises:
            ValueError: the interval is negative.
        """
        return self._interval(execution.AUTO_WATERMARK_INTERVAL, interval)

    def get_auto_watermark_interval(self) -> int:
        """Return the interval (ms) at which watermark generators emit watermarks; 200 by default."""
        return self._configuration.get(execution.AUTO_WATERMARK_INTERVAL)

    def set_latency_tracking_interval(self, interval: int) -> Self:
        """Set the interval (ms) of latency measurements; 0 or less for never. It has no effect."""
        return self._interval(ignored.LATENCY_INTERVAL, interval)

    def get_latency_tracking_interval(self) -> int:
        """Return the interval (ms) of latency measurements; 0 (never) by default."""
        return self._configuration.get(ignored.LATENCY_INTERVAL)

    def get_parallelism(self) -> int:
        """Return the default parallelism of operators; :data:`PARALLELISM_DEFAULT` if it is not set."""
        return self._configuration.get(execution.PARALLELISM)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the default parallelism of operators.

        Raises:
            ValueError: the parallelism is neither positive nor :data:`PARALLELISM_DEFAULT`.
        """
        if parallelism == self.PARALLELISM_UNKNOWN:
            return self
        if parallelism < 1 and parallelism != self.PARALLELISM_DEFAULT:
            raise ValueError(
                f"the parallelism must be at least 1, or {self.PARALLELISM_DEFAULT} for the default, got {parallelism}"
            )
        self._configuration.set_integer(execution.PARALLELISM.key, parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 if it is not set."""
        return self._configuration.get(execution.MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups, which no operator's parallelism may exceed, now or after rescaling.

        Raises:
            ValueError: the number is not from 1 to 32768.
        """
        limit = execution.MAX_KEY_GROUPS
        if not 1 <= max_parallelism <= limit:
            raise ValueError(f"the maximum parallelism must be from 1 to {limit}, got {max_parallelism}")
        self._configuration.set_integer(execution.MAX_PARALLELISM.key, max_parallelism)
        return self

    def get_task_cancellation_interval(self) -> int:
        """Return the interval (ms) between two attempts to cancel a task; 30000 by default."""
        return self._configuration.get(ignored.CANCELLATION_INTERVAL)

    def set_task_cancellation_interval(self, interval: int) -> Self:
        """Set the interval (ms) between two attempts to cancel a task. It has no effect."""
        return self._interval(ignored.CANCELLATION_INTERVAL, interval)

    def get_task_cancellation_timeout(self) -> int:
        """Return the time (ms) to wait for a cancelled task to end; 180000 by default, 0 for no limit."""
        return self._configuration.get(ignored.CANCELLATION_TIMEOUT)

    def set_task_cancellation_timeout(self, timeout: int) -> Self:
        """Set the time (ms) to wait for a cancelled task to end; 0 for no limit. It has no effect."""
        return self._interval(ignored.CANCELLATION_TIMEOUT, timeout)

    def set_execution_mode(self, execution_mode: ExecutionMode) -> Self:
        """Store the setting, which was for Flink's DataSet API and no longer exists in Flink 2.

        Use ``set_runtime_mode`` of the environment instead.
        """
        self._configuration.set(ignored.EXECUTION_MODE, execution_mode.name)
        return self

    def get_execution_mode(self) -> ExecutionMode:
        """Return the value of :meth:`set_execution_mode`; ``PIPELINED`` by default."""
        return ExecutionMode[self._configuration.get(ignored.EXECUTION_MODE)]

    def enable_force_kryo(self) -> Self:
        """Store the setting. It has no effect."""
        return self._flag(ignored.FORCE_KRYO, True)

    def disable_force_kryo(self) -> Self:
        """Undo :meth:`enable_force_kryo`."""
        return self._flag(ignored.FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        """Return the setting. By default it is off."""
        return self._configuration.get(ignored.FORCE_KRYO)

    def enable_generic_types(self) -> Self:
        """Store the setting. It has no effect."""
        return self._flag(ignored.GENERIC_TYPES, True)

    def disable_generic_types(self) -> Self:
        """Store the setting. It has no effect."""
        return self._flag(ignored.GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        """Return whether generic types are disabled. By default they are enabled."""
        return not self._configuration.get(ignored.GENERIC_TYPES)

    def enable_auto_generated_uids(self) -> Self:
        """Derive the uids of operators without ``uid(...)`` from their position in the program."""
        return self._flag(execution.AUTO_UIDS, True)

    def disable_auto_generated_uids(self) -> Self:
        """Refuse programs with operators without ``uid(...)``, whose state can get lost when the program changes."""
        return self._flag(execution.AUTO_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Return the setting. By default it is on."""
        return self._configuration.get(execution.AUTO_UIDS)

    def enable_force_avro(self) -> Self:
        """Store the setting. It has no effect."""
        return self._flag(ignored.FORCE_AVRO, True)

    def disable_force_avro(self) -> Self:
        """Undo :meth:`enable_force_avro`."""
        return self._flag(ignored.FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        """Return the setting. By default it is off."""
        return self._configuration.get(ignored.FORCE_AVRO)

    def enable_object_reuse(self) -> Self:
        """Store the setting. It has no effect, as chained Python functions always pass on the object itself."""
        return self._flag(ignored.OBJECT_REUSE, True)

    def disable_object_reuse(self) -> Self:
        """Undo :meth:`enable_object_reuse`."""
        return self._flag(ignored.OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        """Return the setting. By default it is off."""
        return self._configuration.get(ignored.OBJECT_REUSE)

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters that functions read with ``RuntimeContext.get_job_parameter``.

        They come from :meth:`set_global_job_parameters`; or else from the key ``pipeline.global-job-parameters``,
        which has ``name:value`` pairs separated by commas; or else from keys ``pipeline.global-job-parameters.<name>``.
        """
        if self._global_job_parameters is not None:
            return dict(self._global_job_parameters)
        text = self._configuration.get(execution.JOB_PARAMETERS) or ""
        pairs = (entry.partition(":") for entry in text.split(",") if entry.strip())
        parameters = {key.strip(): value.strip() for key, _, value in pairs}
        if parameters:  # as in Flink, one form or the other
            return parameters
        prefix = f"{execution.JOB_PARAMETERS.key}."
        given = self._configuration.to_dict()
        return {key.removeprefix(prefix): value for key, value in given.items() if key.startswith(prefix)}

    def set_global_job_parameters(self, global_job_parameters_dict: dict[str, Any]) -> Self:
        """Set the parameters that functions can read. Values are converted to strings."""
        self._global_job_parameters = {key: str(value) for key, value in global_job_parameters_dict.items()}
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return an empty dict, as there is no Kryo."""
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        """Return an empty list, as there is no Kryo."""
        return []

    def get_registered_pojo_types(self) -> list[str]:
        """Return an empty list, as there are no POJOs."""
        return []

    def is_use_snapshot_compression(self) -> bool:
        """Return the setting for compression of checkpoints and savepoints. By default it is off."""
        return self._configuration.get(ignored.SNAPSHOT_COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> Self:
        """Set whether full checkpoints and savepoints are compressed."""
        return self._flag(ignored.SNAPSHOT_COMPRESSION, use_snapshot_compression)

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> None:
        """Set the restart strategy. The fallback strategy restores the previously configured one.

        Raises:
            TypeError: the argument is not a restart strategy.
        """
        if not isinstance(restart_strategy_configuration, RestartStrategyConfiguration):
            raise TypeError(
                f"the restart strategy must come from RestartStrategies, got {restart_strategy_configuration!r}"
            )
        current = {k: v for k, v in self._configuration.to_dict().items() if k.startswith(restarts.PREFIX)}
        if self._configured_restart is None:
            self._configured_restart = current
        for key in current:
            self._configuration.remove_config(key)
        if isinstance(restart_strategy_configuration, RestartStrategies.FallbackRestartStrategyConfiguration):
            for key, value in self._configured_restart.items():
                self._configuration.set_string(key, value)
            self._configured_restart = None
        else:
            restart_strategy_configuration.write_to(self._configuration)

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the restart strategy, which is the fallback if none was set."""
        return RestartStrategies.from_configuration(self._configuration)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionConfig):
            return NotImplemented
        return (
            self._configuration == other._configuration
            and self.get_global_job_parameters() == other.get_global_job_parameters()
        )

    def __hash__(self) -> int:
        return hash(self._configuration)
