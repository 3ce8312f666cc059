"""A simulated storage: a disk that loses unsynced data when the machine crashes, and a file store on it."""

from __future__ import annotations

import io
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tests.simulation.world import the_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulation.world import World


class Content(NamedTuple):
    """The content of a file."""

    data: bytes
    synced: bool


class Disk:
    """Files in the view of processes, and their state after a crash.

    It is either a local disk, where a file's content and its directory entry become durable separately and only when
    synced, or an object store, where every request is durable at once.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.local = world.rng.random() < 0.7
        self.visible: dict[str, Content] = {}
        self.durable: dict[str, Content] = {}
        self.entries: dict[str, set[str]] = {}
        """Directory -> files whose current entries are not durable."""
        self.down_until = 0.0
        self.parts = 0

    # -- what happens to it ------------------------------------------------------------------------------------------

    def request(self, kind: str, path: str) -> None:
        """Delay a request, and perhaps let it fail before it has any effect."""
        world = self.world
        world.step(path)
        if world.calm:
            return
        world.now += 0.25
        if world.now < self.down_until:
            raise OSError(f"the storage is down: {kind} {path}")
        if world.rates:
            if world.fault("slow", path):
                world.now += world.rng.choice((60, 400))
            if world.fault("outage", path):
                self.down_until = world.now + world.rng.choice((10, 40, 150))
                raise OSError(f"the storage goes down: {kind} {path}")
            if world.fault(kind, path):
                raise OSError(f"the storage does not {kind} {path}")

    def crash(self) -> None:
        """Lose non-durable data, entirely or in part."""
        rng = self.world.rng
        for directory in sorted(self.entries):
            for path in sorted(self.entries[directory]):
                self._settle(path, rng.choice((self.visible, self.durable)).get(path))
        self.entries.clear()
        for path in sorted(path for path, content in self.visible.items() if not content.synced):
            data = self.visible[path].data
            self._settle(path, Content(data[: rng.randrange(len(data) + 1)], synced=True))

    def _settle(self, path: str, content: Content | None) -> None:
        for files in (self.visible, self.durable):
            if content is None:
                files.pop(path, None)
            else:
                files[path] = content

    def copy(self) -> Disk:
        """Return a disk with the same files."""
        other = Disk.__new__(Disk)
        vars(other).update(vars(self))
        other.visible, other.durable, other.entries = dict(self.visible), dict(self.visible), {}
        other.down_until = 0.0
        return other

    # -- what a file system offers -----------------------------------------------------------------------------------

    def _changed(self, path: str) -> None:
        if self.local:
            self.entries.setdefault(path.rpartition("/")[0], set()).add(path)
        elif path in self.visible:
            self.durable[path] = self.visible[path]
        else:
            self.durable.pop(path, None)

    def write(self, path: str, data: bytes) -> None:
        """Write a file, which is not durable until it is synced."""
        self.visible[path] = Content(data, synced=not self.local)
        self._changed(path)

    def sync(self, path: str) -> None:
        """Make the content of a file durable."""
        self.visible[path] = self.visible[path]._replace(synced=True)

    def rename(self, old: str, new: str) -> None:
        """Rename a file."""
        self.visible[new] = self.visible.pop(old)
        self._changed(old)
        self._changed(new)

    def sync_directory(self, directory: str) -> None:
        """Make the entries of a directory durable."""
        for path in self.entries.pop(directory, ()):
            if path in self.visible:
                self.durable[path] = self.visible[path]
            else:
                self.durable.pop(path, None)

    def delete(self, path: str) -> None:
        """Remove a file; on a local disk it may be back after a crash."""
        if self.visible.pop(path, None) is not None:
            self._changed(path)


class SimStore:
    """A correct file store on the disk of the current world."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __reduce__(self) -> tuple[Any, ...]:
        return SimStore, (self.root,)

    def __repr__(self) -> str:
        return f"SimStore({self.root!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SimStore) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    @property
    def disk(self) -> Disk:
        """The disk."""
        return the_world().disk

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    def write(self, path: str, data: bytes) -> None:
        disk, target = self.disk, self._at(path)
        disk.request("write", target)
        world = disk.world
        world.log(f"write {target}, {len(data)} bytes")
        disk.parts += 1
        part = f"{target}.{disk.parts}.part"
        self._write_durably(disk, part, target, bytes(data))
        world.step(f"after writing {target}")
        if "written" in world.rates and world.fault("written", target):
            raise OSError(f"no answer: write {target}")

    @staticmethod
    def _write_durably(disk: Disk, part: str, target: str, data: bytes) -> None:
        disk.write(part, data)
        disk.world.step(f"before syncing {target}")
        disk.sync(part)
        disk.rename(part, target)
        disk.world.step(f"before syncing the entry of {target}")
        disk.sync_directory(target.rpartition("/")[0])

    @contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        stream = io.BytesIO()
        yield stream
        self.write(path, stream.getvalue())

    def read(self, path: str) -> bytes:
        disk, target = self.disk, self._at(path)
        disk.request("read", target)
        found = disk.visible.get(target)
        if found is None:
            raise FileNotFoundError(target)
        return found.data

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def put(self, local: str, path: str) -> None:
        self.write(path, Path(local).read_bytes())

    def get(self, path: str, local: str) -> None:
        Path(local).write_bytes(self.read(path))

    def delete(self, path: str) -> None:
        disk, target = self.disk, self._at(path)
        disk.request("delete", target)
        disk.world.log(f"delete {target}")
        disk.delete(target)

    def delete_tree(self, path: str) -> None:
        disk, target = self.disk, self._at(path)
        found = sorted(name for name in disk.visible if name.startswith(f"{target}/"))
        disk.request("delete", target)
        disk.world.rng.shuffle(found)
        for name in found:
            disk.request("delete", name)
            disk.delete(name)
            disk.world.log(f"delete {name}")

    def list(self, path: str) -> list[str]:
        disk, target = self.disk, self._at(path)
        disk.request("list", target)
        start = len(target) + 1
        prefix = f"{target}/"
        return [name[start:] for name in disk.visible if name.startswith(prefix) and not name.endswith(".part")]

    def exists(self, path: str) -> bool:
        return self._at(path) in self.disk.visible

    def uri(self, path: str) -> str:
        return f"sim:/{self._at(path)}"

    def child(self, path: str) -> SimStore:
        return SimStore(self._at(path))


def store_of(uri: str) -> SimStore:
    """Return the store of a URI."""
    return SimStore(uri.removeprefix("sim:").strip("/"))
