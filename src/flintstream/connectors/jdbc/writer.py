"""Write records in batches, one transaction per batch."""

from __future__ import annotations

import contextlib
import logging
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flintstream.common._text.leaving import write_whole
from flintstream.connectors.jdbc.database import JdbcError
from flintstream.connectors.jdbc.statement import Statement
from flintstream.connectors.jdbc.values import column_types, to_columns
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.database import Database

_log = logging.getLogger(__name__)

_SHOWN = 400
"""Maximum length of a statement or record in a message."""


@dataclass(frozen=True)
class JdbcOutput:
    """The settings of the sink.

    Raises:
        PlanError: The numbers of placeholders and of values in a record differ, or a type fits no column.
    """

    sql: str
    type_info: TypeInformation
    database: Database
    batch_size: int = 5000
    """Number of records after which a batch is written; 0 or less for no limit."""
    interval_ms: int = 0
    """Age (ms) at which a batch is written; 0 for no limit."""
    max_retries: int = 3
    statement: Statement = field(init=False)

    def __post_init__(self) -> None:
        statement = Statement(self.sql, self.database.grammar)
        count = len(column_types(self.type_info))
        if statement.arity != count:
            raise PlanError(
                f"the statement has {statement.arity} placeholders, but records of type {self.type_info} have {count} "
                f"values: {shorten(self.sql, _SHOWN)}"
            )
        object.__setattr__(self, "statement", statement)
        self.to_row()

    def to_row(self) -> Callable[[Any], tuple[Any, ...]]:
        """Return the function that converts a record to values for the driver."""
        adapters = [self.database.adapter(column_kind) for column_kind in column_types(self.type_info)]
        return to_columns(self.type_info, {index: adapt for index, adapt in enumerate(adapters) if adapt})


class JdbcWriter(SinkWriter):
    """Buffers records until a batch is full or old enough, or the epoch ends: a checkpoint relies on all of them."""

    def __init__(self, output: JdbcOutput) -> None:
        """Connect at once, so that an unreachable database is reported before the first record."""
        self.output = output
        self.database = output.database
        self.to_row = output.to_row()
        self.rows: list[tuple[Any, ...]] = []
        self.oldest = 0.0
        self.connection: Any = None
        self._patiently(lambda: None, ())

    @cached_property
    def _sql(self) -> str:
        return self.output.statement.render(self.database.paramstyle)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Buffer records, and write the full batches."""
        rows, size, interval = self.rows, self.output.batch_size, self.output.interval_ms / 1000
        if not rows:
            self.oldest = time.monotonic()
        before, to_row = len(rows), self.to_row
        try:
            rows.extend([to_row(value) for value in values])
        except Exception as error:
            raise self._not_convertible(values, error) from error
        while 0 < size <= len(rows):
            self._flush(rows[:size])
            del rows[:size]
        if interval and rows:
            now = time.monotonic()
            if len(rows) < before + len(values):
                self.oldest = now
            elif now - self.oldest >= interval:
                self._flush(rows)
                rows.clear()

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the buffered records."""
        size = self.output.batch_size if self.output.batch_size > 0 else len(self.rows)
        while self.rows:
            self._flush(self.rows[:size])
            del self.rows[:size]
        return ()

    def close(self) -> None:
        """Close the connection."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # the connection may be lost already
                connection.close()

    # -- batches -----------------------------------------------------------------------------------------------------

    def _flush(self, rows: list[tuple[Any, ...]]) -> None:
        self._patiently(lambda: self._execute(rows), rows)

    def _patiently(self, do: Callable[[], None], rows: Sequence[tuple[Any, ...]]) -> None:
        """Connect if needed and call ``do``; after a failure, retry with a new connection."""
        for attempt in range(self.output.max_retries + 1):
            if attempt:
                time.sleep(min(attempt - 1, self.database.timeout))  # 0, 1, 2, ... seconds, as in Flink
            try:
                if self.connection is None:
                    self.connection = self.database.connect()
                do()
            except Exception as error:  # noqa: BLE001 - whatever the driver raises
                self.close()
                if attempt == self.output.max_retries or not self.database.may_pass(error):
                    raise self._write_error(error, rows) from (None if self._is_secret(error) else error)
                _log.warning(
                    "%s: attempt %d of %d failed: %s",
                    self.database.shown,
                    attempt + 1,
                    self.output.max_retries + 1,
                    self.database.hide(str(error)),
                )
            else:
                return

    def _execute(self, rows: list[tuple[Any, ...]]) -> None:
        self.database.begin(self.connection)
        cursor = self.connection.cursor()
        try:
            write_whole(lambda whole_rows: cursor.executemany(self._sql, self._parameters(whole_rows)), rows)
        finally:
            with contextlib.suppress(Exception):  # the connection may be lost; report the first error
                cursor.close()
        self.connection.commit()

    def _parameters(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        if self.database.paramstyle != "named":
            return rows
        return [{f"p{number}": value for number, value in enumerate(row, 1)} for row in rows]

    # -- error messages ----------------------------------------------------------------------------------------------

    def _is_secret(self, error: Exception) -> bool:
        text = f"{error!r} {error}"
        return self.database.hide(text) != text

    def _write_error(self, error: Exception, rows: Sequence[tuple[Any, ...]]) -> JdbcError:
        reason = self.database.hide(f"{type(error).__name__}: {error}".strip())
        if not rows:
            return JdbcError(f"cannot connect to {self.database.shown}: {reason}")
        refused = ""
        if self.database.may_refuse_one(error) and (index := self._find_failing_row(rows)) is not None:
            record = shorten(rows[index], _SHOWN)
            refused = f"; the first rejected record is number {index + 1} of {len(rows)} in the batch: {record}"
        return JdbcError(f"cannot write to {self.database.shown}: {reason}{refused}; {self._describe_statement()}")

    def _describe_statement(self) -> str:
        return f"the statement is {shorten(self.output.sql, _SHOWN)}"

    def _find_failing_row(self, rows: Sequence[tuple[Any, ...]]) -> int | None:
        """Return the index of the failing record, found in a transaction that never commits; None if none fails."""
        try:
            connection = self.database.connect()
        except Exception:  # noqa: BLE001 - the error that is being reported matters more
            return None
        with contextlib.closing(connection):
            self.database.begin(connection)
            for index, row in enumerate(rows):
                try:
                    connection.cursor().executemany(self._sql, self._parameters([row]))
                except Exception:  # noqa: BLE001 - whatever the driver raises
                    return index
            connection.rollback()
        return None

    def _not_convertible(self, values: list[Any], error: Exception) -> JdbcError:
        for value in values:
            try:
                self.to_row(value)
            except Exception:  # noqa: BLE001 - any error of a user's object
                break
        what = f"{type(error).__name__}: {error}"
        return JdbcError(f"the record {shorten(value, _SHOWN)} cannot be written: {what}; {self._describe_statement()}")
