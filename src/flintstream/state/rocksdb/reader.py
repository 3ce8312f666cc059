"""A reader of RocksDB files in checkpoints: needs no backend, reads in pieces, and works without pickle if asked."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import decode_one
from flintstream.errors import CorruptCheckpointError, PickleRefusedError
from flintstream.state.backend import PIECE, Change
from flintstream.state.rocksdb.directories import new_directory, remove_directory
from flintstream.state.rocksdb.options import RocksDBOptions
from flintstream.state.rocksdb.rows import Layout, place_of
from flintstream.state.rocksdb.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.state.settings import StateSettings


class RocksDBFiles:
    """A copy of a database, opened for reading. Its memory is that of RocksDB plus one piece."""

    def __init__(self, settings: StateSettings, directory: str, operator: str) -> None:
        """Open the files in ``directory``, which do not change.

        Raises:
            CorruptCheckpointError: They are not a database of state.
            MissingDependencyError: RocksDB is not installed.
        """
        self._operator = operator
        options = RocksDBOptions.of(settings.options, settings.factory)
        self._store = Store(new_directory(options.directories), options.build)
        try:
            self._store.restore(directory)
            tables, _ = self._store.read_catalogue()
        except Exception as error:
            remove_directory(str(self._store.directory))
            raise CorruptCheckpointError(directory, f"it holds no state of operator {operator}: {error}") from error
        self._layouts = {number: Layout(info, number, lambda _: 0) for number, info in tables.items()}

    def changes(self, *, allow_pickle: bool = True) -> Iterator[Change]:
        """Return all entries in the order of the rows, in pieces."""
        decode = partial(decode_one, allow_pickle=allow_pickle)
        pending: dict[int, Change] = {}
        for number, key, value in self._entries(decode):
            piece = pending.get(number)
            if piece is None:
                piece = pending[number] = Change(self._layouts[number].info, [], [], [])
            piece.keys.append(key)
            piece.values.append(value)
            if len(piece.keys) >= PIECE:
                yield pending.pop(number)
        yield from pending.values()

    def _entries(self, decode: Callable[[bytes], Any]) -> Iterator[tuple[int, Any, Any]]:
        for start, rows in groupby(self._store.rows(), self._place):
            _, number = place_of(start)
            layout = self._layouts[number]
            several = list(rows)
            codes = (code for _, data in several for code in layout.codes_of(data))
            try:
                values = [decode(code) if time is None else (decode(code), time) for code, time in codes]
                key = layout.key_of(*several[0], decode) if values else None
            except PickleRefusedError as error:
                raise error.within(f"state '{layout.info.name}'", self._operator) from None
            if values:
                yield number, key, values if layout.info.kind == "list" else values[0]

    def _place(self, entry: tuple[bytes, bytes]) -> bytes:
        """Return the row of an entry, or the common prefix of the rows of a list."""
        layout = self._layouts[place_of(entry[0])[1]]
        return entry[0][: layout.prefix_end(entry[0])] if layout.info.kind == "list" else entry[0]

    def close(self) -> None:
        """Remove the copy."""
        self._store.close()
