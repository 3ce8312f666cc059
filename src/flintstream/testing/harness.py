"""Test harnesses, which drive a function record by record, without Spark and without a job (like Flink's in Java).

A test passes the part of its program that it tests, starting from the input stream. The harness runs it on the real
operators, state backends and exchanges. Nothing happens between calls: the test sends records and watermarks and sets
processing time, and when a call returns, all its effects have happened.

>>> with KeyedHarness(lambda words: words.key_by(lambda w: w[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))) as harness:
...     harness.process_element(("to", 1))
...     harness.process_element(("be", 1))
...     harness.process_element(("to", 1))
...     harness.extract_output_values()
[('to', 1), ('be', 1), ('to', 2)]

=============================================  ======================================================================
:class:`OneInputHarness`                       ``map``, ``flat_map``, ``filter``, ``process``, async functions
:class:`KeyedHarness`                          operations on a keyed stream, including windows
:class:`TwoInputHarness`                       connected streams
:class:`KeyedTwoInputHarness`                  connected keyed streams
:class:`BroadcastHarness`                      a stream connected with a broadcast stream
:class:`KeyedBroadcastHarness`                 a keyed stream connected with a broadcast stream
=============================================  ======================================================================

Functions are pickled on their way into a harness, as on their way to a worker. So a test cannot see the attributes of
its functions change, and a function that cannot be pickled raises an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import PlanError
from flintstream.testing._driver import HarnessSettings, Snapshot
from flintstream.testing._ends import StreamRecord, Watermark, WatermarkStatus
from flintstream.testing._harness import Harness, KeyedState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from typing_extensions import Unpack

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream.data_stream import DataStream
    from flintstream.datastream.state import MapStateDescriptor

__all__ = [
    "BroadcastHarness",
    "HarnessSettings",
    "KeyedBroadcastHarness",
    "KeyedHarness",
    "KeyedTwoInputHarness",
    "OneInputHarness",
    "Snapshot",
    "StreamRecord",
    "TwoInputHarness",
    "Watermark",
    "WatermarkStatus",
]


__tracebackhide__ = True
"""pytest leaves the frames of this module out of what it shows of a test that fails."""


class OneInputHarness(Harness):
    """Harness for operations on one stream.

    >>> with OneInputHarness(lambda lines: lines.flat_map(lambda line: line.split())) as harness:
    ...     harness.process_element("to be", 100)
    ...     harness.process_watermark(99)
    ...     for event in harness.get_output():
    ...         print(event)
    StreamRecord(value='to', timestamp=100)
    StreamRecord(value='be', timestamp=100)
    Watermark(timestamp=99)

    The results of an async function are available when :meth:`process_element` returns; the records of one call of
    :meth:`process_elements` are processed concurrently. Timeouts and the pauses between retries use real time.
    """

    def __init__(
        self,
        build: Callable[[DataStream], DataStream],
        *,
        type_info: TypeInformation | None = None,
        **settings: Unpack[HarnessSettings],
    ) -> None:
        """Build the tested program.

        Args:
            build: gets the input stream and returns the result.
            type_info: the type of the input records.
            settings: see :class:`HarnessSettings`.
        """
        super().__init__(build, [type_info], **settings)

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record.

        Raises:
            RuntimeError: The harness is closed, its input has ended, or a function has failed.
            Exception: The function raised it; its notes name operator and record.
        """
        self._send(0, [value], timestamp)

    def process_elements(self, values: Iterable[Any], timestamp: int | None = None) -> None:
        """Process several records, all of the same timestamp (ms).

        >>> with OneInputHarness(lambda numbers: numbers.filter(lambda n: n > 1)) as harness:
        ...     harness.process_elements([1, 2, 3], 1_000)
        ...     harness.extract_output_values()
        [2, 3]
        """
        self._send(0, values, timestamp)

    def process_watermark(self, timestamp: int) -> None:
        """Advance event time (ms), and fire timers that are due.

        Raises:
            ValueError: Event time would move back, or to its end; call :meth:`end_input` for that.
        """
        self._advance(timestamp, 0)

    def process_watermark_status(self, *, idle: bool) -> None:
        """Declare the input idle, or active again.

        >>> with OneInputHarness(lambda numbers: numbers.map(lambda n: n)) as harness:
        ...     harness.process_watermark_status(idle=True)
        ...     harness.get_output()
        [WatermarkStatus(idle=True)]
        """
        self._set_idle(0, idle=idle)


