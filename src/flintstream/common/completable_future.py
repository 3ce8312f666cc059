"""Futures, as returned by asynchronous operations on a job."""

from __future__ import annotations

import math
import time
from concurrent import futures
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from flintstream.errors import JobCancelledError

__all__ = ["CompletableFuture"]

T = TypeVar("T")

SIGNAL_SECONDS = 0.2
"""How long a wait may go on after a signal: if another thread receives it, this one sleeps on."""


class CompletableFuture(Generic[T]):
    """A result that is available now or later.

    >>> CompletableFuture.completed(5).result()
    5

    Complete a future, and look at it without waiting:

    >>> parcel = CompletableFuture()
    >>> parcel.done(), parcel.exception()
    (False, None)
    >>> parcel.set_result("book")
    >>> parcel.done(), parcel.result()
    (True, 'book')
    >>> lost = CompletableFuture()
    >>> lost.set_exception(OSError("lost in the post"))
    >>> lost.exception()
    OSError('lost in the post')
    >>> given_up = CompletableFuture()
    >>> given_up.cancel(), given_up.cancelled()
    (True, True)
    """

    def __init__(self, future: Future[T] | None = None) -> None:
        self._future: Future[T] = Future() if future is None else future

    @staticmethod
    def completed(value: Any) -> CompletableFuture[Any]:
        """Return a future that already has its result."""
        result: CompletableFuture[Any] = CompletableFuture()
        result.set_result(value)
        return result

    def set_result(self, value: T) -> None:
        """Complete with ``value``; the first completion wins."""
        if not self._future.done():
            self._future.set_result(value)

    def set_exception(self, error: BaseException) -> None:
        """Complete with an error; the first completion wins."""
        if not self._future.done():
            self._future.set_exception(error)

    def cancel(self) -> bool:
        """Stop waiting; return whether the future is now cancelled. The work behind it continues."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Tell whether it was cancelled before it completed."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Tell whether it completed: with a result, with an error or by cancellation."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result and return it.

        Args:
            timeout: Maximum time to wait, in seconds; PyFlink has no such parameter.

        Raises:
            JobCancelledError: The future was cancelled.
            TimeoutError: The result is not available in time.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        while not self._future.done() and (left := end - time.monotonic()) > 0:
            with suppress(CancelledError, futures.TimeoutError):
                self._future.exception(min(left, SIGNAL_SECONDS))
        try:
            return self._future.result(0)
        except CancelledError as error:
            raise JobCancelledError("the future was cancelled before it had a result") from error
        except futures.TimeoutError as error:
            if isinstance(error, TimeoutError):
                raise
            raise TimeoutError(f"no result within {timeout} s") from error  # Python 3.10 has another class

    def exception(self) -> BaseException | None:
        """Return the error it completed with; None without an error, or if it is not complete."""
        if not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def __str__(self) -> str:
        if not self.done():
            return "CompletableFuture[Not completed]"
        return f"CompletableFuture[Completed {'exceptionally' if self.cancelled() or self.exception() else 'normally'}]"
