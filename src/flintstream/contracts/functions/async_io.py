"""Functions that make an asynchronous call for each record."""

from __future__ import annotations

import enum
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import IN, OUT, Generic
from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from flintstream.contracts.functions.async_retry import AsyncRetryStrategy


class AsyncFunction(Function, Generic[IN, OUT]):
    """A function that makes an asynchronous call for each record, with many calls in flight.

    >>> import asyncio
    >>> from flintstream.common import Duration
    >>> from flintstream.datastream import AsyncDataStream, StreamExecutionEnvironment
    >>> class City(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         await asyncio.sleep(0.001 if value == 1 else 60)  # the answer of a service
    ...         return [(value, "Oslo")]
    ...
    ...     def timeout(self, value):
    ...         return [(value, "unknown")]
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> cities = AsyncDataStream.ordered_wait(env.from_collection([1, 2]), City(), Duration.of_millis(50))
    >>> sorted(cities.execute_and_collect(limit=9))
    [(1, 'Oslo'), (2, 'unknown')]
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the results for ``value`` as a list."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the results for a record whose call timed out; raises by default.

        Raises:
            TimeoutError: Unless overridden.
        """
        raise TimeoutError(f"async function call has timed out for {value!r}")


class AsyncFunctionDescriptor:
    """An async function and the settings of its operator.

    >>> from flintstream.common import Duration
    >>> from flintstream.datastream.functions import AsyncRetryStrategy
    >>> class Ask(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         return [value]
    >>> ordered, once = AsyncFunctionDescriptor.OutputMode.ORDERED, AsyncRetryStrategy.no_restart()
    >>> descriptor = AsyncFunctionDescriptor(Ask(), Duration.of_seconds(5), 100, once, ordered)
    >>> descriptor.capacity, descriptor.output_mode.name
    (100, 'ORDERED')
    """

    class OutputMode(enum.Enum):
        """Whether results keep the order of their records."""

        ORDERED = 0
        UNORDERED = 1

    def __init__(
        self,
        async_function: AsyncFunction,
        timeout: Any,
        capacity: int,
        async_retry_strategy: AsyncRetryStrategy,
        output_mode: AsyncFunctionDescriptor.OutputMode,
    ) -> None:
        self.async_function = async_function
        self.timeout = timeout
        self.capacity = capacity
        self.async_retry_strategy = async_retry_strategy
        self.output_mode = output_mode
