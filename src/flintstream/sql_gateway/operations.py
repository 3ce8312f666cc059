"""Operations: each runs one statement of a session, and has its result."""

from __future__ import annotations

import threading
import uuid
from enum import Enum
from typing import TYPE_CHECKING

from flintstream.sql_gateway.errors import Caught, GatewayError
from flintstream.sql_gateway.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.sql_gateway.results import Page
    from flintstream.table._submitting import Submitted


class OperationStatus(Enum):
    """The states of an operation, with Flink's names."""

    RUNNING = "RUNNING"
    """The statement waits or runs. Flink tells these apart, but clients such as dbt only know that it runs."""
    FINISHED = "FINISHED"
    """The statement has run, or its query has begun to: rows can be read."""
    CANCELED = "CANCELED"
    CLOSED = "CLOSED"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"


class Operation:
    """A statement that runs, or has run."""

    def __init__(self, submit: Callable[[], Submitted], timeout_ms: int = 0) -> None:
        """Prepare to run what ``submit`` starts, for at most ``timeout_ms`` milliseconds if that is not 0."""
        self.handle = str(uuid.uuid4())
        self.result: Result | None = None
        self._submit = submit
        self._submitted: Submitted | None = None
        self._timeout_ms = timeout_ms
        self._status = OperationStatus.RUNNING
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def limit_time(self) -> None:
        """Let the time that the statement may take begin."""
        if self._timeout_ms > 0:
            timer = threading.Timer(min(self._timeout_ms / 1000, threading.TIMEOUT_MAX), self._time_out)
            timer.daemon = True
            timer.start()

    def run(self) -> None:
        """Run the statement, unless it was cancelled before."""
        if not self._active:
            return
        with Caught() as caught:
            self._submitted = self._submit()
            if self._submitted.waits and self._submitted.client is not None and self._active:
                self._submitted.client.get_job_execution_result().result()
            self.result = Result(self._submitted)
        status = OperationStatus.FINISHED if caught.error is None else OperationStatus.ERROR
        if not self._advance(status, caught.error):  # cancelled while it was planned
            self._end_job()

    @property
    def status(self) -> OperationStatus:
        """The state now."""
        return self._status

    @property
    def _active(self) -> bool:
        return self._status is OperationStatus.RUNNING

    @property
    def ended(self) -> bool:
        """Whether nothing of it runs, and a client has taken the rows."""
        return not self._active and (self.result is None or self.result.ended)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the statement has run, and return whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._active, seconds)

    def require_success(self) -> Result:
        """Return the result.

        Raises:
            Exception: What has failed the statement.
            GatewayError: It was cancelled, or took too long.
        """
        if self._error is not None:
            raise self._error
        if self.result is None or self._status is not OperationStatus.FINISHED:
            raise GatewayError(f"the operation {self.handle} is {self._status.value}, so it has no result")
        return self.result

    def page(self, token: int) -> Page | None:
        """Return the page of a token; None if the statement has not run yet.

        Raises:
            Exception: What has failed the statement or its job.
            GatewayError: The page does not exist, or the operation was cancelled.
        """
        return None if self._active else self.require_success().page(token)

    def cancel(self) -> None:
        """End the statement, or the job of its query.

        Raises:
            GatewayError: Nothing of it runs.
        """
        running = self.result is not None and self.result.is_query and self._status is OperationStatus.FINISHED
        if not running and not self._active:
            raise GatewayError(f"the operation {self.handle} is {self._status.value}, so it cannot be cancelled")
        self._end(OperationStatus.CANCELED)

    def close(self) -> None:
        """End what runs of the statement, and forget its result. The job of an ``INSERT`` continues."""
        self._end(OperationStatus.CLOSED)

    def _time_out(self) -> None:
        if self._active:
            self._end(OperationStatus.TIMEOUT)

    def _end(self, status: OperationStatus) -> None:
        was_active = self._active
        with self._changed:
            self._status = status
            self._changed.notify_all()
        if was_active or (self.result is not None and self.result.is_query):
            self._end_job()

    def _end_job(self) -> None:
        if self.result is not None:
            self.result.close()
        submitted = self._submitted
        if submitted is not None and submitted.client is not None and not _has_ended(submitted):
            submitted.client.cancel().result()

    def _advance(self, status: OperationStatus, error: BaseException | None = None) -> bool:
        with self._changed:
            if not self._active:
                return False
            self._status, self._error = status, error
            self._changed.notify_all()
            return True


def _has_ended(submitted: Submitted) -> bool:
    return submitted.client is None or submitted.client.get_job_status().result().is_globally_terminal_state()
