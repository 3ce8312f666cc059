"""Writers of the state of one subtask: changed state of another savepoint, or new state from data."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import Opaque
from flintstream.checkpoint.metadata import StatePiece
from flintstream.checkpoint.state_file import StateFileWriter
from flintstream.errors import CheckpointError, shorten
from flintstream.runtime.keys import freeze_key, key_group, subtask_of_key_group
from flintstream.savepoint.entries import StateEntry, entries_of
from flintstream.state.backend import PIECE, Change, TableInfo
from flintstream.state.kinds import kind_of
from flintstream.state.tables import type_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from flintstream.contracts.state import (
        StateDescriptor,
    )
    from flintstream.savepoint.subtask_files import SubtaskFiles
    from flintstream.storage.file_store import FileStore


# -- state of another savepoint --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OperatorEdit:
    """The changes to one operator of a savepoint."""

    uid: str
    new_uid: str
    keyed: bool
    dropped: frozenset[str] = frozenset()
    """States to leave out. Those of windows stay."""
    transforms: tuple[tuple[str, Callable[[StateEntry], Any]], ...] = ()
    """Pairs of a state's name and a function that returns the new value of an entry."""


@dataclass(frozen=True)
class Rewrite:
    """Copies the state of one subtask. Picklable, so that a remote task can run it."""

    files: SubtaskFiles
    edits: tuple[OperatorEdit, ...]
    renamed: Mapping[str, str]
    """Old uid -> new uid of all renamed operators of the savepoint."""
    verbatim: bool
    """Whether nothing changes, so that the one file is copied."""
    target: FileStore
    path: str

    def __call__(self) -> StatePiece:
        """Write the file.

        Raises:
            CheckpointError: A function failed, or an object needs to be unpickled.
            CorruptCheckpointError: A source file is damaged.
        """
        uids = {edit.uid: edit.new_uid for edit in self.edits}
        kept = sorted({uids[uid] for piece in self.files.pieces for uid in piece.operators if uid in uids})
        with self.target.create(self.path) as stream:
            if self.verbatim:
                self.files.copy_only_piece(stream)
                (old,) = self.files.pieces
                return StatePiece(self.path, old.size, old.checksum, operators=tuple(kept))
            writer = StateFileWriter(stream)
            for edit in self.edits:
                for change in self._changes(edit):
                    writer.write(edit.new_uid, change)
                for name, value in self.files.values(edit.uid).items():
                    writer.write_value(edit.new_uid, name, self._relabel(value) if name == "channels" else value)
            summary = writer.finish()
        return StatePiece(self.path, summary.size, summary.checksum, operators=tuple(kept))

    def _changes(self, edit: OperatorEdit) -> Iterator[Change]:
        if not edit.keyed:
            return
        for change in self.files.states(edit.uid, lambda t: t.namespaced or t.name not in edit.dropped):
            _refuse_pickled(edit.uid, change.keys)
            for name, function in edit.transforms:
                if change.table.name == name:
                    change = transform(change, edit.uid, function)  # noqa: PLW2901 - one function after the other
            yield change
        for change in self.files.timers(edit.uid):
            _refuse_pickled(edit.uid, change.keys)
            yield change

    def _relabel(self, channels: list[Any]) -> list[Any]:
        """Replace the uids of senders by their new uids."""
        return [((self.renamed.get(uid, uid), *rest), *marks) for (uid, *rest), *marks in channels]


