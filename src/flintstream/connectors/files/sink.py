"""Write records to part files that become visible atomically.

A part file is written under a hidden name. When it is complete, it is *prepared*: the committer gives it its final name
once the epoch counts. The state holds path and length of part files that stay open from one epoch to the next. A writer
that continues such a file, perhaps after a failure, first truncates it to that length, so that it holds only valid
records. Unreferenced files of lost attempts are removed when the job restarts from a checkpoint, and when it ends.
Names begin with the uid of the writer, which is different in each run of a program.

A checkpoint must never refer to a file that is lost in a crash. Files and their directory entries are therefore on disk
before a checkpoint refers to them, and final names are on disk before the job continues.
"""

from __future__ import annotations

import posixpath
import time
import uuid
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record, register
from flintstream.connectors.files.compaction import NOTHING_HELD, PREFIX, Compaction, HeldFile
from flintstream.connectors.files.part_writers import OpenFile, PreparedFile
from flintstream.connectors.files.partitions import NO_WATERMARK, WriterTime
from flintstream.connectors.files.recoverable import check_within
from flintstream.connectors.files.recoverable.local import LocalRecoverableWriter
from flintstream.connectors.files.recoverable.remote import RemoteRecoverableWriter
from flintstream.connectors.sink import Committer, SinkWriter
from flintstream.storage.reading import is_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.files.buckets import BucketAssigner
    from flintstream.connectors.files.compaction import CompactionSettings, HeldFiles
    from flintstream.connectors.files.part_writers import Part, PartFormat
    from flintstream.connectors.files.partitions import CompletePartitions, Replacement
    from flintstream.connectors.files.recoverable import RecoverableWriter
    from flintstream.connectors.files.rolling import PartNames, RollingPolicy
    from flintstream.connectors.sink import WriterContext

CHECK_INTERVAL_MS = 60_000
"""Default interval for checking an idle stream for files that are too old."""

FILES_PER_TASK = 64
"""More files than this, in an object store, are named by tasks."""


@dataclass(frozen=True)
class EndOfWriter:
    """Tells the committer that the writer ``uid`` will prepare no more files."""

    uid: str


register("LastOf", EndOfWriter, lambda end: {"uid": end.uid}, lambda plain: EndOfWriter(**plain))  # its name in state
LastOf = EndOfWriter
"""The name of the class in pickles of earlier releases."""


