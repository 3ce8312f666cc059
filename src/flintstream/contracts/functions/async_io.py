"""Functions that await something for each record."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import IN, OUT, Generic, T_contra
from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import T


class AsyncRetryPredicate(ABC, Generic[T_contra]):
    """Says after which results and exceptions a record is tried again."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[T_contra]], bool] | None:
        """Return what judges results, None when no result is tried again."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return what judges exceptions, None when no exception is tried again."""


class AsyncRetryStrategy(ABC, Generic[T_contra]):
    """Says how often, and after which pause, a record is tried again."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether another attempt is allowed after ``current_attempts``."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the pause before the next attempt in ms."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[T_contra]:
        """Return what says whether to try again."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy:
        """Return the strategy that never tries again."""
        from flintstream.contracts.functions.async_retry import NO_RETRY_STRATEGY  # noqa: PLC0415 - derives from here

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[T]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> AsyncRetryStrategy[T]:
        """Return a strategy of up to ``max_attempts`` retries, each after the same pause (ms)."""
        from flintstream.contracts.functions.async_retry import FixedDelayRetryStrategy  # noqa: PLC0415

        return FixedDelayRetryStrategy(max_attempts, backoff_time_millis, result_predicate, exception_predicate)

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[T]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> AsyncRetryStrategy[T]:
        """Return a strategy of up to ``max_attempts`` retries, after pauses (ms) that grow by ``multiplier``."""
        from flintstream.contracts.functions.async_retry import (  # noqa: PLC0415
            ExponentialBackoffDelayRetryStrategy,
        )

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class AsyncFunction(Function, Generic[IN, OUT]):
    """Awaits something for each record, many at a time."""

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the results for ``value`` as a list."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the results for a record that took too long; by default raises.

        Raises:
            TimeoutError: Unless overridden.
        """
        raise TimeoutError(f"async function call has timed out for {value!r}")


class AsyncFunctionDescriptor:
    """An async function with the settings of its operator."""

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
