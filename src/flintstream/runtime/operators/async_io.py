"""The operator for async functions. An event loop beside the task awaits many records concurrently."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.forks import only_one_returns
from flintstream.errors import is_interrupt, shorten
from flintstream.runtime.block_size import next_size
from flintstream.runtime.copies import ATOMS, copy_mutable
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.functions import CollectingOperator
from flintstream.runtime.plan import RECORDS_PER_LARGE_BLOCK

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from concurrent.futures import Future

    from flintstream.contracts.functions import AsyncFunction, AsyncRetryStrategy
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.protocol import NodeReport

Results = list[tuple[int, list[Any]]]
"""Pairs of a record's position in its block and its results."""

STOP_SECONDS = 5.0
"""Time that a task waits for its event loop to stop when it ends."""


class EventLoop:
    """An event loop in a separate thread. It lives as long as the subtask, because connections belong to their loop."""

    def __init__(self, name: str) -> None:
        """Start the loop."""
        self.loop = asyncio.new_event_loop()
        self.failures = list[BaseException]()
        """The error that ended the loop: a task started by the user's function tried to exit the process."""
        self._accepts = threading.Lock()
        stop = asyncio.Event()
        arguments = self.loop, stop, self.failures, self._accepts
        self.thread = threading.Thread(target=_serve, args=arguments, name=name, daemon=True)
        self.thread.start()
        # A task that fails elsewhere is dropped without being closed; the finalizer then ends the loop
        self.end = weakref.finalize(self, _stop, self.loop, stop)

    def submit(self, work: Coroutine[Any, Any, Results]) -> Future[Results]:
        """Run a coroutine in the loop."""
        with self._accepts:
            if self.failures:
                work.close()
                raise self.failures[0]
            return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        """Cancel running work and end the loop."""
        self.end()
        self.thread.join(STOP_SECONDS)


def _serve(
    loop: asyncio.AbstractEventLoop, stop: asyncio.Event, failures: list[BaseException], accepts: threading.Lock
) -> None:
    """Run an event loop until it is to stop, or an error ends it; then end all of its tasks.

    ``asyncio.run`` closes the loop on waiting tasks if a second task raises ``SystemExit`` while it cancels them.
    """
    with only_one_returns():
        try:
            loop.run_until_complete(stop.wait())
        except BaseException as error:  # noqa: BLE001 - raised to callers that wait for results
            with accepts:
                failures.append(error)
        # One step of the loop starts the tasks that were submitted just before
        tasks = {loop.create_task(asyncio.sleep(0))}
        while tasks:
            for task in tasks:
                task.cancel()
            try:
                loop.run_until_complete(asyncio.wait(tasks))
                tasks = asyncio.all_tasks(loop)
            except (SystemExit, KeyboardInterrupt, RuntimeError):
                # A run that an error ended just as it was complete stops the next run early, with RuntimeError
                tasks = {loop.create_task(asyncio.sleep(0)), *asyncio.all_tasks(loop)}
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed already
        loop.call_soon_threadsafe(stop.set)


