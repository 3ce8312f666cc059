"""Joins of rows with what a table has for their keys at this moment."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.table._operators.opening import close_all, open_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._operators.rows import Row, RowFunction

    Key = Row
    Rows = list[Row]


class Lookup(Protocol):
    """Finds rows by key. It travels to the workers.

    >>> class Prices:
    ...     def find(self, keys):
    ...         return {(name,): [(name, 3)] for (name,) in keys if name == "tea"}
    ...
    ...     def close(self):
    ...         pass
    >>> lookup: Lookup = Prices()
    >>> lookup.find([("tea",), ("gold",)])
    {('tea',): [('tea', 3)]}
    >>> lookup.close()
    """

    def find(self, keys: Sequence[Key]) -> Mapping[Key, Rows]:
        """Return the rows of the keys that have some."""

    def close(self) -> None:
        """Release what it has opened."""


class CachedLookup:
    """Remembers the rows of keys for a while, at most those of ``max_rows`` keys: the ones used last."""

    def __init__(
        self,
        lookup: Lookup,
        *,
        max_rows: int | None = None,
        after_write_ms: int | None = None,
        after_access_ms: int | None = None,
        keeps_missing: bool = True,
    ) -> None:
        """Take the limits; None for no limit.

        Args:
            lookup: Finds what is not remembered.
            max_rows: How many keys to remember.
            after_write_ms: How long after it was found a key is asked for again.
            after_access_ms: How long after it was last used a key is forgotten.
            keeps_missing: Whether to remember that a key has no rows.
        """
        self.lookup, self.max_rows, self.keeps_missing = lookup, max_rows, keeps_missing
        self.limits = (after_write_ms, after_access_ms)
        self.known: OrderedDict[Key, tuple[Rows, float, float]] = OrderedDict()

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is remembered."""
        return {**self.__dict__, "known": OrderedDict()}

    def find(self, keys: Sequence[Key]) -> Mapping[Key, Rows]:
        """Return the rows of the keys that have some."""
        now, known = time.monotonic() * 1000, self.known
        after_write, after_access = self.limits
        found: dict[Key, Rows] = {}
        missing: list[Key] = []
        for key in keys:
            entry = known.get(key)
            if (
                entry is None
                or (after_write is not None and now - entry[1] >= after_write)
                or (after_access is not None and now - entry[2] >= after_access)
            ):
                missing.append(key)
                continue
            known[key] = (entry[0], entry[1], now)
            known.move_to_end(key)
            if entry[0]:
                found[key] = entry[0]
        if missing:
            fresh = self.lookup.find(missing)
            for key in missing:
                rows = fresh.get(key, [])
                if rows or self.keeps_missing:
                    known[key] = (rows, now, now)
                    known.move_to_end(key)
                else:
                    known.pop(key, None)
            found.update(fresh)
            while self.max_rows is not None and len(known) > self.max_rows:
                known.popitem(last=False)
        return found

    def close(self) -> None:
        """Close the lookup behind it."""
        self.lookup.close()


class RepeatedLookup:
    """Asks again for keys without rows: a table may get them later than the stream."""

    def __init__(self, lookup: Lookup, delay_ms: int, attempts: int) -> None:
        """Take how long to wait before each of ``attempts`` further lookups."""
        self.lookup, self.delay_ms, self.attempts = lookup, delay_ms, attempts

    def find(self, keys: Sequence[Key]) -> Mapping[Key, Rows]:
        """Return the rows of the keys that have some."""
        found = dict(self.lookup.find(keys))
        for _ in range(self.attempts):
            missing = [key for key in keys if not found.get(key)]
            if not missing:
                break
            time.sleep(self.delay_ms / 1000)
            found.update(self.lookup.find(missing))
        return found

    def close(self) -> None:
        """Close the lookup behind it."""
        self.lookup.close()


class _Parts:
    """Opens and closes the Python functions of generated code, and the lookup."""

    def __init__(self, lookup: Lookup, functions: Sequence[RowFunction | None]) -> None:
        self.lookup = lookup
        self.functions = tuple(item for function in functions if function is not None for item in function.functions)

    def open(self, runtime_context: RuntimeContext) -> None:
        open_all(self.functions, runtime_context)

    def close(self) -> None:
        close_all(self.functions)
        self.lookup.close()


class LookupJoinOperator(FunctionOperator):
    """Asks once for the different keys of a block, and emits each row with each row of its key."""

    def __init__(
        self,
        lookup: Lookup,
        keys: RowFunction,
        steps: Sequence[tuple[RowFunction | None, RowFunction | None]],
        condition: RowFunction | None,
        *,
        nulls: tuple[None, ...] | None,
        changelog: bool,
    ) -> None:
        """Describe the join.

        Args:
            lookup: Finds the rows.
            keys: The key of a row of the stream.
            steps: Filters and projections of the rows that are found.
            condition: What must hold for a row of the stream followed by one that was found.
            nulls: What follows a row without partner; None to leave it out.
            changelog: Whether the kind of change is the last element of a row of the stream.
        """
        super().__init__(_Parts(lookup, [keys, condition, *(item for step in steps for item in step)]))
        self.lookup, self.keys, self.steps, self.condition = lookup, keys, tuple(steps), condition
        self.nulls, self.changelog = nulls, changelog

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Join a block."""
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        results: list[object] = []
        stamps: list[int] | None = None if timestamps is None else []
        try:
            keys = list(map(self.keys, values))
            found = self._find([key for key in dict.fromkeys(keys) if None not in key])
            condition, nulls = self.condition, self.nulls
            for i, row in enumerate(cursor):
                left, kind = (row[:-1], row[-1:]) if self.changelog else (row, ())
                partners: Sequence[object] = found.get(keys[i], ())
                if condition is not None:
                    partners = [right for right in partners if condition(left + right)[0] is True]
                if not partners and nulls is not None:
                    partners = (nulls,)
                results += [left + right + kind for right in partners]
                if stamps is not None and timestamps is not None:
                    stamps += [timestamps[i]] * len(partners)
        except BaseException as error:
            raise self.failure(error, values) from error
        if results:
            self.output.emit(results, stamps)

    def _find(self, keys: list[Key]) -> Mapping[Key, Rows]:
        found = self.lookup.find(keys) if keys else {}
        for condition, projection in self.steps:
            if condition is not None:
                found = {key: [row for row in rows if condition(row)[0] is True] for key, rows in found.items()}
            if projection is not None:
                found = {key: [projection(row) for row in rows] for key, rows in found.items()}
        return found
