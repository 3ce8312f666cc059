"""``BroadcastStream`` and ``BroadcastConnectedStream``: records that go to every subtask of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from flintstream.common._generic import A_co, B_co, Generic, T_co
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.functions import as_type
from flintstream.datastream._streams.keyed import KeyedStream
from flintstream.datastream._streams.settings import Drawn
from flintstream.datastream.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from flintstream.datastream.state import MapStateDescriptor
from flintstream.graph.transformation import OperatorTransformation
from flintstream.runtime.operators.broadcast import BroadcastOperator, KeyedBroadcastOperator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from flintstream.common._generic import V
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.base import Operator


class BroadcastStream(Drawn, Generic[T_co]):
    """A stream that goes to every subtask, with its broadcast states (PyFlink's ``BroadcastStream``).

    Its only use is ``stream.connect(broadcast_stream)``.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    >>> stream = env.from_collection([("limit", 10)]).broadcast(rules)
    >>> [descriptor.get_name() for descriptor in stream.broadcast_state_descriptors]
    ['rules']
    """

    def __init__(
        self, input_stream: DataStream[T_co], broadcast_state_descriptors: Sequence[MapStateDescriptor]
    ) -> None:
        """Wrap the stream; programs get it from :meth:`DataStream.broadcast`.

        Raises:
            TypeError: A descriptor is not a ``MapStateDescriptor``.
        """
        for descriptor in broadcast_state_descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise TypeError(f"broadcast_state_descriptor must be a MapStateDescriptor, but got {descriptor!r}")
        self.input_stream = input_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)

    def _ends(self) -> tuple[Transformation, ...]:
        return self.input_stream._ends()


class BroadcastConnectedStream(Drawn, Generic[A_co, B_co]):
    """A stream connected with a broadcast stream of type ``B`` (PyFlink's ``BroadcastConnectedStream``).

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import KeyedBroadcastProcessFunction
    >>> from flintstream.datastream.state import MapStateDescriptor
    >>> from flintstream.testing.harness import KeyedBroadcastHarness
    >>> limits = MapStateDescriptor("limits", Types.STRING(), Types.LONG())
    >>> class OverTheLimit(KeyedBroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         if value > (ctx.get_broadcast_state(limits).get("largest") or 0):
    ...             yield ctx.get_current_key(), value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         ctx.get_broadcast_state(limits).put("largest", value)
    >>> def over(amounts, largest):
    ...     return amounts.key_by(lambda n: n % 2).connect(largest.broadcast(limits)).process(OverTheLimit())
    >>> with KeyedBroadcastHarness(over) as harness:
    ...     harness.process_broadcast_element(10)
    ...     harness.process_element(9)
    ...     harness.process_element(12)
    ...     harness.extract_output_values()
    [(0, 12)]
    """

    def __init__(
        self,
        non_broadcast_stream: DataStream[A_co],
        broadcast_stream: BroadcastStream[B_co],
        broadcast_state_descriptors: Sequence[MapStateDescriptor],
    ) -> None:
        """Connect the two; programs get it from :meth:`DataStream.connect`."""
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)

    def _ends(self) -> tuple[Transformation, ...]:
        return *self.non_broadcast_stream._ends(), *self.broadcast_stream._ends()

    @overload
    def process(
        self,
        func: BroadcastProcessFunction[A_co, B_co] | KeyedBroadcastProcessFunction[Any, A_co, B_co],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def process(
        self,
        func: BroadcastProcessFunction[A_co, B_co, V] | KeyedBroadcastProcessFunction[Any, A_co, B_co, V],
        output_type: None = None,
    ) -> DataStream[V]: ...

    def process(
        self, func: BroadcastProcessFunction | KeyedBroadcastProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply ``process_element`` to each record and ``process_broadcast_element`` to each broadcast record.

        In BATCH mode all broadcast records come first, in STREAMING mode those of the same epoch. Only
        ``process_broadcast_element`` may change broadcast state: broadcast records reach every subtask, so all
        subtasks keep the same state.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream import (
        ...     BroadcastProcessFunction,
        ...     RuntimeExecutionMode,
        ...     StreamExecutionEnvironment,
        ... )
        >>> from flintstream.datastream.state import MapStateDescriptor
        >>> names = MapStateDescriptor("names", Types.INT(), Types.STRING())
        >>> class Name(BroadcastProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield ctx.get_broadcast_state(names).get(value) or "unknown"
        ...
        ...     def process_broadcast_element(self, value, ctx):
        ...         ctx.get_broadcast_state(names).put(*value)
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env = env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        >>> broadcast = env.from_collection([(1, "one"), (2, "two")]).broadcast(names)
        >>> named = env.from_collection([2, 3, 1]).connect(broadcast).process(Name())
        >>> sorted(named.execute_and_collect(limit=9))
        ['one', 'two', 'unknown']

        Raises:
            TypeError: ``func`` is not a broadcast function, or a keyed one on a stream without keys, or vice versa.
        """
        stream = self.non_broadcast_stream
        names = [descriptor.get_name() for descriptor in self.broadcast_state_descriptors]
        operator: Operator
        if isinstance(func, BroadcastProcessFunction):
            if isinstance(stream, KeyedStream):
                raise TypeError(
                    "BroadcastProcessFunction should be applied to a non-keyed DataStream, but the stream that "
                    f"{type(func).__name__} is applied to is keyed; use a KeyedBroadcastProcessFunction",
                )
            name, operator = "Co-Process-Broadcast", BroadcastOperator(func, names)
        elif isinstance(func, KeyedBroadcastProcessFunction):
            if not isinstance(stream, KeyedStream):
                raise TypeError(
                    "KeyedBroadcastProcessFunction should be applied to a keyed DataStream, but the stream that "
                    f"{type(func).__name__} is applied to is not keyed; call key_by() before connect()",
                )
            name = "Keyed-Co-Process-Broadcast"
            operator = KeyedBroadcastOperator(func, stream._selector, names)
        else:
            raise TypeError(
                "process() on a BroadcastConnectedStream needs a BroadcastProcessFunction or a "
                f"KeyedBroadcastProcessFunction, but got {func!r} of type {type(func).__name__}",
            )
        transformation = OperatorTransformation(
            name,
            (stream._transformation, self.broadcast_stream.input_stream._transformation),
            as_type(output_type),
            operator=operator,
            kind="BROADCAST",
            keyed=isinstance(stream, KeyedStream),
        )
        env = stream.get_execution_environment()
        env._register(transformation)
        return DataStream(env, transformation)