class _Limit:
    """Cancels its block after some time. Python 3.10 has no ``asyncio.timeout``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._reached = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._reach)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        """Leave the block normally if nothing but the limit has cancelled it."""
        self._timer.cancel()
        if not self._reached:
            return False
        if sys.version_info >= (3, 11) and self._task.uncancel():
            return False
        return kind is asyncio.CancelledError

    def _reach(self) -> None:
        self._reached = True
        self._task.cancel()


class AsyncOperator(CollectingOperator):
    """``AsyncDataStream``: starts blocks on arrival, emits their results before the next watermark or end of epoch."""

    function: AsyncFunction

    def __init__(
        self,
        function: AsyncFunction,
        timeout_ms: int,
        capacity: int,
        strategy: AsyncRetryStrategy,
        *,
        ordered: bool,
    ) -> None:
        """Take the user's function and its limits. ``timeout_ms`` covers all attempts of a record; 0 means none."""
        super().__init__(function)
        self.timeout = timeout_ms / 1000 if timeout_ms > 0 else None
        self.capacity = capacity
        self.strategy = strategy
        self.ordered = ordered
        self.waiting = 0
        self.size = 1
        """Number of records in the next block."""

    def open(self) -> None:
        """Open the user's function and start the event loop."""
        super().open()
        predicate = self.strategy.get_retry_predicate()
        self.retry_result = predicate.result_predicate()
        self.retry_error = predicate.exception_predicate()
        self.slots = asyncio.Semaphore(self.capacity)
        self.blocks: list[tuple[list[Any], list[int] | None, Future[Results], float]] = []
        """Per block: records, timestamps, future results, and start time (s)."""
        self.cancelled = weakref.WeakSet[asyncio.Task[Any]]()
        """Tasks of blocks that have ended."""
        self.events = EventLoop(f"{self.context.name} {self.context.subtask + 1}")

    def close(self) -> None:
        """Stop the event loop and close the user's function."""
        self.events.stop()
        super().close()

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Start a block and emit finished results."""
        start = 0
        while start < len(values):
            end = start + self.size
            part = values[start:end]
            try:
                future = self.events.submit(self._block(part))
            except BaseException as error:
                raise self.failure(error, []) from error
            self.blocks.append((part, None if timestamps is None else timestamps[start:end], future, time.monotonic()))
            self.waiting += len(part)
            start = end
            while self.waiting > self.capacity or self._some_block_is_ready():
                self._finish_block()

    def _some_block_is_ready(self) -> bool:
        candidates = self.blocks[:1] if self.ordered else self.blocks
        return any(block[2].done() for block in candidates)

    def process_watermark(self, timestamp: int) -> None:
        """Finish the records that precede the watermark, then forward it."""
        self._finish()
        super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Finish the records that precede the change, then forward it."""
        self._finish()
        super().process_idle(idle)

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Finish all records: snapshots do not contain records in flight."""
        self._finish()
        return super().end_epoch(epoch)

    def _finish(self) -> None:
        while self.blocks:
            self._finish_block()

    def _finish_block(self) -> None:
        if not self.ordered:
            wait([block[2] for block in self.blocks], return_when=FIRST_COMPLETED)
            self.blocks.sort(key=lambda block: not block[2].done())
        values, timestamps, future, started = self.blocks.pop(0)
        self.waiting -= len(values)
        try:
            finished = future.result()
        except BaseException as error:
            self.events.stop()
            if is_interrupt(error):
                raise
            raise self.failure(next(iter(self.events.failures), error), []) from error
        self.size = next_size(self.size, len(values), time.monotonic() - started, RECORDS_PER_LARGE_BLOCK)
        results: list[Any] = []
        stamps: list[int] = []
        for position, produced in finished:
            results += produced
            if timestamps is not None:
                stamps += [timestamps[position]] * len(produced)
        self.send(results, None if timestamps is None else stamps)

    # -- in the event loop -------------------------------------------------------------------------------------------

    async def _block(self, values: list[Any]) -> Results:
        """Await all records of a block. Results are in record order if ``ordered``, else in completion order."""
        finished: Results = []
        todo = iter(enumerate(values))
        tasks = [asyncio.ensure_future(self._work(todo, finished)) for _ in range(min(self.capacity, len(values)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            self.cancelled.update(tasks)
            for task in tasks:
                task.cancel()
        if self.ordered:
            finished.sort(key=lambda item: item[0])
        return finished

    def _is_cancelled(self, task: asyncio.Task[Any]) -> bool:
        """Tell whether a task is to end anyway. Python 3.10 does not count cancellations."""
        if sys.version_info >= (3, 11):
            return task.cancelling() > 0
        return task in self.cancelled or not self.events.end.alive

    async def _work(self, todo: Iterator[tuple[int, Any]], finished: Results) -> None:
        """Process records of the block until none is left."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        while True:
            async with self.slots:
                position, value = next(todo, (-1, None))
                if position < 0:
                    return
                try:
                    with only_one_returns():
                        produced = self._check_results(await self._record(value))
                except BaseException as error:
                    # another record's failure, or the end
                    if self._is_cancelled(task) or not self.events.loop.is_running():
                        raise
                    raise OperatorFailure(self.context.name, self.context.subtask, error, shorten(value)) from error
                finished.append((position, produced))

    async def _record(self, value: Any) -> Any:
        if self.timeout is None:
            return await self._attempts(value)
        with _Limit(self.timeout):
            return await self._attempts(value)
        return self.function.timeout(value)

    async def _attempts(self, value: Any) -> Any:
        strategy, attempt = self.strategy, 1
        while True:
            try:
                result = await self.function.async_invoke(value)
            except Exception as error:
                if self.retry_error is None or not self.retry_error(error) or not strategy.can_retry(attempt):
                    raise
            else:
                if (
                    result is None
                    or self.retry_result is None
                    or not self.retry_result(result)
                    or not strategy.can_retry(attempt)
                ):
                    return result
            await asyncio.sleep(strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1

    def _check_results(self, produced: Any) -> list[Any]:
        if not isinstance(produced, Iterable):
            raise RuntimeError(  # noqa: TRY004 - as in PyFlink
                f"The result of AsyncFunction must be a list, but got {produced!r}: please check the methods "
                f"'async_invoke' and 'timeout' of class '{type(self.function).__name__}'. "
                "To emit nothing, return an empty list",
            )
        return [result if type(result) in ATOMS else copy_mutable(result) for result in produced]
