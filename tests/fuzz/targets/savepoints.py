"""Savepoints, checkpoints and state logs: damaged ones, and forged ones whose checksums are right."""

from __future__ import annotations

import json
import shutil
from collections import Counter, OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.forging import (
    META,
    Files,
    base_piece,
    changelog,
    compatible,
    damage,
    delta_piece,
    forge,
    forge_state_file,
    native,
    pack,
    signed,
    unpack,
)
from tests.fuzz.mutate import mutated, mutated_tree
from tests.fuzz.target import ACCEPTED, EQUAL, Target, Violation

from flintstream.checkpoint import metadata as checkpoint_metadata
from flintstream.checkpoint.checked_file import usable
from flintstream.checkpoint.codec import decode, decode_one, encode, encode_one
from flintstream.checkpoint.state_file import StateFile
from flintstream.common import Row
from flintstream.contracts.window import TimeWindow
from flintstream.errors import CorruptDataError
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.state_log.restored import RestoredOperator
from flintstream.runtime.state_log.subtask_state import _apply, open_piece
from flintstream.savepoint import Savepoint
from flintstream.state.hash_map import HashMapStateBackend

if TYPE_CHECKING:
    from random import Random

# -- reading ---------------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Return the text of a value. Python refuses to print integers of more than 4300 digits."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} with a large integer"


def contents(savepoint: Savepoint) -> list[str]:
    """Return all that a reader of a savepoint can see."""
    found = [text(replace(savepoint.metadata, chains=()))]
    for chain in savepoint.metadata.chains:
        for info in chain.operators:
            summary = savepoint.operator(info.uid)
            found.append(text(summary))
            found += sorted(map(text, savepoint.entries(info.uid)))
            found += map(text, savepoint.timers(info.uid))
            found += map(text, savepoint.values(info.uid))
            for state in summary.states[:1]:
                found += map(text, savepoint.read(info.uid, state.name, key="key 0"))
    return found


def restored(path: str) -> list[str]:
    """Return the state of all operators as a job would restore it."""
    completed = Savepoint.load(path)._completed
    found = []
    for _, chain in enumerate(completed.metadata.chains):
        for info in chain.operators:
            for pieces in chain.subtasks:
                backend, timers, others = (
                    HashMapStateBackend(info.uid),
                    InternalTimerService(),
                    RestoredOperator(info.uid),
                )
                for piece in pieces:
                    if piece.path or piece.inline is not None:
                        with open_piece(completed.store, piece, set()) as file:
                            _apply(file.changes(info.uid), backend, timers)
                            others.add(file)
                found += sorted(text(change) for change in backend.take_snapshot())
                found += map(text, timers.take_snapshot())
                found.append(text(vars(others)))
    return found


class _Directories(Target):
    """Savepoints as directories."""

    def valid(self) -> list[bytes]:
        return [pack(number, files) for number, files in enumerate((changelog(), compatible()))]

    def put(self, files: Files) -> str:
        place = self.directory / "savepoint"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, data in files.items():
            (place / name).write_bytes(data)
        return str(place)

    def read(self, path: str) -> Any:
        return contents(Savepoint.load(path))

    @property
    def expected(self) -> list[Any]:
        """The contents of the valid ones."""
        if "_expected" not in vars(self):
            self._expected = [self.read(self.put(unpack(data)[1])) for data in self.corpus]
        return self._expected


class DamagedSavepoint(_Directories):
    """Damage is found, or does not matter."""

    name = "savepoint-damaged"
    share = 3

    def mutated(self, random: Random) -> bytes:
        base, files = unpack(random.choice(self.corpus))
        return pack(base, damage(random, files))

    def check(self, data: bytes) -> str:
        base, files = unpack(data)
        found = self.read(self.put(files))
        if found != self.expected[base]:
            raise Violation("a damaged savepoint was read with other contents")
        return EQUAL


class DamagedRestore(DamagedSavepoint):
    """As above, for a job that starts from it."""

    name = "restore-damaged"
    share = 2
    may_unpickle = True

    def read(self, path: str) -> Any:
        return restored(path)


class ForgedSavepoint(_Directories):
    """A forged savepoint is read or refused, without running code and without writing elsewhere."""

    name = "savepoint-forged"
    share = 4

    def mutated(self, random: Random) -> bytes:
        base, files = unpack(random.choice(self.corpus))
        return pack(base, forge(random, files))

    def check(self, data: bytes) -> str:
        base, files = unpack(data)
        found = self.read(self.put(files))
        return EQUAL if found == self.expected[base] else ACCEPTED


class ForgedRestore(ForgedSavepoint):
    """As above, for a job that starts from it. Only the savepoint without pickled objects."""

    name = "restore-forged"
    share = 3
    may_unpickle = True

    def valid(self) -> list[bytes]:
        return [pack(0, changelog())]

    def read(self, path: str) -> Any:
        return restored(path)