@record
@dataclass(frozen=True)
class WriterState:
    """The state for the writer of the next epoch."""

    uid: str
    next_number: int
    files: tuple[OpenFile, ...]
    savepoint: bool = False
    """Whether the writer that returned this state may still be writing."""
    held: HeldFiles = NOTHING_HELD
    """The files that wait to be merged."""
    waiting: tuple[tuple[str, int], ...] = ()
    """Directories that may have no mark yet, and the time of their first file (ms)."""


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
        compaction: CompactionSettings | None = None,
        *,
        partitions: CompletePartitions | None = None,
    ) -> None:
        """Take the sink's settings; ``sink_uid`` separates the sink's files from those of other sinks and earlier runs.

        ``check_interval`` (ms) is how often to look for files that are too old while the stream is idle.
        ``compaction`` defines when and how to merge small files. ``partitions`` says when partitions are complete.
        """
        self._context = context
        self._storage = _recoverable(base_path)
        self._compaction = None if compaction is None else Compaction(compaction, self._storage, context.attempt)
        self._uid = str(uuid.uuid5(sink_uid, f"{context.identity}/{context.subtask}"))
        self._format = file_format.over_epochs() if context.with_checkpoints else file_format
        self._assigner = assigner
        self._policy = policy
        self._names = names
        self._check_interval = check_interval
        self._partitions = partitions if partitions is not None and partitions.takes_time else None
        self._waiting: dict[str, int] = {}
        self._checked = 0
        self._parts: dict[str, Part] = {}
        self._next_number = 0
        self._watermark = NO_WATERMARK
        self._complete: list[HeldFile] = []
        self._savepoint = False
        self._counted: set[str] = set()
        """Open files that are part of the last snapshot."""

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write a block of records."""
        now = int(time.time() * 1000)
        bucket = self._assigner.common_bucket_id(now)
        if bucket is not None:
            self._append(bucket, values, now)
            return
        for bucket, group in self._assigner.split_block(values, timestamps, now, self._watermark).items():
            self._append(bucket, group, now)

    def on_watermark(self, timestamp: int) -> None:
        """Remember the watermark for the bucket assigner."""
        self._watermark = timestamp

    def _append(self, bucket: str, values: list[Any], now: int) -> None:
        encode, input_type = self._format.encode, self._context.input_type
        records = encode(values, input_type)
        part = self._part(bucket, now)
        if not self._policy.rolls_on_size(part.length + self._format.size(records)):
            part.append(records, now)
            return
        for value in values:
            self._part(bucket, now).append(encode([value], input_type), now)

    def _part(self, bucket: str, now: int) -> Part:
        """Return the bucket's open part file, or a new one if there is none or the policy requires it."""
        part = self._parts.get(bucket)
        if part is not None:
            created = part.known.created
            if not self._policy.rolls_on_size(part.length) and not self._policy.rolls_on_time(
                created, part.updated, now
            ):
                return part
            self._roll(bucket)
        directory = self._storage.directory(bucket)
        name = ""
        while not name or self._is_taken(directory, name):
            number, self._next_number = self._next_number, self._next_number + 1
            name = self._names.finished_name(self._uid, number)
        path = f"{directory}/{self._names.in_progress(self._uid, number, self._context.attempt)}"
        known = OpenFile(bucket, path, f"{directory}/{name}", 0, now, now)
        part = self._parts[bucket] = self._format.open(known, self._storage)
        return part

    def _is_taken(self, directory: str, name: str) -> bool:
        """Return whether the name is taken already, because the job may have started from an old savepoint."""
        names = [name] if self._compaction is None else [name, PREFIX + name]
        return any(self._storage.exists(f"{directory}/{item}") for item in names)

    def _roll(self, bucket: str) -> None:
        self._complete.append(HeldFile(bucket, self._parts[bucket].prepare()))
        del self._parts[bucket]

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close the complete files."""
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
        prepared: list[object] = [*self._compact(checkpoint=checkpoint, everything=end_of_input)]
        if self._partitions is not None:
            files = [item for item in prepared if isinstance(item, PreparedFile)]
            prepared.append(self._tell_waiting(self._partitions, files, now))
        if end_of_input:
            prepared.append(EndOfWriter(self._uid))
        return prepared

    def _tell_waiting(self, partitions: CompletePartitions, files: Sequence[PreparedFile], now: int) -> WriterTime:
        """Return what the committer needs to mark partitions, among which those of new files are."""
        self._waiting = partitions.still_waiting(self._waiting, self._storage, self._watermark)
        for file in files:
            self._waiting.setdefault(posixpath.dirname(file.target), now)
        return WriterTime(self._watermark, tuple(self._waiting.items()))

    def _compact(self, *, checkpoint: bool, everything: bool) -> list[PreparedFile]:
        complete, self._complete = self._complete, []
        if self._compaction is None:
            return [item.file for item in complete]
        self._compaction.hold(complete)
        return self._compaction.prepare(checkpoint=checkpoint, everything=everything)

    def next_prepare_commit(self) -> int | None:
        """Return the time of the first check at which a file will be too old; earlier checks have nothing to do."""
        rolls = [self._policy.next_roll(part.known.created, part.updated) for part in self._parts.values()]
        first = min((roll for roll in rolls if roll is not None), default=None)
        if first is None:
            return None
        checks = max(1, -((self._checked - first) // self._check_interval))
        return self._checked + checks * self._check_interval

    def prepare_savepoint(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close all files and hold none: only this writer can continue them."""
        for bucket in list(self._parts):
            self._roll(bucket)
        merged = self._compact(checkpoint=checkpoint, everything=True)
        if self._partitions is not None:
            self._tell_waiting(self._partitions, merged, int(time.time() * 1000))
        prepared = self.prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)
        self._savepoint = True
        return [*merged, *prepared]

    def snapshot(self) -> object | None:
        """Return the open files and their lengths."""
        files = tuple(part.state() for part in self._parts.values())
        self._counted = {file.path for file in files}
        held = NOTHING_HELD if self._compaction is None else self._compaction.state()
        waiting = tuple(self._waiting.items())
        return WriterState(self._uid, self._next_number, files, self._savepoint, held, waiting)

    def sync(self) -> None:
        """Sync to disk the open files and the directory entries of all new files."""
        for part in self._parts.values():
            part.sync()
        self._storage.sync()

    def restore(self, state: object) -> None:
        """Continue with the open files of the previous epoch, truncated to their recorded length."""
        if not isinstance(state, WriterState):
            raise TypeError(f"not the state of a file writer: {state!r}")
        self._uid, self._next_number = state.uid, state.next_number
        self._waiting = dict(state.waiting)
        self._hold(state.held)
        for file in state.files:
            self._go_on_with(file)

    def _hold(self, held: HeldFiles) -> None:
        for file in held.files:
            check_within(file.file.path, self._storage.base, within=self._storage.contains(file.file.path))
        if self._compaction is not None:
            self._compaction.restore(held)
        else:  # compaction was turned off
            self._complete += held.files

    def recover(self, states: Sequence[Any]) -> None:
        """Continue with the open files of the writers of a checkpoint, and remove the files that they started later.

        New names use a uid of this run, so that a second job that restores from the same checkpoint does not use them.
        """
        for state in states:
            if not isinstance(state, WriterState):
                raise TypeError(f"not the state of a file writer: {state!r}")
            if state.uid == self._uid:
                self._next_number = state.next_number
            for directory, since in state.waiting:
                self._waiting[directory] = min(since, self._waiting.get(directory, since))
            self._hold(state.held)
            for file in state.files:
                if file.bucket in self._parts:  # another writer's file; leave it unchanged
                    self._roll(file.bucket)
                if state.uid == self._uid:
                    self._storage.take_back(file)
                self._go_on_with(file)
        known = {path for part in self._parts.values() for path in part.paths()}
        complete = [file for state in states for file in state.held.files] + self._complete
        known |= {path for item in complete for path in (item.file.path, *item.file.leftovers)}
        ended = {state.uid for state in states if not state.savepoint}
        self._storage.remove_leftovers(self._names.leftovers_of({self._uid, *ended}), known)

    def _go_on_with(self, file: OpenFile) -> None:
        self._storage.check(file)
        self._parts[file.bucket] = self._format.open(file, self._storage)
        self._counted.add(file.path)

    def close(self) -> None:
        """Drop files that were not prepared, except those that an earlier epoch refers to."""
        for part in self._parts.values():
            part.discard()
            if part.known.path not in self._counted:
                self._storage.remove(part.paths())
        self._parts.clear()


