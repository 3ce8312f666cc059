"""Records of a cached stream, in files: the job that computes them writes them, later jobs read them."""

from __future__ import annotations

import os
import pickle
import tempfile
import uuid
import weakref
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.checkpoint.registry import record
from flintstream.common._user_code.pickling import dumps
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from contextlib import AbstractContextManager

    from flintstream.connectors.sink import WriterContext
    from flintstream.connectors.source import Fetch, SplitEnumerator
    from flintstream.storage.file_store import FileStore


class Cache:
    """A directory of complete files. It is deleted with this object, or when Python exits."""

    def __init__(self, parent: str | None) -> None:
        """Use a new directory in ``parent``, which all workers must reach, or in the directory for temporary files."""
        place = (
            tempfile.mkdtemp(prefix="flintstream-cache-")
            if parent is None
            else f"{parent}/flintstream-cache-{uuid.uuid4().hex}"
        )
        self.store = file_store(place)
        self.files: tuple[str, ...] = ()
        self._delete = weakref.finalize(self, _delete, self.store, os.getpid())

    def sink(self) -> Sink:
        """Return the sink that fills the cache."""
        return _CacheSink(self)

    def source(self) -> Source:
        """Return the source that reads the cache."""
        return _CacheSource(self)

    def intact(self) -> bool:
        """Return whether all files still exist."""
        return all(map(self.store.exists, self.files))

    def delete(self) -> None:
        """Delete all files."""
        self._delete()


def _delete(store: FileStore, owner: int) -> None:
    if os.getpid() != owner:  # a process that was forked has a copy of the object
        return
    with suppress(Exception):  # whatever a storage raises; a program must not fail because of it
        store.delete_tree("")


class _CacheSink(Sink):
    def __init__(self, cache: Cache) -> None:
        self._cache: Cache | None = cache
        self._store = cache.store

    def __getstate__(self) -> dict[str, Any]:
        return {"_cache": None, "_store": self._store}

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _CacheWriter(self._store, f"{context.subtask:05}-{context.attempt}")

    def create_committer(self) -> Committer:
        assert self._cache is not None  # noqa: S101 - committers stay in the process that created the sink
        return _CacheCommitter(self._cache)


class _CacheWriter(SinkWriter):
    def __init__(self, store: FileStore, name: str) -> None:
        self._store = store
        self._name = name
        self._context: AbstractContextManager[BinaryIO] | None = None
        self._file: BinaryIO | None = None

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        if self._file is None:
            self._context = self._store.create(self._name)
            self._file = self._context.__enter__()
        self._file.write(dumps((values, timestamps)))

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        context, self._context, self._file = self._context, None, None
        if context is None:
            return ()
        context.__exit__(None, None, None)
        return (self._name,)

    def close(self) -> None:
        context, self._context, self._file = self._context, None, None
        if context is not None:
            error = InterruptedError("the writer was closed before the end of its input")
            with suppress(InterruptedError):
                context.__exit__(type(error), error, None)


class _CacheCommitter(Committer):
    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        cache.files = ()  # a restarted job computes all records again

    def commit(self, committables: Sequence[Any]) -> None:
        # Sorted by subtask, because readers are assigned the files in this order.
        self._cache.files = tuple(sorted({*self._cache.files, *committables}))


@record
@dataclass
class _CacheSplit(SourceSplit):
    position: int = 0


class _CacheSource(Source):
    def __init__(self, cache: Cache) -> None:
        self._cache: Cache | None = cache
        self._store = cache.store

    def __getstate__(self) -> dict[str, Any]:
        return {"_cache": None, "_store": self._store}

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        assert self._cache is not None  # noqa: S101 - enumerators stay in the process that created the source
        return StaticEnumerator([_CacheSplit(file) for file in self._cache.files])

    def create_reader(self) -> SourceReader:
        return _CacheReader(self._store)


class _CacheReader(SourceReader):
    gives_away = True

    def __init__(self, store: FileStore) -> None:
        self._store = store

    def read(self, split: _CacheSplit, fetch: Fetch) -> Generator[list[Any] | Timestamped, None, bool]:
        with self._store.open(split.split_id) as file:
            file.seek(split.position)
            while True:
                try:
                    values, timestamps = pickle.load(file)
                except EOFError:
                    return True
                split.position = file.tell()
                yield values if timestamps is None else Timestamped(values, timestamps)
