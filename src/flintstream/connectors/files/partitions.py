"""What a committer does to whole directories: it replaces their files, and marks those that are complete."""

from __future__ import annotations

import os
import posixpath
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.checkpoint.registry import record
from flintstream.storage.reading import find, is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flintstream.connectors.files.recoverable import RecoverableWriter


NO_WATERMARK = -(2**63)


@record
@dataclass(frozen=True)
class WriterTime:
    """Tells the committer how far the event time of a writer is (ms), and which partitions it has not seen complete."""

    watermark: int
    waiting: tuple[tuple[str, int], ...] = ()
    """Directories, and the time of their first file (ms)."""


def files_below(base: str) -> tuple[str, ...]:
    """Return the files of a directory and those below it, without hidden ones; none if it does not exist."""
    if is_local(base):
        found = [posixpath.join(place, name) for place, _, names in os.walk(base) for name in names]
    else:
        found = [base.rstrip("/") + rest for rest, _ in find(base)]
    return tuple(path for path in found if "/." not in path[len(base) - 1 :])


@dataclass(frozen=True)
class Replacement:
    """Removes the files that were there before the job, once new ones are ready: the same ones when it is repeated."""

    files: tuple[str, ...]
    by_directory: bool
    """Whether only directories that get new files lose their old ones."""

    def apply(self, storage: RecoverableWriter, directories: set[str]) -> None:
        """Remove the old files; ``directories`` get new ones."""
        found = [path for path in self.files if not self.by_directory or posixpath.dirname(path) in directories]
        storage.remove(found)


@dataclass
class CompletePartitions:
    """Writes an empty file into the directory of a partition when the partition is complete."""

    base: str
    name: str
    """The name of the file."""
    delay: int = 0
    """How long a partition takes to be complete (ms): after its first file, or after its time."""
    time_of: Callable[[str], int] | None = None
    """Returns the time of a partition (ms) from its directory below the base; None if the clock counts."""
    waiting: dict[str, int] = field(default_factory=dict, init=False)
    """Directories that are not complete, and the time of their first file (ms)."""

    @property
    def takes_time(self) -> bool:
        """Whether a partition may be complete some time after its last file."""
        return self.delay > 0 or self.time_of is not None

    def apply(
        self, storage: RecoverableWriter, directories: Iterable[str], times: Sequence[WriterTime], *, ended: bool
    ) -> None:
        """Mark the partitions that are complete, after ``directories`` got new files.

        After a restart, the writers still tell which partitions wait.
        """
        now = int(time.time() * 1000)
        watermark = min((item.watermark for item in times), default=NO_WATERMARK)
        for directory, since in (pair for item in times for pair in item.waiting):
            self.waiting[directory] = min(since, self.waiting.get(directory, since))
        for directory in directories:
            self.waiting.setdefault(directory, now)
        for directory, since in list(self.waiting.items()):
            if ended or self._is_complete(directory, since, now, watermark):
                path = f"{directory}/{self.name}"
                storage.remove([path])
                storage.complete(storage.create(path))
                del self.waiting[directory]

    def still_waiting(self, waiting: Mapping[str, int], storage: RecoverableWriter, watermark: int) -> dict[str, int]:
        """Return the partitions of a writer that have no mark yet, as far as it can know."""
        now = int(time.time() * 1000)
        return {
            directory: since
            for directory, since in waiting.items()
            if not (self._is_complete(directory, since, now, watermark) and storage.exists(f"{directory}/{self.name}"))
        }

    def _is_complete(self, directory: str, since: int, now: int, watermark: int) -> bool:
        if self.time_of is None:
            return now >= since + self.delay
        return watermark > self.time_of(posixpath.relpath(directory, self.base)) + self.delay
