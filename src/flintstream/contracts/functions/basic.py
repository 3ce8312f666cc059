"""Functions of one record at a time, and the base of all functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import ACC, IN, IN1, IN2, KEY, OUT, Generic, T, T_co
from flintstream.contracts.functions.java_names import SINKS, java_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.common._generic import K, V
    from flintstream.contracts.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReducingState,
        ReducingStateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )
    from flintstream.metrics import MetricGroup


class KeyedStateStore(ABC):
    """Access to the state of the current key.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
    >>> from flintstream.datastream import state as states
    >>> class Longest(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return ""
    ...
    ...     def add(self, value, accumulator):
    ...         return max(value, accumulator, key=len)
    ...
    ...     def get_result(self, accumulator):
    ...         return accumulator
    ...
    ...     def merge(self, a, b):
    ...         return max(a, b, key=len)
    >>> class Remember(KeyedProcessFunction):
    ...     def open(self, context):  # the context is a store of states
    ...         text, number = Types.STRING(), Types.LONG()
    ...         self.last = context.get_state(states.ValueStateDescriptor("last", text))
    ...         self.words = context.get_list_state(states.ListStateDescriptor("words", text))
    ...         self.counts = context.get_map_state(states.MapStateDescriptor("counts", text, number))
    ...         self.most = context.get_reducing_state(states.ReducingStateDescriptor("most", max, number))
    ...         self.longest = context.get_aggregating_state(
    ...             states.AggregatingStateDescriptor("longest", Longest(), text)
    ...         )
    ...
    ...     def process_element(self, word, ctx):
    ...         self.last.update(word)
    ...         self.words.add(word)
    ...         self.counts[word] = (self.counts[word] or 0) + 1
    ...         self.most.add(self.counts[word])
    ...         self.longest.add(word)
    ...         yield self.last.value(), list(self.words), dict(self.counts.items())
    ...         yield self.most.get(), self.longest.get()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> results = env.from_collection(["be", "not", "be"]).key_by(lambda word: 0).process(Remember())
    >>> list(results.execute_and_collect(limit=9))[-2:]
    [('be', ['be', 'not', 'be'], {'be': 2, 'not': 1}), (2, 'not')]
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]:
        """Return a value state."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]:
        """Return a list state."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]:
        """Return a map state."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]:
        """Return a reducing state."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor[T, Any, V]) -> AggregatingState[T, V]:
        """Return an aggregating state."""


class RuntimeContext(KeyedStateStore):
    """Information about the running subtask, passed to :meth:`Function.open`.

    >>> from flintstream.datastream import MapFunction, StreamExecutionEnvironment
    >>> class Where(MapFunction):
    ...     def open(self, runtime_context):
    ...         self.seen = runtime_context.get_metrics_group().counter("seen")
    ...         self.greeting = runtime_context.get_job_parameter("greeting", "hello")
    ...         self.name = runtime_context.get_task_name_with_subtasks()
    ...         self.place = (
    ...             runtime_context.get_task_name(),
    ...             runtime_context.get_index_of_this_subtask(),
    ...             runtime_context.get_number_of_parallel_subtasks(),
    ...             runtime_context.get_max_number_of_parallel_subtasks(),
    ...             runtime_context.get_attempt_number(),
    ...         )
    ...
    ...     def map(self, value):
    ...         self.seen.inc()
    ...         return f"{self.greeting} {value}", self.name, *self.place
    >>> settings = {"flintstream.engine": "inline", "pipeline.global-job-parameters": "greeting:good day"}
    >>> env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    >>> for result in env.from_collection(["ann"]).map(Where()).name("where").execute_and_collect(limit=9):
    ...     print(*result, sep="; ")
    good day ann; Collection Source -> where -> Collect (1/1)#0; Collection Source -> where -> Collect; 0; 1; 128; 0
    """

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the operator."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the operator."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups of the operator."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return the number of this subtask, from 0."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return how often the job was restarted."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the operator's name with the subtask's number."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global job parameter."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the metrics of the operator."""


