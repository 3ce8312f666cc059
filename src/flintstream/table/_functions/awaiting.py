"""Asynchronous functions: how calls are awaited, repeated and given up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.options.tables import (
    ASYNC_SCALAR,
    ASYNC_SCALAR_ATTEMPTS,
    ASYNC_SCALAR_CAPACITY,
    ASYNC_SCALAR_DELAY,
    ASYNC_SCALAR_STRATEGY,
    ASYNC_SCALAR_TIMEOUT,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from flintstream.table._functions.user_defined import FunctionContext

T = TypeVar("T")


class Inner:
    """Opens and closes another function."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def open(self, function_context: FunctionContext) -> None:
        """Open the function."""
        if hasattr(self.inner, "open"):
            self.inner.open(function_context)

    def close(self) -> None:
        """Close the function."""
        if hasattr(self.inner, "close"):
            self.inner.close()


@dataclass(frozen=True)
class Calls:
    """How calls are made."""

    capacity: int
    """For how many rows at a time."""
    timeout: float
    """How long a call and its retries may take (s)."""
    most: int
    """How often a function is called that fails each time."""
    delay: float
    """The time before it is called again (s)."""

    @staticmethod
    def of(options: Mapping[str, str]) -> Calls:
        """Return what options say. As in PyFlink, the attempts do not include the first call."""
        retries = ASYNC_SCALAR_STRATEGY.read(options) != "NO_RETRY"
        return Calls(
            ASYNC_SCALAR_CAPACITY.read(options),
            ASYNC_SCALAR_TIMEOUT.read(options) / 1000,
            1 + (ASYNC_SCALAR_ATTEMPTS.read(options) if retries else 0),
            ASYNC_SCALAR_DELAY.read(options) / 1000,
        )


class Loop:
    """An event loop that runs while a task waits for it."""

    def __init__(self) -> None:
        """Start without one: the task that uses it makes it."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[object, None, T]) -> T:
        """Return the result of a coroutine. If it fails, nothing remains: nothing closes an operator that has failed.

        Raises:
            Exception: The coroutine has failed.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        try:
            return self._loop.run_until_complete(work)
        except BaseException:
            work.close()  # if the loop could not even start
            self.close()
            raise

    def close(self) -> None:
        """Cancel what still runs, and close the loop."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        try:
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left))
                for task in left:
                    if not task.cancelled():
                        task.exception()  # seen: the first failure has been told
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


class AsyncRows(Inner):
    """Awaits a function for a row, and calls it again if it fails."""

    def __init__(self, inner: Any) -> None:
        """Take the function."""
        super().__init__(inner)
        self.calls = Calls.of({})
        self._own = Loop()

    def open(self, function_context: FunctionContext) -> None:
        """Open the function, and take the options of the job."""
        given = {one.key: function_context.get_job_parameter(one.key, "") for one in ASYNC_SCALAR}
        self.calls = Calls.of({key: value for key, value in given.items() if value})
        super().open(function_context)

    def eval(self, *values: object) -> object:
        """Return the result for a row.

        Raises:
            TimeoutError: The function takes too long.
        """
        return self._own.run(self.call(*values))

    async def call(self, *values: object) -> object:
        """Return the result for a row, in a loop that awaits other rows, too.

        Raises:
            TimeoutError: The function takes too long.
        """
        try:
            return await asyncio.wait_for(self._retry(values), self.calls.timeout)
        except asyncio.TimeoutError as error:
            raise TimeoutError(f"Async function call has timed out for input: {list(values)}") from error

    async def _retry(self, values: tuple[object, ...]) -> object:
        left = self.calls.most
        while True:
            try:
                return await self.inner.eval(*values)
            except Exception:
                left -= 1
                if not left:
                    raise
            await asyncio.sleep(self.calls.delay)

    def close(self) -> None:
        """Close the function and the loop."""
        try:
            super().close()
        finally:
            self._own.close()
