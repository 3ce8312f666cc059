"""What all test harnesses have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import PlanError
from flintstream.runtime.copies import copied
from flintstream.runtime.keys import freeze_key, key_group, subtask_of_key_group
from flintstream.runtime.operators.base import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.backend import Scope
from flintstream.testing._driver import Driver
from flintstream.testing._ends import StreamRecord, Watermark, WatermarkStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream.data_stream import DataStream
    from flintstream.datastream.output_tag import OutputTag
    from flintstream.datastream.state import StateDescriptor
    from flintstream.datastream.window import Window
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.testing._driver import HarnessSettings, Snapshot
    from flintstream.testing._ends import Event


class Harness:
    """What all test harnesses have in common. Tests use a subclass, as a context manager or with :meth:`close`."""

    def __init__(
        self,
        build: Callable[..., DataStream],
        types: Sequence[TypeInformation | None],
        **settings: Unpack[HarnessSettings],
    ) -> None:
        """Build what is to be tested.

        Args:
            build: gets the input stream, or streams, and returns the result, as in a program.
            types: the type of each input's records, None for any.
            settings: see :class:`HarnessSettings`.

        Raises:
            TypeError: ``build`` returns no stream, or its input.
            PlanError: The program cannot be run, or a function not be pickled.
        """
        self._driver = Driver(build, types, settings)
        self._check()
        self._converters = [None if declared is None else declared.converter() for declared in types]

    def _check(self) -> None:
        """Refuse what this kind of harness is not for."""

    # -- life cycle --------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the functions; what is processed does so, too.

        Raises:
            RuntimeError: The harness is closed, its input has ended, or a function has failed.
        """
        self._driver.check_usable()
        if not self._driver.opened:
            self._driver.run()

    def initialize_state(self, snapshot: Snapshot | str) -> None:
        """Start from what :meth:`snapshot` returned, or from a savepoint or checkpoint of a job, given by its path.

        Operators take over the state of those with their uid, whatever the parallelism and the backend were. A job's
        operator needs a uid that is set (``uid()``) here and there. Processing time goes on from the snapshot's.

        Raises:
            RuntimeError: The harness is open already.
            CheckpointError: The snapshot has state of operators that are not here, or there is none at the path.
        """
        self._driver.restore(snapshot)

    def snapshot(self) -> Snapshot:
        """Return what the operators hold, as a savepoint has it, for the ``initialize_state`` of another harness."""
        self.open()
        return self._driver.snapshot()

    def end_input(self) -> None:
        """End all inputs: event time comes to its end, everything fires, the functions are closed."""
        self._driver.run(drain=True)

    def close(self) -> None:
        """Close the functions, which need not have come to their end; nothing fires. A second time has no effect."""
        self._driver.close()

    # -- time --------------------------------------------------------------------------------------------------------

    def set_processing_time(self, timestamp: int) -> None:
        """Move processing time on (ms since the epoch), and fire what is due. It begins at 0.

        Raises:
            ValueError: It would move back.
        """
        _check_time(timestamp, "processing time")
        if timestamp < self._driver.now:
            raise ValueError(f"processing time does not go back: it is {self._driver.now}, but got {timestamp}")
        self.open()
        self._driver.now = timestamp
        self._driver.run()

    def get_processing_time(self) -> int:
        """Return the processing time (ms since the epoch)."""
        return self._driver.now

    # -- output ------------------------------------------------------------------------------------------------------

    def get_output(self) -> list[Event]:
        """Return all that came out: records, watermarks and changes of idleness, in order.

        Of several subtasks each passes on every watermark.
        """
        return list(self._driver.output)

    def extract_output_values(self) -> list[Any]:
        """Return the values of all records that came out."""
        return [event.value for event in self._driver.output if isinstance(event, StreamRecord)]

    def extract_watermarks(self) -> list[int]:
        """Return all watermarks that came out (ms)."""
        return [event.timestamp for event in self._driver.output if isinstance(event, Watermark)]

    def get_side_output(self, tag: OutputTag) -> list[StreamRecord]:
        """Return the records of a side output.

        Raises:
            ValueError: The harness was not told of it; as in a job, such records are somewhere else then.
        """
        mailbox = self._driver.sides.get(tag.tag_id)
        if mailbox is None:
            raise ValueError(f"give the harness side_outputs=[...] with the tag '{tag.tag_id}' to see its records here")
        return [event for event in mailbox if isinstance(event, StreamRecord)]

    def clear_output(self) -> None:
        """Forget what came out, side outputs included."""
        for mailbox in (self._driver.output, *self._driver.sides.values()):
            mailbox.clear()

    def get_metrics(self) -> dict[str, Any]:
        """Return the operator's metrics by name: the user's, and the engine's such as ``numLateRecordsDropped``."""
        return self._driver.metrics.values().get(self._driver.tested.name, {})

    # -- for subclasses ----------------------------------------------------------------------------------------------

    def _send(self, number: int, values: Iterable[Any], timestamp: int | None) -> None:
        self._driver.check_usable()
        if timestamp is not None:
            _check_time(timestamp, "a timestamp")
        convert = self._converters[number]
        # The test goes on with objects of its own
        records = [StreamRecord(copied(value if convert is None else convert(value)), timestamp) for value in values]
        self._driver.inputs[number].extend(records)
        self._driver.run()

    def _advance(self, watermark: int, *numbers: int) -> None:
        self._driver.check_usable()
        _check_time(watermark, "a watermark")
        if watermark == MAX_TIMESTAMP:
            raise ValueError(f"the watermark {watermark} is the end of the input: call end_input()")
        for number in numbers:
            if watermark < self._driver.watermarks[number]:
                before = self._driver.watermarks[number]
                raise ValueError(f"event time does not go back: the watermark is {before}, but got {watermark}")
        for number in numbers:
            self._driver.watermarks[number] = watermark
            self._driver.inputs[number].append(Watermark(watermark))
        self._driver.run()

    def _set_idle(self, number: int, *, idle: bool) -> None:
        self._driver.check_usable()
        self._driver.inputs[number].append(WatermarkStatus(idle))
        self._driver.run()


