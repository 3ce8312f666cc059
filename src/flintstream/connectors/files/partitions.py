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
    from collections.abc import Callable, Iterable

    from flintstream.connectors.files.recoverable import RecoverableWriter


@record
@dataclass(frozen=True)
class WriterTime:
    """Tells the committer how far the event time of a writer is (ms)."""

    watermark: int


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
    waiting: dict[str, int] | None = field(default=None, init=False)
    """Directories that are not complete, and the time of their first file (ms)."""

    def apply(self, storage: RecoverableWriter, directories: Iterable[str], *, watermark: int, ended: bool) -> None:
        """Mark the partitions that are complete, after ``directories`` got new files."""
        now = int(time.time() * 1000)
        if self.waiting is None:  # a partition that is complete at once waits for nothing from earlier attempts
            waits = self.delay > 0 or self.time_of is not None
            self.waiting = dict.fromkeys(self._without_mark(), now) if waits else {}
        for directory in directories:
            self.waiting.setdefault(directory, now)
        for directory, since in list(self.waiting.items()):
            if ended or self._is_complete(directory, since, now, watermark):
                path = f"{directory}/{self.name}"
                storage.remove([path])
                storage.complete(storage.create(path))
                del self.waiting[directory]

    def _is_complete(self, directory: str, since: int, now: int, watermark: int) -> bool:
        if self.time_of is None:
            return now >= since + self.delay
        return watermark > self.time_of(posixpath.relpath(directory, self.base)) + self.delay

    def _without_mark(self) -> list[str]:
        """Return the directories of earlier attempts that have files, but no mark: the job may have been restarted."""
        paths = files_below(self.base)
        marked = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == self.name}
        return sorted({posixpath.dirname(path) for path in paths} - marked - {self.base})
