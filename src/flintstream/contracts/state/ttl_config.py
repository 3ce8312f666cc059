"""Time-to-live of state."""

from __future__ import annotations

import enum
from abc import ABC
from typing import TYPE_CHECKING, Any

from flintstream.common.time import Duration, Time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

THIRTY_DAYS = 30


class CleanupStrategies:
    """The ways to remove expired state, in addition to removal on access."""

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
        """A strategy that checks a few entries at a time."""

        def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
            self._cleanup_size = cleanup_size
            self._run_cleanup_for_every_record = run_cleanup_for_every_record

        def get_cleanup_size(self) -> int:
            """Return how many entries are checked at a time."""
            return self._cleanup_size

        def run_cleanup_for_every_record(self) -> bool:
            """Return whether every record triggers a clean-up."""
            return self._run_cleanup_for_every_record

    class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
        """A strategy that removes expired state while RocksDB compacts its files."""

        def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None) -> None:
            self._query_time_after_num_entries = query_time_after_num_entries
            self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(THIRTY_DAYS)

        def get_query_time_after_num_entries(self) -> int:
            """Return the number of entries between two reads of the clock."""
            return self._query_time_after_num_entries

        def get_periodic_compaction_time(self) -> Duration:
            """Return the age at which a file is compacted; 30 days by default."""
            return self._periodic_compaction_time

    EMPTY_STRATEGY = EmptyCleanupStrategy()

    def __init__(self, strategies: Mapping[Any, Any], is_cleanup_in_background: bool) -> None:
        self._strategies = dict(strategies)
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        """Return whether expired state is also removed in the background."""
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
    """The time-to-live of state, in processing time, and the treatment of expired values.

    >>> from flintstream.common import Time
    >>> config = StateTtlConfig.new_builder(Time.seconds(1)).never_return_expired().build()
    >>> config.get_ttl().to_milliseconds(), config.is_enabled()
    (1000, True)
    """

    class UpdateType(enum.Enum):
        """The accesses that restart the time-to-live of a value."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(enum.Enum):
        """The visibility of an expired value that has not been removed."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(enum.Enum):
        """The clock that decides about expiry."""

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
        """Return a builder for state with a time-to-live of ``ttl``."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> UpdateType:
        """Return which accesses restart the time-to-live.

        >>> from flintstream.common import Time
        >>> StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build().get_update_type().name
        'OnReadAndWrite'
        """
        return self._update_type

    def get_state_visibility(self) -> StateVisibility:
        """Return whether expired values may be seen.

        >>> from flintstream.common import Time
        >>> config = StateTtlConfig.new_builder(Time.hours(1)).return_expired_if_not_cleaned_up().build()
        >>> config.get_state_visibility().name
        'ReturnExpiredIfNotCleanedUp'
        """
        return self._state_visibility

    def get_ttl(self) -> Time:
        """Return the time-to-live."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> TtlTimeCharacteristic:
        """Return the clock that decides about expiry.

        >>> from flintstream.common import Time
        >>> StateTtlConfig.new_builder(Time.hours(1)).use_processing_time().build().get_ttl_time_characteristic().name
        'ProcessingTime'
        """
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether values expire."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> _CleanupStrategies:
        """Return how expired state is removed.

        >>> from flintstream.common import Time
        >>> config = StateTtlConfig.new_builder(Time.hours(1)).cleanup_incrementally(10).build()
        >>> strategies = config.get_cleanup_strategies()
        >>> strategies.get_incremental_cleanup_strategy().get_cleanup_size(), strategies.in_full_snapshot()
        (10, False)
        """
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<updateType={self._update_type.name}, visibility={self._state_visibility.name}, "
            f"ttl={self._ttl.to_milliseconds()} ms>"
        )

    class Builder:
        """A builder of :class:`StateTtlConfig`."""

        def __init__(self, ttl: Time) -> None:
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[CleanupStrategies.Strategies, CleanupStrategies.CleanupStrategy] = {}
            self.set_ttl(ttl)

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> Self:
            """Set which accesses restart the time-to-live."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> Self:
            """Restart the time-to-live when a value is written."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> Self:
            """Restart the time-to-live when a value is written or read."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> Self:
            """Set whether an expired value that has not been removed is visible."""
            self._state_visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> Self:
            """Return an expired value that has not been removed."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> Self:
            """Never return an expired value."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic) -> Self:
            """Set the clock that decides about expiry."""
            self._ttl_time_characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> Self:
            """Use the worker's clock for expiry."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> Self:
            """Leave expired state out of full snapshots."""
            strategy = CleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT
            self._strategies[strategy] = CleanupStrategies.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool = False) -> Self:
            """Check some entries of a hash map regularly and remove the expired ones.

            Args:
                cleanup_size: entries per access in Flink; the sweep at the end of an epoch checks 2,000 times as many.
                run_cleanup_for_every_record: ignored, because every epoch sweeps.

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
            """Disable the default background clean-up; access and chosen strategies still remove expired state."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time) -> Self:
            """Set the time-to-live; a ``Duration`` works as well.

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
