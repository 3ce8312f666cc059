"""The common part of all test harnesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import PlanError
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.keys import freeze_key, key_group, subtask_of_key_group
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.backend import Scope
from flintstream.testing._driver import Driver
from flintstream.testing._ends import StreamRecord, Watermark, WatermarkStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import Self, Unpack

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream.data_stream import DataStream
    from flintstream.datastream.output_tag import OutputTag
    from flintstream.datastream.state import StateDescriptor
    from flintstream.datastream.window import Window
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.testing._driver import HarnessSettings, Snapshot
    from flintstream.testing._ends import Event


__tracebackhide__ = True
"""pytest leaves the frames of this module out of what it shows of a test that fails."""


class Harness:
    """Base class of all test harnesses. Tests use a subclass, as a context manager or with :meth:`close`."""

    def __init__(
        self,
        build: Callable[..., DataStream],
        types: Sequence[TypeInformation | None],
        **settings: Unpack[HarnessSettings],
    ) -> None:
        """Build the tested program.

        Args:
            build: gets the input stream, or streams, and returns the result, as in a program.
            types: the type of each input's records, None for any.
            settings: see :class:`HarnessSettings`.

        Raises:
            TypeError: ``build`` does not return a stream, or returns its input.
            PlanError: The program cannot run, or a function cannot be pickled.
        """
        self._driver = Driver(build, types, settings)
        self._check()
        self._converters = [None if declared is None else declared.converter() for declared in types]

    def _check(self) -> None:
        """Refuse operations that this kind of harness does not support."""

    # -- life cycle --------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the functions. Processing a record or a watermark also opens them.

        Raises:
            RuntimeError: The harness is closed, its input has ended, or a function has failed.

        >>> from flintstream.datastream.functions import MapFunction
        >>> from flintstream.testing.harness import OneInputHarness
        >>> class Doubling(MapFunction):
        ...     def open(self, runtime_context):
        ...         print("opened")
        ...
        ...     def map(self, value):
        ...         return value * 2
        >>> with OneInputHarness(lambda numbers: numbers.map(Doubling())) as harness:
        ...     harness.open()
        opened
        """
        self._driver.check_usable()
        if not self._driver.opened:
            self._driver.run()

    def initialize_state(self, snapshot: Snapshot | str) -> None:
        """Start from a result of :meth:`snapshot`, or from the path of a job's savepoint or checkpoint.

        Operators restore the state of operators with the same uid, whatever the parallelism and the backend were. For
        a savepoint, set the uid (``uid()``) both in the job and here. Processing time continues from the snapshot's.

        Raises:
            RuntimeError: The harness is already open.
            CheckpointError: The snapshot has state of operators that are not here, or the path has no savepoint.

        >>> from flintstream.testing.harness import KeyedHarness
        >>> def sums(numbers):
        ...     return numbers.key_by(lambda n: n % 2).reduce(lambda a, b: a + b)
        >>> with KeyedHarness(sums) as harness:
        ...     harness.process_element(1)
        ...     snapshot = harness.snapshot()
        >>> harness = KeyedHarness(sums)
        >>> harness.initialize_state(snapshot)
        >>> harness.num_keyed_state_entries()
        1
        """
        self._driver.restore(snapshot)

    def snapshot(self) -> Snapshot:
        """Return the state of the operators, as in a savepoint, for ``initialize_state`` of another harness.

        >>> from flintstream.testing.harness import KeyedHarness
        >>> with KeyedHarness(lambda numbers: numbers.key_by(lambda n: n).reduce(max)) as harness:
        ...     harness.set_processing_time(1_000)
        ...     harness.snapshot().processing_time
        1000
        """
        self.open()
        return self._driver.snapshot()

    def end_input(self) -> None:
        """End all inputs: event time reaches its end, all timers and windows fire, and the functions are closed.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.end_input()
        ...     harness.extract_watermarks()
        [9223372036854775807]
        """
        self._driver.run(drain=True)

    def close(self) -> None:
        """Close the functions, even before the end of the input; nothing fires. A second call has no effect.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> harness = OneInputHarness(lambda numbers: numbers.map(str))
        >>> harness.process_element(1)
        >>> harness.close()
        >>> harness.extract_output_values()
        ['1']
        """
        self._driver.close()

    # -- time --------------------------------------------------------------------------------------------------------

    def set_processing_time(self, timestamp: int) -> None:
        """Advance processing time (ms since the epoch), and fire timers that are due. It starts at 0.

        Raises:
            ValueError: Processing time would move back.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.set_processing_time(1_000)
        ...     harness.get_processing_time()
        1000
        """
        _check_time(timestamp, "processing time")
        if timestamp < self._driver.now:
            raise ValueError(f"processing time cannot go back: it is {self._driver.now}, but got {timestamp}")
        self.open()
        self._driver.now = timestamp
        self._driver.run()

    def get_processing_time(self) -> int:
        """Return the processing time (ms since the epoch).

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.get_processing_time()
        0
        """
        return self._driver.now

    # -- output ------------------------------------------------------------------------------------------------------

    def get_output(self) -> list[Event]:
        """Return the output: records, watermarks and changes of idleness, in order.

        Each of several subtasks emits every watermark.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.process_element(17, 1_000)
        ...     harness.process_watermark(2_000)
        ...     harness.get_output()
        [StreamRecord(value='17', timestamp=1000), Watermark(timestamp=2000)]
        """
        return list(self._driver.output)

    def extract_output_values(self) -> list[Any]:
        """Return the values of all records in the output.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.process_element(17)
        ...     harness.extract_output_values()
        ['17']
        """
        return [event.value for event in self._driver.output if isinstance(event, StreamRecord)]

    def extract_watermarks(self) -> list[int]:
        """Return all watermarks in the output (ms).

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.process_watermark(2_000)
        ...     harness.extract_watermarks()
        [2000]
        """
        return [event.timestamp for event in self._driver.output if isinstance(event, Watermark)]

    def get_side_output(self, tag: OutputTag) -> list[StreamRecord]:
        """Return the records of a side output.

        Raises:
            ValueError: The tag is not in ``side_outputs``, so the harness does not collect its records.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream.functions import ProcessFunction
        >>> from flintstream.datastream.output_tag import OutputTag
        >>> from flintstream.testing.harness import OneInputHarness
        >>> odd = OutputTag("odd", Types.LONG())
        >>> class Even(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield (odd, value) if value % 2 else value
        >>> with OneInputHarness(lambda numbers: numbers.process(Even()), side_outputs=[odd]) as harness:
        ...     harness.process_element(17)
        ...     harness.get_side_output(odd)
        [StreamRecord(value=17, timestamp=None)]
        """
        mailbox = self._driver.sides.get(tag.tag_id)
        if mailbox is None:
            raise ValueError(
                f"pass side_outputs=[...] with the tag '{tag.tag_id}' to the harness to collect its records"
            )
        return [event for event in mailbox if isinstance(event, StreamRecord)]

    def clear_output(self) -> None:
        """Drop the output, including side outputs.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> with OneInputHarness(lambda numbers: numbers.map(str)) as harness:
        ...     harness.process_element(17)
        ...     harness.clear_output()
        ...     harness.get_output()
        []
        """
        for mailbox in (self._driver.output, *self._driver.sides.values()):
            mailbox.clear()

    def get_metrics(self) -> dict[str, Any]:
        """Return the operator's metrics by name: the user's, and the engine's such as ``numLateRecordsDropped``.

        >>> from flintstream.datastream.functions import MapFunction
        >>> from flintstream.testing.harness import OneInputHarness
        >>> class Counting(MapFunction):
        ...     def open(self, runtime_context):
        ...         self.seen = runtime_context.get_metrics_group().counter("seen")
        ...
        ...     def map(self, value):
        ...         self.seen.inc()
        ...         return value
        >>> with OneInputHarness(lambda numbers: numbers.map(Counting())) as harness:
        ...     harness.process_element(17)
        ...     {name: value for name, value in harness.get_metrics().items() if "seen" in name}
        {'seen': 1}
        """
        return self._driver.metrics.values().get(self._driver.tested.name, {})

    # -- for subclasses ----------------------------------------------------------------------------------------------

    def _send(self, number: int, values: Iterable[Any], timestamp: int | None) -> None:
        self._driver.check_usable()
        if timestamp is not None:
            _check_time(timestamp, "a timestamp")
        convert = self._converters[number]
        # The test may change its objects later
        records = [
            StreamRecord(copy_mutable(value if convert is None else convert(value)), timestamp) for value in values
        ]
        self._driver.inputs[number].extend(records)
        self._driver.run()

    def _advance(self, watermark: int, *numbers: int) -> None:
        self._driver.check_usable()
        _check_time(watermark, "a watermark")
        if watermark == MAX_TIMESTAMP:
            raise ValueError(f"the watermark {watermark} means the end of the input: call end_input()")
        for number in numbers:
            if watermark < self._driver.watermarks[number]:
                before = self._driver.watermarks[number]
                raise ValueError(f"event time cannot go back: the watermark is {before}, but got {watermark}")
        for number in numbers:
            self._driver.watermarks[number] = watermark
            self._driver.inputs[number].append(Watermark(watermark))
        self._driver.run()

    def _set_idle(self, number: int, *, idle: bool) -> None:
        self._driver.check_usable()
        self._driver.inputs[number].append(WatermarkStatus(idle))
        self._driver.run()


