"""How objects of data classes become rows of Cassandra."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.connectors.cassandra.records import Mapping
from flintstream.datastream._settings import MAX_LONG, check_bool, check_integer, check_member

if TYPE_CHECKING:
    from typing_extensions import Self


class ConsistencyLevel(enum.Enum):
    """How many replicas must have a write before it counts.

    >>> MapperOptions().consistency_level(ConsistencyLevel.QUORUM)
    MapperOptions(consistency_level=QUORUM)
    """

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10


class MapperOptions:
    """How objects of data classes become rows. Tuples and rows have a query instead, which says all of this.

    >>> options = MapperOptions().ttl(1800).timestamp(3_600_000).consistency_level(ConsistencyLevel.ANY)
    >>> options.tracing(True).if_not_exists(False).save_null_fields(True)
    MapperOptions(ttl=1800, timestamp=3600000, consistency_level=ANY, tracing=True)
    """

    def __init__(self) -> None:
        """Start with the defaults of Cassandra."""
        self._mapping = Mapping()

    def __repr__(self) -> str:
        found = self._mapping
        level = None if found.consistency is None else ConsistencyLevel(found.consistency).name
        parts = [f"ttl={found.ttl}"] if found.ttl is not None else []
        parts += [f"timestamp={found.timestamp}"] if found.timestamp is not None else []
        parts += [f"consistency_level={level}"] if level else []
        parts += [f"tracing={found.tracing}"] if found.tracing else []
        parts += [f"save_null_fields={found.saves_nulls}"] if not found.saves_nulls else []
        parts += [f"if_not_exists={found.if_not_exists}"] if found.if_not_exists else []
        return f"MapperOptions({', '.join(parts)})"

    def ttl(self, ttl: int) -> Self:
        """Set after how many seconds Cassandra deletes a row; 0 for never."""
        return self._set(replace(self._mapping, ttl=check_integer(ttl, "the time to live in s", minimum=0)))

    def timestamp(self, timestamp: int) -> Self:
        """Set the time of all writes (microseconds since the epoch). Of two writes to a row the later one remains."""
        number = check_integer(timestamp, "the timestamp", minimum=0, maximum=MAX_LONG)
        return self._set(replace(self._mapping, timestamp=number))

    def consistency_level(self, cl: ConsistencyLevel) -> Self:
        """Set how many replicas must have a write before it counts."""
        level = check_member(cl, ConsistencyLevel, "The consistency level")
        return self._set(replace(self._mapping, consistency=level.value))

    def tracing(self, enabled: bool) -> Self:
        """Set whether Cassandra keeps a trace of each write, in its keyspace ``system_traces``."""
        return self._set(replace(self._mapping, tracing=check_bool(enabled, "enabled")))

    def save_null_fields(self, enabled: bool) -> Self:
        """Set whether None is written, which deletes the old value. Otherwise the old value stays."""
        return self._set(replace(self._mapping, saves_nulls=check_bool(enabled, "enabled")))

    def if_not_exists(self, enabled: bool) -> Self:
        """Set whether a row that exists stays as it is."""
        return self._set(replace(self._mapping, if_not_exists=check_bool(enabled, "enabled")))

    def _set(self, mapping: Mapping) -> Self:
        self._mapping = mapping
        return self
