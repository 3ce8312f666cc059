"""Writes records into part files that become visible all at once.

A part file is written under a hidden name. When it is complete it is *prepared*: the committer gives it its final name
once the epoch counts. Part files that stay open from one epoch to the next are known to the state by path and length:
whoever goes on with one, perhaps after a failure, cuts it to that length first, so that nothing stays in it that does
not count. What a lost attempt left behind under names that nobody knows is removed when the job starts again from a
checkpoint, and when it ends. Names begin with the uid of their writer, which is another one in each run of a program.

A checkpoint that counts on a file must not outlive it: files and the entries of their directories are on disk before a
checkpoint knows them, and so are final names before the job goes on.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.connectors.buckets import BucketContext
from flintstream.connectors.parts import OpenFile, PreparedFile
from flintstream.connectors.sink import Committer, SinkWriter
from flintstream.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from flintstream.connectors.buckets import BucketAssigner
    from flintstream.connectors.parts import Part, PartFormat
    from flintstream.connectors.rolling import PartNames, RollingPolicy
    from flintstream.connectors.sink import WriterContext

NO_WATERMARK = -(2**63)

CHECK_INTERVAL_MS = 60_000
"""How often a stream that rests is looked at for files that are too old, unless the sink says otherwise."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LastOf:
    """Tells the committer that the writer ``uid`` prepares nothing any more."""

    uid: str


@dataclass(frozen=True)
class WriterState:
    """What the writer of the next epoch needs."""

    uid: str
    next_number: int
    files: tuple[OpenFile, ...]
    savepoint: bool = False
    """The writer that gave it may still be writing."""