class KeyedHarness(KeyedState, OneInputHarness):
    """Harness for operations on a keyed stream: ``process``, ``reduce``, windows and so on.

    >>> from flintstream.common import Time
    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> def sums(readings):
    ...     windows = readings.key_by(lambda r: r[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    ...     return windows.reduce(lambda a, b: (a[0], a[1] + b[1]))
    >>> with KeyedHarness(sums) as harness:
    ...     for value, timestamp in [(("a", 1), 0), (("a", 2), 999), (("a", 5), 1000)]:
    ...         harness.process_element(value, timestamp)
    ...     harness.process_watermark(999)
    ...     harness.get_output(), harness.num_event_time_timers()
    ([StreamRecord(value=('a', 3), timestamp=999), Watermark(timestamp=999)], 1)
    """


class TwoInputHarness(Harness):
    """Harness for operations on two connected streams.

    >>> from flintstream.datastream import CoMapFunction
    >>> class Label(CoMapFunction):
    ...     def map1(self, value):
    ...         return ("left", value)
    ...
    ...     def map2(self, value):
    ...         return ("right", value)
    >>> with TwoInputHarness(lambda first, second: first.connect(second).map(Label())) as harness:
    ...     harness.process_element1(1)
    ...     harness.process_element2(2)
    ...     harness.process_watermark1(10)
    ...     harness.process_watermark2(5)  # the slower one counts
    ...     harness.extract_output_values(), harness.extract_watermarks()
    ([('left', 1), ('right', 2)], [5])
    """

    def __init__(
        self,
        build: Callable[[DataStream, DataStream], DataStream],
        *,
        type_info1: TypeInformation | None = None,
        type_info2: TypeInformation | None = None,
        **settings: Unpack[HarnessSettings],
    ) -> None:
        """Build the tested program.

        Args:
            build: gets the two input streams and returns the result.
            type_info1: the type of the first input's records.
            type_info2: the type of the second input's records.
            settings: see :class:`HarnessSettings`.
        """
        super().__init__(build, [type_info1, type_info2], **settings)

    def process_element1(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record of the first input."""
        self._send(0, [value], timestamp)

    def process_element2(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record of the second input."""
        self._send(1, [value], timestamp)

    def process_watermark1(self, timestamp: int) -> None:
        """Advance the event time of the first input (ms); the slower input determines the operator's."""
        self._advance(timestamp, 0)

    def process_watermark2(self, timestamp: int) -> None:
        """Advance the event time of the second input (ms)."""
        self._advance(timestamp, 1)

    def process_both_watermarks(self, timestamp: int) -> None:
        """Advance the event time of both inputs (ms).

        >>> from flintstream.datastream.functions import CoMapFunction
        >>> class Labels(CoMapFunction):
        ...     def map1(self, value):
        ...         return "left", value
        ...
        ...     def map2(self, value):
        ...         return "right", value
        >>> with TwoInputHarness(lambda left, right: left.connect(right).map(Labels())) as harness:
        ...     harness.process_both_watermarks(1_000)
        ...     harness.get_output()
        [Watermark(timestamp=1000)]
        """
        self._advance(timestamp, 0, 1)

    def process_watermark_status1(self, *, idle: bool) -> None:
        """Declare the first input idle, so that its watermark is ignored, or active again.

        >>> from flintstream.datastream.functions import CoMapFunction
        >>> class Labels(CoMapFunction):
        ...     def map1(self, value):
        ...         return "left", value
        ...
        ...     def map2(self, value):
        ...         return "right", value
        >>> with TwoInputHarness(lambda left, right: left.connect(right).map(Labels())) as harness:
        ...     harness.process_watermark_status1(idle=True)
        ...     harness.process_watermark2(1_000)
        ...     harness.get_output()
        [Watermark(timestamp=1000)]
        """
        self._set_idle(0, idle=idle)

    def process_watermark_status2(self, *, idle: bool) -> None:
        """Declare the second input idle or active again.

        >>> from flintstream.datastream.functions import CoMapFunction
        >>> class Labels(CoMapFunction):
        ...     def map1(self, value):
        ...         return "left", value
        ...
        ...     def map2(self, value):
        ...         return "right", value
        >>> with TwoInputHarness(lambda left, right: left.connect(right).map(Labels())) as harness:
        ...     harness.process_watermark_status2(idle=True)
        ...     harness.process_watermark1(1_000)
        ...     harness.get_output()
        [Watermark(timestamp=1000)]
        """
        self._set_idle(1, idle=idle)


class KeyedTwoInputHarness(KeyedState, TwoInputHarness):
    """Harness for operations on two connected keyed streams, with their common state and timers.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.functions import KeyedCoProcessFunction
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> class Enrich(KeyedCoProcessFunction):
    ...     def open(self, runtime_context):
    ...         self.city = runtime_context.get_state(ValueStateDescriptor("city", Types.STRING()))
    ...
    ...     def process_element1(self, value, ctx):
    ...         yield value, self.city.value()
    ...
    ...     def process_element2(self, value, ctx):
    ...         self.city.update(value[1])
    >>> def build(names, cities):
    ...     return names.key_by(lambda name: name).connect(cities.key_by(lambda city: city[0])).process(Enrich())
    >>> with KeyedTwoInputHarness(build) as harness:
    ...     harness.process_element2(("ann", "Bern"))
    ...     harness.process_element1("ann")
    ...     harness.extract_output_values()
    [('ann', 'Bern')]
    """


class BroadcastHarness(Harness):
    """Harness for a function on a stream and a broadcast stream.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import BroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> names = MapStateDescriptor("names", Types.INT(), Types.STRING())
    >>> class Name(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield ctx.get_broadcast_state(names).get(value) or "unknown"
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(names).put(*value)
    >>> with BroadcastHarness(lambda ids, known: ids.connect(known.broadcast(names)).process(Name())) as harness:
    ...     harness.process_element(1)
    ...     harness.process_broadcast_element((1, "one"))
    ...     harness.process_element(1)
    ...     harness.extract_output_values(), harness.get_broadcast_state(names)
    (['unknown', 'one'], {1: 'one'})
    """

    def __init__(
        self,
        build: Callable[[DataStream, DataStream], DataStream],
        *,
        type_info: TypeInformation | None = None,
        broadcast_type_info: TypeInformation | None = None,
        **settings: Unpack[HarnessSettings],
    ) -> None:
        """Build the tested program.

        Args:
            build: gets the stream and the stream to broadcast, and returns the result.
            type_info: the type of the records that are not broadcast.
            broadcast_type_info: the type of the broadcast records.
            settings: see :class:`HarnessSettings`.
        """
        super().__init__(build, [type_info, broadcast_type_info], **settings)

    def _check(self) -> None:
        super()._check()
        tested = self._driver.tested
        if tested.kind != "BROADCAST":
            raise PlanError(
                f"{type(self).__name__} is for functions on a broadcast stream, but '{tested.name}' is not one: "
                "connect the first stream with broadcast(descriptor) of the second one, or use TwoInputHarness"
            )

    def process_element(self, value: Any, timestamp: int | None = None) -> None:
        """Process a record that is not broadcast."""
        self._send(0, [value], timestamp)

    def process_broadcast_element(self, value: Any, timestamp: int | None = None) -> None:
        """Process a broadcast record, in every subtask."""
        self._send(1, [value], timestamp)

    def process_watermark(self, timestamp: int) -> None:
        """Advance the event time of both inputs (ms).

        >>> from flintstream.common import Types
        >>> from flintstream.datastream.functions import BroadcastProcessFunction
        >>> class Passing(BroadcastProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield value, ctx.current_watermark()
        ...
        ...     def process_broadcast_element(self, value, ctx):
        ...         pass
        >>> from flintstream.datastream.state import MapStateDescriptor
        >>> rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
        >>> def build(words, changes):
        ...     return words.connect(changes.broadcast(rules)).process(Passing())
        >>> with BroadcastHarness(build) as harness:
        ...     harness.process_watermark(1_000)
        ...     harness.process_element("to")
        ...     harness.extract_output_values()
        [('to', 1000)]
        """
        self._advance(timestamp, 0, 1)

    def get_broadcast_state(self, descriptor: MapStateDescriptor) -> dict[Any, Any]:
        """Return the content of a broadcast state.

        Raises:
            ValueError: The function has no state of this name, or the subtasks differ in its content.
        """
        operators: list[Any] = self._driver.operators()
        name = descriptor.get_name()
        known = {*operators[0].states.given, *operators[0].states.entries}
        if name not in known:
            raise ValueError(f"there is no broadcast state '{name}', only {sorted(known)}")
        first, *others = (dict(operator.states.read_only(descriptor).items()) for operator in operators)
        for number, other in enumerate(others, start=2):
            if other != first:
                raise ValueError(
                    f"subtasks 1 and {number} differ in the broadcast state '{name}', {first} and "
                    f"{other}: process_broadcast_element() must do the same in all of them"
                )
        return first


class KeyedBroadcastHarness(KeyedState, BroadcastHarness):
    """Harness for a function on a keyed stream and a broadcast stream.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.functions import KeyedBroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    >>> class Limit(KeyedBroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         if value[1] > (ctx.get_broadcast_state(rules).get("limit") or 0):
    ...             yield value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(rules).put("limit", value)
    >>> def build(orders, limits):
    ...     return orders.key_by(lambda order: order[0]).connect(limits.broadcast(rules)).process(Limit())
    >>> with KeyedBroadcastHarness(build) as harness:
    ...     harness.process_broadcast_element(10)
    ...     harness.process_element(("ann", 7))
    ...     harness.process_element(("bob", 17))
    ...     harness.extract_output_values()
    [('bob', 17)]
    """
