"""``ConnectedStreams``: two streams of different types with one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import A_co, B_co, Generic
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.functions import as_type
from flintstream.datastream._streams.keyed import KeyedStream
from flintstream.datastream._streams.settings import Drawn
from flintstream.datastream.functions import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
)
from flintstream.graph.transformation import OperatorTransformation
from flintstream.runtime.operators.connected import (
    CoFlatMap,
    CoMap,
    CoProcess,
    CoProcessOperator,
    KeyedCoProcessOperator,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import T, V
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream.functions import KeySelector
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.base import Operator


class ConnectedStreams(Drawn, Generic[A_co, B_co]):
    """Two connected streams of types ``A`` and ``B``, from :meth:`DataStream.connect`.

    State and timers require both streams to be keyed. Records of both streams with the same key then go to one subtask
    and share the key's state. If only one stream is keyed, the function gets ``Row(f0=key, f1=value)`` of that stream.

    >>> from flintstream.datastream import CoMapFunction, StreamExecutionEnvironment
    >>> class Named(CoMapFunction):
    ...     def map1(self, value):
    ...         return "left", value
    ...
    ...     def map2(self, value):
    ...         return "right", value
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> connected = env.from_collection([1, 2]).connect(env.from_collection(["a"]))
    >>> sorted(connected.map(Named()).execute_and_collect(limit=9))
    [('left', 1), ('left', 2), ('right', 'a')]
    """

    def __init__(self, stream1: DataStream[A_co], stream2: DataStream[B_co]) -> None:
        """Connect two streams."""
        self.stream1 = stream1
        self.stream2 = stream2

    def _ends(self) -> tuple[Transformation, ...]:
        return *self.stream1._ends(), *self.stream2._ends()

    def key_by(
        self,
        key_selector1: Callable[[A_co], Any] | KeySelector[A_co],
        key_selector2: Callable[[B_co], Any] | KeySelector[B_co],
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams[A_co, B_co]:
        """Key both streams, each with its own selector. Both selectors must return keys of the same type.

        >>> from flintstream.datastream import CoMapFunction, StreamExecutionEnvironment
        >>> class Both(CoMapFunction):
        ...     def map1(self, order):
        ...         return "order", order[0]
        ...
        ...     def map2(self, payment):
        ...         return "payment", payment["order"]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> orders, payments = env.from_collection([(7, "tea")]), env.from_collection([{"order": 7, "paid": 3}])
        >>> keyed = orders.connect(payments).key_by(lambda order: order[0], lambda payment: payment["order"])
        >>> sorted(keyed.map(Both()).execute_and_collect(limit=9))
        [('order', 7), ('payment', 7)]
        """
        first, second = _not_keyed(self.stream1), _not_keyed(self.stream2)
        return ConnectedStreams(first.key_by(key_selector1, key_type), second.key_by(key_selector2, key_type))

    @overload
    def map(self, func: CoMapFunction[A_co, B_co], output_type: TypeInformation[V]) -> DataStream[V]: ...

    @overload
    def map(self, func: CoMapFunction[A_co, B_co, V], output_type: None = None) -> DataStream[V]: ...

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Apply ``map1`` to each record of the first stream and ``map2`` to the second. None results are dropped.

        >>> from flintstream.datastream import CoMapFunction, StreamExecutionEnvironment
        >>> class Texts(CoMapFunction):
        ...     def map1(self, value):
        ...         return f"number {value}"
        ...
        ...     def map2(self, value):
        ...         return f"word {value}" if value else None
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> connected = env.from_collection([1]).connect(env.from_collection(["a", ""]))
        >>> sorted(connected.map(Texts()).execute_and_collect(limit=9))
        ['number 1', 'word a']

        Raises:
            TypeError: ``func`` is not a ``CoMapFunction``.
        """
        if not isinstance(func, CoMapFunction):
            raise TypeError(
                f"map() on ConnectedStreams: the input function must be a CoMapFunction, but got {func!r} "
                f"of type {type(func).__name__}",
            )
        return self._add_operator("Co-Map", CoMap(func), output_type)

    @overload
    def flat_map(self, func: CoFlatMapFunction[A_co, B_co], output_type: TypeInformation[V]) -> DataStream[V]: ...

    @overload
    def flat_map(self, func: CoFlatMapFunction[A_co, B_co, V], output_type: None = None) -> DataStream[V]: ...

    def flat_map(self, func: CoFlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Apply ``flat_map1`` and ``flat_map2``, which return any number of results; None means no results.

        >>> from flintstream.datastream import CoFlatMapFunction, StreamExecutionEnvironment
        >>> class Words(CoFlatMapFunction):
        ...     def flat_map1(self, value):
        ...         yield from value.split()
        ...
        ...     def flat_map2(self, value):
        ...         if value:
        ...             yield value
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> connected = env.from_collection(["to be"]).connect(env.from_collection(["", "or"]))
        >>> sorted(connected.flat_map(Words()).execute_and_collect(limit=9))
        ['be', 'or', 'to']

        Raises:
            TypeError: ``func`` is not a ``CoFlatMapFunction``.
        """
        if not isinstance(func, CoFlatMapFunction):
            raise TypeError(
                f"flat_map() on ConnectedStreams: the input function must be a CoFlatMapFunction, but got {func!r} "
                f"of type {type(func).__name__}",
            )
        return self._add_operator("Co-Flat Map", CoFlatMap(func), output_type)

    @overload
    def process(
        self,
        func: CoProcessFunction[A_co, B_co] | KeyedCoProcessFunction[Any, A_co, B_co],
        output_type: TypeInformation[V],
    ) -> DataStream[V]: ...

    @overload
    def process(
        self,
        func: CoProcessFunction[A_co, B_co, V] | KeyedCoProcessFunction[Any, A_co, B_co, V],
        output_type: None = None,
    ) -> DataStream[V]: ...

    def process(
        self, func: CoProcessFunction | KeyedCoProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply ``process_element1`` and ``process_element2``, with state and timers if both streams are keyed.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
        >>> from flintstream.datastream.state import ValueStateDescriptor
        >>> class Pair(KeyedCoProcessFunction):
        ...     def open(self, runtime_context):
        ...         self.other = runtime_context.get_state(ValueStateDescriptor("other", Types.STRING()))
        ...
        ...     def process_element1(self, value, ctx):
        ...         yield from self.paired(value[1])
        ...
        ...     def process_element2(self, value, ctx):
        ...         yield from self.paired(value[1])
        ...
        ...     def paired(self, value):
        ...         if self.other.value() is None:
        ...             self.other.update(value)
        ...         else:
        ...             yield sorted([self.other.value(), value])
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> orders, payments = env.from_collection([(7, "order"), (8, "order")]), env.from_collection([(7, "payment")])
        >>> keyed = orders.connect(payments).key_by(lambda order: order[0], lambda payment: payment[0])
        >>> list(keyed.process(Pair()).execute_and_collect(limit=9))
        [['order', 'payment']]

        Raises:
            TypeError: ``func`` is neither a ``CoProcessFunction`` nor a ``KeyedCoProcessFunction``, or it is keyed but
                not both streams are.
        """
        if not isinstance(func, (CoProcessFunction, KeyedCoProcessFunction)):
            raise TypeError(
                "process() on ConnectedStreams: the input must be a CoProcessFunction or KeyedCoProcessFunction, "
                f"but got {func!r} of type {type(func).__name__}",
            )
        if isinstance(func, KeyedCoProcessFunction) and not self._is_keyed_stream():
            raise TypeError(
                f"the KeyedCoProcessFunction {type(func).__name__} needs both streams keyed; "
                "call key_by(selector1, selector2) on the connected streams first",
            )
        name = "Keyed Co-Process" if self._is_keyed_stream() else "Co-Process"
        return self._add_operator(name, CoProcess(func) if isinstance(func, CoProcessFunction) else func, output_type)

    def _is_keyed_stream(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)

    def _add_operator(self, name: str, function: Any, output_type: TypeInformation | None) -> DataStream:
        first, second = self.stream1, self.stream2
        keyed = False
        operator: Operator = CoProcessOperator(function)
        if not self._is_keyed_stream():
            first, second = first._rows_with_keys(), second._rows_with_keys()
        if isinstance(first, KeyedStream) and isinstance(second, KeyedStream):
            types = (first._key_type, second._key_type)
            if None not in types and types[0] != types[1]:
                raise TypeError(
                    f"the key types of connected streams must be the same, but they are {types[0]} and {types[1]}",
                )
            keyed = True
            operator = KeyedCoProcessOperator(function, first._selector, second._selector)
        inputs = (first._transformation, second._transformation)
        transformation = OperatorTransformation(
            name, inputs, as_type(output_type), operator=operator, kind="CO", keyed=keyed
        )
        env = first.get_execution_environment()
        env._register(transformation)
        return DataStream(env, transformation)


def _not_keyed(stream: DataStream[T]) -> DataStream[T]:
    return stream._origin if isinstance(stream, KeyedStream) else stream
