"""Valid savepoints as files in memory, and changes of them: damage, and forgeries with right checksums."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgpack
from tests.fuzz.mutate import mutated, mutated_tree

from flintstream.checkpoint import metadata as checkpoint_metadata
from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.codec import decode_one, encode, encode_one
from flintstream.checkpoint.metadata import ChainState, Metadata, NativeFile, OperatorInfo, StatePiece
from flintstream.checkpoint.state_file import StateFile, to_bytes
from flintstream.common import Duration, Row
from flintstream.contracts.window import TimeWindow
from flintstream.runtime.operators.timers import EVENT_TIMERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random


COMPAT = Path(__file__).parents[1] / "compat" / "savepoints"
META = "_metadata"

Files = dict[str, bytes]


def pack(base: int, files: Files) -> bytes:
    """Return a directory as one input; ``base`` is the number of the valid one that it comes from."""
    packed: bytes = msgpack.packb([base, files])
    return packed


def unpack(data: bytes) -> tuple[int, Files]:
    """Return what :func:`pack` was given."""
    base, files = msgpack.unpackb(data)
    return base, files


# -- valid savepoints ------------------------------------------------------------------------------------------------

VALUE = TableInfo("value", "value", "Long")
TTL = TableInfo("with ttl", "value", "", ttl=True)
LIST = TableInfo("list", "list")
MAP = TableInfo("map", "map")
PANES = TableInfo("panes", "value", "", namespaced=True)


def base_piece(subtask: int) -> bytes:
    keys = [f"key {number}" for number in range(subtask, 12, 2)]
    window = TimeWindow(0, 1000)
    changes = [
        Change(VALUE, keys, list(range(len(keys))), []),
        Change(TTL, keys, [(Row(a=1, b=("x", None)), 1_700_000_000_000)] * len(keys), []),
        Change(LIST, keys, [[1, 2.5, "three"], [], [b"four"]] * (len(keys) // 3), []),
        Change(
            MAP,
            [(key, part) for key in keys for part in (1, "two")],
            [Duration.of_seconds(1), {"a": [1]}] * len(keys),
            [],
        ),
        Change(PANES, [((key, (1, 2)), window) for key in keys], [(1, 2)] * len(keys), []),
        Change(EVENT_TIMERS, [(999, key, window) for key in keys], [], []),
    ]
    values = [("process", "watermark", 17), ("process", "valve", (17, False)), ("source", "operator", [{"split": 3}])]
    values.append(("process", "channels", [(("source", None, 0, 2), 17, False)]))
    return to_bytes([("process", change) for change in changes], values)


def delta_piece(subtask: int) -> bytes:
    first = f"key {subtask}"
    changes = [
        Change(VALUE, [first], [77], ["key 4"]),
        Change(LIST, [], [], [], [(first, [5, 6]), ("new", ["only"])]),
        Change(EVENT_TIMERS, [(1999, first, None)], [], [(999, first, TimeWindow(0, 1000))]),
    ]
    return to_bytes([("process", change) for change in changes], log=True)


def _piece(data: bytes, path: str = "", **more: Any) -> StatePiece:
    inline = None if path else data
    return StatePiece(path, len(data), hashlib.sha256(data).hexdigest(), inline, operators=("process",), **more)


def _metadata(subtasks: tuple[tuple[StatePiece, ...], ...], *, keyed: bool = True) -> bytes:
    operators = (
        OperatorInfo("source", "Source: numbers", 2, 128, keyed=False),
        OperatorInfo("process", "KEYED PROCESS", 2, 128, keyed=keyed),
    )
    return checkpoint_metadata.to_bytes(
        Metadata(
            purpose="savepoint",
            number=3,
            job_id="0" * 32,
            job_name="a job",
            created_ms=1_700_000_000_000,
            release="0.1.0",
            chains=(ChainState(operators, subtasks),),
            enumerators={"source": encode_one(([1, "two"], 3))},
            committables={"sink": encode([("part-0", 17), ("part-1", 18)])},
        )
    )


def changelog() -> Files:
    """Return a savepoint of two subtasks: files, a log of changes, and a piece within the metadata."""
    files = {f"{kind}-{n}": make(n) for n in (0, 1) for kind, make in (("base", base_piece), ("delta", delta_piece))}
    first = (_piece(files["base-0"], "base-0"), _piece(files["delta-0"], "delta-0"))
    second = (_piece(files["base-1"], "base-1"), _piece(files.pop("delta-1")))
    return {**files, META: _metadata((first, second))}


def compatible() -> Files:
    """Return the savepoint that an earlier release wrote."""
    directory = COMPAT / "0.1.0" / "savepoint"
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def native(directory: Path) -> Files:
    """Return a savepoint with files of RocksDB."""
    from flintstream.state.factory import create_backend
    from flintstream.state.settings import StateSettings

    backend = create_backend(StateSettings("rocksdb"), "process", lambda key: hash(key) % 128)
    backend.apply([change for change in StateFile(base_piece(0)).changes("process") if change.table.kind != "timers"])
    target = Path(tempfile.mkdtemp(dir=directory), "files")
    backend.write_native(str(target))  # type: ignore[attr-defined]
    backend.close()
    files, found = {}, []
    for path in sorted(item for item in target.rglob("*") if item.is_file()):
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        files[f"shared-{digest}"] = data
        found.append(NativeFile(f"process/{path.name}", f"shared-{digest}", len(data), digest))
    shutil.rmtree(target.parent)
    rest = to_bytes(values=[("process", "watermark", 17)])
    pieces = (StatePiece(native=tuple(found), operators=("process",)), _piece(rest))
    return {**files, META: _metadata((pieces,))}


# -- forging ---------------------------------------------------------------------------------------------------------

_CHUNK = struct.Struct(">QI")
_TRAILER = struct.Struct(">QQI")
_END = b"FLSTEND\n"
_HEADER = 32


def forge_state_file(random: Random, data: bytes) -> bytes:
    """Change chunks or the index of a state file, and make the checksums fit again."""
    trailer = len(data) - len(_END) - 4 - _TRAILER.size
    offset, length, _ = _TRAILER.unpack_from(data, trailer)
    index = decode_one(data[offset : offset + length])
    bodies, at = {}, _HEADER
    while at < offset:
        size, _ = _CHUNK.unpack_from(data, at)
        bodies[at] = data[at + _CHUNK.size : at + _CHUNK.size + size]
        at += _CHUNK.size + size
    in_index = random.random() < 0.4
    if not in_index and bodies:
        for at in random.sample(sorted(bodies), min(len(bodies), random.choice((1, 1, 2)))):
            bodies[at] = _forged_body(random, bodies[at], list(bodies.values()))
    written, offsets = bytearray(data[:_HEADER]), {}
    for at, body in bodies.items():
        offsets[at] = len(written)
        written += _CHUNK.pack(len(body), crc32(body, crc32(struct.pack(">Q", len(body))))) + body
    sections, chunks, values = index
    tree = [
        [list(section) for section in sections],
        [[number, offsets[place]] for number, place in chunks],
        [[uid, name, offsets[place]] for uid, name, place in values],
    ]
    packed = encode_one(_tuples(mutated_tree(random, tree) if in_index else tree))
    if random.random() < 0.05:
        packed = mutated(random, packed, [packed])
    end = len(written)
    if random.random() < 0.05:
        written += random.randbytes(3)
    head = _TRAILER.pack(end, len(packed), crc32(packed))
    return bytes(written) + packed + head + struct.pack(">I", crc32(head)) + _END


def _tuples(tree: Any) -> Any:
    if isinstance(tree, list):
        try:
            return tuple(map(_tuples, tree))
        except RecursionError:
            return ()
    return tree


def _forged_body(random: Random, body: bytes, others: list[bytes]) -> bytes:
    if random.random() < 0.5:
        return mutated(random, body, others)
    for layout in (struct.Struct(">QQQ"), struct.Struct(">QQ")):
        if len(body) < layout.size:
            continue
        lengths = layout.unpack_from(body)
        if sum(lengths) <= len(body) - layout.size:
            blocks, at = [], layout.size
            for length in (*lengths, len(body)):
                blocks.append(body[at : at + length])
                at += length
            place = random.randrange(len(blocks))
            blocks[place] = random.choice((encode(_odd_values(random)), mutated(random, blocks[place], blocks)))
            return layout.pack(*map(len, blocks[:-1])) + b"".join(blocks)
    return encode_one(random.choice([*_odd_values(random), None]))


def _odd_values(random: Random) -> list[Any]:
    """Return values that no writer puts into state."""
    odd: list[Any] = [
        None,
        (),
        (1,),
        (1, 2),
        (1, 2, 3),
        ((1, 2), 3),
        [],
        [1],
        [[1, 2]],
        {},
        {"a": 1},
        "text",
        b"bytes",
        1.5,
        True,
    ]
    odd += [10**5000, -(2**63) - 1, Row(), Row(a=1), TimeWindow(5, 1), [(1, 2)], [("a", "b")], {1, 2}, float("nan")]
    return [random.choice(odd) for _ in range(random.choice((0, 1, 1, 6, 12)))]


def repaired(files: Files, content: dict[str, Any] | None = None) -> Files:
    """Return the files with sizes and checksums in the metadata that fit."""
    content = json.loads(files[META])["content"] if content is None else content
    for piece in _pieces(content):
        data = base64.b64decode(piece["inline"]) if piece.get("inline") else files.get(str(piece.get("path")))
        if data is not None:
            piece["size"], piece["checksum"] = len(data), hashlib.sha256(data).hexdigest()
        for file in piece.get("native", ()):
            data = files.get(str(file.get("path")))
            if data is not None:
                file["size"], file["sha256"] = len(data), hashlib.sha256(data).hexdigest()
    return {**files, META: signed(content)}


def _pieces(content: Any) -> Iterator[dict[str, Any]]:
    return (piece for chain in content["chains"] for subtask in chain["subtasks"] for piece in subtask)


def signed(content: Any) -> bytes:
    """Return metadata with any content and the checksum of that."""
    checksum = hashlib.sha256(checkpoint_metadata._canonical(content)).hexdigest()
    document = {"format": checkpoint_metadata.FORMAT, "version": 1, "checksum": checksum, "content": content}
    return json.dumps(document).encode()


def forge(random: Random, files: Files) -> Files:
    """Change state files or the metadata as an attacker would, who knows the format."""
    files, content = dict(files), json.loads(files[META])["content"]
    kind = random.random()
    if kind < 0.4:
        return {**files, META: signed(mutated_tree(random, content))}
    pieces = [piece for piece in _pieces(content) if piece["inline"] or piece["path"] in files]
    natives = [file for piece in _pieces(content) for file in piece["native"]]
    if natives and random.random() < 0.7:
        file = random.choice(natives)
        if random.random() < 0.4:
            file["name"] = random.choice(
                ("process/../../x", "../x", "/etc/x", "process//etc/x", "process/a\0b", "process/CURRENT")
            )
        else:
            files[file["path"]] = mutated(random, files[file["path"]], list(files.values()))
        return repaired(files, content)
    if not pieces:
        return files
    piece = random.choice(pieces)
    data = base64.b64decode(piece["inline"]) if piece["inline"] else files[piece["path"]]
    data = forge_state_file(random, data)
    if piece["inline"]:
        piece["inline"] = base64.b64encode(data).decode()
    else:
        files[piece["path"]] = data
    return repaired(files, content)


def damage(random: Random, files: Files) -> Files:
    """Change a savepoint as disks, copies and people do."""
    files = dict(files)
    names = list(files)
    name = META if random.random() < 0.3 else random.choice(names)
    kind = random.random()
    if kind < 0.05:
        del files[name]
    elif kind < 0.1:
        other = random.choice(names)
        files[name], files[other] = files[other], files[name]
    elif kind < 0.13:
        files[name] = b""
    else:
        files[name] = mutated(random, files[name], list(files.values()))
    return files
