"""Custom keyed state backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.state.backend import KeyedStateBackend

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = tuple(name for name, member in vars(KeyedStateBackend).items() if callable(member) and name[0] != "_")


class CheckedFactory:
    """A factory for a user's backends that reports missing methods early."""

    def __init__(self, factory: Callable[[str, Callable[[Any], int]], KeyedStateBackend]) -> None:
        """Create backends with ``factory(operator_name, key_group)``."""
        self.factory = factory

    def __call__(self, operator: str, key_group: Callable[[Any], int]) -> KeyedStateBackend:
        """Return a new backend.

        Raises:
            TypeError: The factory returned something that is not a backend.
        """
        backend = self.factory(operator, key_group)
        missing = [name for name in _METHODS if not callable(getattr(backend, name, None))]
        if missing:
            raise TypeError(
                f"operator '{operator}': the factory of the custom state backend must return a KeyedStateBackend, but "
                f"{backend!r} has no {', '.join(f'{name}()' for name in missing)}"
            )
        return backend