def transform(change: Change, uid: str, function: Callable[[StateEntry], Any]) -> Change:
    """Return a change with new values, without the entries whose new value is None."""
    table = change.table
    keys, values = [], []
    for key, old, entry in zip(change.keys, change.values, entries_of(change), strict=True):
        if isinstance(entry.value, Opaque):
            raise _needs_pickle(uid, f"the state '{table.name}'")
        try:
            value = function(entry)
        except Exception as error:
            raise CheckpointError(
                f"operator {uid}: the function for the state '{table.name}' failed for key {shorten(entry.key)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if value is None:
            continue
        if table.kind == "list":
            value = list(value)
            if table.ttl:
                same = len(value) == len(old)
                value = [(item, old[index][1] if same else entry.last_access_ms) for index, item in enumerate(value)]
        elif table.ttl:
            value = value, entry.last_access_ms
        keys.append(key)
        values.append(value)
    return Change(table, keys, values, [])


def _refuse_pickled(uid: str, keys: Iterable[Any]) -> None:
    # A key that was frozen when it was written must be frozen again after reading, which needs the object itself.
    if any(map(_has_pickled, keys)):
        raise _needs_pickle(uid, "a key")


def _has_pickled(key: Any) -> bool:
    cls = type(key)
    return cls is Opaque or (cls is tuple and any(map(_has_pickled, key)))


def _needs_pickle(uid: str, what: str) -> CheckpointError:
    return CheckpointError(
        f"operator {uid}: {what} holds pickled objects, and unpickling runs code that the savepoint names: pass "
        "allow_pickle=True if you trust the savepoint"
    )


# -- state made from data --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewState:
    """A state of an operator to fill with data. Picklable."""

    uid: str
    table: TableInfo
    type_info: Any
    parallelism: int
    max_parallelism: int
    last_access_ms: int

    @classmethod
    def of(
        cls, uid: str, descriptor: StateDescriptor, parallelism: int, max_parallelism: int, last_access_ms: int
    ) -> NewState:
        """Describe a state as a program would declare it.

        Raises:
            TypeError: ``descriptor`` is not a state descriptor.
        """
        try:
            kind = kind_of(descriptor).name
        except TypeError:
            what = f"{shorten(descriptor)} is not a descriptor of keyed state, such as ValueStateDescriptor"
            raise TypeError(what) from None
        ttl = descriptor.ttl_config is not None and descriptor.ttl_config.is_enabled()
        table = TableInfo(descriptor.name, kind, type_text(descriptor), ttl)
        return cls(uid, table, descriptor.type_info, parallelism, max_parallelism, last_access_ms)

    def rows(self, item: Any) -> Iterator[tuple[int, tuple[Any, Any]]]:
        """Return the subtask, and the key and value in the form of a table, for a pair or a :class:`StateEntry`.

        Raises:
            CheckpointError: ``item`` is neither, or its value does not have the declared type.
        """
        if isinstance(item, StateEntry):
            key, value = item.key, item.value
            last = self.last_access_ms if item.last_access_ms is None else item.last_access_ms
            if self.table.kind == "map":
                value = {item.map_key: value}
        else:
            try:
                key, value = item
            except (TypeError, ValueError):
                raise self._refusal(f"{shorten(item)} is not a pair of key and value") from None
            last = self.last_access_ms
        value = self._convert(key, value)
        frozen = freeze_key(key)
        subtask = subtask_of_key_group(key_group(frozen, self.max_parallelism), self.parallelism, self.max_parallelism)
        ttl = self.table.ttl
        if self.table.kind == "map":
            for map_key, element in value.items():
                yield subtask, ((frozen, map_key), (element, last) if ttl else element)
        elif self.table.kind == "list":
            if value:
                yield subtask, (frozen, [(element, last) for element in value] if ttl else value)
        else:
            yield subtask, (frozen, (value, last) if ttl else value)

    def _convert(self, key: Any, value: Any) -> Any:
        if value is None:
            raise self._refusal(f"key {shorten(key)} has no value (None)")
        converter = self.type_info.converter() if self.type_info is not None else None
        try:
            if converter is not None:
                value = converter(value)
            return {"list": list, "map": dict}.get(self.table.kind, lambda same: same)(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._refusal(f"key {shorten(key)}: {error}") from error

    def _refusal(self, what: str) -> CheckpointError:
        return CheckpointError(f"state '{self.table.name}' for operator {self.uid}: {what}")

    def output(self, store: FileStore, path: str) -> _Output:
        """Start the file of one subtask."""
        return _Output(self, store, path)

    def write(self, items: Iterable[Any], store: FileStore, prefix: str) -> dict[int, StatePiece]:
        """Write a file for each subtask that owns a key. Only some entries per file are in memory."""
        with ExitStack() as stack:
            outputs: dict[int, _Output] = {}
            for item in items:
                for subtask, row in self.rows(item):
                    output = outputs.get(subtask)
                    if output is None:
                        output = outputs[subtask] = self.output(store, f"{prefix}-{subtask}")
                        stack.enter_context(output)
                    output.add(*row)
        return {subtask: output.piece for subtask, output in outputs.items()}


class _Output:
    """Writes entries of one state into a file, and rejects duplicate keys."""

    def __init__(self, state: NewState, store: FileStore, path: str) -> None:
        self.state = state
        self.path = path
        self.piece = StatePiece()
        self._keys: list[Any] = []
        self._values: list[Any] = []
        self._seen: set[Any] = set()
        self._context = store.create(path)

    def __enter__(self) -> Self:
        self._writer = StateFileWriter(self._context.__enter__())
        return self

    def add(self, key: Any, value: Any) -> None:
        if key in self._seen:
            raise CheckpointError(
                f"state '{self.state.table.name}' for operator {self.state.uid}: duplicate key {shorten(key)}"
            )
        self._seen.add(key)
        self._keys.append(key)
        self._values.append(value)
        if len(self._keys) >= PIECE:
            self._flush()

    def _flush(self) -> None:
        self._writer.write(self.state.uid, Change(self.state.table, self._keys, self._values, []))
        self._keys, self._values = [], []

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if cls is None:
            self._flush()
            summary = self._writer.finish()
            self.piece = StatePiece(self.path, summary.size, summary.checksum, operators=(self.state.uid,))
        self._context.__exit__(cls, error, trace)