class PartFileWriter(SinkWriter):
    """Writes one subtask's records."""

    def __init__(
        self,
        context: WriterContext,
        base_path: str,
        sink_uid: uuid.UUID,
        file_format: PartFormat,
        assigner: BucketAssigner,
        policy: RollingPolicy,
        names: PartNames,
        check_interval: int = CHECK_INTERVAL_MS,
    ) -> None:
        """Take the sink's settings; ``sink_uid`` tells one sink's files from those of other sinks and earlier runs.

        ``check_interval`` is how often (ms) to look for files that are too old while no records come.
        """
        self._context = context
        self._base_path = base_path
        self._uid = str(uuid.uuid5(sink_uid, f"{context.identity}/{context.subtask}"))
        self._format = file_format.over_epochs() if context.with_checkpoints else file_format
        self._assigner = assigner
        self._policy = policy
        self._names = names
        self._check_interval = check_interval
        self._checked = 0
        self._parts: dict[str, Part] = {}
        self._next_number = 0
        self._watermark = NO_WATERMARK
        self._prepared: list[PreparedFile] = []
        self._savepoint = False
        self._counted: set[str] = set()
        """Open files that the last snapshot knows."""
        self._touched: set[str] = set()
        """Directories with files that no checkpoint knows yet."""

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write a block of records."""
        now = int(time.time() * 1000)
        bucket = self._assigner.common_bucket_id(now)
        if bucket is not None:
            self._append(bucket, values, now)
            return
        by_bucket: dict[str, list[Any]] = {}
        for position, value in enumerate(values):
            timestamp = None if timestamps is None else timestamps[position]
            bucket = self._assigner.get_bucket_id(value, BucketContext(now, self._watermark, timestamp))
            by_bucket.setdefault(bucket, []).append(value)
        for bucket, group in by_bucket.items():
            self._append(bucket, group, now)

    def on_watermark(self, timestamp: int) -> None:
        """Remember the watermark for the bucket assigner."""
        self._watermark = timestamp

    def _append(self, bucket: str, values: list[Any], now: int) -> None:
        records = self._format.encode(values, self._context.input_type)
        part = self._part(bucket, now)
        if not self._policy.rolls_on_size(part.length + self._format.size(records)):
            part.append(records, now)
            return
        for record in records:
            self._part(bucket, now).append([record], now)

    def _part(self, bucket: str, now: int) -> Part:
        """Return the bucket's open part file, a new one if there is none or the policy says so."""
        part = self._parts.get(bucket)
        if part is not None:
            created = part.known.created
            if not self._policy.rolls_on_size(part.length) and not self._policy.rolls_on_time(
                created, part.updated, now
            ):
                return part
            self._roll(bucket)
        directory = os.path.normpath(f"{self._base_path}/{bucket}")
        os.makedirs(directory, exist_ok=True)  # noqa: PTH103
        self._touched.add(directory)
        target = ""
        while not target or os.path.exists(target):  # noqa: PTH110 - a savepoint of long ago may be gone on from
            number, self._next_number = self._next_number, self._next_number + 1
            target = f"{directory}/{self._names.finished(self._uid, number)}"
        path = f"{directory}/{self._names.in_progress(self._uid, number, self._context.attempt)}"
        part = self._parts[bucket] = self._format.open(OpenFile(bucket, path, target, 0, now, now))
        return part

    def _roll(self, bucket: str) -> None:
        self._prepared.append(self._parts[bucket].prepare())
        del self._parts[bucket]

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close the files that are complete."""
        self._savepoint = False
        now = self._checked = int(time.time() * 1000)
        for bucket, part in list(self._parts.items()):
            if (
                end_of_input
                or (checkpoint and self._policy.rolls_on_checkpoint())
                or not self._format.goes_on
                or self._policy.rolls_on_size(part.length)
                or self._policy.rolls_on_time(part.known.created, part.updated, now)
            ):
                self._roll(bucket)
        prepared: list[object] = [*self._prepared]
        self._prepared.clear()
        if end_of_input:
            prepared.append(LastOf(self._uid))
        return prepared

    def next_prepare_commit(self) -> int | None:
        """Return the first check at which a file will be too old; those before it have nothing to do."""
        rolls = [self._policy.next_roll(part.known.created, part.updated) for part in self._parts.values()]
        first = min((roll for roll in rolls if roll is not None), default=None)
        if first is None:
            return None
        checks = max(1, -((self._checked - first) // self._check_interval))
        return self._checked + checks * self._check_interval

    def prepare_savepoint(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close all files: only one writer can go on with a file, and it is this one."""
        for bucket in list(self._parts):
            self._roll(bucket)
        prepared = self.prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)
        self._savepoint = True
        return prepared

    def snapshot(self) -> object | None:
        """Return the open files and their lengths."""
        files = tuple(part.state() for part in self._parts.values())
        self._counted = {file.path for file in files}
        return WriterState(self._uid, self._next_number, files, self._savepoint)

    def sync(self) -> None:
        """Bring the open files to disk, and the entries of all that were begun."""
        for part in self._parts.values():
            part.sync()
        _sync_directories(self._touched, self._base_path)
        self._touched.clear()

    def restore(self, state: object) -> None:
        """Go on with the open files of the previous epoch, cut to what counts."""
        if not isinstance(state, WriterState):
            raise TypeError(f"not the state of a file writer: {state!r}")
        self._uid, self._next_number = state.uid, state.next_number
        for file in state.files:
            self._go_on_with(file)

    def recover(self, states: Sequence[Any]) -> None:
        """Go on with the open files of writers of a checkpoint, and remove what they began after it.

        Names go on under a uid of this run: another one that starts from the same checkpoint shall not use them, too.
        """
        for state in states:
            if not isinstance(state, WriterState):
                raise TypeError(f"not the state of a file writer: {state!r}")
            if state.uid == self._uid:
                self._next_number = state.next_number
            for file in state.files:
                if file.bucket in self._parts:  # of another writer; its file stays as it is
                    self._roll(file.bucket)
                if state.uid == self._uid:
                    _take_back(file)
                self._go_on_with(file)
        known = {file.path for state in states for file in state.files}
        ended = {state.uid for state in states if not state.savepoint}
        _remove_leftovers(self._base_path, self._names, {self._uid, *ended}, known)

    def _go_on_with(self, file: OpenFile) -> None:
        if not Path(file.path).resolve().is_relative_to(Path(self._base_path).resolve()):
            raise CheckpointError(
                f"{file.path} is still being written in this checkpoint, but the sink now writes to {self._base_path}: "
                "start from it with the old directory, or from a savepoint, which has no such files"
            )
        try:
            size = Path(file.path).stat().st_size
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{file.path} is gone, which this job had begun to write (as {file.target}); it was removed, "
                "or the job was started from a checkpoint that is older than its last one"
            ) from None
        if size < file.length:
            raise OSError(f"{file.path} has {size} bytes, but {file.length} had been written to it")
        os.truncate(file.path, file.length)
        self._parts[file.bucket] = self._format.open(file)
        self._counted.add(file.path)

    def close(self) -> None:
        """Forget what was not prepared; files that an earlier epoch counts on stay."""
        for part in self._parts.values():
            part.discard()
            if part.known.path not in self._counted:
                Path(part.known.path).unlink(missing_ok=True)
        self._parts.clear()


