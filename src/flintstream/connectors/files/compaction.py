"""Merge the small part files of a writer into larger ones before they are committed.

The writer *holds* complete part files until a bucket has enough of them: they keep their hidden names and are listed in
the writer's state. The merged file is prepared in their place. They are removed once it has its final name. Even after
failures, each record is in exactly one file with a final name.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

from flintstream.checkpoint.registry import record
from flintstream.connectors.files.recoverable import PreparedFile
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.connectors.files.recoverable import RecoverableWriter

PREFIX = "compacted-"
"""Prefix of the names of merged files, as in Flink."""


class Merge(Protocol):
    """A way to merge files."""

    copies: bool
    """Whether merging a single file returns that file."""

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        """Write the contents of several files, in order, to one file."""


@dataclass(frozen=True)
class CompactionSettings:
    """Settings that define when and how to merge."""

    checkpoints: int
    """Number of checkpoints after the first of the files; ignored if not positive."""
    size_threshold: int
    """Total size of the files in bytes; ignored if negative."""
    threads: int
    merge: Merge
    target_size: int = -1
    """Size in bytes that a merged file should not exceed; without limit if negative."""


@record
@dataclass(frozen=True)
class HeldFile:
    """A complete part file that waits for the merge."""

    bucket: str
    file: PreparedFile


@record
@dataclass(frozen=True)
class HeldFiles:
    """The held files, as state for the writer of the next epoch."""

    files: tuple[HeldFile, ...] = ()
    checkpoints: tuple[tuple[str, int], ...] = ()
    """For each bucket, the number of checkpoints since its first file."""


NOTHING_HELD = HeldFiles()


class Compaction:
    """The held files of one writer, and the decision when to merge them."""

    def __init__(self, settings: CompactionSettings, storage: RecoverableWriter, attempt: str) -> None:
        """Take the settings, the file system, and the suffix of names of unfinished files."""
        self._settings = settings
        self._storage = storage
        self._attempt = attempt
        self._held: dict[str, list[PreparedFile]] = {}
        self._checkpoints: dict[str, int] = {}

    def hold(self, files: Iterable[HeldFile]) -> None:
        """Hold files until there are enough."""
        for file in files:
            self._held.setdefault(file.bucket, []).append(file.file)

    def restore(self, state: HeldFiles) -> None:
        """Add the files that another writer held."""
        self.hold(state.files)
        for bucket, count in state.checkpoints:
            self._checkpoints[bucket] = max(count, self._checkpoints.get(bucket, 0))

    def state(self) -> HeldFiles:
        """Return the held files."""
        files = tuple(HeldFile(bucket, file) for bucket, held in self._held.items() for file in held)
        return HeldFiles(files, tuple(self._checkpoints.items()))

    def prepare(self, *, checkpoint: bool, everything: bool) -> list[PreparedFile]:
        """Merge the buckets that are due at the end of an epoch, which may end with a checkpoint."""
        if checkpoint:
            for bucket in self._held:
                self._checkpoints[bucket] = self._checkpoints.get(bucket, 0) + 1
        due = [bucket for bucket in self._held if everything or self._is_due(bucket)]
        groups = [group for bucket in due for group in self._pack(self._held.pop(bucket))]
        for bucket in due:
            self._checkpoints.pop(bucket, None)
        if len(groups) < 2 or self._settings.threads == 1:
            return list(map(self._merge, groups))
        with ThreadPoolExecutor(self._settings.threads) as threads:
            return list(threads.map(self._merge, groups))

    def _is_due(self, bucket: str) -> bool:
        settings = self._settings
        if 0 < settings.checkpoints <= self._checkpoints.get(bucket, 0):
            return True
        return 0 <= settings.size_threshold < sum(file.length for file in self._held[bucket])

    def _pack(self, files: list[PreparedFile]) -> list[list[PreparedFile]]:
        """Return the files that become one each: in their order, and at least one."""
        target = self._settings.target_size
        groups: list[list[PreparedFile]] = [[]]
        size = 0
        for file in files:
            if groups[-1] and 0 <= target < size + file.length:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.length
        return groups

    def _merge(self, files: list[PreparedFile]) -> PreparedFile:
        first = files[0]
        directory, _, name = first.target.rpartition("/")
        target = f"{directory}/{PREFIX}{name}"
        if len(files) == 1 and self._settings.merge.copies:
            return replace(first, target=target)
        path = f"{directory}/.{PREFIX}{name}.inprogress.{self._attempt}"
        inputs: list[BinaryIO] = []
        try:
            inputs += map(self._storage.read, files)
            output = self._storage.create(path)
            try:
                self._settings.merge.compact(inputs, output)
                length = self._storage.complete(output)
            except BaseException:
                self._storage.abandon(output)
                raise
        except FileNotFoundError as error:
            raise FlintstreamError(
                f"a part file to be merged into {target} does not exist any more: it was removed, or the job was "
                f"started from a checkpoint that is older than its last one: {error}"
            ) from error
        finally:
            for stream in inputs:
                stream.close()
        parts = tuple(path for file in files for path in (file.path, *file.leftovers))
        return PreparedFile(path, target, length, parts=parts)
