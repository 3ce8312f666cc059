"""What the loops use and C has in a form of its own (``_base.pyx``, ``_base.pxd``), in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


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


def tracks(backend: Any) -> bool:
    """Return whether a backend records changes."""
    return backend.tracking  # type: ignore[no-any-return]


def lookup(values: Any, key: object) -> Any:
    """Return what a dict, or a table that is used like one, has for a key, or None."""
    return values.get(key)


def now(clock: Callable[[], int]) -> int:
    """Return the time of a clock in ms."""
    return clock()


now_ms = now
