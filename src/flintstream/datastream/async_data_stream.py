"""``AsyncDataStream``: applies async functions (PyFlink's ``pyflink.datastream.async_data_stream``)."""

from __future__ import annotations

import datetime as dt
import inspect
from typing import TYPE_CHECKING, overload

from flintstream.common.time import Duration, Time
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from flintstream.datastream.functions import AsyncFunction, AsyncRetryStrategy
from flintstream.runtime.operators.async_io import AsyncOperator

if TYPE_CHECKING:
    from flintstream.common._generic import T, V
    from flintstream.common.typeinfo import TypeInformation

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an ``AsyncFunction`` to a stream, to up to ``capacity`` records concurrently.

    ``timeout`` starts with a record's first attempt and covers all its attempts; 0 means no timeout. When it expires,
    the function's ``timeout`` method handles the record. Results carry their record's timestamp, and never overtake a
    watermark.

    >>> from flintstream.common import Time
    >>> from flintstream.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
    >>> class Lookup(AsyncFunction):
    ...     async def async_invoke(self, value):
    ...         return [(value, value * value)]
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> stream = AsyncDataStream.ordered_wait(env.from_collection([1, 2, 3]), Lookup(), Time.seconds(5))
    >>> sorted(stream.execute_and_collect(limit=9))
    [(1, 1), (2, 4), (3, 9)]
    """

    @overload
    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, V],
        timeout: Time | Duration | dt.timedelta,
        capacity: int = ...,
        output_type: None = None,
    ) -> DataStream[V]: ...

    @overload
    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, object],
        timeout: Time | Duration | dt.timedelta,
        capacity: int = ...,
        output_type: TypeInformation[V] = ...,
    ) -> DataStream[V]: ...

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time | Duration | dt.timedelta,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results as they complete. Between two watermarks they may overtake results of earlier records.

        >>> from flintstream.common import Duration
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> class Square(AsyncFunction):
        ...     async def async_invoke(self, value):
        ...         return [value * value]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> numbers = env.from_collection([1, 2, 3])
        >>> squares = AsyncDataStream.unordered_wait(numbers, Square(), Duration.of_seconds(5), 50)
        >>> sorted(squares.execute_and_collect(limit=9))
        [1, 4, 9]

        Raises:
            Exception: ``async_invoke`` is not declared as ``async def``.
        """
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=False)

    @overload
    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, V],
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy[V],
        capacity: int = ...,
        output_type: None = None,
    ) -> DataStream[V]: ...

    @overload
    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, object],
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = ...,
        output_type: TypeInformation[V] = ...,
    ) -> DataStream[V]: ...

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Like :meth:`unordered_wait`, with retries by the strategy until the timeout expires.

        >>> from flintstream.common import Duration
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.async_retry_predicates import empty_result_predicate
        >>> class Flaky(AsyncFunction):
        ...     def open(self, runtime_context):
        ...         self.asked = set()
        ...
        ...     async def async_invoke(self, value):
        ...         first = value not in self.asked
        ...         self.asked.add(value)
        ...         return [] if first else [value * 10]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> again = AsyncRetryStrategy.fixed_delay(3, 1, empty_result_predicate)
        >>> numbers = env.from_collection([1, 2])
        >>> results = AsyncDataStream.unordered_wait_with_retry(numbers, Flaky(), Duration.of_seconds(5), again)
        >>> sorted(results.execute_and_collect(limit=9))
        [10, 20]

        Raises:
            Exception: ``async_invoke`` is not declared as ``async def``, or there is no timeout.
        """
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=False)

    @overload
    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, V],
        timeout: Time | Duration | dt.timedelta,
        capacity: int = ...,
        output_type: None = None,
    ) -> DataStream[V]: ...

    @overload
    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, object],
        timeout: Time | Duration | dt.timedelta,
        capacity: int = ...,
        output_type: TypeInformation[V] = ...,
    ) -> DataStream[V]: ...

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time | Duration | dt.timedelta,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit the results in the order of their records.

        Raises:
            Exception: ``async_invoke`` is not declared as ``async def``.
        """
        return _wait(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=True)

    @overload
    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, V],
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy[V],
        capacity: int = ...,
        output_type: None = None,
    ) -> DataStream[V]: ...

    @overload
    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, object],
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = ...,
        output_type: TypeInformation[V] = ...,
    ) -> DataStream[V]: ...

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction,
        timeout: Time | Duration | dt.timedelta,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Like :meth:`ordered_wait`, with retries by the strategy until the timeout expires.

        >>> from flintstream.common import Duration
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.async_retry_predicates import has_exception_predicate
        >>> class Flaky(AsyncFunction):
        ...     def open(self, runtime_context):
        ...         self.asked = 0
        ...
        ...     async def async_invoke(self, value):
        ...         self.asked += 1
        ...         if self.asked == 1:
        ...             raise ConnectionError("try again")
        ...         return [value * 10]
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> again = AsyncRetryStrategy.exponential_backoff(3, 1, 10, 2.0, exception_predicate=has_exception_predicate)
        >>> numbers = env.from_collection([1, 2])
        >>> results = AsyncDataStream.ordered_wait_with_retry(numbers, Flaky(), Duration.of_seconds(5), again)
        >>> sorted(results.execute_and_collect(limit=9))
        [10, 20]

        Raises:
            Exception: ``async_invoke`` is not declared as ``async def``, or there is no timeout.
        """
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=True)


def _wait(
    data_stream: DataStream,
    async_function: AsyncFunction,
    timeout: Time | Duration | dt.timedelta,
    strategy: AsyncRetryStrategy,
    capacity: int,
    output_type: TypeInformation | None,
    *,
    ordered: bool,
) -> DataStream:
    if not isinstance(data_stream, DataStream):
        raise TypeError(f"an async function needs a DataStream, but got {data_stream!r}")
    if not isinstance(async_function, AsyncFunction):
        raise TypeError(
            f"the async function must be an AsyncFunction, but got {async_function!r} "
            f"of type {type(async_function).__name__}"
        )
    name = type(async_function).__name__
    if not inspect.iscoroutinefunction(async_function.async_invoke):
        raise Exception(f"Method 'async_invoke' of class '{name}' should be declared as 'async def'.")  # noqa: TRY002 - as in PyFlink
    if not isinstance(strategy, AsyncRetryStrategy):
        raise Exception(f"Async retry strategy of '{name}' should be an AsyncRetryStrategy, but got {strategy!r}.")  # noqa: TRY002, TRY004
    if strategy.get_retry_predicate() is None:
        raise Exception(f"Retry predicate of the async retry strategy '{type(strategy).__name__}' is None.")  # noqa: TRY002
    if not isinstance(timeout, (Time, Duration, dt.timedelta)):
        raise TypeError(f"the timeout of '{name}' must be a Time such as Time.seconds(10), but got {timeout!r}")
    timeout_ms = timeout.to_milliseconds() if isinstance(timeout, Time) else Duration.of(timeout).to_millis()
    if strategy is not NO_RETRY_STRATEGY and timeout_ms <= 0:
        raise Exception(  # noqa: TRY002
            f"Timeout should be configured when do async with retry, but that of '{name}' is {timeout_ms} ms.",
        )
    if not isinstance(capacity, int) or capacity < 1:
        raise ValueError(f"the capacity of '{name}' must be at least 1, but got {capacity!r}")
    operator = AsyncOperator(async_function, timeout_ms, capacity, strategy, ordered=ordered)
    return data_stream._add_operator("async wait operator", operator, output_type)
