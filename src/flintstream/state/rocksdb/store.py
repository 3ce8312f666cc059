"""A RocksDB database in its own directory: rows of bytes, and snapshots of its files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flintstream.errors import MissingDependencyError
from flintstream.state.backend import TableInfo
from flintstream.state.rocksdb.directories import remove_directory
from flintstream.state.rocksdb.rows import LAST_GROUP, first_of, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

try:
    import rocksdict
except ImportError as error:
    raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend") from error

FORMAT = 1
_END = first_of(LAST_GROUP, 0)
_CATALOGUE = _END + b"tables"


class Store:
    """One open database. It has no log of writes, so only :meth:`checkpoint` makes them durable."""

    def __init__(self, directory: str, options: Callable[[], Any]) -> None:
        """Create an empty database.

        Args:
            directory: the database's own directory. It is created here and removed by :meth:`close`.
            options: returns the options of RocksDB for a new database.
        """
        self.directory = Path(directory)
        self._options = options
        self._opened = 0
        self._ingested = 0
        self.directory.mkdir(parents=True, exist_ok=True)
        self.empty = True
        """Whether there are no rows, without a read."""
        self._open()

    def _open(self) -> None:
        # Every database gets its own directory: iterators hold the lock of a closed database a little longer.
        self._path = self.directory / f"db-{self._opened}"
        self.db = rocksdict.Rdict(str(self._path), self._options())
        self._writing = cast("Any", rocksdict.WriteOptions())  # the type stubs have no property disable_wal
        self._writing.disable_wal = True
        self.get: Callable[[bytes], bytes | None] = self.db.get
        """Return the value of a row, or None."""

    @staticmethod
    def batch() -> Any:
        """Return an empty batch of writes: ``put(row, value)``, ``delete(row)``."""
        return rocksdict.WriteBatch(raw_mode=True)

    def write(self, batch: Any) -> None:
        """Write a batch atomically."""
        if len(batch):
            self.empty = False
            self.db.write(batch, self._writing)

    def ingest(self, changes: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Write rows in ascending order as a file of the database; the value None deletes a row."""
        self._ingested += 1
        path = str(self.directory / f"rows-{self._ingested}.sst")
        writer = rocksdict.SstFileWriter(self._options())
        writer.open(path)
        some = False
        for row, value in changes:
            some = True
            if value is None:
                del writer[row]
            else:
                writer[row] = value
        if some:  # else there is no file
            writer.finish()
            moving = rocksdict.IngestExternalFileOptions()
            moving.set_move_files(True)
            self.db.ingest_external_file([path], moving)
            self.empty = False

    def rows(self, start: bytes = b"", end: bytes = _END) -> Iterator[tuple[bytes, bytes]]:
        """Return the current rows from ``start`` up to ``end``. Later writes do not affect the result."""
        options = rocksdict.ReadOptions()
        options.set_iterate_upper_bound(end)
        found: Any = self.db.items(from_key=start, read_opt=options)
        return _iterate(found, options)

    def rows_of(self, number: int, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Return the rows of one state from ``start`` on, and skip those of other states."""
        while True:
            start = max(start, first_of(place_of(start)[0], number)) if start else first_of(0, number)
            for row, value in self.rows(start):
                group, found = place_of(row)
                if found != number:
                    start = first_of(group + (found > number), number)
                    break
                yield row, value
            else:
                return

    def clear(self) -> None:
        """Remove all rows."""
        if not self.empty:
            batch = self.batch()
            batch.delete_range(b"", b"\xff" * 8)
            self.db.write(batch, self._writing)
            self.empty = True

    # -- the catalogue ---------------------------------------------------------------------------------------------

    def write_catalogue(self, tables: dict[int, TableInfo], rows: int) -> None:
        """Store the state of each number, and the last row number of lists."""
        states = {number: [i.name, i.kind, i.type, i.ttl, i.namespaced] for number, i in tables.items()}
        content = {"format": FORMAT, "states": states, "rows": rows}
        batch = self.batch()
        batch.put(_CATALOGUE, json.dumps(content).encode())
        self.db.write(batch, self._writing)

    def read_catalogue(self) -> tuple[dict[int, TableInfo], int]:
        """Return the arguments of :meth:`write_catalogue`.

        Raises:
            ValueError: This release does not know the format of the database.
        """
        content = json.loads(self.get(_CATALOGUE) or b"null")
        if content is None or content["format"] != FORMAT:
            found = content and content["format"]
            raise ValueError(f"a database of state must have format {FORMAT}, but this one has format {found}")
        return {int(number): TableInfo(*fields) for number, fields in content["states"].items()}, content["rows"]

    # -- files -----------------------------------------------------------------------------------------------------

    def checkpoint(self, directory: str) -> None:
        """Write the files of the database, as hard links if possible, into a directory that does not exist yet."""
        Path(directory).parent.mkdir(parents=True, exist_ok=True)
        self.db.flush()
        rocksdict.Checkpoint(self.db).create_checkpoint(directory)

    def restore(self, directory: str) -> None:
        """Replace the database by the files of :meth:`checkpoint`, which do not change."""
        self._delete_files()
        self._opened += 1
        target = self.directory / f"db-{self._opened}"
        target.mkdir()
        for file in Path(directory).iterdir():
            if file.suffix == ".sst":
                _link(file, target / file.name)
            else:  # RocksDB will write to the other files
                shutil.copyfile(file, target / file.name)
        self._open()
        self.empty = False

    def _delete_files(self) -> None:
        self.db.close()
        shutil.rmtree(self._path, ignore_errors=True)

    def close(self) -> None:
        """Close the database and remove its directory."""
        self._delete_files()
        remove_directory(str(self.directory))


def _iterate(found: Iterator[tuple[bytes, bytes]], options: Any) -> Iterator[tuple[bytes, bytes]]:  # noqa: ARG001
    """Iterate over rows, and keep a reference to the options: rocksdict's iterator needs them but does not hold one."""
    yield from found


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)
