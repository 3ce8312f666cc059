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

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.connectors.files.buckets import BucketContext
from flintstream.connectors.files.compaction import NOTHING_HELD, PREFIX, Compaction, HeldFile
from flintstream.connectors.files.part_writers import OpenFile, PreparedFile
from flintstream.connectors.files.recoverable import check_within
from flintstream.connectors.files.recoverable_local import LocalRecoverableWriter
from flintstream.connectors.files.recoverable_remote import RemoteRecoverableWriter
from flintstream.connectors.sink import Committer, SinkWriter
from flintstream.storage.reading import is_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.files.buckets import BucketAssigner
    from flintstream.connectors.files.compaction import CompactionSettings, HeldFiles
    from flintstream.connectors.files.part_writers import Part, PartFormat
    from flintstream.connectors.files.recoverable import RecoverableWriter
    from flintstream.connectors.files.rolling import PartNames, RollingPolicy
    from flintstream.connectors.sink import WriterContext

NO_WATERMARK = -(2**63)

CHECK_INTERVAL_MS = 60_000
"""How often a stream that rests is looked at for files that are too old, unless the sink says otherwise."""


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
    held: HeldFiles = NOTHING_HELD
    """What waits to be merged."""


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
    ) -> None:
        """Take the sink's settings; ``sink_uid`` tells one sink's files from those of other sinks and earlier runs.

        ``check_interval`` is how often (ms) to look for files that are too old while no records come; ``compaction``
        says when and how to merge small files.
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
        self._checked = 0
        self._parts: dict[str, Part] = {}
        self._next_number = 0
        self._watermark = NO_WATERMARK
        self._complete: list[HeldFile] = []
        self._savepoint = False
        self._counted: set[str] = set()
        """Open files that the last snapshot knows."""

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
        encode, input_type = self._format.encode, self._context.input_type
        records = encode(values, input_type)
        part = self._part(bucket, now)
        if not self._policy.rolls_on_size(part.length + self._format.size(records)):
            part.append(records, now)
            return
        for value in values:
            self._part(bucket, now).append(encode([value], input_type), now)

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
        directory = self._storage.directory(bucket)
        name = ""
        while not name or self._is_taken(directory, name):
            number, self._next_number = self._next_number, self._next_number + 1
            name = self._names.finished(self._uid, number)
        path = f"{directory}/{self._names.in_progress(self._uid, number, self._context.attempt)}"
        known = OpenFile(bucket, path, f"{directory}/{name}", 0, now, now)
        part = self._parts[bucket] = self._format.open(known, self._storage)
        return part

    def _is_taken(self, directory: str, name: str) -> bool:
        """Tell whether there is a file of a name already: a savepoint of long ago may be gone on from."""
        names = [name] if self._compaction is None else [name, PREFIX + name]
        return any(self._storage.exists(f"{directory}/{each}") for each in names)

    def _roll(self, bucket: str) -> None:
        self._complete.append(HeldFile(bucket, self._parts[bucket].prepare()))
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
        prepared: list[object] = [*self._merged(checkpoint=checkpoint, everything=end_of_input)]
        if end_of_input:
            prepared.append(LastOf(self._uid))
        return prepared

    def _merged(self, *, checkpoint: bool, everything: bool) -> list[PreparedFile]:
        complete, self._complete = self._complete, []
        if self._compaction is None:
            return [each.file for each in complete]
        self._compaction.hold(complete)
        return self._compaction.prepare(checkpoint=checkpoint, everything=everything)

    def next_prepare_commit(self) -> int | None:
        """Return the first check at which a file will be too old; those before it have nothing to do."""
        rolls = [self._policy.next_roll(part.known.created, part.updated) for part in self._parts.values()]
        first = min((roll for roll in rolls if roll is not None), default=None)
        if first is None:
            return None
        checks = max(1, -((self._checked - first) // self._check_interval))
        return self._checked + checks * self._check_interval

    def prepare_savepoint(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Close all files, and hold none: only one writer can go on with a file, and it is this one."""
        for bucket in list(self._parts):
            self._roll(bucket)
        merged = self._merged(checkpoint=checkpoint, everything=True)
        prepared = self.prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)
        self._savepoint = True
        return [*merged, *prepared]

    def snapshot(self) -> object | None:
        """Return the open files and their lengths."""
        files = tuple(part.state() for part in self._parts.values())
        self._counted = {file.path for file in files}
        held = NOTHING_HELD if self._compaction is None else self._compaction.state()
        return WriterState(self._uid, self._next_number, files, self._savepoint, held)

    def sync(self) -> None:
        """Bring the open files to disk, and the entries of all that were begun."""
        for part in self._parts.values():
            part.sync()
        self._storage.sync()

    def restore(self, state: object) -> None:
        """Go on with the open files of the previous epoch, cut to what counts."""
        if not isinstance(state, WriterState):
            raise TypeError(f"not the state of a file writer: {state!r}")
        self._uid, self._next_number = state.uid, state.next_number
        self._hold(state.held)
        for file in state.files:
            self._go_on_with(file)

    def _hold(self, held: HeldFiles) -> None:
        for each in held.files:
            check_within(each.file.path, self._storage.base, within=self._storage.contains(each.file.path))
        if self._compaction is not None:
            self._compaction.restore(held)
        else:  # the sink does not merge any more
            self._complete += held.files

    def recover(self, states: Sequence[Any]) -> None:
        """Go on with the open files of writers of a checkpoint, and remove what they began after it.

        Names go on under a uid of this run: another one that starts from the same checkpoint shall not use them, too.
        """
        for state in states:
            if not isinstance(state, WriterState):
                raise TypeError(f"not the state of a file writer: {state!r}")
            if state.uid == self._uid:
                self._next_number = state.next_number
            self._hold(state.held)
            for file in state.files:
                if file.bucket in self._parts:  # of another writer; its file stays as it is
                    self._roll(file.bucket)
                if state.uid == self._uid:
                    self._storage.take_back(file)
                self._go_on_with(file)
        known = {path for part in self._parts.values() for path in part.paths()}
        complete = [file for state in states for file in state.held.files] + self._complete
        known |= {path for each in complete for path in (each.file.path, *each.file.leftovers)}
        ended = {state.uid for state in states if not state.savepoint}
        self._storage.remove_leftovers(self._names.leftovers_of({self._uid, *ended}), known)

    def _go_on_with(self, file: OpenFile) -> None:
        self._storage.check(file)
        self._parts[file.bucket] = self._format.open(file, self._storage)
        self._counted.add(file.path)

    def close(self) -> None:
        """Forget what was not prepared; files that an earlier epoch counts on stay."""
        for part in self._parts.values():
            part.discard()
            if part.known.path not in self._counted:
                self._storage.remove(part.paths())
        self._parts.clear()


class PartFileCommitter(Committer):
    """Gives complete part files their final names."""

    def __init__(self, base_path: str, names: PartNames) -> None:
        """Take where the files are and how they are called."""
        self._storage = _recoverable(base_path)
        self._names = names

    def commit(self, committables: Sequence[Any]) -> None:
        """Name the files; one that has its name already is left alone."""
        self._storage.finish(item for item in committables if isinstance(item, PreparedFile))
        ended = {item.uid for item in committables if isinstance(item, LastOf)}
        if ended:
            self._storage.remove_leftovers(self._names.leftovers_of(ended))


def _recoverable(base_path: str) -> RecoverableWriter:
    return LocalRecoverableWriter(base_path) if is_local(base_path) else RemoteRecoverableWriter(base_path)
