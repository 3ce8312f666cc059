"""Errors of statements and tables, with places and suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from flintstream.common._java_exceptions import TableException
from flintstream.engine.spark.jvm.java_error import Py4JJavaError
from flintstream.errors import PlanError, UnsupportedByDesignError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ColumnNotFoundError",
    "ComputedColumnError",
    "Place",
    "SinkNotFoundError",
    "SqlError",
    "TableNotFoundError",
    "UnsupportedClauseError",
    "at",
    "nearest",
    "place_at",
    "unsupported",
]


@dataclass(frozen=True)
class Place:
    """A position in a statement, from 1 on."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place_at(sql: str, offset: int) -> Place:
    r"""Return the place of an offset.

    >>> str(place_at("SELECT a,\n  b", 12))
    'line 2, column 3'
    """
    return Place(sql.count("\n", 0, offset) + 1, offset - sql.rfind("\n", 0, offset))


class JavaMessage:
    """What programs ask of the Java exception of an error."""

    def __init__(self, message: str) -> None:
        self._message = message

    def getMessage(self) -> str:
        """Return the message."""
        return self._message

    getLocalizedMessage = getMessage

    def getCause(self) -> None:
        """Return None: the error is the root of what went wrong."""

    def toString(self) -> str:
        """Return the message after the name of Flink's class."""
        return f"org.apache.flink.table.api.ValidationException: {self._message}"


class SqlError(PlanError, Py4JJavaError):  # type: ignore[misc]  # py4j has no types
    """A statement or expression cannot be planned; the message names the place.

    PyFlink raises a ``Py4JJavaError`` where it cannot plan, so that programs which catch that catch this as well.

    >>> error = SqlError("no such table")
    >>> str(error), isinstance(error, Py4JJavaError), error.java_exception.getMessage()
    ('no such table', True, 'no such table')
    """

    def __init__(self, message: str) -> None:
        """Keep the message."""
        Exception.__init__(self, message)
        self.errmsg, self.exception_cmd, self.java_exception = message, "", JavaMessage(message)

    __str__ = Exception.__str__


class TableNotFoundError(SqlError):
    """A table or view does not exist.

    Programs and libraries look for the words of Flink, which calls it an object within a statement.
    """

    def __init__(
        self, name: tuple[str, ...], place: Place | None = None, known: Iterable[str] = (), *, what: str = "Table"
    ) -> None:
        """Name the table and its place, and suggest one of the ``known`` names."""
        self.name = ".".join(name)
        super().__init__(f"{what} '{self.name}' not found{at(place)}{nearest(name[-1], known)}")
        self.java_exception = JavaMessage(f"Table {quote_path(name)} was not found.")


class SinkNotFoundError(TableNotFoundError):
    """The table that rows go to does not exist."""

    def __init__(self, path: tuple[str, ...], missing: TableNotFoundError) -> None:
        """Take the words of the error that a reader of the table gets."""
        SqlError.__init__(self, str(missing))
        self.name = missing.name
        self.java_exception = JavaMessage(f"Cannot find table '{quote_path(path)}' in the catalogs or beside them.")


class ComputedColumnError(SqlError):
    """The expression of a computed column is wrong."""

    def __init__(self, column: str, cause: SqlError) -> None:
        """Name the column, and say what is wrong."""
        super().__init__(f"Invalid expression for computed column '{column}'. {cause}")
        self.java_exception = JavaMessage(f"Invalid expression for computed column '{column}'.")


class ObjectExistsError(SqlError):
    """The name of a new table, view, database or catalog is taken."""

    def __init__(self, what: str, name: str, more: str = "") -> None:
        """Say what is there, such as ``A view 'v'``, and what to do; ``more`` follows. ``name`` is without its path."""
        super().__init__(f"{what} already exists: drop it first, or use another name{more}")
        self.name = name


class ColumnNotFoundError(SqlError):
    """There is no column or field of a name where an expression reads it."""

    def __init__(self, name: tuple[str, ...], where: str = "", suggestion: str = "") -> None:
        """Say where the name stands, and what it may mean."""
        super().__init__(f"Column '{'.'.join(name)}' not found{where}{suggestion}")
        self.name = name


class ModeError(SqlError):
    """A statement that the mode of the session, BATCH or STREAMING, does not have."""


class StrictError(SqlError):
    """Something that works here, but not in Flink, and that ``flintstream.table.strict`` refuses."""


class UnsupportedClauseError(PlanError, UnsupportedByDesignError, TableException):
    """A clause that flintstream does not have yet; the message names the alternative.

    PyFlink raises a ``TableException`` for clauses that Flink lacks, so that programs which catch that catch this.
    """


def quote_path(name: Iterable[str]) -> str:
    """Return a name with each part in backquotes.

    >>> quote_path(("db", "a.b"))
    '`db`.`a.b`'
    """
    return ".".join(f"`{part}`" for part in name)


def at(place: Place | None) -> str:
    """Return `` at line 1, column 8``; nothing if the place is unknown."""
    return "" if place is None else f" at {place}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for a misspelled name, or the known names if there are few.

    >>> nearest("pricce", ["id", "price"])
    "; did you mean 'price'?"
    >>> nearest("x", ["id", "price"])
    '; available: id, price'
    """
    known = [item for item in known if not item.startswith("*anonymous_")]  # what the program has not named
    lower = {item.lower(): item for item in known}
    close = get_close_matches(name.lower(), lower, n=1)
    if close:
        return f"; did you mean '{lower[close[0]]}'?"
    return f"; available: {', '.join(known)}" if 0 < len(known) <= 20 else ""


def unsupported(clause: str, place: Place | None, instead: str) -> UnsupportedClauseError:
    """Return the error for a clause that is not there."""
    return UnsupportedClauseError(
        f"{clause}{at(place)} is not supported yet: {instead}. For bounded data, Spark SQL can run the query: "
        "env.to_dataframe() and env.from_dataframe() are the bridge"
    )
