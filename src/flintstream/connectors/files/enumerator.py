"""Find the files under a source's paths and cut them into splits."""

from __future__ import annotations

import os
import time
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.connectors.files.byte_streams import compression_of
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.source import SplitEnumerator
from flintstream.storage.reading import find, is_local
from flintstream.storage.regular import check_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SMALLEST_SPLIT = 4 << 20
LARGEST_SPLIT = 64 << 20


def is_hidden(path: str) -> bool:
    """Return whether Flink's file source skips a file or directory of this name.

    >>> is_hidden("/data/_SUCCESS"), is_hidden("/data/.part.inprogress"), is_hidden("/_data/part")
    (True, True, False)
    """
    return os.path.basename(path).startswith((".", "_"))  # noqa: PTH119 - called for every file


def list_files(paths: Iterable[str], keep: Callable[[str], bool] | None = None) -> Iterator[tuple[str, int]]:
    """Yield path and size of all files under the paths, sorted by name, without those that vanish during the listing.

    Only files are read whose paths ``keep`` accepts, if it is given. A path that is itself hidden is skipped as well,
    as in Flink.

    Raises:
        OSError: One of them is a named pipe, a socket or a device.
    """
    for path in paths:
        if is_hidden(path):
            continue
        if not is_local(path):
            for below, size in find(path):
                if not any(map(is_hidden, below.split("/"))) and (keep is None or keep(path + below)):
                    yield path + below, size
            continue
        try:
            if Path(path).is_dir():
                yield from list_files(sorted(entry.path for entry in os.scandir(path)), keep)
            elif keep is None or keep(path):
                status = os.stat(path)  # noqa: PTH116 - called for every file
                check_regular(path, status.st_mode)
                yield path, status.st_size
        except FileNotFoundError:
            continue


def plan_splits(files: Sequence[tuple[str, int]], parallelism: int, *, splittable: bool) -> list[FileSplit]:
    """Cut files (path, size) into splits, as large as possible while every subtask gets its share.

    >>> [(s.split_id, s.start, s.end) for s in plan_splits([("/a", 10_000_000), ("/b.gz", 9)], 2, splittable=True)]
    [('/a:0', 0, 5000000), ('/a:5000000', 5000000, None), ('/b.gz', 0, None)]
    """
    share = sum(size for _, size in files) // parallelism
    largest = min(max(share, SMALLEST_SPLIT), LARGEST_SPLIT)
    splits = []
    for path, size in files:
        if not splittable or compression_of(path) is not None:
            splits.append(FileSplit(path, path, size=size))
            continue
        pieces = max(1, round(size / largest))
        starts = [size * piece // pieces for piece in range(pieces)]
        # The last split has no end: the file may have grown by the time it is read.
        splits.extend(
            FileSplit(f"{path}:{start}", path, start, end, size=(size if end is None else end) - start)
            for start, end in zip_longest(starts, starts[1:])
        )
    return splits


class FileMonitor(SplitEnumerator):
    """Looks for new files at intervals. A file is identified by its path and read once."""

    def __init__(
        self,
        paths: Sequence[str],
        parallelism: int,
        interval_ms: int,
        *,
        splittable: bool,
        keep: Callable[[str], bool] | None = None,
    ) -> None:
        """Take the paths to search, the interval between two searches (ms), and which paths of files are read."""
        self._keep = keep
        self._paths = paths
        self._parallelism = parallelism
        self._interval = interval_ms / 1000
        self._splittable = splittable
        self._seen: set[str] = set()
        self._next_look = time.monotonic()

    def discover(self) -> Sequence[FileSplit]:
        """Return the splits of the files that appeared since the last search, if a search is due."""
        now = time.monotonic()
        if now < self._next_look:
            return []
        self._next_look = now + self._interval
        new = [(path, size) for path, size in list_files(self._paths, self._keep) if path not in self._seen]
        self._seen.update(path for path, _ in new)
        return plan_splits(new, self._parallelism, splittable=self._splittable)

    def is_finished(self) -> bool:
        """Return False: more files may always appear."""
        return False

    def snapshot(self) -> object:
        """Return the known paths."""
        return frozenset(self._seen)

    def restore(self, state: object) -> None:
        """Restore the known paths."""
        self._seen = set(state)  # type: ignore[call-overload]
