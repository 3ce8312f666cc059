"""Results of ``state.get_internal_state()``: views of a state with the methods of PyFlink's internal states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Internal:
    """A view of a state. Changes go to the state at once."""

    __slots__ = ("_state",)

    def __init__(self, state: Any) -> None:
        """Create a view of ``state``."""
        self._state = state

    def clear(self) -> None:
        """Clear the state of the current key."""
        self._state.clear()

    def commit(self) -> None:
        """Do nothing, as changes are never held back."""


class InternalBag(_Internal):
    """A value, list, reducing or aggregating state as a bag."""

    __slots__ = ()

    def read(self) -> Iterable[Any]:
        """Return the elements of a list, or the value of another state if it has one."""
        state = self._state
        if hasattr(state, "add_all"):
            return list(state.get())
        value = state.value() if hasattr(state, "value") else state.get()
        return [] if value is None else [value]

    def add(self, value: Any) -> None:
        """Add to the state, or set it if it is a single value."""
        state = self._state
        if hasattr(state, "value"):
            state.update(value)
        else:
            state.add(value)


class InternalMap(_Internal):
    """A map state as a map."""

    __slots__ = ()

    def get(self, key: Any) -> Any:
        """Return the value of a map key, or None."""
        return self._state.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        self._state.put(key, value)

    def put_all(self, dict_value: Any) -> None:
        """Set several map keys."""
        self._state.put_all(dict_value)

    def remove(self, key: Any) -> None:
        """Remove a map key if it exists."""
        self._state.remove(key)

    def contains(self, key: Any) -> bool:
        """Return whether a map key exists."""
        return bool(self._state.contains(key))

    def is_empty(self) -> bool:
        """Return whether the map has no keys."""
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
