"""Merges the small part files of a writer into larger ones before they are committed.

Part files that are complete are *held*: they keep their hidden names, and the writer's state knows them, until there
are enough of them in a bucket. The merged file is prepared in their place, and they are removed once it has its name.
Whatever fails meanwhile, a record is in one file with a final name.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

from flintstream.connectors.files.recoverable import PreparedFile
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.connectors.files.recoverable import RecoverableWriter

PREFIX = "compacted-"
"""What the names of merged files begin with, as in Flink."""


class Merge(Protocol):
    """How files are merged."""

    copies: bool
    """Whether what it makes of a single file is that file."""

    def compact(self, inputs: Sequence[BinaryIO], output: BinaryIO) -> None:
        """Write one file that has what several have, in their order."""


@dataclass(frozen=True)
class CompactionSettings:
    """When to merge, and how."""

    checkpoints: int
    """So many checkpoints after the first of the files; no matter if not positive."""
    size_threshold: int
    """When the files have so many bytes; no matter if negative."""
    threads: int
    merge: Merge


@dataclass(frozen=True)
class HeldFile:
    """A complete part file that waits to be merged with others."""

    bucket: str
    file: PreparedFile


@dataclass(frozen=True)
class HeldFiles:
    """What the writer of the next epoch needs."""

    files: tuple[HeldFile, ...] = ()
    checkpoints: tuple[tuple[str, int], ...] = ()
    """For each bucket, how many there have been since the first file."""


NOTHING_HELD = HeldFiles()


class Compaction:
    """The files that one writer holds."""

    def __init__(self, settings: CompactionSettings, storage: RecoverableWriter, attempt: str) -> None:
        """Take when and how to merge, where, and what names of unfinished files end with."""
        self._settings = settings
        self._storage = storage
        self._attempt = attempt
        self._held: dict[str, list[PreparedFile]] = {}
        self._checkpoints: dict[str, int] = {}

    def hold(self, files: Iterable[HeldFile]) -> None:
        """Wait with files until there are enough."""
        for each in files:
            self._held.setdefault(each.bucket, []).append(each.file)

    def restore(self, state: HeldFiles) -> None:
        """Take over what another writer held."""
        self.hold(state.files)
        for bucket, count in state.checkpoints:
            self._checkpoints[bucket] = max(count, self._checkpoints.get(bucket, 0))

    def state(self) -> HeldFiles:
        """Return what is held."""
        files = tuple(HeldFile(bucket, file) for bucket, held in self._held.items() for file in held)
        return HeldFiles(files, tuple(self._checkpoints.items()))

    def prepare(self, *, checkpoint: bool, everything: bool) -> list[PreparedFile]:
        """Merge what is due at the end of an epoch, which may end with a checkpoint."""
        if checkpoint:
            for bucket in self._held:
                self._checkpoints[bucket] = self._checkpoints.get(bucket, 0) + 1
        due = [bucket for bucket in self._held if everything or self._is_due(bucket)]
        groups = [self._held.pop(bucket) for bucket in due]
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
                f"a part file that was to be merged into {target} is gone; it was removed, or the job was started from "
                f"a checkpoint that is older than its last one: {error}"
            ) from error
        finally:
            for stream in inputs:
                stream.close()
        parts = tuple(path for file in files for path in (file.path, *file.leftovers))
        return PreparedFile(path, target, length, parts=parts)
