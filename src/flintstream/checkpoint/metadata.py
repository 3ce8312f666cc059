"""The metadata of a checkpoint or savepoint, in the file ``_metadata``.

The file is JSON, so that other programs can read it. Its members are ``format``, ``version``, ``checksum`` and
``content``. The checksum is the SHA-256 of the content in canonical form (sorted keys, no spaces, UTF-8). Binary values
are in base 64. ``docs/reference/state-format.md`` describes every member.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from flintstream.errors import CorruptCheckpointError, shorten
from flintstream.storage.paths import check_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

FORMAT = "flintstream checkpoint"
VERSION = 1
METADATA = "_metadata"
_JOB_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class NativeFile:
    """A file of a backend that keeps its state in files."""

    name: str
    """Operator uid and file name, such as ``uid/000012.sst``."""
    path: str
    """The path of its content, relative to the root."""
    size: int
    sha256: str


@dataclass(frozen=True)
class StatePiece:
    """A piece of one subtask's state: a separate state file, one inline in the metadata, or native files."""

    path: str = ""
    """Relative to the root; empty if the content is ``inline``."""
    size: int = 0
    checksum: str = ""
    inline: bytes | None = None
    native: tuple[NativeFile, ...] = ()
    operators: tuple[str, ...] = ()
    """Uids of the operators with state in this piece."""

    def paths(self) -> Iterator[str]:
        """Return the paths of its files."""
        if self.path:
            yield self.path
        for file in self.native:
            yield file.path

    def total_size(self) -> int:
        """Return the total size of its files in bytes."""
        return self.size + sum(file.size for file in self.native)


@dataclass(frozen=True)
class OperatorInfo:
    """An operator as it was when the checkpoint was taken."""

    uid: str
    name: str
    parallelism: int
    max_parallelism: int
    keyed: bool


@dataclass(frozen=True)
class ChainState:
    """The operators of a chain, and the pieces of each subtask in the order in which they apply."""

    operators: tuple[OperatorInfo, ...]
    subtasks: tuple[tuple[StatePiece, ...], ...]


@dataclass(frozen=True)
class Metadata:
    """The content of ``_metadata``."""

    purpose: str
    """``checkpoint`` or ``savepoint``; ``kind`` in the file."""
    number: int
    job_id: str
    job_name: str
    created_ms: int
    release: str
    """The version of flintstream that wrote it."""
    chains: tuple[ChainState, ...]
    enumerators: dict[str, bytes] = field(default_factory=dict)
    """Source uid -> the state of its split enumerator."""
    committables: dict[str, bytes] = field(default_factory=dict)
    """Sink uid -> output that is prepared and must be committed."""
    depth: int = 0
    """Number of directories from the one with ``_metadata`` up to the root of all paths."""
    finished: bool = False
    """Whether the job had read all its input, so that only commits are left."""

    def pieces(self) -> Iterator[StatePiece]:
        """Return the pieces of all subtasks."""
        for chain in self.chains:
            for pieces in chain.subtasks:
                yield from pieces

    def paths(self) -> set[str]:
        """Return the paths of all files that the checkpoint needs besides the metadata, relative to the root."""
        return {path for piece in self.pieces() for path in piece.paths()}

    def size(self) -> int:
        """Return the size of all state in bytes."""
        return sum(piece.total_size() for piece in self.pieces())

    def size_without(self, known: set[str]) -> int:
        """Return the size of all state in bytes, without the files in ``known``."""
        pieces = list(self.pieces())
        own = sum(piece.size for piece in pieces if piece.path not in known)
        return own + sum(file.size for piece in pieces for file in piece.native if file.path not in known)

    def operators(self) -> dict[str, tuple[int, OperatorInfo]]:
        """Return uid -> index of the operator's chain and its description."""
        return {o.uid: (index, o) for index, chain in enumerate(self.chains) for o in chain.operators}


_MEMBERS = (NativeFile, StatePiece, OperatorInfo, ChainState, Metadata)
KEYS_IN_FILE = {"purpose": "kind"}
"""Members with a different name in the file."""


def to_bytes(metadata: Metadata) -> bytes:
    """Return the content of the file."""
    content = _plain(metadata)
    checksum = hashlib.sha256(_canonical(content)).hexdigest()
    document = {"format": FORMAT, "version": VERSION, "checksum": checksum, "content": content}
    return json.dumps(document).encode()