class KeyedState(Harness):
    """Access to keyed state and timers, for harnesses of keyed operators."""

    def _check(self) -> None:
        super()._check()
        tested = self._driver.tested
        if not tested.keyed:
            raise PlanError(
                f"{type(self).__name__} is for operations on keyed streams, but '{tested.name}' is not keyed: call "
                "key_by() before it, or use OneInputHarness, TwoInputHarness or BroadcastHarness"
            )

    def get_state(self, descriptor: StateDescriptor, key: Any, window: Window | None = None) -> Any:
        """Return the content of a state for a key: a value, or None; a list; a dict.

        Reading counts as an access: it extends the time-to-live of state that is configured so.

        Args:
            descriptor: the descriptor that the function passes to its runtime context.
            key: the key.
            window: the window, for state of a window (``ctx.window_state()``).

        Raises:
            ValueError: The operator has not declared a state of this name.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream.functions import KeyedProcessFunction
        >>> from flintstream.datastream.state import ValueStateDescriptor
        >>> from flintstream.testing.harness import KeyedHarness
        >>> total = ValueStateDescriptor("total", Types.LONG())
        >>> class Total(KeyedProcessFunction):
        ...     def open(self, runtime_context):
        ...         self.total = runtime_context.get_state(total)
        ...
        ...     def process_element(self, value, ctx):
        ...         self.total.update((self.total.value() or 0) + value[1])
        >>> with KeyedHarness(lambda orders: orders.key_by(lambda order: order[0]).process(Total())) as harness:
        ...     harness.process_elements([("ann", 3), ("ann", 4)])
        ...     harness.get_state(total, "ann")
        7
        """
        owner = key_group(freeze_key(key), self._driver.chain.max_parallelism)
        parallelism = self._driver.chain.parallelism
        subtask = subtask_of_key_group(owner, parallelism, self._driver.chain.max_parallelism)
        backend: Any = self._driver.operators()[subtask].context.state
        known = getattr(backend, "states", {descriptor.get_name()})
        if descriptor.get_name() not in known:
            raise ValueError(
                f"operator '{self._driver.tested.name}' has declared no state '{descriptor.get_name()}' so far, only "
                f"{sorted(known)}"
            )
        scope = None
        if window is not None:
            scope = Scope()
            scope.key = (freeze_key(key), window)
        backend.key = freeze_key(key)
        with self._driver.clock():
            return _content(backend.state(descriptor, scope), descriptor)

    def num_keyed_state_entries(self) -> int:
        """Return the number of keys with an entry, summed over all states; each window of a key counts.

        >>> from flintstream.testing.harness import KeyedHarness
        >>> with KeyedHarness(lambda numbers: numbers.key_by(lambda n: n % 2).reduce(max)) as harness:
        ...     harness.process_elements([1, 2, 3])
        ...     harness.num_keyed_state_entries()
        2
        """
        return sum(len(_entries(operator.context.state)) for operator in self._driver.operators())

    def num_event_time_timers(self) -> int:
        """Return the number of event-time timers, including those that end windows.

        >>> from flintstream.datastream.window import TumblingEventTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> def largest(numbers):
        ...     return numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(10)).reduce(max)
        >>> with KeyedHarness(largest) as harness:
        ...     harness.process_element(17, 4)
        ...     harness.num_event_time_timers(), harness.num_processing_time_timers()
        (1, 0)
        """
        return sum(len(timers.event.registered) for timers in self._timers())

    def num_processing_time_timers(self) -> int:
        """Return the number of processing-time timers, including those that end windows.

        >>> from flintstream.datastream.window import TumblingProcessingTimeWindows
        >>> from flintstream.testing.harness import KeyedHarness
        >>> def largest(numbers):
        ...     return numbers.key_by(lambda n: 0).window(TumblingProcessingTimeWindows.of(10)).reduce(max)
        >>> with KeyedHarness(largest) as harness:
        ...     harness.process_element(17)
        ...     harness.num_event_time_timers(), harness.num_processing_time_timers()
        (0, 1)
        """
        return sum(len(timers.processing.registered) for timers in self._timers())

    def _timers(self) -> list[InternalTimerService]:
        return [timers for operator in self._driver.operators() if (timers := operator.context.timers) is not None]


def _check_time(timestamp: int, what: str) -> None:
    if isinstance(timestamp, bool) or not isinstance(timestamp, int):
        raise TypeError(f"{what} must be a whole number of milliseconds, but got {timestamp!r}")
    if not MIN_TIMESTAMP < timestamp <= MAX_TIMESTAMP:
        raise ValueError(f"{what} must be a 64-bit number, but got {timestamp}")


def _content(state: Any, descriptor: StateDescriptor) -> Any:
    if isinstance(descriptor, MapStateDescriptor):
        return dict(state.items())
    if isinstance(descriptor, ListStateDescriptor):
        return list(state.get() or ())
    return state.value() if isinstance(descriptor, ValueStateDescriptor) else state.get()


def _entries(backend: Any) -> set[tuple[str, bool, Any]]:
    """Return (name of the state, whether it belongs to windows, key); the entries of a map count as one."""
    return {
        (change.table.name, change.table.namespaced, place[0] if change.table.kind == "map" else place)
        for change in backend.take_snapshot()
        for place in change.keys
    }
