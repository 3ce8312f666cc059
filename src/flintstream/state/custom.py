"""Keyed state backends of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.state.backend import KeyedStateBackend

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = tuple(name for name, member in vars(KeyedStateBackend).items() if callable(member) and name[0] != "_")


class CheckedFactory:
    """Makes a user's backends, and says what they lack where that is clearer than an error later on."""

    def __init__(self, factory: Callable[[str, Callable[[Any], int]], KeyedStateBackend]) -> None:
        """Make backends by ``factory(operator_name, key_group)``."""
        self.factory = factory

    def __call__(self, operator: str, key_group: Callable[[Any], int]) -> KeyedStateBackend:
        """Return a new backend.

        Raises:
            TypeError: What the factory returned is no backend.
        """
        backend = self.factory(operator, key_group)
        missing = [name for name in _METHODS if not callable(getattr(backend, name, None))]
        if missing:
            raise TypeError(
                f"operator '{operator}': the custom state backend made {backend!r}, which is no KeyedStateBackend: it "
                f"has no {', '.join(f'{name}()' for name in missing)}"
            )
        return backend
