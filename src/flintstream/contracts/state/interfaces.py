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
    """State of the current key: what all kinds have.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> class EverySecond(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))
    ...
    ...     def process_element(self, value, ctx):
    ...         if self.seen.value():
    ...             yield value
    ...             self.seen.clear()
    ...         else:
    ...             self.seen.update(True)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection([1, 2, 3, 4]).key_by(lambda n: n % 2).process(EverySecond())
    >>> sorted(stream.execute_and_collect(limit=9))
    [3, 4]
    """

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Remove the state of the current key."""


class ValueState(State, Generic[T]):
    """One value per key.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> class Count(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
    ...
    ...     def process_element(self, value, ctx):
    ...         self.count.update((self.count.value() or 0) + 1)
    ...         yield value, self.count.value()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection(["to", "be", "to"]).key_by(lambda word: word).process(Count())
    >>> sorted(stream.execute_and_collect(limit=9))
    [('be', 1), ('to', 1), ('to', 2)]
    """

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | Any:
        """Return the value, or None if nothing is stored."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value; None removes it."""


class AppendingState(State, Generic[T, V]):
    """State that values are added to.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import ListStateDescriptor
    >>> class Remember(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.words = runtime_context.get_list_state(ListStateDescriptor("words", Types.STRING()))
    ...
    ...     def process_element(self, word, ctx):
    ...         self.words.add(word)
    ...         yield len(list(self.words.get()))
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection(["to", "be"]).key_by(lambda word: 0).process(Remember())
    >>> list(stream.execute_and_collect(limit=9))
    [1, 2]
    """

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
    """One reduced value per key; None if nothing was added.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import ReducingStateDescriptor
    >>> class Largest(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.largest = runtime_context.get_reducing_state(ReducingStateDescriptor("max", max, Types.LONG()))
    ...
    ...     def process_element(self, number, ctx):
    ...         self.largest.add(number)
    ...         yield self.largest.get()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection([3, 1, 4]).key_by(lambda number: 0).process(Largest())
    >>> list(stream.execute_and_collect(limit=9))
    [3, 3, 4]
    """

    __slots__ = ()


class AggregatingState(MergingState[T, V]):
    """One accumulator per key; None if nothing was added."""

    __slots__ = ()


class ListState(MergingState[T, "Iterable[T]"]):
    """A list per key; :meth:`get` returns an empty iterable if nothing is stored.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import ListStateDescriptor
    >>> class LastTwo(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.words = runtime_context.get_list_state(ListStateDescriptor("words", Types.STRING()))
    ...
    ...     def process_element(self, word, ctx):
    ...         self.words.add_all([word])
    ...         self.words.update(list(self.words.get())[-2:])
    ...         yield list(self.words.get())
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection(["to", "be", "or"]).key_by(lambda word: 0).process(LastTwo())
    >>> list(stream.execute_and_collect(limit=9))
    [['to'], ['to', 'be'], ['be', 'or']]
    """

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
    """A map per key.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> class Visits(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         descriptor = MapStateDescriptor("pages", Types.STRING(), Types.LONG())
    ...         self.pages = runtime_context.get_map_state(descriptor)
    ...
    ...     def process_element(self, visit, ctx):
    ...         name, page = visit
    ...         if self.pages.is_empty():
    ...             self.pages.put_all({"home": 1, "help": 0})
    ...         known = self.pages.contains(page)
    ...         self.pages.put(page, self.pages.get(page) + 1 if known else 1)
    ...         self.pages.remove("help")
    ...         yield name, sorted(self.pages.keys()), sorted(self.pages.items()), sum(self.pages.values())
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> visits = env.from_collection([("ann", "cart"), ("ann", "cart")])
    >>> for visit in visits.key_by(lambda visit: visit[0]).process(Visits()).execute_and_collect(limit=9):
    ...     print(visit)
    ('ann', ['cart', 'home'], [('cart', 1), ('home', 1)], 2)
    ('ann', ['cart', 'home'], [('cart', 2), ('home', 1)], 3)
    """

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