class PartFileCommitter(Committer):
    """Gives complete part files their final names. In an object store, tasks do so if there are many of them."""

    def __init__(
        self,
        base_path: str,
        names: PartNames,
        replacement: Replacement | None = None,
        partitions: CompletePartitions | None = None,
    ) -> None:
        """Take the base path, the naming scheme, and what else becomes of directories."""
        self._base_path = base_path
        self._replacement, self._partitions = replacement, partitions
        self._storage = _recoverable(base_path)
        self._names = names

    def commit(self, committables: Sequence[Any]) -> None:
        """Rename the files. A file that already has its final name is left alone."""
        prepared = [item for item in committables if isinstance(item, PreparedFile)]
        directories = {posixpath.dirname(item.target) for item in prepared}
        if self._replacement is not None:
            self._replacement.apply(self._storage, directories)
        if len(prepared) > FILES_PER_TASK and not is_local(self._base_path):
            shares = (prepared[start : start + FILES_PER_TASK] for start in range(0, len(prepared), FILES_PER_TASK))
            self.run_tasks([partial(_finish, self._base_path, share) for share in shares])
        else:
            self._storage.finish(prepared)
        ended = {item.uid for item in committables if isinstance(item, EndOfWriter)}
        if ended:
            self._storage.remove_leftovers(self._names.leftovers_of(ended))
        if self._partitions is not None:
            times = [item for item in committables if isinstance(item, WriterTime)]
            self._partitions.apply(self._storage, directories, times, ended=bool(ended))


def _finish(base_path: str, prepared: Sequence[PreparedFile]) -> None:
    _recoverable(base_path).finish(prepared)


def _recoverable(base_path: str) -> RecoverableWriter:
    return LocalRecoverableWriter(base_path) if is_local(base_path) else RemoteRecoverableWriter(base_path)
