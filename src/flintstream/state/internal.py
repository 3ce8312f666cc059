"""What ``state.get_internal_state()`` returns: the state below its conveniences, with the methods it has in PyFlink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Internal:
    """Stands before a state; what it changes is in the state at once."""

    __slots__ = ("_state",)

    def __init__(self, state: Any) -> None:
        """Stand before ``state``."""
        self._state = state

    def clear(self) -> None:
        """Remove what is stored for the current key."""
        self._state.clear()

    def commit(self) -> None:
        """Do nothing: nothing is held back."""


class InternalBag(_Internal):
    """A value, a list, or what values were reduced or aggregated to, as a bag."""

    __slots__ = ()

    def read(self) -> Iterable[Any]:
        """Return the elements of a list; of another state its value, unless there is none."""
        state = self._state
        if hasattr(state, "add_all"):
            return list(state.get())
        value = state.value() if hasattr(state, "value") else state.get()
        return [] if value is None else [value]

    def add(self, value: Any) -> None:
        """Add to a list and the like, set a value."""
        state = self._state
        if hasattr(state, "value"):
            state.update(value)
        else:
            state.add(value)


class InternalMap(_Internal):
    """A map."""

    __slots__ = ()

    def get(self, key: Any) -> Any:
        """Return the value of a map key, None when there is none."""
        return self._state.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        self._state.put(key, value)

    def put_all(self, dict_value: Any) -> None:
        """Set several map keys."""
        self._state.put_all(dict_value)

    def remove(self, key: Any) -> None:
        """Remove a map key if it is there."""
        self._state.remove(key)

    def contains(self, key: Any) -> bool:
        """Tell whether there is a map key."""
        return bool(self._state.contains(key))

    def is_empty(self) -> bool:
        """Tell whether there is no map key."""
        return bool(self._state.is_empty())

    def items(self) -> Any:
        """Return the pairs."""
        return self._state.items()

    def keys(self) -> Any:
        """Return the map keys."""
        return self._state.keys()

    def values(self) -> Any:
        """Return the values."""
        return self._state.values()
