"""The settings of an environment."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from flintstream.datastream._environment.fault_tolerance import FaultTolerance
from flintstream.datastream._environment.older_releases import OlderReleases
from flintstream.datastream._environment.python_dependencies import PythonDependencies
from flintstream.datastream.execution_mode import RuntimeExecutionMode
from flintstream.engine import default_parallelism
from flintstream.options.execution import (
    BUFFER_TIMEOUT,
    CHAINING,
    ENGINE,
    JOB_NAME,
    MAX_KEY_GROUPS,
    MAX_PARALLELISM,
    PARALLELISM,
    RUNTIME_MODE,
)
from flintstream.options.ignored import CHAIN_DIFFERENT_MAX_PARALLELISM

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common.configuration import Configuration
    from flintstream.common.execution_config import ExecutionConfig
    from flintstream.datastream.slot_sharing_group import SlotSharingGroup

_default_local_parallelism: int | None = None


class EnvironmentSettings(FaultTolerance, PythonDependencies, OlderReleases):
    """The methods of an environment that read and change its settings."""

    _cached_files: dict[str, tuple[str, bool]]

    def get_config(self) -> ExecutionConfig:
        """Return the execution configuration.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.get_config().set_auto_watermark_interval(50)
        >>> env.get_config().get_auto_watermark_interval()
        50
        """
        return self._config

    def configure(self, configuration: Configuration) -> None:
        """Apply all settings of ``configuration``.

        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> settings = Configuration()
        >>> _ = settings.set_string("flintstream.engine", "inline").set_string("parallelism.default", "3")
        >>> env.configure(settings)
        >>> env.get_parallelism()
        3
        """
        for key, value in configuration.to_dict().items():
            self._configuration.set_string(key, value)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the default parallelism of operators.

        Raises:
            ValueError: ``parallelism`` is not a positive number.
        """
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ValueError(f"The parallelism of the environment must be at least 1, but got {parallelism!r}")
        self._configuration.set_string(PARALLELISM.key, str(parallelism))
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism: the number of processors of this machine unless set.

        A job that sets none uses as many subtasks as Spark has cores for it.
        """
        given = self._configuration.get(PARALLELISM)
        return given if given > 0 else self.get_default_local_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups (1 to 32768), the maximum parallelism of keyed operators.

        Raises:
            ValueError: ``max_parallelism`` is out of range.
        """
        if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= MAX_KEY_GROUPS:
            raise ValueError(
                f"The max parallelism of the environment must be within 1 to {MAX_KEY_GROUPS}, got {max_parallelism!r}"
            )
        self._configuration.set_string(MAX_PARALLELISM.key, str(max_parallelism))
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 if it depends on the parallelism."""
        return self._configuration.get(MAX_PARALLELISM)

    def get_default_local_parallelism(self) -> int:
        """Return the default parallelism of local execution: the number of available processors unless set.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.get_parallelism() == env.get_default_local_parallelism() >= 1
        True
        """
        if _default_local_parallelism is not None:
            return _default_local_parallelism
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the default parallelism of local execution, for all environments.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> before = env.get_default_local_parallelism()
        >>> env.set_default_local_parallelism(3)
        >>> env.get_parallelism()
        3
        >>> env.set_default_local_parallelism(before)
        """
        global _default_local_parallelism  # noqa: PLW0603 - process-wide, as in PyFlink
        _default_local_parallelism = parallelism

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Choose STREAMING (the default), BATCH, or AUTOMATIC (BATCH if all sources are bounded).

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> words = env.from_collection([("to", 1), ("be", 1), ("to", 1)]).key_by(lambda word: word[0])
        >>> sorted(words.sum(1).execute_and_collect(limit=9))
        [('be', 1), ('to', 1), ('to', 2)]
        >>> _ = env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        >>> sorted(words.sum(1).execute_and_collect(limit=9))  # only the last sum of each word
        [('be', 1), ('to', 2)]
        """
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise TypeError(f"set_runtime_mode() needs a RuntimeExecutionMode, but got {execution_mode!r}")
        self._configuration.set_string(RUNTIME_MODE.key, execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) results may be buffered. An epoch collects input for no longer than that.

        Args:
            timeout_millis: 0 for the shortest possible epochs, at the cost of throughput; -1 for no limit.

        Raises:
            ValueError: ``timeout_millis`` is less than -1.
        """
        if timeout_millis < -1:
            raise ValueError(f"The buffer timeout must be -1 (none) or more ms, but got {timeout_millis}")
        self._configuration.set_string(BUFFER_TIMEOUT.key, str(timeout_millis))
        return self

    def get_buffer_timeout(self) -> int:
        """Return the buffer timeout in ms."""
        return self._configuration.get(BUFFER_TIMEOUT)

    def disable_operator_chaining(self) -> Self:
        """Convert results to their declared types between all operators, as PyFlink does between unchained ones."""
        self._configuration.set_string(CHAINING.key, "false")
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators are chained."""
        return self._configuration.get(CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return whether operators with different max parallelism are chained.

        >>> key = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
        >>> env = StreamExecutionEnvironment.get_execution_environment({key: "false"})
        >>> env.is_chaining_of_operators_with_different_max_parallelism_enabled()
        False
        """
        return self._configuration.get(CHAIN_DIFFERENT_MAX_PARALLELISM)

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Accept a slot sharing group's resources, which have no effect: Spark places the tasks.

        >>> from flintstream.datastream.slot_sharing_group import SlotSharingGroup
        >>> group = SlotSharingGroup.builder("heavy").set_cpu_cores(1.5).set_task_heap_memory_mb(512).build()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env = env.register_slot_sharing_group(group)
        >>> stream = env.from_collection([1, 2]).map(lambda n: n + 1).slot_sharing_group(group)
        """
        if not hasattr(slot_sharing_group, "get_name"):
            raise TypeError(f"register_slot_sharing_group() needs a SlotSharingGroup, but got {slot_sharing_group!r}")
        return self

    # -- files -------------------------------------------------------------------------------------------------------

    def add_jars(self, *jars_path: str) -> None:
        """Accept jars, which have no effect: connectors are Python packages.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     env.add_jars("file:///opt/flink-sql-connector-kafka.jar")
        >>> print(told[0].message)
        add_jars('file:///opt/flink-sql-connector-kafka.jar',) has no effect: connectors are Python packages here
        """
        warnings.warn(f"add_jars{jars_path} has no effect: connectors are Python packages here", stacklevel=2)

    def add_classpaths(self, *classpaths: str) -> None:
        """Accept class paths, which have no effect: connectors are Python packages.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     env.add_classpaths("file:///opt/classes")
        >>> print(told[0].message)
        add_classpaths('file:///opt/classes',) has no effect: connectors are Python packages here
        """
        warnings.warn(f"add_classpaths{classpaths} has no effect: connectors are Python packages here", stacklevel=2)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Accept a file. As in PyFlink, Python functions cannot access it: add an archive instead.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_cached_file("/data/cities.csv", "cities")  # no function sees it
        """
        self._cached_files[name] = (file_path, executable)

    def _parallelism(self, *, runs: str | None) -> int:
        """Return the parallelism of steps without their own: the configured one, else the cores of the cluster.

        Only a program that ``runs``, as a job of that name, starts a cluster to know its cores.
        """
        given = self._configuration.get(PARALLELISM)
        if given > 0:
            return given
        if _default_local_parallelism is not None:
            return _default_local_parallelism
        settings = self._configuration.to_dict() | ({} if runs is None else {JOB_NAME.key: runs})
        known = default_parallelism(self._configuration.get(ENGINE), settings, start=runs is not None)
        return known or self.get_parallelism()


EnvironmentSettings.__module__ = "flintstream.datastream.stream_execution_environment"  # where its examples run
