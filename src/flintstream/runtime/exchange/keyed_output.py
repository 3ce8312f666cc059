"""The sending end of an exchange by key."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

from flintstream.compiled import load
from flintstream.runtime.exchange.output import Buffer, ExchangeOutput
from flintstream.runtime.exchange.partitioners import KeyGroupPartitioner
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.frozen import thawed
from flintstream.runtime.keys import (
    MASK,
    MIX,
    PLAIN_KEYS,
    freeze_key,
    is_plain,
    stable_hash,
    subtask_of_key_group,
    thaw_key,
)
from flintstream.runtime.operators.base import MIN_TIMESTAMP
from flintstream.runtime.selectors import field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import ExchangeEdge

_compiled = load("exchange")

MANY_ROUTES = 1 << 15
"""The most distinct keys whose target is remembered before those of whole numbers are computed. That takes less time
than a look-up among many keys, which misses the caches of the processor."""

MOST_ROUTES = 1 << 18
"""The most distinct keys whose target is remembered."""

MOST_BUFFERED = 1 << 16
"""Records in the buckets of BATCH mode before all of them are sent."""

BATCH_BUCKETS = 128
"""Key ranges per subtask into which BATCH input is sorted, so that only one range is in memory at a time."""


class _Routes(dict[Any, Any]):
    """Key -> route of its records. Adds missing keys itself, so that a known key costs a single look-up."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self.find = find

    def __missing__(self, key: Any) -> Any:
        if len(self) >= MOST_ROUTES:
            self.clear()
        route = self[key] = self.find(key)
        return route


