"""Reads a table of a database, once: the source behind tables of databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from flintstream.connectors.jdbc.database import Database
    from flintstream.connectors.source import Fetch, SplitEnumerator

    ReadRow = Callable[[Sequence[Any]], Any]


@record
@dataclass
class JdbcSplit(SourceSplit):
    """A range of a table's rows, or all of them, and how many have been read."""

    low: int | None
    high: int | None
    done: int = 0


class JdbcScan(Source):
    """Reads the rows of a query, which may have ``{low}`` and ``{high}`` of a range.

    A split that resumes after a failure runs its query again, and leaves out as many rows as have been read.
    """

    boundedness = Boundedness.BOUNDED

    def __init__(
        self,
        database: Database,
        query: str,
        ranges: Sequence[tuple[int, int]],
        reader: Callable[[], ReadRow],
    ) -> None:
        """Take a query, the ranges that subtasks share, and what makes the function for a row in a task."""
        self.database, self.query, self.ranges, self.reader = database, query, tuple(ranges), reader

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the ranges."""
        ranges = self.ranges or ((None, None),)
        return StaticEnumerator([JdbcSplit(str(i), low, high) for i, (low, high) in enumerate(ranges)])

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return _Reader(self)


class _Reader(SourceReader):
    gives_away = True

    def __init__(self, scan: JdbcScan) -> None:
        self.scan = scan
        self.row = scan.reader()

    def read(self, split: JdbcSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        database, row = self.scan.database, self.row
        connection = database.connect()
        try:
            database.begin(connection)
            cursor = connection.cursor()
            cursor.execute(self.scan.query.format(low=split.low, high=split.high))
            if split.done:
                cursor.fetchmany(split.done)
            while rows := cursor.fetchmany(max(fetch.size, 1)):
                split.done += len(rows)
                yield [row(item) for item in rows]
        finally:
            connection.close()
        return True
