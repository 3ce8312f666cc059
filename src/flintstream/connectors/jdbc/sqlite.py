"""SQLite, through Python's standard library."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common.time import Instant
from flintstream.connectors.jdbc.database import Database
from flintstream.connectors.jdbc.jdbc_url import JdbcUrl
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.values import instant_in_utc
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.connectors.jdbc.values import Adapter

_BUSY_MS = 60_000
"""How long to wait while another subtask or program writes."""
_PRAGMAS = (
    "busy_timeout cache_size foreign_keys journal_mode journal_size_limit locking_mode mmap_size recursive_triggers "
    "secure_delete synchronous temp_store wal_autocheckpoint"
)
_MODES = {"DEFERRED", "IMMEDIATE", "EXCLUSIVE"}


def _pragma(name: str) -> Callable[[str], dict[str, Any]]:
    def read(value: str) -> dict[str, Any]:
        if not re.fullmatch(r"[+-]?\w+", value):
            raise ValueError(value)
        return {name: value}

    return read


def _mode(value: str) -> dict[str, Any]:
    return {"transaction": {mode: mode for mode in _MODES}[value.upper()]}


def _date_class(value: str) -> dict[str, Any]:
    if value.upper() != "TEXT":
        raise ValueError(value)
    return {}


_PARAMETERS = {name: _pragma(name) for name in _PRAGMAS.split()} | {
    "transaction_mode": _mode,
    "date_class": _date_class,
}


def _text_of_integer(value: int) -> int | str:
    return value if -(1 << 63) <= value < 1 << 63 else str(value)


ADAPTERS: dict[type, Adapter] = {
    Decimal: lambda value: format(value, "f"),  # a column with NUMERIC affinity converts it to a number
    int: _text_of_integer,
    dt.date: dt.date.isoformat,
    dt.time: lambda value: value.isoformat("milliseconds"),
    dt.datetime: lambda value: value.isoformat(" ", "milliseconds"),
    Instant: lambda value: instant_in_utc(value).replace(tzinfo=None).isoformat(" ", "microseconds") + "Z",
}


class SqliteDatabase(Database):
    """A file: ``jdbc:sqlite:path``, with pragmas as parameters.

    Dates and times are strings that SQLite's functions parse.
    The path is made absolute when the program is built, because tasks have different working directories.
    """

    module = "sqlite3"
    grammar = Grammar.SQLITE

    prefixes = ("jdbc:sqlite:",)
    java_drivers = ("org.sqlite.JDBC",)

    def __init__(self, url: str, user: str | None = None, password: str | None = None, timeout: int = 60) -> None:
        super().__init__(url, user, password, timeout)
        parsed = JdbcUrl.parse(url)
        path = parsed.address.removeprefix("file:")
        if path in {"", ":memory:"} or path.startswith(":resource:"):
            raise PlanError(f"{self.shown} has no file: an in-memory database would be lost with the task")
        self.path = str(Path(path).absolute())
        self.pragmas = parsed.arguments(_PARAMETERS)
        self.transaction = self.pragmas.pop("transaction", "IMMEDIATE")

    def check(self) -> None:
        """Raise an error if the file cannot be created."""
        if not Path(self.path).parent.is_dir():
            raise PlanError(f"{self.shown}: the directory {Path(self.path).parent} does not exist")

    def connect(self) -> Any:
        """Open the file."""
        connection = self.driver().connect(
            self.path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )
        for name, value in self.pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}").close()
        return connection

    def begin(self, connection: Any) -> None:
        """Begin a transaction, by default with the write lock: acquiring it only with the first write may fail."""
        connection.execute(f"BEGIN {self.transaction}").close()

    def adapters(self) -> Mapping[type, Adapter]:
        """Return the adapters that convert values to numbers and strings."""
        return ADAPTERS