def from_bytes(data: bytes, where: str) -> Metadata:
    """Parse the content of the file ``where``.

    Raises:
        CorruptCheckpointError: It is not metadata, is damaged, or was written by a later release.
    """
    try:
        document = json.loads(data)
        if document["format"] != FORMAT:
            raise CorruptCheckpointError(where, f"its format is {document['format']!r}, not {FORMAT!r}")
        if document["version"] > VERSION:
            release = document.get("content", {}).get("release", "a later one")
            raise CorruptCheckpointError(
                where, f"it has format version {document['version']}, but this release reads {VERSION}: use {release}"
            )
        content = document["content"]
        if hashlib.sha256(_canonical(content)).hexdigest() != document["checksum"]:
            raise CorruptCheckpointError(where, "its checksum does not match its content")
        return _metadata(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"it cannot be read as metadata ({type(error).__name__}: {error})"
        raise CorruptCheckpointError(where, what) from None


def read(store: FileStore, directory: str = "") -> Metadata:
    """Read the metadata in a checkpoint's directory.

    Raises:
        CorruptCheckpointError: It is not metadata, is damaged, or was written by a later release.
        FileNotFoundError: The directory has no metadata.
    """
    path = f"{directory}/{METADATA}" if directory else METADATA
    return from_bytes(store.read(path), store.uri(path))


def _canonical(content: Any) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    """Return the JSON form of a value. ``asdict`` takes several times as long."""
    if type(value) in _MEMBERS:
        return {KEYS_IN_FILE.get(name, name): _plain(item) for name, item in vars(value).items()}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _metadata(content: dict[str, Any]) -> Metadata:
    chains = tuple(map(_chain, content["chains"]))
    binary = {
        name: {uid: base64.b64decode(text) for uid, text in content[name].items()}
        for name in ("enumerators", "committables")
    }
    others = {name: content[key] for name, key in KEYS_IN_FILE.items()}
    if not _JOB_ID.fullmatch(content["job_id"]):  # the name of a directory, which a resumed job sweeps
        raise ValueError(f"{content['job_id']!r} is not the id of a job")
    same = {key: value for key, value in content.items() if key not in KEYS_IN_FILE.values()}
    return Metadata(**_check_members(Metadata, {**same, **others, **binary, "chains": chains}))


def _chain(members: dict[str, Any]) -> ChainState:
    operators = tuple(OperatorInfo(**_check_members(OperatorInfo, operator)) for operator in members["operators"])
    subtasks = tuple(tuple(map(_piece, pieces)) for pieces in members["subtasks"])
    if not subtasks:
        raise ValueError("a chain has no subtasks")
    for operator in operators:
        if not 0 < operator.parallelism <= operator.max_parallelism:
            raise ValueError(f"'{operator.uid}' has parallelism {operator.parallelism} of {operator.max_parallelism}")
    return ChainState(operators, subtasks)


def _piece(members: dict[str, Any]) -> StatePiece:
    inline = members["inline"]
    native = tuple(NativeFile(**_check_members(NativeFile, file)) for file in members["native"])
    for path in (members["path"], *(file.path for file in native)):
        check_path(path)
    content = None if inline is None else base64.b64decode(inline)
    operators = tuple(members["operators"])
    if set(map(type, operators)) - {str}:
        raise TypeError("the operators of a piece are not uids")
    return StatePiece(
        **_check_members(StatePiece, {**members, "inline": content, "native": native, "operators": operators})
    )


@cache
def _simple_members(cls: type) -> dict[str, type]:
    return {name: kind for name, kind in get_type_hints(cls).items() if kind in {str, int, bool}}


def _check_members(cls: type, members: dict[str, Any]) -> dict[str, Any]:
    """Return the members if those with a simple type have it: a checksum shows damage, but not a forged file."""
    for name, kind in _simple_members(cls).items():
        value = members.get(name, kind())
        if type(value) is not kind:
            raise TypeError(f"'{name}' must be {kind.__name__}, but is {shorten(value, 40)}")
        if name in _NOT_NEGATIVE and members.get(name, 0) < 0:
            raise ValueError(f"'{name}' must not be negative, but is {value}")
    return members


_NOT_NEGATIVE = frozenset({"size", "number", "depth"})
