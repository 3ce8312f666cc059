"""The result of something that may still be going on."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from typing import Any, Generic, TypeVar

from flintstream.errors import JobCancelledError

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(Generic[T]):
    """A result that is there now or later.

    >>> CompletableFuture.completed(5).result()
    5
    """

    def __init__(self, future: Future[T] | None = None) -> None:
        self._future: Future[T] = Future() if future is None else future

    @staticmethod
    def completed(value: Any) -> CompletableFuture[Any]:
        """Return a future that has its result already."""
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
        """Give up waiting; returns whether the future is now cancelled. The work behind it is not stopped by this."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether it was cancelled before it completed."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether it completed: with a result, with an error or by cancelling."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result and return it.

        Args:
            timeout: how many seconds to wait at most; PyFlink has no such parameter.

        Raises:
            JobCancelledError: the future was cancelled.
            TimeoutError: the time is up.
        """
        try:
            return self._future.result(timeout)
        except CancelledError as error:
            raise JobCancelledError("the future was cancelled before it had a result") from error

    def exception(self) -> BaseException | None:
        """Return the error it completed with; None if there is none, also while it is not complete."""
        if not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def __str__(self) -> str:
        if not self.done():
            return "CompletableFuture[Not completed]"
        return f"CompletableFuture[Completed {'exceptionally' if self.cancelled() or self.exception() else 'normally'}]"