class Function(ABC):  # noqa: B024 - a base with optional hooks only, as in PyFlink
    """A user function. It is pickled and sent to the tasks; create unpicklable objects in :meth:`open`.

    >>> from flintstream.datastream import MapFunction, StreamExecutionEnvironment
    >>> class Lookup(MapFunction):
    ...     def open(self, runtime_context):
    ...         print("opens")  # a connection, for example
    ...
    ...     def map(self, value):
    ...         return value * 10
    ...
    ...     def close(self):
    ...         print("closes")
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    >>> list(env.from_collection([1, 2]).map(Lookup()).execute_and_collect(limit=9))
    opens
    closes
    [10, 20]
    """

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare; called once per subtask and worker, before the first record."""

    def close(self) -> None:
        """Clean up; called once when the subtask ends."""


class MapFunction(Function, Generic[IN, OUT]):
    """A function with one result for each record.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Length(MapFunction):
    ...     def map(self, value):
    ...         return value, len(value)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sorted(env.from_collection(["to", "not"]).map(Length()).execute_and_collect(limit=9))
    [('not', 3), ('to', 2)]
    """

    @abstractmethod
    def map(self, value: IN) -> OUT:
        """Return the result for ``value``; None is a result like any other."""


class CoMapFunction(Function, Generic[IN1, IN2, OUT]):
    """A function with one result for each record of two connected streams; None means no result.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Celsius(CoMapFunction):
    ...     def map1(self, value):
    ...         return value
    ...
    ...     def map2(self, value):
    ...         return None if value < -459 else (value - 32) * 5 / 9
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> celsius, fahrenheit = env.from_collection([20.0]), env.from_collection([212, -999])
    >>> sorted(celsius.connect(fahrenheit).map(Celsius()).execute_and_collect(limit=9))
    [20.0, 100.0]
    """

    @abstractmethod
    def map1(self, value: IN1) -> OUT | None:
        """Return the result for a record of the first stream."""

    @abstractmethod
    def map2(self, value: IN2) -> OUT | None:
        """Return the result for a record of the second stream."""


class FlatMapFunction(Function, Generic[IN, OUT]):
    """A function with any number of results for each record.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Words(FlatMapFunction):
    ...     def flat_map(self, value):
    ...         for word in value.split():
    ...             yield word
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sorted(env.from_collection(["to be", "", "or"]).flat_map(Words()).execute_and_collect(limit=9))
    ['be', 'or', 'to']
    """

    @abstractmethod
    def flat_map(self, value: IN) -> Iterable[OUT]:
        """Return the results for ``value``, or generate them."""


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """A function with any number of results for each record of two connected streams.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Words(CoFlatMapFunction):
    ...     def flat_map1(self, line):
    ...         return line.split()
    ...
    ...     def flat_map2(self, word):
    ...         if word:
    ...             yield word
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> both = env.from_collection(["to be"]).connect(env.from_collection(["", "or"]))
    >>> sorted(both.flat_map(Words()).execute_and_collect(limit=9))
    ['be', 'or', 'to']
    """

    @abstractmethod
    def flat_map1(self, value: IN1) -> Iterable[OUT] | None:
        """Return the results for a record of the first stream."""

    @abstractmethod
    def flat_map2(self, value: IN2) -> Iterable[OUT] | None:
        """Return the results for a record of the second stream."""


class FilterFunction(Function, Generic[IN]):
    """A predicate that selects records.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Even(FilterFunction):
    ...     def filter(self, value):
    ...         return value % 2 == 0
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sorted(env.from_collection([1, 2, 4]).filter(Even()).execute_and_collect(limit=9))
    [2, 4]
    """

    @abstractmethod
    def filter(self, value: IN) -> bool:
        """Return True to keep ``value``."""


class ReduceFunction(Function, Generic[T]):
    """A function that combines two values of a type into one.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Latest(ReduceFunction):
    ...     def reduce(self, value1, value2):
    ...         return max(value1, value2, key=lambda reading: reading[1])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> readings = env.from_collection([("a", 5), ("a", 9), ("a", 7)]).key_by(lambda reading: reading[0])
    >>> list(readings.reduce(Latest()).execute_and_collect(limit=9))
    [('a', 5), ('a', 9), ('a', 9)]
    """

    @abstractmethod
    def reduce(self, value1: T, value2: T) -> T:
        """Return the combination of both."""


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """A function that adds values to an accumulator and derives a result from it.

    >>> from flintstream.datastream import StreamExecutionEnvironment
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
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> windows = env.from_collection([1, 2, 6]).key_by(lambda n: 0).count_window(3)
    >>> list(windows.aggregate(Mean()).execute_and_collect(limit=9))
    [3.0]
    """

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return an empty accumulator."""

    @abstractmethod
    def add(self, value: IN, accumulator: ACC) -> ACC:
        """Return the accumulator with ``value`` added; it may be the same object."""

    @abstractmethod
    def get_result(self, accumulator: ACC) -> OUT:
        """Return the result."""

    @abstractmethod
    def merge(self, acc_a: ACC, acc_b: ACC) -> ACC:
        """Merge two accumulators into one; needed for session windows."""


