"""Broadcast state: one map per descriptor, the same in every subtask as long as functions treat it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.datastream.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class _Reading(ReadOnlyBroadcastState):  # type: ignore[type-arg]
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


class WritableState(_Reading, BroadcastState):  # type: ignore[type-arg]
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


class ReadOnlyState(_Reading):
    """Broadcast state as ``process_element`` and ``on_timer`` see it. Whatever would change it raises."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise AttributeError(  # what calling a method that a read-only state does not have raises in PyFlink
            f"the broadcast state '{self._name}' is read-only here; change it in process_broadcast_element(), "
            "which runs in every subtask",
        )

    clear = put = put_all = remove = __setitem__ = __delitem__ = _refuse


class BroadcastStates:
    """The broadcast states of one operator in one subtask."""

    def __init__(self, names: Sequence[str], operator_name: str) -> None:
        """Create an empty state for each name."""
        self.operator_name = operator_name
        self.entries: dict[str, dict[Any, Any]] = {name: {} for name in names}
        self._writable = {name: WritableState(name, entries) for name, entries in self.entries.items()}
        self._read_only = {name: ReadOnlyState(name, entries) for name, entries in self.entries.items()}

    def writable(self, descriptor: Any) -> WritableState:
        """Return the state of a descriptor, to read and write."""
        return self._writable[self._name(descriptor)]

    def read_only(self, descriptor: Any) -> ReadOnlyState:
        """Return the state of a descriptor, to read."""
        return self._read_only[self._name(descriptor)]

    def _name(self, descriptor: Any) -> str:
        if not isinstance(descriptor, MapStateDescriptor):
            raise TypeError(f"get_broadcast_state() needs a MapStateDescriptor, but got {descriptor!r}")
        name = descriptor.get_name()
        if name not in self.entries:
            raise ValueError(
                f"operator '{self.operator_name}' has no broadcast state '{name}'; the stream was broadcast with the "
                f"states {sorted(self.entries)}. Give broadcast() the descriptor, too",
            )
        return name

    def snapshot(self) -> dict[str, dict[Any, Any]]:
        """Return what is in the states that are not empty."""
        return {name: entries for name, entries in self.entries.items() if entries}

    def restore(self, snapshot: dict[str, dict[Any, Any]]) -> None:
        """Replace what is in all states."""
        for name, entries in self.entries.items():
            entries.clear()
            entries.update(snapshot.get(name, {}))
