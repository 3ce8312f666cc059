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
    """Appending state that can be merged, as for session windows.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import ProcessWindowFunction
    >>> from flintstream.datastream.state import ListStateDescriptor, ReducingStateDescriptor
    >>> from flintstream.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class EveryThird(Trigger):
    ...     count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.LONG())
    ...
    ...     def on_element(self, element, timestamp, window, ctx):
    ...         count = ctx.get_partitioned_state(self.count)
    ...         count.add(1)
    ...         return TriggerResult.FIRE if count.get() % 3 == 0 else TriggerResult.CONTINUE
    ...
    ...     def on_event_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def on_processing_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def can_merge(self):
    ...         return True
    ...
    ...     def on_merge(self, window, ctx):  # two sessions have become one: so do their counts
    ...         ctx.merge_partitioned_state(self.count)
    ...
    ...     def clear(self, window, ctx):
    ...         ctx.get_partitioned_state(self.count).clear()
    >>> def sums(numbers):
    ...     sessions = numbers.key_by(lambda n: 0).window(EventTimeSessionWindows.with_gap(10))
    ...     return sessions.trigger(EveryThird()).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     for number, timestamp in (1, 0), (2, 20), (4, 10):  # the last one joins the two sessions
    ...         harness.process_element(number, timestamp)
    ...     harness.extract_output_values()
    [7]
    """

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
    """One accumulator per key; None if nothing was added.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream.state import AggregatingStateDescriptor
    >>> class Mean(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return 0, 0
    ...
    ...     def add(self, value, accumulator):
    ...         return accumulator[0] + value, accumulator[1] + 1
    ...
    ...     def get_result(self, accumulator):
    ...         return accumulator[0] / accumulator[1]
    ...
    ...     def merge(self, a, b):
    ...         return a[0] + b[0], a[1] + b[1]
    >>> class RunningMean(KeyedProcessFunction):
    ...     def open(self, runtime_context):
    ...         pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    ...         self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), pair))
    ...
    ...     def process_element(self, number, ctx):
    ...         self.mean.add(number)
    ...         yield self.mean.get()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = env.from_collection([1, 2, 6]).key_by(lambda number: 0).process(RunningMean())
    >>> list(stream.execute_and_collect(limit=9))
    [1.0, 1.5, 3.0]
    """

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
    """Broadcast state on the non-broadcast side.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import BroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> from flintstream.testing.harness import BroadcastHarness
    >>> limits = MapStateDescriptor("limits", Types.STRING(), Types.LONG())
    >>> class Check(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         known = ctx.get_broadcast_state(limits)
    ...         name, amount = value
    ...         if known.is_empty():
    ...             yield "no limits yet"
    ...         elif known.contains(name):
    ...             yield "too much" if amount > known.get(name) else "fine"
    ...         else:
    ...             yield f"only {list(known.keys())} have limits, {sum(known.values())} in all"
    ...             yield dict(known.items())
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(limits).put(*value)
    >>> with BroadcastHarness(lambda sums, new: sums.connect(new.broadcast(limits)).process(Check())) as harness:
    ...     harness.process_element(("ann", 3))
    ...     harness.process_broadcast_element(("ann", 5))
    ...     harness.process_element(("ann", 7))
    ...     harness.process_element(("bob", 1))
    ...     harness.extract_output_values()
    ['no limits yet', 'too much', "only ['ann'] have limits, 5 in all", {'ann': 5}]
    """

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
    """Broadcast state on the broadcast side. Every subtask must change it in the same way.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import BroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> from flintstream.testing.harness import BroadcastHarness
    >>> rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    >>> class Apply(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield value, sorted(ctx.get_broadcast_state(rules).items())
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         state = ctx.get_broadcast_state(rules)
    ...         if value == "defaults":
    ...             state.put_all({"speed": 50, "weight": 20})
    ...         elif value == "no weight":
    ...             state.remove("weight")
    ...         else:
    ...             state.put(*value)
    >>> with BroadcastHarness(lambda items, new: items.connect(new.broadcast(rules)).process(Apply())) as harness:
    ...     for change in "defaults", "no weight", ("speed", 30):
    ...         harness.process_broadcast_element(change)
    ...     harness.process_element("a")
    ...     harness.extract_output_values()
    [('a', [('speed', 30)])]
    """

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
    """State that belongs to a subtask rather than to a key.

    Programs see no store: the context of a broadcast function has the same method.


    >>> from flintstream.common import Types
    >>> from flintstream.datastream import BroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> from flintstream.testing.harness import BroadcastHarness
    >>> names = MapStateDescriptor("names", Types.LONG(), Types.STRING())
    >>> class Name(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield ctx.get_broadcast_state(names).get(value)
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(names).put(*value)
    >>> with BroadcastHarness(lambda ids, new: ids.connect(new.broadcast(names)).process(Name())) as harness:
    ...     harness.process_broadcast_element((1, "one"))
    ...     harness.process_element(1)
    ...     harness.extract_output_values()
    ['one']
    """

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
        """Return a broadcast state."""
