"""Functions of one record at a time, and what all functions share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import ACC, IN, IN1, IN2, KEY, OUT, Generic, T, T_co

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
    """Gives access to the state of the current key."""

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
    """What a function may know about where it runs; given to :meth:`Function.open`."""

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
        """Return how often the job was started again."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the operator's name with the number of the subtask."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global job parameter."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the metrics of the operator."""


class Function(ABC):  # noqa: B024 - a base with optional hooks only, as in PyFlink
    """A user function. It is pickled to the tasks; what cannot be pickled is made in :meth:`open`."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare; called once per subtask and worker, before the first record."""

    def close(self) -> None:
        """Clean up; called once when the subtask ends."""


class MapFunction(Function, Generic[IN, OUT]):
    """One result for each record."""

    @abstractmethod
    def map(self, value: IN) -> OUT:
        """Return the result for ``value``; None is a result like any other."""


class CoMapFunction(Function, Generic[IN1, IN2, OUT]):
    """One result for each record of two connected streams; None is no result here."""

    @abstractmethod
    def map1(self, value: IN1) -> OUT | None:
        """Return the result for a record of the first stream."""

    @abstractmethod
    def map2(self, value: IN2) -> OUT | None:
        """Return the result for a record of the second stream."""


class FlatMapFunction(Function, Generic[IN, OUT]):
    """Any number of results for each record."""

    @abstractmethod
    def flat_map(self, value: IN) -> Iterable[OUT]:
        """Return the results for ``value``, or generate them."""


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """Any number of results for each record of two connected streams."""

    @abstractmethod
    def flat_map1(self, value: IN1) -> Iterable[OUT] | None:
        """Return the results for a record of the first stream."""

    @abstractmethod
    def flat_map2(self, value: IN2) -> Iterable[OUT] | None:
        """Return the results for a record of the second stream."""


class FilterFunction(Function, Generic[IN]):
    """Says which records stay."""

    @abstractmethod
    def filter(self, value: IN) -> bool:
        """Return whether ``value`` stays."""


class ReduceFunction(Function, Generic[T]):
    """Combines two values of a type into one."""

    @abstractmethod
    def reduce(self, value1: T, value2: T) -> T:
        """Return the combination of both."""


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """Adds values to an accumulator and derives a result from it."""

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
        """Return one accumulator for two; needed for session windows."""


class KeySelector(Function, Generic[IN, OUT]):
    """Finds the key of a record. It must return the same key for the same record every time."""

    @abstractmethod
    def get_key(self, value: IN) -> OUT:
        """Return the key."""


class NullByteKeySelector(KeySelector[IN, int]):
    """Gives all records the same key."""

    def get_key(self, value: IN) -> int:  # noqa: ARG002 - the contract
        """Return 0."""
        return 0


class Partitioner(Function, Generic[KEY]):
    """Says which subtask a record goes to."""

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int) -> int:
        """Return a number from 0 to ``num_partitions - 1``."""


class FunctionWrapper(Function):
    """Holds a plain callable."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func


class ReduceFunctionWrapper(FunctionWrapper, ReduceFunction[T]):
    """A reduce function around a plain callable."""

    def __init__(self, func: Callable[[T, T], T]) -> None:
        super().__init__(func)

    def reduce(self, value1: T, value2: T) -> T:
        """Call it."""
        reduced: T = self._func(value1, value2)
        return reduced


class SourceFunction(Function, Generic[T_co]):
    """Emits records from a loop of its own, for ``add_source`` (PyFlink's wraps a Java object; this one is Python).

    ``run`` works in a thread of the task until it returns, which ends the stream. A function that can go on from where
    it was has :meth:`snapshot_state` and :meth:`restore_state`, and changes its state under the lock under which it
    collects: what they say is part of checkpoints, and no record is lost or repeated. Without them the function
    starts again after a failure. For splits that many subtasks share see :class:`flintstream.connectors.source.Source`.

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
    """Whether each subtask runs a copy, which ``ctx.index`` and ``ctx.count`` tell from the others; else one does."""

    def run(self, ctx: Any) -> None:
        """Emit records with ``ctx`` until there are no more, or :meth:`cancel` was called.

        ``ctx`` is a :class:`flintstream.connectors.function_source.SourceContext`: ``collect(value)``,
        ``collect_with_timestamp(value, ms)``, ``emit_watermark(ms)``, ``get_checkpoint_lock()``.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement run(ctx)")

    def cancel(self) -> None:
        """Have :meth:`run` return soon; called from another thread. What it collects is dropped from here on."""

    def snapshot_state(self) -> Any:
        """Return what :meth:`restore_state` needs to go on after the records collected so far (picklable)."""
        return None

    def restore_state(self, state: Any) -> None:
        """Go on from there; called after ``open`` and before :meth:`run`."""


class SinkFunction(Function, Generic[IN]):
    """Writes records somewhere, one by one (PyFlink's wraps a Java object; this one is written in Python).

    At-least-once: each record is written, and those of an epoch that is repeated are written again. For output that
    appears exactly once see :class:`flintstream.connectors.sink.TwoPhaseCommittingSink`.

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

    def invoke(self, value: IN, context: Any) -> None:
        """Write one record; ``context`` has ``timestamp()``, ``current_watermark()``, ``current_processing_time()``."""
        raise NotImplementedError(f"{type(self).__name__} must implement invoke(value, context)")

    def flush(self) -> None:
        """Write what :meth:`invoke` has held back; called at the end of each epoch, so before each checkpoint."""
