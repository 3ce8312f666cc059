"""Runs the statements of ``flintstream sql``, and writes their results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flintstream.cli.printable import printable
from flintstream.common.configuration import Configuration
from flintstream.common.types import RowKind
from flintstream.errors import message_of
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.sql_gateway import RESULT_MODE
from flintstream.options.tables import COLUMN_WIDTH
from flintstream.sql_gateway.errors import Caught
from flintstream.sql_gateway.scripts import split_script
from flintstream.table._results.printing import answer_lines, print_lines
from flintstream.table._results.rows import rows_by_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.common.types import Row
    from flintstream.sql_gateway.operations import Operation
    from flintstream.sql_gateway.results import Result
    from flintstream.sql_gateway.scripts import Statement
    from flintstream.sql_gateway.sessions import Session

_PLACE = re.compile(r"line (\d+), column (\d+)")
WAIT_SECONDS = 0.1

HELP = """\
End each statement with a semicolon; it may have several lines.

  SET;  SET 'key' = 'value';  RESET;      show and change settings of this session
  SET 'sql-client.execution.result-mode'  table, changelog or tableau: how queries show their rows
  SOURCE 'script.sql';                    run the statements of a file
  SHOW TABLES;  SHOW JOBS;  SHOW ...      list what exists
  DESCRIBE table;  EXPLAIN query;         show the columns of a table, and the plan of a query
  STOP JOB 'id';                          end a job
  CLEAR;  HELP;  QUIT;                    clear the screen, show this help, end the client

Ctrl-C cancels the running statement, Ctrl-D ends the client."""


class QuitError(Exception):
    """The statement QUIT, or EXIT."""


class Runner:
    """Runs statements in a session, and writes what they tell."""

    def __init__(self, session: Session, write: Callable[[Iterable[str]], None]) -> None:
        """Write lines with ``write``."""
        self.session = session
        self._write = write

    def run_script(self, text: str, *, echoes: bool = False) -> bool:
        """Run the statements of a script up to the first error, and return whether there was none.

        Raises:
            QuitError: The script has QUIT.
        """
        for statement in split_script(text):
            if echoes:
                self._write([f"> {printable_lines(statement.text)}"])
            if not self.run(statement):
                return False
        return True

    def run(self, statement: Statement) -> bool:
        """Run a statement, and return whether it succeeded.

        Raises:
            QuitError: The statement is QUIT.
        """
        words = statement.text.upper().split()
        if words in (["QUIT"], ["EXIT"]):
            raise QuitError
        if words == ["HELP"]:
            self._write(HELP.splitlines())
            return True
        if words == ["CLEAR"]:
            click.clear()
            return True
        if words[:1] == ["SOURCE"]:
            return self._source(statement.text[len("SOURCE") :].strip().strip("'"))
        operation = self.session.execute(statement.text)
        with Caught() as caught:
            self._show(operation, _wait(operation))
        self.session.close_operation(operation.handle)
        if caught.error is not None:
            self._write(error_lines(statement, caught.error))
        return caught.error is None

    def _source(self, name: str) -> bool:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._write([printable(f"error: the script {name} cannot be read: {error}")])
            return False
        return self.run_script(text, echoes=True)

    def _show(self, operation: Operation, result: Result | None) -> None:
        if result is None:
            self._write(["cancelled"])
        elif result.is_query:
            try:
                self._write(self._query_lines(operation, result))
            except KeyboardInterrupt:  # not while the next row was awaited, but while one was written
                operation.cancel()
                self._write(["cancelled"])
        elif result.job_id is not None:
            self._write([f"Job ID: {result.job_id}"])
        elif not result.has_content:
            self._write(["OK"])
        else:
            columns = [column.name for column in result.columns]
            rows = [row for page in pages(result) for row in page]
            if columns == ["result"]:  # a text of several lines, such as a plan
                self._write(line for row in rows for line in str(row[0]).splitlines())
            else:
                self._write(answer_lines(result.columns, iter(rows)))

    def _query_lines(self, operation: Operation, result: Result) -> Iterator[str]:
        configuration = Configuration.from_dict(self.session.properties())
        mode, widest = configuration.get(RESULT_MODE), configuration.get(COLUMN_WIDTH)
        streaming = configuration.get(RUNTIME_MODE) != "BATCH"
        rows = _rows_until_interrupt(operation, result)
        if mode == "TABLE" and streaming:
            rows, streaming = iter(last_rows(rows)), False
        shown = rows_by_clock(rows, result.columns, result.zone)
        return print_lines(result.columns, shown, widest, kinds=streaming)


def _wait(operation: Operation) -> Result | None:
    """Wait until a statement has run, and return its result; None if Ctrl-C has ended it."""
    try:
        while not operation.wait(WAIT_SECONDS):
            pass
    except KeyboardInterrupt:
        operation.cancel()
        return None
    return operation.require_success()


def pages(result: Result) -> Iterator[list[Row]]:
    """Yield the rows of a result, as they come."""
    token: int | None = 0
    while token is not None:
        page = result.page(token)
        yield list(page.rows)
        token = page.next_token


def _rows_until_interrupt(operation: Operation, result: Result) -> Iterator[Row]:
    """Yield the rows of a query until its end, or until Ctrl-C cancels it."""
    try:
        for page in pages(result):
            yield from page
    except KeyboardInterrupt:
        operation.cancel()


def last_rows(changes: Iterable[Row]) -> list[Row]:
    """Return the rows of the table that changes leave, in the order in which they came.

    >>> from flintstream.common import Row
    >>> changes = [Row("a", 1), Row.of_kind(RowKind.UPDATE_BEFORE, "a", 1), Row.of_kind(RowKind.UPDATE_AFTER, "a", 2)]
    >>> [list(row) for row in last_rows(changes)]
    [['a', 2]]
    """
    rows: dict[str, list[Row]] = {}
    for row in changes:
        same = rows.setdefault(repr(list(row)), [])
        if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}:
            same.append(row)
        elif same:
            same.pop()
        if not same:
            del rows[repr(list(row))]
    return [row for same in rows.values() for row in same]


def error_lines(statement: Statement, error: BaseException) -> list[str]:
    """Return what to say of an error: its message, and the place in the statement if the message names one."""
    message = message_of(error) or type(error).__name__
    lines = [f"error: {printable_lines(message)}"]
    place = _PLACE.search(message)
    texts = statement.text.splitlines()
    if place is not None and int(place[1]) <= len(texts):
        line, column = texts[int(place[1]) - 1], int(place[2])
        lines += [f"  {printable(line.expandtabs(1))}", f"  {' ' * (column - 1)}^"]
    return lines


def printable_lines(text: str) -> str:
    """Return a text of several lines without control characters."""
    return "\n".join(map(printable, text.splitlines()))
