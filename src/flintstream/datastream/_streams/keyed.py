"""``KeyedStream``: state, timers and windows per key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.functions import as_function, as_type
from flintstream.datastream._streams.no_settings import NoSettings
from flintstream.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
)
from flintstream.graph.transformation import OperatorTransformation
from flintstream.runtime.operators.adapters import Aggregation, FieldAggregation, KeyedFilter, KeyedFlatMap, KeyedMap
from flintstream.runtime.operators.functions import KeyedProcessOperator
from flintstream.runtime.operators.reduce import ReduceOperator

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream._streams.windowed import WindowedStream
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
    from flintstream.datastream.window import WindowAssigner
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.operator import Operator


class KeyedStream(NoSettings, DataStream):
    """A stream partitioned by key (PyFlink's ``KeyedStream``)."""

    AccumulateType = Aggregation

    def __init__(
        self,
        env: StreamExecutionEnvironment,
        transformation: Transformation,
        origin: DataStream,
        selector: Any,
        key_type: TypeInformation | None,
    ) -> None:
        """Wrap the partitioned stream; users get it from :meth:`DataStream.key_by`.

        ``selector`` is frozen; tasks thaw it in the operators that are given it.
        """
        super().__init__(env, transformation)
        self._origin = origin
        self._selector = selector
        self._key_type = key_type

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a function to each record; its ``open`` may create state of the record's key."""
        adapter = KeyedMap(as_function(func, MapFunction, "map", "map"))
        return self._keyed("Map", KeyedProcessOperator(adapter, self._selector), output_type)

    def flat_map(
        self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a function that returns any number of records; its ``open`` may create state of the record's key."""
        adapter = KeyedFlatMap(as_function(func, FlatMapFunction, "flat_map", "flat_map"))
        return self._keyed("FlatMap", KeyedProcessOperator(adapter, self._selector), output_type)

    def filter(self, func: Callable[[Any], bool] | FilterFunction) -> DataStream:
        """Keep the records for which the function is true; its ``open`` may create state of the record's key."""
        adapter = KeyedFilter(as_function(func, FilterFunction, "filter", "filter"))
        return self._keyed("Filter", KeyedProcessOperator(adapter, self._selector), self._transformation.output_type)

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Combine each record with the key's running value and emit that; in BATCH mode emit the last value only."""
        function = as_function(func, ReduceFunction, "reduce", "reduce")
        return self._keyed("Reduce", ReduceOperator(function, self._selector), self._transformation.output_type)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Keep a rolling sum of a field."""
        return self._accumulate(Aggregation.SUM, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Keep a rolling minimum of a field; the other fields stay those of the first record."""
        return self._accumulate(Aggregation.MIN, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Keep a rolling maximum of a field; the other fields stay those of the first record."""
        return self._accumulate(Aggregation.MAX, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Keep the record with the smallest field; the first one wins ties."""
        return self._accumulate(Aggregation.MIN_BY, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Keep the record with the largest field; the first one wins ties."""
        return self._accumulate(Aggregation.MAX_BY, position_to_max_by)

    def _accumulate(self, aggregation: Aggregation, position: int | str) -> DataStream:
        if not isinstance(position, (int, str)) or isinstance(position, bool):
            raise TypeError(
                f"{aggregation.value}() needs the position of a field, a number or a field name, but got {position!r}",
            )
        operator = ReduceOperator(FieldAggregation(aggregation, position), self._selector)
        return self._keyed("Reduce", operator, self._transformation.output_type)

    def process(self, func: KeyedProcessFunction, output_type: TypeInformation | None = None) -> DataStream:  # type: ignore[override]
        """Apply a :class:`KeyedProcessFunction`: keyed state, event-time and processing-time timers, side outputs.

        Raises:
            TypeError: ``func`` is not a ``KeyedProcessFunction``.
        """
        if not isinstance(func, KeyedProcessFunction):
            raise TypeError(
                f"KeyedProcessFunction is required for KeyedStream.process(), but got {type(func).__name__}",
            )
        return self._keyed("KEYED PROCESS", KeyedProcessOperator(func, self._selector), output_type)

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """Key the original stream again, by another key."""
        return self._origin.key_by(key_selector, key_type)

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Group the records of each key into windows."""
        from flintstream.datastream._streams.windowed import WindowedStream  # noqa: PLC0415

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Window each key by number of records: every ``size``, or the last ``size`` after every ``slide``."""
        from flintstream.datastream._streams.windowed import WindowedStream  # noqa: PLC0415
        from flintstream.datastream.window import (  # noqa: PLC0415
            CountSlidingWindowAssigner,
            CountTumblingWindowAssigner,
        )

        if size < 1 or slide < 0:
            raise ValueError(f"count_window() needs a positive size and a slide of 0 or more, but got {size}, {slide}")
        assigner: WindowAssigner[Any, Any] = (
            CountTumblingWindowAssigner(size) if slide == 0 else CountSlidingWindowAssigner(size, slide)
        )
        return WindowedStream(self, assigner)

    def _keyed(self, name: str, operator: Operator, output_type: Any, *, kind: str = "KEYED") -> DataStream:
        transformation = OperatorTransformation(
            name, (self._transformation,), as_type(output_type), operator=operator, kind=kind, keyed=True
        )
        self._env._register(transformation)  # noqa: SLF001
        return DataStream(self._env, transformation)

    # -- what a keyed stream must not do -----------------------------------------------------------------------------

    def shuffle(self) -> DataStream:
        """Not for keyed streams."""
        self._refuse("shuffle()")

    def rescale(self) -> DataStream:
        """Not for keyed streams."""
        self._refuse("rescale()")

    def rebalance(self) -> DataStream:
        """Not for keyed streams."""
        self._refuse("rebalance()")

    def forward(self) -> DataStream:
        """Not for keyed streams."""
        self._refuse("forward()")

    def broadcast(self, *args: Any) -> DataStream:  # noqa: ARG002
        """Not for keyed streams."""
        self._refuse("broadcast()")

    def partition_custom(self, partitioner: Any, key_selector: Any) -> DataStream:  # noqa: ARG002
        """Not for keyed streams."""
        self._refuse("partition_custom()")