class KeyedState(Harness):
    """What harnesses of keyed operators have beside: keyed state and timers."""

    def _check(self) -> None:
        super()._check()
        tested = self._driver.tested
        if not tested.keyed:
            raise PlanError(
                f"{type(self).__name__} is for operations on keyed streams, but '{tested.name}' is on none: call "
                "key_by() before it, or use OneInputHarness, TwoInputHarness or BroadcastHarness"
            )

    def get_state(self, descriptor: StateDescriptor, key: Any, window: Window | None = None) -> Any:
        """Return what a key has in a state: a value, or None; a list; a dict.

        To read is an access: it prolongs the time-to-live of state where reading does.

        Args:
            descriptor: what the function gives to its runtime context.
            key: the key.
            window: the window, for state of a window (``ctx.window_state()``).

        Raises:
            ValueError: The operator has declared no state of this name.
        """
        owner = key_group(freeze_key(key), self._driver.chain.max_parallelism)
        parallelism = self._driver.chain.parallelism
        subtask = subtask_of_key_group(owner, parallelism, self._driver.chain.max_parallelism)
        backend: Any = self._driver.operators()[subtask].context.state
        known = getattr(backend, "states", {descriptor.get_name()})
        if descriptor.get_name() not in known:
            raise ValueError(
                f"operator '{self._driver.tested.name}' has declared no state '{descriptor.get_name()}' so far; it has "
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
        """Return how many keys have something, over all states; of windows, each of a key's counts."""
        return sum(len(_entries(operator.context.state)) for operator in self._driver.operators())

    def num_event_time_timers(self) -> int:
        """Return how many event-time timers there are, those that end windows included."""
        return sum(len(timers.event.registered) for timers in self._timers())

    def num_processing_time_timers(self) -> int:
        """Return how many processing-time timers there are, those that end windows included."""
        return sum(len(timers.processing.registered) for timers in self._timers())

    def _timers(self) -> list[InternalTimerService]:
        return [timers for operator in self._driver.operators() if (timers := operator.context.timers) is not None]


def _check_time(timestamp: int, what: str) -> None:
    if isinstance(timestamp, bool) or not isinstance(timestamp, int):
        raise TypeError(f"{what} is a whole number of milliseconds, but got {timestamp!r}")
    if not MIN_TIMESTAMP < timestamp <= MAX_TIMESTAMP:
        raise ValueError(f"{what} is a number of 64 bits, but got {timestamp}")


def _content(state: Any, descriptor: StateDescriptor) -> Any:
    if isinstance(descriptor, MapStateDescriptor):
        return dict(state.items())
    if isinstance(descriptor, ListStateDescriptor):
        return list(state.get() or ())
    return state.value() if isinstance(descriptor, ValueStateDescriptor) else state.get()


def _entries(backend: Any) -> set[tuple[str, bool, Any]]:
    """Return name of the state, whether it is of windows, and key: the entries of a map count as one."""
    return {
        (change.table.name, change.table.namespaced, place[0] if change.table.kind == "map" else place)
        for change in backend.take_snapshot()
        for place in change.keys
    }
