"""The sending end of an exchange by key."""

from __future__ import annotations

import operator
import sys
from itertools import repeat
from typing import TYPE_CHECKING, Any

from flintstream.compiled import load
from flintstream.runtime.exchange.output import Buffer, ExchangeOutput
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.frozen import thaw_function
from flintstream.runtime.keys import (
    PLAIN_KEYS,
    freeze_key,
    is_plain,
    stable_hash,
    subtask_of_key_group,
    thaw_key,
)
from flintstream.runtime.partitioners import KeyGroupPartitioner
from flintstream.runtime.selectors import field_of, function_of
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import ExchangeEdge

_compiled = load("exchange")
_route_in_buckets = getattr(_compiled, "route_in_buckets", None)

MOST_ROUTES = 1 << 18
"""The most distinct keys whose target is remembered."""

MOST_BUFFERED = 1 << 16
"""Records in the buckets of BATCH mode before all of them are sent."""

BATCH_BUCKETS = 128
"""Key ranges per subtask into which BATCH input is sorted, so that only one range is in memory at a time."""


Lists = tuple[list[Any], list[int] | None]
"""The records of a buffer, and their timestamps if there are any."""


class KeyedOutput(ExchangeOutput):
    """To the subtask that owns the key's group. Routes are remembered; compiled code computes those of common keys."""

    def __init__(self, edge: ExchangeEdge, channel: int, outbox: list[Item], name: str, *, batch: bool) -> None:
        """See :class:`ExchangeOutput`; in BATCH mode every subtask has several buckets."""
        super().__init__(edge, channel, outbox, name)
        assert isinstance(edge.partitioner, KeyGroupPartitioner)  # noqa: S101
        self.selector = function_of(thaw_function(edge.partitioner.selector))
        self.convert = edge.partitioner.key_converter
        self.buckets = BATCH_BUCKETS if batch else 1
        self.unchecked = 0
        """Records since the last look at all buffers."""
        self.buffers = [Buffer(t, b) for t in range(edge.target_parallelism) for b in range(self.buckets)]
        groups, targets = edge.max_parallelism, edge.target_parallelism
        self.first_buffer = [subtask_of_key_group(g, targets, groups) * self.buckets for g in range(groups)]
        """The index of the first buffer of the subtask that owns each key group."""
        self.routes: dict[Any, Lists] = {}
        """The lists of the buffer of each key, except those that compiled code computes."""
        computed = self.buckets == 1 or _route_in_buckets is not None
        self.numbers_below = _kept_below(self.convert) if computed else 0
        """Whole numbers from 0 to here (exclusive) are keys whose route can be computed."""
        self.strings = computed and _keeps_strings(self.convert)
        """Whether compiled code may compute the route of strings."""
        self.tuples = computed and self.convert is None
        """Whether it may compute that of tuples."""
        self.field = field_of(self.selector)
        self.by_group: list[Lists] | None = None
        """The lists of the buffers of each key group, one for each bucket, for compiled code."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records. With many buffers, only as many records as fill one are worth a look at all."""
        if self.buckets == 1:
            super().emit(values, timestamps)
            return
        self.records += len(values)
        self.route(values, timestamps)
        self.unchecked += len(values)
        if self.unchecked >= self.block:
            self.unchecked = 0
            self.flush_full()
            if sum(len(buffer.values) for buffer in self.buffers) >= MOST_BUFFERED:
                self.flush()

    def route(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Select each record's key and append the record to the buffer of the key's subtask."""
        cursor = iter(values)
        if timestamps is not None and self.buffers[0].timestamps is None:
            self._start_timestamps()
        try:
            if self.plain_keys and _compiled is not None:
                self._route_compiled(cursor, timestamps)
            else:
                routes, find = self.routes, self._find_route
                select = self.selector if self.plain_keys else self._select_frozen
                stamps_of = repeat(MIN_TIMESTAMP) if timestamps is None else timestamps
                for value, timestamp in zip(cursor, stamps_of, strict=False):
                    key = select(value)
                    records, stamps = routes.get(key) or find(key)
                    records.append(value)
                    if stamps is not None:
                        stamps.append(timestamp)
        except (_NotPlain, TypeError) as error:
            position = len(values) - operator.length_hint(cursor) - 1
            if not self.plain_keys or not (isinstance(error, _NotPlain) or self._is_unhashable(values[position])):
                raise self._selector_failed(error, values, cursor) from error
            self._pad_timestamps()
            self.flush()  # later items say that their keys need freezing
            self.plain_keys = False
            self.routes.clear()
            self.route(values[position:], None if timestamps is None else timestamps[position:])
        except BaseException as error:
            raise self._selector_failed(error, values, cursor) from error

    def _route_compiled(self, cursor: Iterator[Any], timestamps: list[int] | None) -> None:
        """Do the same as the loop of :meth:`route` for plain keys."""
        if self.by_group is None:
            groups = (self.buffers[first : first + self.buckets] for first in self.first_buffer)
            self.by_group = [(buffer.values, buffer.timestamps) for group in groups for buffer in group]
        selector, field, below = self.selector, self.field, self.numbers_below
        routes, find, by_group = self.routes, self._find_route, self.by_group
        given = (cursor, timestamps, selector, field, routes, find, by_group, below, self.strings, self.tuples)
        if self.buckets > 1 and _route_in_buckets is not None:
            _route_in_buckets(*given, self.buckets)
        else:
            _compiled.route(*given)
        if timestamps is None:
            self._pad_timestamps()

    def _select_frozen(self, value: Any) -> Any:
        return freeze_key(self.selector(value))

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

    def _find_route(self, key: Any) -> Lists:
        """Find the route of a key, and remember it."""
        if len(self.routes) >= MOST_ROUTES:
            self.routes.clear()
        buffer = self._find_buffer(key)
        route = self.routes[key] = buffer.values, buffer.timestamps
        return route

    def _find_buffer(self, key: Any) -> Buffer:
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

    def _start_timestamps(self) -> None:
        self.routes.clear()
        self.by_group = None
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