class KeySelector(Function, Generic[IN, OUT]):
    """A function that returns the key of a record: always the same key for the same record.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Name(KeySelector):
    ...     def get_key(self, value):
    ...         return value["name"]
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sales = env.from_collection([{"name": "ann", "n": 1}, {"name": "ann", "n": 2}]).key_by(Name())
    >>> totals = sales.reduce(lambda a, b: {"name": a["name"], "n": a["n"] + b["n"]})
    >>> list(totals.execute_and_collect(limit=9))[-1]
    {'name': 'ann', 'n': 3}
    """

    @abstractmethod
    def get_key(self, value: IN) -> OUT:
        """Return the key."""


class NullByteKeySelector(KeySelector[IN, int]):
    """A selector that gives all records the same key.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> everything = env.from_collection([1, 2, 3]).key_by(NullByteKeySelector())
    >>> list(everything.reduce(lambda a, b: a + b).execute_and_collect(limit=9))
    [1, 3, 6]
    """

    def get_key(self, value: IN) -> int:
        """Return 0."""
        return 0


class Partitioner(Function, Generic[KEY]):
    """A function that selects the subtask for a record.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class ByFirstLetter(Partitioner):
    ...     def partition(self, key, num_partitions):
    ...         return ord(key[0]) % num_partitions
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    >>> words = env.from_collection(["to", "at", "the"]).partition_custom(ByFirstLetter(), lambda word: word)
    >>> class Subtask(MapFunction):
    ...     def open(self, runtime_context):
    ...         self.index = runtime_context.get_index_of_this_subtask()
    ...
    ...     def map(self, value):
    ...         return self.index, value
    >>> sorted(words.map(Subtask()).execute_and_collect(limit=9))
    [(0, 'the'), (0, 'to'), (1, 'at')]
    """

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int) -> int:
        """Return a number from 0 to ``num_partitions - 1``."""


