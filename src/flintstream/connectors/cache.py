"""Records of a cached stream, in files: the job that computes them writes them, later jobs read them."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common._pickling import dumps
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.sink import WriterContext
    from flintstream.connectors.source import Fetch, SplitEnumerator


class Cache:
    """A directory of complete files. It is deleted with this object, or when Python exits."""

    def __init__(self, parent: str | None) -> None:
        """Create the directory in ``parent``, which all workers must reach, or in the directory for temporary files."""
        if parent is not None:
            os.makedirs(parent, exist_ok=True)  # noqa: PTH103
        self.directory = tempfile.mkdtemp(prefix="flintstream-cache-", dir=parent)
        self.files: tuple[str, ...] = ()
        self._delete = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)

    def sink(self) -> Sink:
        """Return the sink that fills the cache."""
        return _CacheSink(self)

    def source(self) -> Source:
        """Return the source that reads the cache."""
        return _CacheSource(self)

    def intact(self) -> bool:
        """Return whether all files still exist."""
        return all(os.path.exists(file) for file in self.files)  # noqa: PTH110

    def delete(self) -> None:
        """Delete all files."""
        self._delete()


class _CacheSink(Sink):
    def __init__(self, cache: Cache) -> None:
        self._cache: Cache | None = cache
        self._directory = cache.directory

    def __getstate__(self) -> dict[str, Any]:
        return {"_cache": None, "_directory": self._directory}

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _CacheWriter(Path(self._directory, f"{context.subtask:05}-{context.attempt}"))

    def create_committer(self) -> Committer:
        assert self._cache is not None  # noqa: S101 - committers stay in the process that created the sink
        return _CacheCommitter(self._cache)


class _CacheWriter(SinkWriter):
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        if self._file is None:
            self._file = self._path.open("wb")
        self._file.write(dumps((values, timestamps)))

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        if self._file is None:
            return ()
        self._file.close()
        self._file = None
        return (str(self._path),)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _CacheCommitter(Committer):
    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        cache.files = ()  # a restarted job computes all records again

    def commit(self, committables: Sequence[Any]) -> None:
        # Sorted by subtask, because readers are assigned the files in this order.
        self._cache.files = tuple(sorted({*self._cache.files, *committables}, key=os.path.basename))


@dataclass
class _CacheSplit(SourceSplit):
    position: int = 0


class _CacheSource(Source):
    def __init__(self, cache: Cache) -> None:
        self._cache: Cache | None = cache

    def __getstate__(self) -> dict[str, Any]:
        return {"_cache": None}

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:  # noqa: ARG002
        assert self._cache is not None  # noqa: S101 - enumerators stay in the process that created the source
        return StaticEnumerator([_CacheSplit(file) for file in self._cache.files])

    def create_reader(self) -> SourceReader:
        return _CacheReader()


class _CacheReader(SourceReader):
    gives_away = True

    def read(self, split: _CacheSplit, fetch: Fetch) -> Generator[list[Any] | Timestamped, None, bool]:  # noqa: ARG002
        with open(split.split_id, "rb") as file:  # noqa: PTH123
            file.seek(split.position)
            while True:
                try:
                    values, timestamps = pickle.load(file)
                except EOFError:
                    return True
                split.position = file.tell()
                yield values if timestamps is None else Timestamped(values, timestamps)
