"""What the loops use and C has in a form of its own (``_base.pyx``, ``_base.pxd``), in plain Python."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]


class Scope:
    """The key that state objects use: they read :attr:`key` at every access.

    A backend is itself the scope of the current key. A window operator has a second scope whose ``key`` is ``(key,
    window)``.
    """

    key: Any = None
    tracking = False


def key_of(scope: Any) -> Any:
    """Return the current key of a scope, which may be of a user's class."""
    return scope.key


def tracks(backend: Scope) -> bool:
    """Return whether a backend records changes."""
    return backend.tracking


def lookup(values: Any, key: object) -> Any:
    """Return what a dict, or a table that is used like one, has for a key, or None."""
    return values.get(key)


def lookup_or(values: dict[object, object], key: object, absent: object) -> object:
    """Return what a dict, or a table that is used like one, has for a key, else ``absent``."""
    return values.get(key, absent)


def now(clock: Callable[[], int]) -> int:
    """Return the time of a clock in ms."""
    return clock()


now_ms = now


def leave_alone(_made: tuple[object, ...], _first: object, _second: object) -> None:
    """Do nothing; C takes a tuple from the garbage collector that has only atoms, and what is in two such tuples."""


def set_key(scope: Scope, key: object) -> None:
    """Make a key the current one of a scope, which may be of a user's class."""
    scope.key = key


def select(selector: Function, _field: int, value: object) -> Any:
    """Return the key of a record; C takes a field without a call, if it is not negative."""
    return selector(value)


def look_ahead(tables: list[dict[object, object]], values: list[object], field: int) -> None:
    """Do nothing; C looks up the keys of a block in large dicts, so that the processor's caches have the entries."""


class Settled(NamedTuple):
    """Tells which results need no copy."""

    frozen: frozenset[type]
    copied: Function


def settle(settled: Settled, result: object) -> object:
    """Return a result in a form that the function which returned it cannot change any more."""
    return result if type(result) in settled.frozen else settled.copied(result)


class Formula:
    """What a function computes, if C can compute it without a call."""

    def __init__(self, formula: object) -> None:
        """Python always calls the function."""


def apply_binary(_formula: Formula, call: Function, first: object, second: object) -> Any:
    """Return what a function returns for two arguments."""
    return call(first, second)


def apply_unary(_formula: Formula, call: Function, record: object) -> Any:
    """Return what a function returns for a record."""
    return call(record)


def is_long(number: object) -> bool:
    """Return whether a number is an int of 64 bits."""
    return type(number) is int and number >> 63 in {0, -1}


class Heap:
    """Timers with their numbers, the first of which can be taken out: the one with the lowest time, then number."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, tuple[int, object, object]]] = []

    @property
    def size(self) -> int:
        """How many timers there are."""
        return len(self._entries)

    def push(self, number: int, timer: tuple[int, object, object]) -> None:
        """Add a timer."""
        heappush(self._entries, (timer[0], number, timer))

    def is_due(self, limit: int) -> bool:
        """Return whether the time of the first one is up to ``limit`` (ms)."""
        return bool(self._entries) and self._entries[0][0] <= limit

    def first_number(self) -> int:
        """Return the number of the first one."""
        return self._entries[0][1]

    def first(self) -> tuple[int, object, object]:
        """Return the first one."""
        return self._entries[0][2]

    def pop(self) -> tuple[int, object, object]:
        """Remove the first one, and return it."""
        return heappop(self._entries)[2]