class FunctionWrapper(Function):
    """A function around a plain callable.

    >>> from flintstream.datastream.functions import ReduceFunctionWrapper
    >>> isinstance(ReduceFunctionWrapper(max), FunctionWrapper)
    True
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func


class ReduceFunctionWrapper(FunctionWrapper, ReduceFunction[T]):
    """A reduce function around a plain callable.

    >>> ReduceFunctionWrapper(lambda a, b: a + b).reduce(3, 4)
    7
    """

    def __init__(self, func: Callable[[T, T], T]) -> None:
        super().__init__(func)

    def reduce(self, value1: T, value2: T) -> T:
        """Call the callable."""
        reduced: T = self._func(value1, value2)
        return reduced


class SourceFunction(Function, Generic[T_co]):
    """A source that emits records from its own loop, for ``add_source`` (plain Python; PyFlink's wraps a Java object).

    The name of a Java class is refused with the counterpart to use.

    ``run`` works in a thread of the task. The stream ends when it returns. To resume after a failure, implement
    :meth:`snapshot_state` and :meth:`restore_state`, and change the state under the same lock as you collect: the
    state is then part of checkpoints, and no record is lost or repeated. Without them the function starts over after
    a failure. For splits that many subtasks share see :class:`flintstream.connectors.source.Source`.

    >>> class Count(SourceFunction):
    ...     def __init__(self):
    ...         self.next, self.running = 0, True
    ...
    ...     def run(self, ctx):
    ...         while self.running and self.next < 1000:
    ...             with ctx.get_checkpoint_lock():
    ...                 ctx.collect(self.next)
    ...                 self.next += 1
    ...
    ...     def cancel(self):
    ...         self.running = False
    ...
    ...     def snapshot_state(self):
    ...         return self.next
    ...
    ...     def restore_state(self, state):
    ...         self.next = state
    """

    parallel: bool = False
    """Whether every subtask runs a copy (``ctx.index`` and ``ctx.count`` identify it), or just one subtask."""

    def __init__(self, source_func: object = None) -> None:
        """Take the Java class that PyFlink's function would wrap; derived classes have no need to call this.

        Raises:
            AbsentNameError: It has no counterpart.
        """
        if source_func is not None:
            java_object("SourceFunction", source_func)

    def run(self, ctx: Any) -> None:
        """Emit records with ``ctx`` until the input ends or :meth:`cancel` is called.

        ``ctx`` is a :class:`flintstream.connectors.function_source.SourceContext`: ``collect(value)``,
        ``collect_with_timestamp(value, ms)``, ``emit_watermark(ms)``, ``get_checkpoint_lock()``.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement run(ctx)")

    def cancel(self) -> None:
        """Make :meth:`run` return soon; called from another thread. Records collected from now on are dropped."""

    def snapshot_state(self) -> Any:
        """Return a picklable state from which :meth:`restore_state` resumes after the records collected so far."""
        return None

    def restore_state(self, state: Any) -> None:
        """Resume from ``state``; called after ``open`` and before :meth:`run`."""


class SinkFunction(Function, Generic[IN]):
    """A sink that writes records one by one (PyFlink's wraps a Java object; this one is written in Python).

    Two Java classes have a counterpart, and can be named: ``DiscardingSink`` and ``PrintSinkFunction``.

    At-least-once: every record is written, and a repeated epoch writes its records again. For exactly-once output see
    :class:`flintstream.connectors.sink.TwoPhaseCommittingSink`.

    >>> class Shout(SinkFunction):
    ...     def open(self, runtime_context):
    ...         self.lines = []
    ...
    ...     def invoke(self, value, context):
    ...         self.lines.append(value.upper())
    ...
    ...     def flush(self):
    ...         print(*self.lines)
    ...         self.lines.clear()
    >>> shout = Shout()
    >>> shout.open(None)
    >>> shout.invoke("a", None)
    >>> shout.invoke("b", None)
    >>> shout.flush()
    A B
    """

    wrapped: object = None
    """What PyFlink's function would wrap: the name of a Java class, or a sink; None for one in Python."""

    def __init__(self, sink_func: object = None) -> None:
        """Take the Java class that PyFlink's function would wrap; derived classes have no need to call this.

        Raises:
            AbsentNameError: It has no counterpart.
        """
        if sink_func is not None:
            self.wrapped = java_object("SinkFunction", sink_func, SINKS)

    def invoke(self, value: IN, context: Any) -> None:
        """Write one record; ``context`` has ``timestamp()``, ``current_watermark()``, ``current_processing_time()``."""
        raise NotImplementedError(f"{type(self).__name__} must implement invoke(value, context)")

    def flush(self) -> None:
        """Write the records that :meth:`invoke` buffered; called at the end of each epoch, before any checkpoint."""
