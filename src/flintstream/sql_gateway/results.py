"""Results in pages: a client asks for each with the token that the page before has named."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common.types import Row
from flintstream.errors import JobCancelledError
from flintstream.sql_gateway.errors import Caught, GatewayError
from flintstream.table._expressions.expr import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._submitting import Submitted

MOST_ROWS = 5_000
"""How many rows of a query wait for a client; reading stops until it asks for more."""
PATIENCE_SECONDS = 0.1
"""How long a page waits for its first row. After that, it is empty."""


@dataclass(frozen=True)
class Page:
    """Some rows of a result."""

    rows: Sequence[Row]
    next_token: int | None
    """None for the page at the end, which has no rows."""


class Result:
    """The result of a statement that has started."""

    def __init__(self, submitted: Submitted) -> None:
        """Take over what a statement has started; the rows of a query are read by a thread."""
        client = submitted.client
        self.job_id = None if client is None else str(client.get_job_id())
        self.is_query = submitted.is_query
        self.has_content = submitted.has_content
        self.columns = submitted.columns
        self.zone = submitted.zone
        self._close_rows: Callable[[], None] | None = getattr(submitted.rows, "close", None)
        self._changed = threading.Condition()
        self._rows: list[Row] = []
        self._ended = False
        self._closed = False
        self._error: BaseException | None = None
        self._token = 0
        self._last: Page | None = None
        if self.is_query:
            threading.Thread(target=self._read, args=(submitted.rows,), name="sql-result", daemon=True).start()
        else:
            self._rows, self._ended = list(submitted.rows), True
            if self.job_id is not None:
                self.columns = (Column("job id", t.DataTypes.STRING()),)
                self._rows = [Row(self.job_id)]

    def page(self, token: int, most: int = MOST_ROWS) -> Page:
        """Return the page of a token, which may be asked for again until the next one was.

        Raises:
            GatewayError: The token is neither that of the next page nor of the last one.
            Exception: What has failed the job of the query.
        """
        with self._changed:
            if self._last is not None and token == self._token - 1:
                return self._last
            if token != self._token:
                expected = f"{self._token}" if self._last is None else f"{self._token} or {self._token - 1}"
                raise GatewayError(f"the token must be {expected}, but it is {token}")
            self._changed.wait_for(lambda: self._rows or self._ended, PATIENCE_SECONDS)
            rows, self._rows = self._rows[:most], self._rows[most:]
            if not rows and self._error is not None:
                raise self._error
            self._changed.notify_all()
            if not rows and self._ended:
                return Page((), None)
            self._token += 1
            self._last = Page(rows, self._token)
            return self._last

    def close(self) -> None:
        """Forget the rows, and cancel the job of a query that still runs."""
        with self._changed:
            self._closed, self._rows = True, []
            self._changed.notify_all()
        if self.is_query and self._close_rows is not None:
            self._close_rows()

    @property
    def ended(self) -> bool:
        """Whether all rows have been read from the job, and taken by the client."""
        with self._changed:
            return self._ended and not self._rows

    def _read(self, rows: object) -> None:
        with Caught() as caught:
            for row in rows:  # type: ignore[attr-defined]  # an iterator of rows
                with self._changed:
                    self._changed.wait_for(lambda: self._closed or len(self._rows) < MOST_ROWS)
                    if self._closed:
                        break
                    self._rows.append(row)
                    self._changed.notify_all()
        with self._changed:
            if not (self._closed and isinstance(caught.error, JobCancelledError)):
                self._error = caught.error
            self._ended = True
            self._changed.notify_all()
