"""Descriptors: the name, type and behavior of a state."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import ACC, IN, OUT, Generic, K, T, V
from flintstream.common.typeinfo import ListTypeInfo, MapTypeInfo, Types
from flintstream.contracts.functions.basic import AggregateFunction, ReduceFunction, ReduceFunctionWrapper

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.contracts.state.ttl_config import StateTtlConfig


class StateDescriptor(ABC):  # noqa: B024 - what all kinds share, as in PyFlink
    """The name and type of a state; descriptors with the same name refer to the same state.

    >>> from flintstream.common import Time, Types
    >>> from flintstream.datastream.state import StateTtlConfig, ValueStateDescriptor
    >>> descriptor = ValueStateDescriptor("count", Types.LONG())
    >>> descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    >>> descriptor.get_name()
    'count'
    """

    def __init__(self, name: str, type_info: TypeInformation | None) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a state must be a non-empty string, but got {name!r}")
        self.name = name
        self.type_info = type_info
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    @property
    def ttl_config(self) -> StateTtlConfig | None:
        """The time-to-live, or None if values never expire.

        >>> from flintstream.common import Time, Types
        >>> from flintstream.datastream.state import StateTtlConfig, ValueStateDescriptor
        >>> descriptor = ValueStateDescriptor("count", Types.LONG())
        >>> print(descriptor.ttl_config)
        None
        >>> descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        >>> descriptor.ttl_config.get_ttl().to_milliseconds()
        3600000
        """
        return self._ttl_config

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Make values expire (in processing time)."""
        self._ttl_config = ttl_config


class ValueStateDescriptor(StateDescriptor, Generic[T]):
    """Descriptor of one value of type ``T`` per key.

    >>> from flintstream.common import Types
    >>> ValueStateDescriptor("count", Types.LONG()).type_info
    Long
    """

    def __init__(self, name: str, value_type_info: TypeInformation[T] | None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor, Generic[T]):
    """Descriptor of a list per key, with elements of type ``T``.

    >>> from flintstream.common import Types
    >>> ListStateDescriptor("words", Types.STRING()).name
    'words'
    """

    def __init__(self, name: str, elem_type_info: TypeInformation[T] | None) -> None:
        super().__init__(name, Types.LIST(elem_type_info) if elem_type_info is not None else None)


class MapStateDescriptor(StateDescriptor, Generic[K, V]):
    """Descriptor of a map per key, or of a broadcast state, from ``K`` to ``V``.

    >>> from flintstream.common import Types
    >>> MapStateDescriptor("prices", Types.STRING(), Types.DOUBLE()).name
    'prices'
    """

    def __init__(
        self, name: str, key_type_info: TypeInformation[K] | None, value_type_info: TypeInformation[V] | None
    ) -> None:
        if key_type_info is None or value_type_info is None:
            super().__init__(name, None)
        else:
            super().__init__(name, Types.MAP(key_type_info, value_type_info))


def taken_for(descriptor: Any, wanted: type[StateDescriptor]) -> StateDescriptor | None:
    """Convert ``descriptor`` to the wanted kind if its type allows that, as PyFlink does.

    Returns None if it does not.

    >>> from flintstream.common import Types
    >>> taken_for(ListStateDescriptor("words", Types.STRING()), ValueStateDescriptor).type_info
    ListTypeInfo<String>
    >>> taken_for(ValueStateDescriptor("word", Types.STRING()), ListStateDescriptor) is None
    True
    """
    if isinstance(descriptor, wanted):
        return descriptor
    if not isinstance(descriptor, StateDescriptor):
        return None
    type_info = descriptor.type_info
    made: StateDescriptor
    if wanted is ValueStateDescriptor:
        made = ValueStateDescriptor(descriptor.name, type_info)
    elif wanted is ListStateDescriptor and isinstance(type_info, ListTypeInfo):
        made = ListStateDescriptor(descriptor.name, type_info.elem_type)
    elif wanted is MapStateDescriptor and isinstance(type_info, MapTypeInfo):
        made = MapStateDescriptor(descriptor.name, type_info.key_type, type_info.value_type)
    else:
        return None
    if descriptor.ttl_config is not None:
        made.enable_time_to_live(descriptor.ttl_config)
    return made


class ReducingStateDescriptor(StateDescriptor, Generic[T]):
    """Descriptor of one value per key, reduced as values are added.

    >>> from flintstream.common import Types
    >>> ReducingStateDescriptor("largest", max, Types.LONG()).get_reduce_function().reduce(3, 4)
    4

    Raises:
        TypeError: ``reduce_function`` is neither callable nor a ``ReduceFunction``.
    """

    def __init__(
        self,
        name: str,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        type_info: TypeInformation[T] | None,
    ) -> None:
        super().__init__(name, type_info)
        if not isinstance(reduce_function, ReduceFunction):
            if not callable(reduce_function):
                raise TypeError(
                    f"The reduce function of the state '{name}' must be callable or a ReduceFunction, "
                    f"but got {reduce_function!r}",
                )
            reduce_function = ReduceFunctionWrapper(reduce_function)
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> ReduceFunction[T]:
        """Return the reduce function."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor, Generic[IN, ACC, OUT]):
    """Descriptor of one accumulator per key.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import AggregateFunction
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
    >>> descriptor = AggregatingStateDescriptor("longest", Longest(), Types.STRING())
    >>> descriptor.get_agg_function().add("horse", "cow")
    'horse'

    Raises:
        TypeError: ``agg_function`` is not an ``AggregateFunction``.
    """

    def __init__(
        self, name: str, agg_function: AggregateFunction[IN, ACC, OUT], state_type_info: TypeInformation[ACC] | None
    ) -> None:
        super().__init__(name, state_type_info)
        if not isinstance(agg_function, AggregateFunction):
            raise TypeError(f"The function of state '{name}' must be an AggregateFunction, but got {agg_function!r}")
        self._agg_function = agg_function

    def get_agg_function(self) -> AggregateFunction[IN, ACC, OUT]:
        """Return the aggregate function."""
        return self._agg_function
