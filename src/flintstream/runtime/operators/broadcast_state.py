"""Broadcast state: one map per descriptor, equal in all subtasks as long as all make the same changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.contracts.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class _Reading(ReadOnlyBroadcastState):
    """Read access, common to both kinds of state."""

    __slots__ = ("_entries", "_name")

    def __init__(self, name: str, entries: dict[Any, Any]) -> None:
        self._name = name
        self._entries = entries

    def get(self, key: Any) -> Any:
        """Return the value of a map key, or None if it is missing."""
        return self._entries.get(key)

    def contains(self, key: Any) -> bool:
        """Return whether a map key exists."""
        return key in self._entries

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return the key-value pairs."""
        return self._entries.items()

    def keys(self) -> Iterable[Any]:
        """Return the map keys."""
        return self._entries.keys()

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return self._entries.values()

    def is_empty(self) -> bool:
        """Return whether the map is empty."""
        return not self._entries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._entries!r})"


class WritableState(_Reading, BroadcastState):
    """Broadcast state as ``process_broadcast_element`` sees it."""

    __slots__ = ()

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        self._entries[key] = value

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set several map keys."""
        self._entries.update(dict_value)

    def remove(self, key: Any) -> None:
        """Remove a map key if it exists."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Remove all map keys."""
        self._entries.clear()

    def to_read_only_broadcast_state(self) -> ReadOnlyState:
        """Return a read-only view of the same state."""
        return ReadOnlyState(self._name, self._entries)


class ReadOnlyState(_Reading):
    """Broadcast state as ``process_element`` and ``on_timer`` see it. Methods that would change it raise."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise AttributeError(  # PyFlink's read-only state does not have these methods
            f"the broadcast state '{self._name}' is read-only here: change it in process_broadcast_element(), "
            "which runs in every subtask",
        )

    clear = put = put_all = remove = __setitem__ = __delitem__ = _refuse


DESCRIPTORS_KEPT = 16
"""Limit on cached descriptors: a function may create a new one for each record."""


class BroadcastStates:
    """The broadcast states of one operator in one subtask."""

    def __init__(self, names: Sequence[str], warn: Callable[[str], None]) -> None:
        """Take the names passed to ``broadcast()``. ``warn`` reports other names that the function asks for."""
        self.given = tuple(names)
        self.entries: dict[str, dict[Any, Any]] = {}
        self._warn = warn
        self._writable: dict[str, WritableState] = {}
        self._read_only: dict[str, ReadOnlyState] = {}
        self.known: dict[MapStateDescriptor, ReadOnlyState] = {}
        """A cache for :meth:`read_only`: most functions use the same descriptor for each record."""

    def writable(self, descriptor: Any) -> WritableState:
        """Return the state of a descriptor for reading and writing."""
        name = self._name(descriptor)
        found = self._writable.get(name)
        if found is None:
            found = self._writable[name] = WritableState(name, self._entries(name))
        return found

    def read_only(self, descriptor: Any) -> ReadOnlyState:
        """Return the state of a descriptor for reading."""
        name = self._name(descriptor)
        found = self._read_only.get(name)
        if found is None:
            found = self._read_only[name] = ReadOnlyState(name, self._entries(name))
        if len(self.known) < DESCRIPTORS_KEPT:
            self.known[descriptor] = found
        return found

    def _name(self, descriptor: Any) -> str:
        if not isinstance(descriptor, MapStateDescriptor):
            raise TypeError(f"get_broadcast_state() needs a MapStateDescriptor, but got {descriptor!r}")
        name: str = descriptor.get_name()
        return name

    def _entries(self, name: str) -> dict[Any, Any]:
        if name not in self.given:
            self._warn(
                f"the broadcast state '{name}' was not passed to broadcast(), so it is a new state: "
                f"broadcast() got {sorted(self.given)}"
            )
        return self.entries.setdefault(name, {})

    def snapshot(self) -> dict[str, dict[Any, Any]]:
        """Return the entries of all states that are not empty."""
        return {name: entries for name, entries in self.entries.items() if entries}

    def restore(self, snapshot: dict[str, dict[Any, Any]]) -> None:
        """Replace the entries of all states."""
        for name in {*self.entries, *snapshot}:
            entries = self.entries.setdefault(name, {})
            entries.clear()
            entries.update(snapshot.get(name, {}))
