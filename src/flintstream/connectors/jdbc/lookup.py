"""Finds rows of a database by key: what joins with tables of databases read."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any

from flintstream.connectors.jdbc.database import JdbcError
from flintstream.connectors.jdbc.statement import Statement
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.jdbc.database import Database

    Key = tuple[Any, ...]
    ReadRow = Callable[[Sequence[Any]], tuple[Any, ...]]

_log = logging.getLogger(__name__)
_KEYS_PER_QUERY = 100
"""SQLite combines at most 500 queries."""


class JdbcLookup:
    """Asks for the rows of many keys in one query, which numbers the keys: what equals a key is the database's affair.

    A connection that is lost is made again, as often as ``max_retries`` says.
    """

    def __init__(
        self,
        database: Database,
        table: str,
        columns: str,
        keys: Sequence[str],
        adapters: Sequence[Callable[[Any], Any] | None],
        reader: Callable[[], ReadRow],
        max_retries: int,
    ) -> None:
        """Take names as they stand in a query.

        Args:
            database: The database.
            table: The table.
            columns: The columns to read, with commas between them.
            keys: The columns that must equal the parts of a key.
            adapters: What converts each part of a key for the driver; None for nothing.
            reader: Makes, in a task, the function that converts a row of the driver.
            max_retries: How often to try again after a failure that may pass.
        """
        self.database, self.reader, self.max_retries = database, reader, max_retries
        self.adapters = tuple(adapters)
        where = " AND ".join(f"{key} = ?" for key in keys)
        self.one = f"{columns} FROM {table} WHERE {where}"
        self._connection: Any = None
        self._row: ReadRow | None = None
        self._queries: dict[int, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to a process."""
        return {**self.__dict__, "_connection": None, "_row": None, "_queries": {}}

    def find(self, keys: Sequence[Key]) -> dict[Key, list[tuple[Any, ...]]]:
        """Return the rows of the keys that have some.

        Raises:
            JdbcError: The database does not answer, or refuses the query.
        """
        found: dict[Key, list[tuple[Any, ...]]] = {}
        if self._row is None:
            self._row = self.reader()
        row = self._row
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            some = keys[start : start + _KEYS_PER_QUERY]
            for number, *values in self._patiently(some):
                found.setdefault(some[int(number)], []).append(row(values))
        return found

    def _patiently(self, keys: Sequence[Key]) -> list[Sequence[Any]]:
        for attempt in range(self.max_retries + 1):
            if attempt:
                time.sleep(min(attempt - 1, self.database.timeout))  # 0, 1, 2, ... seconds
            try:
                return self._ask(keys)
            except Exception as error:  # noqa: BLE001 - whatever the driver raises
                self.close()
                hidden = self.database.hide(f"{type(error).__name__}: {error}".strip())
                if attempt == self.max_retries or not self.database.may_pass(error):
                    secret = hidden != f"{type(error).__name__}: {error}".strip()
                    raise JdbcError(
                        f"cannot look up keys in {self.database.shown}: {hidden}; the query is SELECT "
                        f"{shorten(self.one, 200)}"
                    ) from (None if secret else error)
                _log.warning(
                    "%s: attempt %d of %d failed: %s",
                    self.database.shown,
                    attempt + 1,
                    self.max_retries + 1,
                    hidden,
                )
        return []  # there is at least one attempt

    def _ask(self, keys: Sequence[Key]) -> list[Sequence[Any]]:
        if self._connection is None:
            self._connection = self.database.connect()
        values: Any = [
            part if adapt is None else adapt(part)
            for key in keys
            for part, adapt in zip(key, self.adapters, strict=True)
        ]
        if self.database.paramstyle == "named":
            values = {f"p{number}": value for number, value in enumerate(values, 1)}
        cursor = self._connection.cursor()
        cursor.execute(self._query(len(keys)), values)
        rows: list[Sequence[Any]] = cursor.fetchall()
        cursor.close()
        self._connection.rollback()  # the next query must see what others have written since
        return rows

    def _query(self, count: int) -> str:
        known = self._queries.get(count)
        if known is None:
            text = " UNION ALL ".join(f"SELECT {i}, {self.one}" for i in range(count))
            known = self._queries[count] = Statement(text, self.database.grammar).render(self.database.paramstyle)
        return known

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # it may be lost already
                connection.close()
