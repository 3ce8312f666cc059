"""The checkpoint settings of an environment.

All settings are stored in a configuration under Flink's keys. A setting has the same effect by method, by key and on
the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._java_view import JavaView
from flintstream.common.configuration import Configuration
from flintstream.common.time import Duration
from flintstream.datastream._settings import MAX_INT, check_bool, check_for, check_member, warn_removed
from flintstream.datastream.checkpoint_storage import (
    CheckpointStorage,
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
)
from flintstream.datastream.checkpointing_mode import CheckpointingMode
from flintstream.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from flintstream.options.checkpointing import INTERVAL, MIN_PAUSE, MODE, RETENTION, STORAGE, TIMEOUT, TOLERABLE_FAILURES
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.ignored import ALIGNED_TIMEOUT, FORCE_UNALIGNED, MAX_CONCURRENT, UNALIGNED

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.options.option import Option

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]

ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention
"""The name of :class:`ExternalizedCheckpointRetention` before PyFlink 2."""

_NO_CHECKPOINTS = "leave the interval unset to run without checkpoints"


class CheckpointConfig:
    """The checkpoint settings of an environment; ``env.get_checkpoint_config()`` returns them. Times are in ms.

    All holders of the same configuration see the changes. Setters return the object itself.

    >>> config = CheckpointConfig(Configuration().set_string("execution.checkpointing.interval", "3 min"))
    >>> config.set_checkpoint_timeout(60_000).get_checkpoint_interval()
    180000
    >>> config.set_checkpoint_interval(5)
    Traceback (most recent call last):
    ValueError: the checkpoint interval in ms must be at least 10, got 5; leave the interval unset to run without
    checkpoints

    The mode is AT_LEAST_ONCE while no interval turns checkpoints on:

    >>> config = CheckpointConfig()
    >>> config.is_checkpointing_enabled(), config.get_checkpointing_mode().name
    (False, 'AT_LEAST_ONCE')
    >>> config.set_checkpoint_interval(10_000).set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE) is config
    True
    >>> config.is_checkpointing_enabled(), config.get_checkpointing_mode().name
    (True, 'EXACTLY_ONCE')

    Times (ms), and how many checkpoints may run or fail:

    >>> config.set_checkpoint_timeout(60_000).get_checkpoint_timeout()
    60000
    >>> config.set_min_pause_between_checkpoints(500).get_min_pause_between_checkpoints()
    500
    >>> config.set_max_concurrent_checkpoints(2).get_max_concurrent_checkpoints()
    2
    >>> config.set_tolerable_checkpoint_failure_number(3).get_tolerable_checkpoint_failure_number()
    3
    >>> config.set_fail_on_checkpointing_errors(True).is_fail_on_checkpointing_errors()
    True

    Where checkpoints are, and what becomes of them when the job is cancelled:

    >>> directory = Configuration.from_dict({"execution.checkpointing.dir": "file:///backup/words"})
    >>> CheckpointConfig(directory).storage().get_checkpoint_path()
    'file:/backup/words'
    >>> retain = ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    >>> config.set_externalized_checkpoint_retention(retain).get_externalized_checkpoint_retention().name
    'RETAIN_ON_CANCELLATION'
    >>> config.is_externalized_checkpoints_enabled()
    True

    Settings for Flink's barriers are stored, and have no effect:

    >>> config.enable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    True
    >>> config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    False
    >>> config.set_aligned_checkpoint_timeout(Duration.of_seconds(5)).get_aligned_checkpoint_timeout()
    Duration('5000 ms')
    >>> config.set_alignment_timeout(Duration.of_seconds(6)).get_alignment_timeout()
    Duration('6000 ms')
    >>> config.set_force_unaligned_checkpoints().is_force_unaligned_checkpoints()
    True
    >>> config.validate()
    """

    DEFAULT_MODE = CheckpointingMode[MODE.default]
    DEFAULT_TIMEOUT = TIMEOUT.default
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = MIN_PAUSE.default
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = MAX_CONCURRENT.default

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Use ``configuration``, by default an empty one.

        Raises:
            ValueError: ``configuration`` has an invalid checkpoint setting.
        """
        self._configuration = Configuration() if configuration is None else configuration
        self._custom_storage: CustomCheckpointStorage | None = None
        self.validate()

    @property
    def _j_checkpoint_config(self) -> JavaView:
        return JavaView(self)

    def validate(self) -> None:
        """Check all checkpoint settings. PyFlink has no such method.

        Raises:
            ValueError: a setting is invalid; the message names its key.
        """
        for getter in _GETTERS:
            getter(self)
        self.storage()

    def storage(self) -> CheckpointStorage | None:
        """Return the checkpoint storage, as set by method or key; None if neither was used. PyFlink has no such method.

        Raises:
            ValueError: a key has an invalid value.
        """
        if self._custom_storage is not None and self._configuration.find(STORAGE) == (STORAGE.key, "custom"):
            return self._custom_storage
        return CheckpointStorage.from_configuration(self._configuration)

    # -- interval and mode -----------------------------------------------------------------------------------------

    def is_checkpointing_enabled(self) -> bool:
        """Return whether checkpointing is on, that is, whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the effective mode.

        As in PyFlink 2.3, this is AT_LEAST_ONCE, whatever was set, in BATCH mode or without an interval, which take
        no checkpoints.
        """
        mode = CheckpointingMode[self._configuration.get(MODE)]
        batch = self._configuration.get(RUNTIME_MODE) == "BATCH"
        return mode if self.is_checkpointing_enabled() and not batch else CheckpointingMode.AT_LEAST_ONCE

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> Self:
        """Set the checkpointing mode.

        Raises:
            TypeError: ``checkpointing_mode`` is not a :class:`CheckpointingMode`.
        """
        return self._set(MODE, check_member(checkpointing_mode, CheckpointingMode, "the checkpointing mode").name)

    def get_checkpoint_interval(self) -> int:
        """Return the time from the start of one checkpoint to that of the next; -1 if checkpointing is off."""
        return self._configuration.get(INTERVAL) or -1

    def set_checkpoint_interval(self, checkpoint_interval: int) -> Self:
        """Set the time from the start of one checkpoint to that of the next, which turns checkpoints on.

        Raises:
            TypeError: ``checkpoint_interval`` is not an int.
            ValueError: ``checkpoint_interval`` is less than 10.
        """
        what = "the checkpoint interval in ms"
        return self._set_millis(INTERVAL, checkpoint_interval, what, hint=_NO_CHECKPOINTS)

    def get_checkpoint_timeout(self) -> int:
        """Return how long a checkpoint may take before it is aborted."""
        return self._configuration.get(TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> Self:
        """Set how long a checkpoint may take before it is aborted.

        Raises:
            TypeError: ``checkpoint_timeout`` is not an int.
            ValueError: ``checkpoint_timeout`` is less than 10.
        """
        return self._set_millis(TIMEOUT, checkpoint_timeout, "the checkpoint timeout in ms")

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the minimum time from the end of one checkpoint to the start of the next."""
        return self._configuration.get(MIN_PAUSE)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> Self:
        """Set the minimum time from the end of one checkpoint to the start of the next.

        Raises:
            TypeError: ``min_pause_between_checkpoints`` is not an int.
            ValueError: ``min_pause_between_checkpoints`` is negative.
        """
        return self._set_millis(MIN_PAUSE, min_pause_between_checkpoints, "the pause between checkpoints in ms")

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may be in progress at the same time."""
        return self._configuration.get(MAX_CONCURRENT)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> Self:
        """Set how many checkpoints may be in progress at the same time.

        Raises:
            TypeError: ``max_concurrent_checkpoints`` is not an int.
            ValueError: ``max_concurrent_checkpoints`` is less than 1.
        """
        what = "the number of concurrent checkpoints"
        check_for(MAX_CONCURRENT, max_concurrent_checkpoints, what)
        return self._set(MAX_CONCURRENT, str(max_concurrent_checkpoints))

    # -- failures --------------------------------------------------------------------------------------------------

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many consecutive checkpoints may fail before the job fails."""
        return self._configuration.get(TOLERABLE_FAILURES)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> Self:
        """Set how many consecutive checkpoints may fail before the job fails.

        Raises:
            TypeError: ``tolerable_checkpoint_failure_number`` is not an int.
            ValueError: ``tolerable_checkpoint_failure_number`` is negative.
        """
        what = "the number of tolerable checkpoint failures"
        check_for(TOLERABLE_FAILURES, tolerable_checkpoint_failure_number, what)
        return self._set(TOLERABLE_FAILURES, str(tolerable_checkpoint_failure_number))

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether the first failed checkpoint fails the job."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> Self:
        """Set whether the first failed checkpoint fails the job, or failed checkpoints never do.

        Newer programs call :meth:`set_tolerable_checkpoint_failure_number`.

        Raises:
            TypeError: ``fail_on_checkpointing_errors`` is neither True nor False.
        """
        fail = check_bool(fail_on_checkpointing_errors, "fail_on_checkpointing_errors")
        return self.set_tolerable_checkpoint_failure_number(0 if fail else MAX_INT)

    # -- retention -------------------------------------------------------------------------------------------------

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints may outlive their job."""
        none = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        return self.get_externalized_checkpoint_retention() is not none

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return the retention of checkpoints when the job is cancelled."""
        return ExternalizedCheckpointRetention[self._configuration.get(RETENTION)]

    def set_externalized_checkpoint_retention(self, retention_mode: ExternalizedCheckpointRetention) -> Self:
        """Set the retention of checkpoints when the job is cancelled.

        Raises:
            TypeError: ``retention_mode`` is not an :class:`ExternalizedCheckpointRetention`.
        """
        what = "the retention of checkpoints"
        return self._set(RETENTION, check_member(retention_mode, ExternalizedCheckpointRetention, what).name)

    # -- alignment: epochs end everywhere at once, so these have no effect here --------------------------------------

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are unaligned. True only if :meth:`get_checkpointing_mode` is EXACTLY_ONCE."""
        wanted = self._configuration.get(UNALIGNED)
        return wanted and self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> Self:
        """Let checkpoints overtake records. Accepted for compatibility: there are no barriers here.

        Raises:
            TypeError: ``enabled`` is neither True nor False.
        """
        return self._set(UNALIGNED, _text(check_bool(enabled, "enabled")))

    def disable_unaligned_checkpoints(self) -> Self:
        """Undo :meth:`enable_unaligned_checkpoints`."""
        return self.enable_unaligned_checkpoints(enabled=False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> Self:
        """Set the time after which an aligned checkpoint continues unaligned; 0 for immediately.

        Raises:
            TypeError: the argument is not a :class:`~flintstream.common.Duration`.
            ValueError: the duration is negative.
        """
        if not isinstance(alignment_timeout, Duration):
            raise TypeError(
                f"the alignment timeout must be a Duration, got {alignment_timeout!r}; use Duration.of_millis(...)"
            )
        what = "the alignment timeout in ms"
        return self._set_millis(ALIGNED_TIMEOUT, alignment_timeout.to_millis(), what)

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return the time after which an aligned checkpoint continues unaligned; 0 for immediately."""
        return Duration.of_millis(self._configuration.get(ALIGNED_TIMEOUT))

    def set_alignment_timeout(self, alignment_timeout: Duration) -> Self:
        """Older name of :meth:`set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Older name of :meth:`get_aligned_checkpoint_timeout`."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> Self:
        """Let checkpoints be unaligned even where Flink advises against it.

        Raises:
            TypeError: ``force_unaligned_checkpoints`` is neither True nor False.
        """
        force = check_bool(force_unaligned_checkpoints, "force_unaligned_checkpoints")
        return self._set(FORCE_UNALIGNED, _text(force))

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether :meth:`set_force_unaligned_checkpoints` was called."""
        return self._configuration.get(FORCE_UNALIGNED)

    # -- removed in PyFlink 2 --------------------------------------------------------------------------------------

    def enable_externalized_checkpoints(self, cleanup_mode: ExternalizedCheckpointRetention) -> Self:
        """Do the same as :meth:`set_externalized_checkpoint_retention`. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> config = CheckpointConfig()
        >>> retain = ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION
        >>> config.enable_externalized_checkpoints(retain).get_externalized_checkpoint_retention() is retain
        True
        """
        warn_removed(
            "CheckpointConfig.enable_externalized_checkpoints()", "set_externalized_checkpoint_retention() instead"
        )
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def set_externalized_checkpoint_cleanup(self, cleanup_mode: ExternalizedCheckpointRetention) -> Self:
        """Do the same as :meth:`set_externalized_checkpoint_retention`. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> delete = ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION
        >>> config = CheckpointConfig().set_externalized_checkpoint_cleanup(delete)
        >>> config.get_externalized_checkpoint_cleanup() is delete
        True
        """
        warn_removed(
            "CheckpointConfig.set_externalized_checkpoint_cleanup()", "set_externalized_checkpoint_retention() instead"
        )
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointRetention:
        """Return the same as :meth:`get_externalized_checkpoint_retention`. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> CheckpointConfig().get_externalized_checkpoint_cleanup().name
        'NO_EXTERNALIZED_CHECKPOINTS'
        """
        warn_removed(
            "CheckpointConfig.get_externalized_checkpoint_cleanup()", "get_externalized_checkpoint_retention() instead"
        )
        return self.get_externalized_checkpoint_retention()

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> Self:
        """Set the checkpoint storage.

        Deprecated: newer programs set ``execution.checkpointing.dir``.

        Raises:
            TypeError: ``storage`` is not a :class:`CheckpointStorage`.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> config = CheckpointConfig().set_checkpoint_storage(FileSystemCheckpointStorage("file:///backup/words"))
        >>> config.get_checkpoint_storage().get_checkpoint_path()
        'file:/backup/words'
        """
        warn_removed(
            "CheckpointConfig.set_checkpoint_storage()", "the key 'execution.checkpointing.dir' of the configuration"
        )
        if not isinstance(storage, CheckpointStorage):
            raise TypeError(
                f"the checkpoint storage must be a CheckpointStorage, got {storage!r}; for a directory call "
                "set_checkpoint_storage_dir()"
            )
        storage.write_to(self._configuration)
        self._custom_storage = storage if isinstance(storage, CustomCheckpointStorage) else None
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> Self:
        """Keep checkpoints in the directory with this URI.

        Deprecated: newer programs set ``execution.checkpointing.dir``.

        Raises:
            ValueError: the path is not the URI of a directory.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> CheckpointConfig().set_checkpoint_storage_dir("file:///backup/words").storage().get_checkpoint_path()
        'file:/backup/words'
        """
        warn_removed(
            "CheckpointConfig.set_checkpoint_storage_dir()",
            "the key 'execution.checkpointing.dir' of the configuration",
        )
        FileSystemCheckpointStorage(checkpoint_path).write_to(self._configuration)
        return self

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Return the checkpoint storage, as set by method or key; None if neither was used. Deprecated.

        >>> import warnings
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> CheckpointConfig().get_checkpoint_storage() is None
        True
        """
        warn_removed("CheckpointConfig.get_checkpoint_storage()", "CheckpointStorage.from_configuration() instead")
        return self.storage()

    # -- writing the configuration ---------------------------------------------------------------------------------

    def _set_millis(self, option: Option[int] | Option[int | None], value: int, what: str, *, hint: str = "") -> Self:
        check_for(option, value, what, hint=hint)
        return self._set(option, f"{value} ms")

    def _set(self, option: Option[Any], text: str) -> Self:
        self._configuration.set_string(option.key, text)
        return self


def _text(value: bool) -> str:
    return "true" if value else "false"


_GETTERS: tuple[Callable[[CheckpointConfig], object], ...] = (
    CheckpointConfig.get_checkpointing_mode,
    CheckpointConfig.get_checkpoint_interval,
    CheckpointConfig.get_checkpoint_timeout,
    CheckpointConfig.get_min_pause_between_checkpoints,
    CheckpointConfig.get_max_concurrent_checkpoints,
    CheckpointConfig.get_tolerable_checkpoint_failure_number,
    CheckpointConfig.get_externalized_checkpoint_retention,
    CheckpointConfig.is_unaligned_checkpoints_enabled,
    CheckpointConfig.is_force_unaligned_checkpoints,
    CheckpointConfig.get_aligned_checkpoint_timeout,
)
