"""Time-to-live of state."""

from __future__ import annotations

import enum
from abc import ABC
from typing import TYPE_CHECKING, Any

from flintstream.common.time import Duration, Time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

THIRTY_DAYS = 30


class CleanupStrategies:
    """How expired state is removed, beside being removed when it is met."""

    class Strategies(enum.Enum):
        """The strategies that can be combined."""

        FULL_STATE_SCAN_SNAPSHOT = 0
        INCREMENTAL_CLEANUP = 1
        ROCKSDB_COMPACTION_FILTER = 2

    class CleanupStrategy(ABC):  # noqa: B024 - a marker, as in PyFlink
        """Base of all strategies."""

    class EmptyCleanupStrategy(CleanupStrategy):
        """A strategy without settings."""

    class IncrementalCleanupStrategy(CleanupStrategy):
        """Looks at a few entries now and then."""

        def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
            self._cleanup_size = cleanup_size
            self._run_cleanup_for_every_record = run_cleanup_for_every_record

        def get_cleanup_size(self) -> int:
            """Return how many entries are looked at."""
            return self._cleanup_size

        def run_cleanup_for_every_record(self) -> bool:
            """Return whether every record triggers a clean-up."""
            return self._run_cleanup_for_every_record

    class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
        """Removes expired state while RocksDB compacts its files."""

        def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None) -> None:
            self._query_time_after_num_entries = query_time_after_num_entries
            self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(THIRTY_DAYS)

        def get_query_time_after_num_entries(self) -> int:
            """Return after how many entries the clock is read again."""
            return self._query_time_after_num_entries

        def get_periodic_compaction_time(self) -> Duration:
            """Return how old a file may become before it is compacted; 30 days unless set."""
            return self._periodic_compaction_time

    EMPTY_STRATEGY = EmptyCleanupStrategy()

    def __init__(self, strategies: Mapping[Any, Any], is_cleanup_in_background: bool) -> None:
        self._strategies = dict(strategies)
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        """Return whether expired state is removed in the background too."""
        return self._is_cleanup_in_background

    def in_full_snapshot(self) -> bool:
        """Return whether expired state is left out of full snapshots."""
        return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

    def get_incremental_cleanup_strategy(self) -> IncrementalCleanupStrategy | None:
        """Return the incremental strategy, by default 5 entries at a time when cleaning in the background."""
        default = self.IncrementalCleanupStrategy(5, False) if self._is_cleanup_in_background else None
        return self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP, default)

    def get_rocksdb_compact_filter_cleanup_strategy(self) -> RocksdbCompactFilterCleanupStrategy | None:
        """Return the strategy for RocksDB, by default every 1000 entries when cleaning in the background."""
        default = self.RocksdbCompactFilterCleanupStrategy(1000) if self._is_cleanup_in_background else None
        return self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER, default)


_CleanupStrategies = CleanupStrategies


class StateTtlConfig:
    """How long state lives, in processing time, and what becomes of it.

    >>> from flintstream.common import Time
    >>> config = StateTtlConfig.new_builder(Time.seconds(1)).never_return_expired().build()
    >>> config.get_ttl().to_milliseconds(), config.is_enabled()
    (1000, True)
    """

    class UpdateType(enum.Enum):
        """When the time of a value starts anew."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(enum.Enum):
        """Whether an expired value that is still there may be seen."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(enum.Enum):
        """The clock of expiry."""

        ProcessingTime = 0

    CleanupStrategies = CleanupStrategies

    def __init__(
        self,
        update_type: UpdateType,
        state_visibility: StateVisibility,
        ttl_time_characteristic: TtlTimeCharacteristic,
        ttl: Time,
        cleanup_strategies: _CleanupStrategies,
    ) -> None:
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time) -> StateTtlConfig.Builder:
        """Return a builder for state that lives ``ttl`` long."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> UpdateType:
        """Return when the time of a value starts anew."""
        return self._update_type

    def get_state_visibility(self) -> StateVisibility:
        """Return whether expired values may be seen."""
        return self._state_visibility

    def get_ttl(self) -> Time:
        """Return how long values live."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> TtlTimeCharacteristic:
        """Return the clock of expiry."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether values expire at all."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> _CleanupStrategies:
        """Return how expired state is removed."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<updateType={self._update_type.name}, visibility={self._state_visibility.name}, "
            f"ttl={self._ttl.to_milliseconds()} ms>"
        )

    class Builder:
        """Builds a :class:`StateTtlConfig`."""

        def __init__(self, ttl: Time) -> None:
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[CleanupStrategies.Strategies, CleanupStrategies.CleanupStrategy] = {}
            self.set_ttl(ttl)

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> Self:
            """Set when the time of a value starts anew."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> Self:
            """Start the time anew when a value is written."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> Self:
            """Start the time anew when a value is written or read."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> Self:
            """Set whether an expired value that is still there may be seen."""
            self._state_visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> Self:
            """Hand an expired value out once more if it is still there."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> Self:
            """Never hand out an expired value."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic) -> Self:
            """Set the clock of expiry."""
            self._ttl_time_characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> Self:
            """Judge expiry by the worker's clock."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> Self:
            """Leave expired state out of full snapshots."""
            strategy = CleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT
            self._strategies[strategy] = CleanupStrategies.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool = False) -> Self:
            """Look at entries of a hash map now and then and remove the expired ones.

            Args:
                cleanup_size: entries per access in Flink; a sweep at the end of an epoch looks at 2,000 times as many.
                run_cleanup_for_every_record: has no effect, as every epoch sweeps.

            Raises:
                ValueError: ``cleanup_size`` is not positive.
            """
            if cleanup_size <= 0:
                raise ValueError(f"cleanup_incrementally() needs a positive cleanup_size, but got {cleanup_size}")
            self._strategies[CleanupStrategies.Strategies.INCREMENTAL_CLEANUP] = (
                CleanupStrategies.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record)
            )
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
        ) -> Self:
            """Remove expired state while RocksDB compacts its files."""
            self._strategies[CleanupStrategies.Strategies.ROCKSDB_COMPACTION_FILTER] = (
                CleanupStrategies.RocksdbCompactFilterCleanupStrategy(
                    query_time_after_num_entries, periodic_compaction_time
                )
            )
            return self

        def disable_cleanup_in_background(self) -> Self:
            """Have no clean-up but those that are asked for; expired state is else removed only when it is met."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time) -> Self:
            """Set how long values live; a ``Duration`` will do as well.

            Raises:
                ValueError: ``ttl`` is not positive.
            """
            millis = Duration.of(ttl).to_millis()
            if millis <= 0:
                raise ValueError(f"The time-to-live must be positive, but got {millis} ms")
            self._ttl = Time.milliseconds(millis)
            return self

        def build(self) -> StateTtlConfig:
            """Return the configuration."""
            return StateTtlConfig(
                self._update_type,
                self._state_visibility,
                self._ttl_time_characteristic,
                self._ttl,
                CleanupStrategies(self._strategies, self._is_cleanup_in_background),
            )
