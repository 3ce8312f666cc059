"""Files in object stores, in HDFS and on other fsspec file systems. Only this module imports fsspec."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from flintstream.common._text.secrets import without_secrets
from flintstream.errors import MissingDependencyError, PlanError
from flintstream.storage.location import Location
from flintstream.storage.paths import check_path, is_partial, partial_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

__all__ = ["OBJECT_STORES", "FsspecFileStore", "check_client", "move", "reach", "size_of"]

# protocol -> (our extra, the package that implements it)
_CLIENTS = {
    **dict.fromkeys(("s3", "s3a"), ("s3", "s3fs")),
    **dict.fromkeys(("gs", "gcs"), ("gcs", "gcsfs")),
    **dict.fromkeys(("abfs", "abfss", "az"), ("azure", "adlfs")),
    "hdfs": ("hdfs", "pyarrow"),
}

# Object stores: an object appears when its upload completes, directories do not exist, and a move is a copy.
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"})

COPYING_STORES = OBJECT_STORES | {"memory"}
"""Stores that move a file by copying it and need no directories."""


def check_client(location: Location, what: str = "the directory") -> None:
    """Check that fsspec and the client of a file system are installed, without accessing the file system.

    Raises:
        MissingDependencyError: fsspec or the client is not installed.
        PlanError: The scheme names no known file system, or the bucket is missing.
    """
    scheme = location.scheme
    extra, package = _CLIENTS.get(scheme, (None, "fsspec"))
    uri = without_secrets(location.uri)
    purpose = f"{what} {uri}"
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError("fsspec", extra=extra, purpose=purpose) from None
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        package = package if extra else getattr(error, "name", None) or package
        raise MissingDependencyError(package, extra=extra, purpose=purpose) from None
    except ValueError:
        raise PlanError(f"{uri} is not a directory: no file system supports {scheme}:") from None
    if scheme in OBJECT_STORES and location.authority == "":
        raise PlanError(f"{uri} has no bucket: write '{scheme}:/{location.path}' as a str")


def reach(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI and the path in it; fsspec caches one instance per process."""
    import fsspec

    system, place = fsspec.core.url_to_fs(uri)
    return system, place


def size_of(uri: str) -> int | None:
    """Return the size of a file in bytes, or None if it does not exist."""
    system, place = reach(uri)
    system.invalidate_cache()  # other processes write as well
    try:
        return int(system.info(place)["size"])
    except FileNotFoundError:
        return None


def move(uri: str, target: str) -> None:
    """Rename a file; a store that cannot rename copies the file on its side and removes the original."""
    system, source = reach(uri)
    _, destination = reach(target)
    if uri.partition(":")[0] in COPYING_STORES:
        system.cp_file(source, destination)
        system.rm_file(source)
    else:
        system.mv(source, destination)


@dataclass(frozen=True)
class FsspecFileStore:
    """A store under a URI that fsspec supports; credentials come from fsspec's configuration and the environment."""

    root: str

    def __post_init__(self) -> None:
        """Check that the client is installed.

        Raises:
            MissingDependencyError: The client is not installed.
            PlanError: No client supports the URI.
        """
        location = Location.parse(self.root)
        object.__setattr__(self, "root", location.uri)
        check_client(location)

    @classmethod
    def of_checked_root(cls, root: str) -> FsspecFileStore:
        """Return the store of a root that another process has checked. The client is loaded on first use."""
        store = object.__new__(cls)
        object.__setattr__(store, "root", root)
        return store

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        with self._replacing(path) as (system, target):
            system.pipe_file(target, data)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        system, source = self._place(path)
        return cast("bytes", system.cat_file(source))

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Return a context manager to write a local file, which is uploaded on exit."""
        check_path(path)
        with tempfile.TemporaryDirectory(prefix="flintstream-upload-") as directory:
            local = Path(directory, "file")
            with local.open("wb") as file:
                yield file
            self.put(str(local), path)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        system, source = self._place(path)
        return cast("BinaryIO", system.open(source, "rb"))

    def put(self, local: str, path: str) -> None:
        """Store the content of a local file."""
        with self._replacing(path) as (system, target):
            system.put_file(local, target)

    def get(self, path: str, local: str) -> None:
        """Copy a file to this machine."""
        system, source = self._place(path)
        system.get_file(source, local)

    def exists(self, path: str) -> bool:
        """Tell whether the file exists."""
        system, source = self._place(path)
        system.invalidate_cache()  # other processes write as well
        try:
            return bool(system.info(source)["type"] == "file")
        except FileNotFoundError:
            return False  # unlike isfile(), this raises if the store cannot be reached

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        system, source = self._place(path)
        return int(system.info(source)["size"])

    def delete(self, path: str) -> None:
        """Delete a file."""
        system, target = self._place(path)
        with contextlib.suppress(FileNotFoundError):
            system.rm_file(target)

    def delete_tree(self, path: str) -> None:
        """Delete a directory."""
        system, target = self._place(path)
        system.invalidate_cache()
        if self.root.partition(":")[0] in OBJECT_STORES:
            found = system.find(target)
            if found:  # a recursive rm() would send more requests to look for directories
                system.rm(found)
            return
        with contextlib.suppress(FileNotFoundError):
            system.rm(target, recursive=True)

    def list(self, path: str) -> list[str]:
        """Return the names of all complete files below a directory."""
        system, top = self._place(path)
        system.invalidate_cache()
        prefix = f"{top.rstrip('/')}/"
        try:
            found = system.find(top)
        except FileNotFoundError:
            return []
        names = (name.removeprefix(prefix) for name in found if name.startswith(prefix))
        return sorted(name for name in names if not is_partial(name))

    def uri(self, path: str) -> str:
        """Return the URI of a path."""
        return "/".join(filter(None, (self.root, check_path(path))))

    def child(self, path: str) -> FileStore:
        """Return the store of a directory."""
        return FsspecFileStore(self.uri(path))

    def _place(self, path: str) -> tuple[Any, str]:
        return reach(self.uri(path))

    @contextlib.contextmanager
    def _replacing(self, path: str) -> Iterator[tuple[Any, str]]:
        """Yield the file system and the path to write to; ``path`` holds the complete new file or the old one."""
        system, target = self._place(path)
        if self.root.partition(":")[0] in OBJECT_STORES:
            yield system, target
            return
        directory, _, name = target.rpartition("/")
        temporary = f"{directory}/{partial_name(name)}"
        system.makedirs(directory, exist_ok=True)
        try:
            yield system, temporary
            try:
                system.mv(temporary, target)
            except OSError:
                # HDFS does not move a file onto an existing one
                if not system.exists(target):
                    raise
                system.rm_file(target)
                system.mv(temporary, target)
        except BaseException:
            with contextlib.suppress(Exception):
                system.rm_file(temporary)
            raise
