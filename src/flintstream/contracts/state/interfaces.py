"""The kinds of state.

Methods that may find no value are annotated ``T | Any`` rather than ``T | None``, so that a program that knows there is
a value needs no check for the type checker.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, K, T, V

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flintstream.contracts.state.descriptors import MapStateDescriptor


class State(ABC):
    """State of the current key."""

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Remove the state of the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | Any:
        """Return the value, or None if nothing is stored."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value; None removes it."""


class AppendingState(State, Generic[T, V]):
    """State that values are added to."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> V | Any:
        """Return the result of the added values."""

    @abstractmethod
    def add(self, value: T) -> None:
        """Add a value."""


class MergingState(AppendingState[T, V]):
    """Appending state that can be merged, as for session windows."""

    __slots__ = ()


class ReducingState(MergingState[T, T]):
    """One reduced value per key; None if nothing was added."""

    __slots__ = ()


class AggregatingState(MergingState[T, V]):
    """One accumulator per key; None if nothing was added."""

    __slots__ = ()


class ListState(MergingState[T, "Iterable[T]"]):
    """A list per key; :meth:`get` returns an empty iterable if nothing is stored."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> Iterable[T]:
        """Return the elements."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace all elements."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Append several elements."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get() or ())


class MapState(State, Generic[K, V]):
    """A map per key."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | Any:
        """Return the value of a map key, or None if it is absent."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a map key."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set several map keys."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a map key, if present."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Tell whether a map key has a value other than None."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the pairs."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the map keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Tell whether the map is empty."""

    def __getitem__(self, key: K) -> V | Any:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class ReadOnlyBroadcastState(State, Generic[K, V]):
    """Broadcast state on the non-broadcast side."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | Any:
        """Return the value of a map key, or None if it is absent."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Tell whether the map contains ``key``."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the pairs."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the map keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Tell whether the map is empty."""

    def __getitem__(self, key: K) -> V | Any:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class BroadcastState(ReadOnlyBroadcastState[K, V]):
    """Broadcast state on the broadcast side. Every subtask must change it in the same way."""

    __slots__ = ()

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a map key."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V]) -> None:
        """Set several map keys."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a map key, if present."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class OperatorStateStore(ABC):
    """State that belongs to a subtask rather than to a key."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
        """Return a broadcast state."""
