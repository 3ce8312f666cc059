"""A reader of the state of one subtask, whichever backend wrote its files.

It needs only the memory for the changes of a changelog since its base: it reads these changes first, and applies them
to the base while that streams by.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.checkpoint.changes import check_form
from flintstream.errors import CorruptCheckpointError, CorruptDataError
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.state_log.native_files import download, files_of, open_native
from flintstream.runtime.state_log.subtask_state import open_bytes, open_piece
from flintstream.state.backend import Change
from flintstream.state.settings import StateSettings
from flintstream.state.tables import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from flintstream.checkpoint.metadata import StatePiece
    from flintstream.checkpoint.state_file import StateFile
    from flintstream.state.backend import TableInfo
    from flintstream.storage.file_store import FileStore

TIMERS = "timers"


@dataclass(frozen=True)
class SubtaskFiles:
    """The pieces of a subtask's state, oldest first. Picklable, so that a task elsewhere can read them."""

    store: FileStore | None
    pieces: tuple[StatePiece, ...]
    allow_pickle: bool = False
    _checked: set[str] = field(default_factory=set, init=False, compare=False, repr=False)

    def states(self, uid: str, chosen: Callable[[TableInfo], bool] = lambda _: True) -> Iterator[Change]:
        """Return the current content of an operator's states in pieces, each entry once.

        Args:
            uid: the operator's uid.
            chosen: selects states. Timers are not states.

        Raises:
            CorruptCheckpointError: A file is missing or damaged.
        """
        held = [piece for piece in self.pieces if _may_hold(piece, uid)]
        newer: dict[tuple[str, bool], _Newer] = {}

        def is_wanted(table: TableInfo) -> bool:
            return table.kind != TIMERS and chosen(table)

        for piece in held[1:]:
            with self._changes(piece, uid, is_wanted) as changes:
                for change in changes:
                    newer.setdefault((change.table.name, change.table.namespaced), _Newer(change.table)).add(change)
        for piece in held[:1]:
            with self._changes(piece, uid, is_wanted) as changes:
                for change in changes:
                    known = newer.get((change.table.name, change.table.namespaced))
                    current = change if known is None else known.laid_over(change)
                    if current.keys:
                        yield current._replace(deleted=[])
        for known in newer.values():
            yield from known.rest()

    def timers(self, uid: str) -> Iterator[Change]:
        """Return the timers of an operator in the order of their registration."""
        service = InternalTimerService()
        for piece in self.pieces:
            if not piece.native and _may_hold(piece, uid):
                with self._changes(piece, uid, lambda table: table.kind == TIMERS) as changes:
                    service.apply(changes)
        return service.take_snapshot()

    def values(self, uid: str) -> dict[str, Any]:
        """Return the state of an operator other than keyed state, by name."""
        values: dict[str, Any] = {}
        for piece in self.pieces:
            if not piece.native and _may_hold(piece, uid):
                with naming(self._where(piece)), self._open(piece) as file:
                    values.update(file.values(uid))
        return values

    @property
    def is_one_file(self) -> bool:
        """Whether all state is in one state file."""
        return len(self.pieces) == 1 and not self.pieces[0].native

    def copy_only_piece(self, target: BinaryIO) -> None:
        """Copy the content of the only state file."""
        (piece,) = self.pieces
        where, stream = open_bytes(self.store, piece)
        digest = hashlib.sha256()
        with stream:
            while data := stream.read(1 << 20):
                digest.update(data)
                target.write(data)
        if digest.hexdigest() != piece.checksum:
            raise CorruptCheckpointError(where, "its content differs from what was stored")

    def _open(self, piece: StatePiece) -> AbstractContextManager[StateFile]:
        return open_piece(self.store, piece, self._checked, allow_pickle=self.allow_pickle)

    def _where(self, piece: StatePiece) -> str:
        if piece.inline is not None or self.store is None:
            return "the metadata"
        return self.store.uri(piece.path)

    @contextmanager
    def _changes(self, piece: StatePiece, uid: str, chosen: Callable[[TableInfo], bool]) -> Iterator[Iterable[Change]]:
        if not piece.native:
            with naming(self._where(piece)), self._open(piece) as file:
                yield map(_check, file.changes(uid, chosen))
            return
        assert self.store is not None  # noqa: S101 - files of a backend are never inline in the metadata
        own = files_of(piece, uid)
        with tempfile.TemporaryDirectory(prefix="flintstream-read-") as directory:
            download(self.store, own, directory)
            where = self.store.uri(own[0].path)
            native = open_native(StateSettings(), directory, uid, allow_pickle=self.allow_pickle)
            with naming(where), native as changes:
                yield (_check(change) for change in changes if chosen(change.table))


def _check(change: Change) -> Change:
    check_form(change)
    return change


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Add the name of the file to decoding errors."""
    try:
        yield
    except CorruptDataError as error:
        raise CorruptCheckpointError(where, str(error)) from error


def _may_hold(piece: StatePiece, uid: str) -> bool:
    if piece.native:
        return bool(files_of(piece, uid))
    return bool(piece.path) or piece.inline is not None


class _Newer:
    """The changes of one state since the base of its changelog, each key once."""

    def __init__(self, table: TableInfo) -> None:
        self.table = table
        self.values: dict[Any, Any] = {}
        """Values that no longer depend on the base."""
        self.deleted: set[Any] = set()
        self.appended: dict[Any, list[Any]] = {}

    def add(self, change: Change) -> None:
        """Add the next change."""
        for key in change.deleted:
            self.values.pop(key, None)
            self.appended.pop(key, None)
            self.deleted.add(key)
        for key, value in zip(change.keys, change.values, strict=True):
            self.appended.pop(key, None)
            self.values[key] = value
        for key, elements in change.appended:
            known = key in self.values or key in self.deleted
            (self.values if known else self.appended).setdefault(key, []).extend(elements)

    def laid_over(self, base: Change) -> Change:
        """Apply the changes to a piece of the base, and leave out keys that were set or deleted since."""
        keys, values = [], []
        for key, value in zip(base.keys, base.values, strict=True):
            if key not in self.values and key not in self.deleted:
                keys.append(key)
                values.append([*value, *self.appended.pop(key)] if key in self.appended else value)
        return Change(base.table, keys, values, [])

    def rest(self) -> Iterator[Change]:
        """Return the values set since the base, and lists that are not in the base."""
        return pieces(self.table, chain(self.values.items(), self.appended.items()))
