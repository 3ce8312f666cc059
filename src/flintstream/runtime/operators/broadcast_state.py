"""Broadcast state: one map per descriptor, the same in every subtask as long as functions treat it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.contracts.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class _Reading(ReadOnlyBroadcastState):
    """What both sides may do."""

    __slots__ = ("_entries", "_name")

    def __init__(self, name: str, entries: dict[Any, Any]) -> None:
        self._name = name
        self._entries = entries

    def get(self, key: Any) -> Any:
        """Return the value of a map key, None when there is none."""
        return self._entries.get(key)

    def contains(self, key: Any) -> bool:
        """Tell whether there is a map key."""
        return key in self._entries

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return the pairs."""
        return self._entries.items()

    def keys(self) -> Iterable[Any]:
        """Return the map keys."""
        return self._entries.keys()

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return self._entries.values()

    def is_empty(self) -> bool:
        """Tell whether there is no map key."""
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
        """Remove a map key if it is there."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Remove all map keys."""
        self._entries.clear()

    def to_read_only_broadcast_state(self) -> ReadOnlyState:
        """Return the same state for reading."""
        return ReadOnlyState(self._name, self._entries)


class ReadOnlyState(_Reading):
    """Broadcast state as ``process_element`` and ``on_timer`` see it. Whatever would change it raises."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise AttributeError(  # what calling a method that a read-only state does not have raises in PyFlink
            f"the broadcast state '{self._name}' is read-only here; change it in process_broadcast_element(), "
            "which runs in every subtask",
        )

    clear = put = put_all = remove = __setitem__ = __delitem__ = _refuse


DESCRIPTORS_KEPT = 16
"""A function may make a new one for each record."""


class BroadcastStates:
    """The broadcast states of one operator in one subtask."""

    def __init__(self, names: Sequence[str], warn: Callable[[str], None]) -> None:
        """Take the names that ``broadcast()`` was given. ``warn`` is told of others that the function asks for."""
        self.given = tuple(names)
        self.entries: dict[str, dict[Any, Any]] = {}
        self._warn = warn
        self._writable: dict[str, WritableState] = {}
        self._read_only: dict[str, ReadOnlyState] = {}
        self.known: dict[MapStateDescriptor, ReadOnlyState] = {}
        """What :meth:`read_only` has returned: functions mostly ask with the same descriptor for each record."""

    def writable(self, descriptor: Any) -> WritableState:
        """Return the state of a descriptor, to read and write."""
        name = self._name(descriptor)
        found = self._writable.get(name)
        if found is None:
            found = self._writable[name] = WritableState(name, self._entries(name))
        return found

    def read_only(self, descriptor: Any) -> ReadOnlyState:
        """Return the state of a descriptor, to read."""
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
                f"broadcast() was not given the broadcast state '{name}', which is a new one; it was given "
                f"{sorted(self.given)}"
            )
        return self.entries.setdefault(name, {})

    def snapshot(self) -> dict[str, dict[Any, Any]]:
        """Return what is in the states that are not empty."""
        return {name: entries for name, entries in self.entries.items() if entries}

    def restore(self, snapshot: dict[str, dict[Any, Any]]) -> None:
        """Replace what is in all states."""
        for name in {*self.entries, *snapshot}:
            entries = self.entries.setdefault(name, {})
            entries.clear()
            entries.update(snapshot.get(name, {}))