class NativeSavepoint(ForgedSavepoint):
    """Forged files of RocksDB, and forged names of them."""

    name = "savepoint-rocksdb"
    share = 1
    of_libraries = frozenset({"hung"})  # RocksDB, on some forged manifests

    def valid(self) -> list[bytes]:
        return [pack(0, native(self.directory))]

    def mutated(self, random: Random) -> bytes:
        base, files = unpack(self.corpus[0])
        return pack(base, forge(random, files) if random.random() < 0.7 else damage(random, files))


class CommandLine(ForgedSavepoint):
    """``flintstream state`` prints a forged savepoint or an error."""

    name = "cli-state"
    share = 1

    def read(self, path: str) -> Any:
        from click.testing import CliRunner

        from flintstream.cli.state import state_command

        shown = []
        for command in (["list"], ["show"], ["show", "--timers"], ["show", "--values", "--format", "json"]):
            result = CliRunner().invoke(state_command, [command[0], path, *command[1:]])
            error = result.exception
            if error is not None and not (isinstance(error, SystemExit) and "Error: " in result.output):
                raise error
            shown.append(result.output)
        return shown


class MetadataFile(Target):
    """The file ``_metadata`` alone, forged: it is refused, or written again as it was read."""

    name = "metadata"
    share = 10

    def valid(self) -> list[bytes]:
        return [changelog()[META], compatible()[META]]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        if random.random() < 0.3:
            return mutated(random, data, self.corpus)
        content = json.loads(data)["content"]
        if random.random() < 0.1:
            return json.dumps(mutated_tree(random, json.loads(data))).encode()
        return signed(mutated_tree(random, content))

    def check(self, data: bytes) -> str:
        found = checkpoint_metadata.from_bytes(data, "the file")
        if checkpoint_metadata.from_bytes(checkpoint_metadata.to_bytes(found), "again") != found:
            raise Violation("it is read otherwise when it is written again")
        found.size(), found.paths(), found.operators()
        return (
            EQUAL
            if found in [checkpoint_metadata.from_bytes(item, "a valid one") for item in self.corpus]
            else ACCEPTED
        )


class StateLog(Target):
    """Pieces of a state log, as a worker reads them: damage is found, or does not matter."""

    name = "state-log"
    share = 10
    may_unpickle = True

    def valid(self) -> list[bytes]:
        return [base_piece(0), base_piece(1), delta_piece(0), delta_piece(1)]

    def applied(self, data: bytes) -> list[str]:
        backend, timers = HashMapStateBackend("process"), InternalTimerService()
        file = StateFile(data, "the piece")
        with usable("the piece"):
            _apply(file.changes("process"), backend, timers)
        return [
            *sorted(map(text, backend.take_snapshot())),
            *map(text, timers.take_snapshot()),
            text(file.values("process")),
        ]

    def check(self, data: bytes) -> str:
        if self.applied(data) not in [self.applied(item) for item in self.corpus]:
            raise Violation("a damaged piece was read with other contents")
        return EQUAL


class ForgedStateLog(StateLog):
    """Pieces with right checksums."""

    name = "state-log-forged"
    share = 10

    def mutated(self, random: Random) -> bytes:
        return forge_state_file(random, random.choice(self.corpus))

    def check(self, data: bytes) -> str:
        return EQUAL if self.applied(data) in [self.applied(item) for item in self.corpus] else ACCEPTED


class Codec(Target):
    """Single values and blocks of values. What is read can be written, and is read again."""

    name = "codec"
    share = 14

    def valid(self) -> list[bytes]:
        change = next(StateFile(base_piece(0)).changes("process"))
        blocks = [list(change.keys), [1, 2, 3], ["x"] * 9, [(1, "a"), (2, "b")], [[1], [2, 3]], [Row(a=1), Row(a=2)]]
        blocks += [[{"a": 1}, {1: (2, {3})}], [TimeWindow(1, 2)] * 3, [10**40, None, b"x", 1.5], [(), ()], []]
        blocks.append([np.int64(5), np.str_("a"), np.float32(0.5), OrderedDict(a=1), Counter("ab")])
        return [b"B" + encode(block) for block in blocks] + [b"V" + encode_one(block) for block in blocks]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        return data[:1] + mutated(random, data[1:], [item[1:] for item in self.corpus])

    def check(self, data: bytes) -> str:
        reads, writes = (decode, encode) if data[:1] == b"B" else (decode_one, encode_one)
        found = reads(data[1:], allow_pickle=False)
        again = reads(writes(found), allow_pickle=False)
        pickled = "Opaque(" in text(again) and "Opaque(" not in text(found)  # nested more deeply than we write
        if not pickled and text(again) != text(found):
            raise Violation(f"{found!r:.500} is read as {again!r:.500} when it is written again")
        return EQUAL if data in self.corpus else ACCEPTED

    def is_refusal(self, error: BaseException) -> bool:
        return isinstance(error, CorruptDataError) and super().is_refusal(error)


TARGETS: tuple[type[Target], ...] = (
    *(DamagedSavepoint, DamagedRestore, ForgedSavepoint, ForgedRestore, NativeSavepoint, CommandLine),
    *(MetadataFile, StateLog, ForgedStateLog, Codec),
)