class KeyedOutput(ExchangeOutput):
    """To the subtask that owns the key's group. The route of a key is the bound ``append`` of its buffer.

    Routes are remembered. Once there are many, those of whole numbers are computed instead. Compiled code computes the
    routes of whole numbers and of strings from the start.
    """

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str, *, batch: bool) -> None:
        """See :class:`ExchangeOutput`; in BATCH mode every subtask has several buckets."""
        super().__init__(edge, channel, outbox, name)
        assert isinstance(edge.partitioner, KeyGroupPartitioner)  # noqa: S101
        self.selector = thawed(edge.partitioner.selector)
        self.convert = edge.partitioner.key_converter
        self.buckets = BATCH_BUCKETS if batch else 1
        self.buffers = [Buffer(t, b) for t in range(edge.target_parallelism) for b in range(self.buckets)]
        groups, targets = edge.max_parallelism, edge.target_parallelism
        self.first_buffer = [subtask_of_key_group(g, targets, groups) * self.buckets for g in range(groups)]
        """The index of the first buffer of the subtask that owns each key group."""
        self.routes = _Routes(self._find_append)
        self.stamped_routes = _Routes(self._find_stamped)
        self.numbers_below = _kept_below(self.convert) if self.buckets == 1 else 0
        """Whole numbers from 0 to here (exclusive) are keys whose route can be computed."""
        self.strings = self.buckets == 1 and _keeps_strings(self.convert)
        """Whether compiled code may compute the route of strings."""
        self.field = field_of(self.selector)
        self.known: dict[Any, tuple[list[Any], list[int] | None]] = {}
        """Key -> lists of its buffer, for keys whose route the compiled loop does not compute."""
        self.by_group: list[tuple[list[Any], list[int] | None]] | None = None
        """The lists of each key group's buffer, for the same."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records."""
        super().emit(values, timestamps)
        if self.buckets > 1 and sum(len(b.values) for b in self.buffers) >= MOST_BUFFERED:
            self.flush()

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Select each record's key and append the record to the buffer of the key's subtask."""
        cursor = iter(values)
        key = self.selector
        try:
            if not self.plain_keys:
                self._route_frozen(cursor, timestamps)
            elif _compiled is not None:
                self._route_compiled(cursor, timestamps)
            elif timestamps is None:
                routes = self.routes
                if len(routes) >= MANY_ROUTES and self.numbers_below:
                    self._route_many(cursor)
                else:
                    for value in cursor:
                        routes[key(value)](value)
                self._pad_timestamps()
            else:
                self._start_timestamps()
                stamped = self.stamped_routes
                if len(stamped) >= MANY_ROUTES and self.numbers_below:
                    self._route_many_stamped(zip(cursor, timestamps, strict=False))
                    return
                for value, timestamp in zip(cursor, timestamps, strict=False):
                    append, append_timestamp = stamped[key(value)]
                    append(value)
                    append_timestamp(timestamp)
        except (_NotPlain, TypeError) as error:
            position = len(values) - operator.length_hint(cursor) - 1
            if not self.plain_keys or not (isinstance(error, _NotPlain) or self._is_unhashable(values[position])):
                raise self._selector_failed(error, values, cursor) from error
            self._pad_timestamps()
            self.flush()  # later items say that their keys need freezing
            self.plain_keys = False
            self.routes.clear()
            self.stamped_routes.clear()
            self.known.clear()
            self.route(values[position:], None if timestamps is None else timestamps[position:])
        except BaseException as error:
            raise self._selector_failed(error, values, cursor) from error

    def _route_compiled(self, cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Do the same as :meth:`route` for plain keys."""
        if timestamps is not None and self.buffers[0].timestamps is None:
            self._start_timestamps()
            self.known.clear()
            self.by_group = None
        if self.by_group is None:
            self.by_group = [self._lists(self.buffers[first]) for first in self.first_buffer]
        selector, field, below = self.selector, self.field, self.numbers_below
        known, find, by_group = self.known, self._find_lists, self.by_group
        _compiled.route(cursor, timestamps, selector, field, known, find, by_group, below, self.strings)
        if timestamps is None:
            self._pad_timestamps()

    def _find_lists(self, key: Any) -> tuple[list[Any], list[int] | None]:
        if len(self.known) >= MOST_ROUTES:
            self.known.clear()
        lists = self.known[key] = self._lists(self._find(key))
        return lists

    @staticmethod
    def _lists(buffer: Buffer) -> tuple[list[Any], list[int] | None]:
        return buffer.values, buffer.timestamps

    def _route_many(self, cursor: Iterator[Any]) -> None:
        """Do the same as :meth:`route` for many keys and records without timestamps."""
        key, routes, below = self.selector, self.routes, self.numbers_below
        appends = [self.buffers[first].values.append for first in self.first_buffer]
        groups = len(appends)
        for value in cursor:
            current = key(value)
            if type(current) is int and -1 < current < below:
                appends[(current * MIX >> 32 & MASK) % groups](value)
            else:
                routes[current](value)

    def _route_many_stamped(self, records: Iterator[tuple[Any, int]]) -> None:
        """Do the same for records with timestamps."""
        key, routes, below = self.selector, self.stamped_routes, self.numbers_below
        appends = [self._stamped(self.buffers[first]) for first in self.first_buffer]
        groups = len(appends)
        for value, timestamp in records:
            current = key(value)
            if type(current) is int and -1 < current < below:
                append, append_timestamp = appends[(current * MIX >> 32 & MASK) % groups]
            else:
                append, append_timestamp = routes[current]
            append(value)
            append_timestamp(timestamp)

    def _selector_failed(self, error: BaseException, values: list[Any], cursor: Iterator[Any]) -> OperatorFailure:
        return OperatorFailure(f"{self.name} -> key_by", self.channel, error, current_record(values, cursor))

    def _is_unhashable(self, value: Any) -> bool:
        try:
            key = self.selector(value)
        except BaseException:  # noqa: BLE001 - the selector is to blame
            return False
        try:
            hash(key)
        except TypeError:
            return True
        return False

    def _route_frozen(self, cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        if timestamps is None:
            for value in cursor:
                self.routes[freeze_key(self.selector(value))](value)
            self._pad_timestamps()
            return
        self._start_timestamps()
        for value, timestamp in zip(cursor, timestamps, strict=False):
            append, append_timestamp = self.stamped_routes[freeze_key(self.selector(value))]
            append(value)
            append_timestamp(timestamp)

    def _find(self, key: Any) -> Buffer:
        if self.plain_keys:
            if type(key) not in PLAIN_KEYS and not is_plain(key):
                raise _NotPlain
            if self.convert is not None:
                self.convert(key)
        elif self.convert is not None:
            self.convert(thaw_key(key))
        hashed = stable_hash(key)
        first = self.first_buffer[hashed % len(self.first_buffer)]
        return self.buffers[first + (hashed >> 7) % self.buckets] if self.buckets > 1 else self.buffers[first]

    def _find_append(self, key: Any) -> Callable[[Any], None]:
        return self._find(key).values.append

    def _find_stamped(self, key: Any) -> tuple[Callable[[Any], None], Callable[[int], None]]:
        return self._stamped(self._find(key))

    @staticmethod
    def _stamped(buffer: Buffer) -> tuple[Callable[[Any], None], Callable[[int], None]]:
        assert buffer.timestamps is not None  # noqa: S101 - created before any record is routed
        return buffer.values.append, buffer.timestamps.append

    def _start_timestamps(self) -> None:
        for buffer in self.buffers:
            if buffer.timestamps is None:
                buffer.timestamps = [MIN_TIMESTAMP] * len(buffer.values)

    def _pad_timestamps(self) -> None:
        for buffer in self.buffers:
            stamps = buffer.timestamps
            if stamps is not None and len(stamps) < len(buffer.values):
                stamps += [MIN_TIMESTAMP] * (len(buffer.values) - len(stamps))


class _NotPlain(Exception):  # noqa: N818 - control flow, never an error
    pass


def _kept_below(convert: Callable[[Any], Any] | None) -> int:
    """Return a number such that the declared type of a key takes all whole numbers from 0 to below it as they are.

    >>> from flintstream.common import Types
    >>> _kept_below(Types.INT().converter()) == 2**31, _kept_below(Types.STRING().converter())
    (True, 0)
    """
    for below in (sys.hash_info.modulus, 1 << 31, 1 << 15, 1 << 7):  # from the first on, a number is not its own hash
        try:
            largest = below - 1
            if convert is None or convert(largest) is largest:
                return below
        except (TypeError, ValueError, OverflowError):
            continue
    return 0


def _keeps_strings(convert: Callable[[Any], Any] | None) -> bool:
    """Tell whether the declared type of a key takes all strings as they are.

    >>> from flintstream.common import Types
    >>> _keeps_strings(Types.STRING().converter()), _keeps_strings(Types.CHAR().converter())
    (True, False)
    """
    try:
        return convert is None or all(convert(text) is text for text in ("", "a", "two"))
    except (TypeError, ValueError):
        return False
