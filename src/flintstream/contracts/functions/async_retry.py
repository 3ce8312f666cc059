"""Retry strategies for async functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T_contra

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import T


class AsyncRetryPredicate(ABC, Generic[T_contra]):
    """The results and exceptions after which a record is retried.

    >>> class Busy(AsyncRetryPredicate):
    ...     def result_predicate(self):
    ...         return lambda results: results == []
    ...
    ...     def exception_predicate(self):
    ...         return lambda error: isinstance(error, ConnectionError)
    >>> Busy().result_predicate()([]), Busy().exception_predicate()(ValueError("no"))
    (True, False)
    """

    @abstractmethod
    def result_predicate(self) -> Callable[[list[T_contra]], bool] | None:
        """Return the predicate for results, or None if no result causes a retry."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the predicate for exceptions, or None if no exception causes a retry."""


class AsyncRetryStrategy(ABC, Generic[T_contra]):
    """The number of retries of a record, and the pauses before them.

    >>> strategy = AsyncRetryStrategy.fixed_delay(max_attempts=2, backoff_time_millis=100)
    >>> [strategy.can_retry(attempt) for attempt in (1, 2, 3)], strategy.get_backoff_time_millis(1)
    ([True, True, False], 100)
    >>> grows = AsyncRetryStrategy.exponential_backoff(5, 100, 300, 2.0)
    >>> [grows.get_backoff_time_millis(attempt) for attempt in (1, 2, 3)]
    [100, 200, 300]
    >>> AsyncRetryStrategy.no_restart().can_retry(1)
    False
    >>> print(strategy.get_retry_predicate().result_predicate())
    None
    """

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether another attempt is allowed after ``current_attempts``."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the pause before the next attempt in ms."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[T_contra]:
        """Return the predicate that decides whether to retry."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy:
        """Return the strategy that never retries."""
        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[T]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> AsyncRetryStrategy[T]:
        """Return a strategy of up to ``max_attempts`` retries, each after the same pause (ms)."""
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
        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class RetryPredicate(AsyncRetryPredicate[T_contra]):
    """A predicate made of two callables; None never asks for a retry.

    >>> predicate = RetryPredicate(lambda results: results == [], None)
    >>> predicate.result_predicate()([]), predicate.exception_predicate() is None
    (True, True)
    """

    def __init__(
        self,
        result_predicate: Callable[[list[T_contra]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[T_contra]], bool] | None:
        """Return the predicate for results."""
        return self._result_predicate

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the predicate for exceptions."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[T_contra]):
    """The strategy without retries.

    >>> NoRetryStrategy().can_retry(1)
    False
    """

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1: there is no next attempt."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[T_contra]:
        """Return a predicate that never asks for a retry."""
        return RetryPredicate(None, None)


class _Bounded(AsyncRetryStrategy[T_contra]):
    def __init__(
        self,
        settings: dict[str, float],
        result_predicate: Callable[[list[T_contra]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        for name, value in settings.items():
            if value <= 0:
                raise ValueError(f"{name} should be greater than zero, but got {value!r}")
        self._max_attempts = settings["max_attempts"]
        self._predicate: AsyncRetryPredicate[T_contra] = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether fewer than ``max_attempts`` retries followed the first attempt."""
        return current_attempts <= self._max_attempts

    def get_retry_predicate(self) -> AsyncRetryPredicate[T_contra]:
        """Return the predicate that decides whether to retry."""
        return self._predicate


class FixedDelayRetryStrategy(_Bounded[T_contra]):
    """Up to ``max_attempts`` retries after the first attempt, always after the same pause (ms).

    Raises:
        ValueError: A number is not positive.

    >>> strategy = FixedDelayRetryStrategy(2, 500, None, lambda error: isinstance(error, OSError))
    >>> [strategy.can_retry(attempt) for attempt in (1, 2, 3)], strategy.get_backoff_time_millis(1)
    ([True, True, False], 500)
    """

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[T_contra]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> None:
        settings: dict[str, float] = {"max_attempts": max_attempts, "backoff_time_millis": backoff_time_millis}
        super().__init__(settings, result_predicate, exception_predicate)
        self._backoff_time_millis = backoff_time_millis

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the pause in ms."""
        return self._backoff_time_millis


class ExponentialBackoffDelayRetryStrategy(_Bounded[T_contra]):
    """Up to ``max_attempts`` retries; each pause (ms) is ``multiplier`` times as long as the last.

    >>> strategy = ExponentialBackoffDelayRetryStrategy(5, 100, 500, 2.0)
    >>> [strategy.get_backoff_time_millis(attempt) for attempt in range(1, 6)]
    [100, 200, 400, 500, 500]

    Raises:
        ValueError: A number is not positive.
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[T_contra]], bool] | None = None,
        exception_predicate: Callable[[Exception], bool] | None = None,
    ) -> None:
        settings = {
            "max_attempts": max_attempts,
            "initial_delay": initial_delay,
            "max_retry_delay": max_retry_delay,
            "multiplier": multiplier,
        }
        super().__init__(settings, result_predicate, exception_predicate)
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the pause in ms after ``current_attempts``."""
        # Computed from the start each time: many records share the strategy, each with its own number of attempts
        delay = self._initial_delay
        for _ in range(1, current_attempts):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
        return delay


NO_RETRY_STRATEGY: AsyncRetryStrategy = NoRetryStrategy()