class PartFileCommitter(Committer):
    """Gives complete part files their final names."""

    def __init__(self, base_path: str, names: PartNames) -> None:
        """Take where the files are and how they are called."""
        self._base_path = base_path
        self._names = names

    def commit(self, committables: Sequence[Any]) -> None:
        """Rename; a file that has its name already is left alone."""
        finished = {Path(item.target).parent for item in committables if isinstance(item, PreparedFile)}
        for prepared in committables:
            if isinstance(prepared, PreparedFile):
                _finish(prepared)
        for directory in finished:
            _sync_directory(directory)
        ended = {item.uid for item in committables if isinstance(item, LastOf)}
        if ended:
            _remove_leftovers(self._base_path, self._names, ended)


def _take_back(file: OpenFile) -> None:
    """Hide a file again that this job was still writing at its last checkpoint.

    It can have got its name since from another job that started from a savepoint, or without waiting for a checkpoint.
    """
    if not Path(file.path).exists() and Path(file.target).exists():
        _log.warning("%s is hidden until a checkpoint counts on it: the job goes back to before its end", file.target)
        Path(file.target).rename(file.path)


def _finish(prepared: PreparedFile) -> None:
    if prepared.spool:
        Path(prepared.spool).unlink(missing_ok=True)
    path, target = Path(prepared.path), Path(prepared.target)
    try:
        size = path.stat().st_size
        if size < prepared.length:
            raise OSError(f"{path} has {size} bytes, but {prepared.length} had been written to it")
        # Jobs that start from one savepoint finish the same files, perhaps at the same time.
        if target.exists() and path.exists():
            raise FileExistsError(f"{path} is complete, but there is a file {target} that it is not")
        if size > prepared.length:
            os.truncate(path, prepared.length)
        path.rename(target)
    except FileNotFoundError:
        if not target.exists():  # finished before, and taken away by somebody since?
            _log.warning("neither %s nor %s is there any more", path, target)


def _remove_leftovers(base_path: str, names: PartNames, uids: set[str], known: Collection[str] = ()) -> None:
    """Remove what these writers began and nobody knows of."""
    for directory, _, files in os.walk(base_path):
        for name in files:
            path = f"{directory}/{name}"
            if name.startswith(".") and path not in known and any(names.is_in_progress(name, uid) for uid in uids):
                Path(path).unlink(missing_ok=True)


def _sync_directories(directories: Iterable[str], base_path: str) -> None:
    """Bring the entries of directories to disk, and their own in those above, as far as that of the base path."""
    found = set()
    for directory in directories:
        path, top = Path(directory), Path(base_path).parent
        found |= {path, *(above for above in path.parents if above == top or top in above.parents)}
    for path in found:
        _sync_directory(path)


def _sync_directory(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # what was in it was finished before a restart, and taken away since
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
