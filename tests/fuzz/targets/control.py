"""The control channel of a job: requests, replies, the handshake, and the entries that say how to reach jobs."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutate import mutated, mutated_tree
from tests.fuzz.target import ACCEPTED, EQUAL, REFUSED, Target, Violation

from flintstream.channels.channel import accept
from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator import asking, control, registry
from flintstream.coordinator.checkpointing.history import CheckpointHistory
from flintstream.coordinator.job import Clock, Progress
from flintstream.coordinator.monitoring.curves import Curves
from flintstream.coordinator.monitoring.epochs import Epochs
from flintstream.coordinator.monitoring.load import Load
from flintstream.coordinator.monitoring.losses import Losses
from flintstream.coordinator.monitoring.phases import Phases
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from random import Random

ENTRY = registry.Entry("0" * 32, "a job", os.getpid(), registry.host(), 1_700_000_000_000, "/tmp/x/socket", "00" * 32)  # noqa: S108
REPLIES: dict[str, Any] = {
    "status": {
        "state": "RUNNING",
        "epochs": 17,
        "restarts": 0,
        "checkpoints": 3,
        "failed_checkpoints": 0,
        "records_in": 10**6,
        "records_out": 5,
        "watermark": 1_700_000_000_000,
    },
    "checkpoints": {
        "interval_ms": 1000,
        "completed": 3,
        "failed": 1,
        "last_duration_ms": 5,
        "started_from": "/x/chk-1",
        "kept": [{"number": 3, "kind": "checkpoint", "path": "/x/chk-3", "created_ms": 1_700_000_000_000, "bytes": 99}],
    },
    "metrics": {
        "job": "a job",
        "totals": {"numRestarts": 1, "lastCheckpointDuration": 5},
        "tasks": [{"task": "map", "subtask": 0, "values": {"busyTimeMsPerSecond": 12.5}}],
        "operators": [
            {"operator": "map", "operator_id": "x", "subtask": 0, "values": {"numRecordsIn": 5, "rate": 0.5}}
        ],
    },
    "prometheus": '# TYPE x gauge\nx{job_id="0"} 1\n',
    "savepoint": "/x/savepoint-1",
    "cancel": "CANCELED",
}


class _Job:
    """A job that does nothing, and answers like a real one."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.finished = threading.Event()
        self.finished.set()
        progress = Progress(epochs=17, checkpoints=3, records_in=5, records_out=5, watermark=MIN_TIMESTAMP)
        kept = SimpleNamespace(state=SimpleNamespace(backend="hashmap"))
        plan: Any = SimpleNamespace(job_name="a job", job_id="0" * 32, chains=(), settings=kept)
        metrics = SimpleNamespace(by_subtask=list)
        statistics = SimpleNamespace(progress=progress, metrics=metrics, load=Load(plan, 0), curves=Curves(0))
        statistics.epochs, statistics.losses = Epochs(), Losses("a job")
        checkpoints = SimpleNamespace(
            failed=0,
            in_progress=False,
            settings=CheckpointSettings(interval_ms=1000),
            duration_ms=3,
            completed=[],
            latest=None,
        )
        checkpoints.store, checkpoints.logged, checkpoints.history = None, False, CheckpointHistory()
        self.coordinator = SimpleNamespace(
            statistics=statistics, checkpoints=checkpoints, clock=Clock(), phases=Phases(0)
        )
        self.job = SimpleNamespace(plan=plan, sources={}, sinks={})
        self.uptime_ms = 17
        self.result: Future[Progress] = Future()

    def status(self) -> Any:
        return SimpleNamespace(name="RUNNING")

    def cancel(self) -> None:
        pass

    def savepoint(self, directory: Any, *, stop: bool = False, drain: bool = False) -> Future[str]:
        place: Future[str] = Future()
        place.set_result(file_store(directory or self.directory).uri("savepoint-1"))
        return place


class Requests(Target):
    """Each request gets a reply in JSON: a result, or an error in words."""

    name = "control-request"
    share = 8

    def valid(self) -> list[bytes]:
        requests: list[dict[str, Any]] = [
            {"request": name} for name in ("status", "checkpoints", "metrics", "prometheus", "log", "cancel")
        ]
        requests += [{"request": "curves", "since": 1_700_000_000_000}]
        requests += [{"request": "savepoint", "directory": None}, {"request": "savepoint", "directory": "/x/y"}]
        requests += [{"request": "stop", "directory": "file:///x", "drain": True}]
        return [json.dumps(request).encode() for request in requests]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        if random.random() < 0.5:
            return mutated(random, data, self.corpus)
        return json.dumps(mutated_tree(random, json.loads(data))).encode()

    def check(self, data: bytes) -> str:
        reply = json.loads(json.dumps(control.Control(_Job(str(self.directory)))._reply(data)))  # type: ignore[arg-type]
        if "result" in reply:
            return EQUAL if data in self.corpus else ACCEPTED
        if not isinstance(reply["error"], str) or not reply["error"]:
            raise Violation(f"the reply has no words: {reply}")
        foreign = ("unhashable", "object has no attribute", "unexpected keyword", "recursion depth", "argument of type")
        if any(item in reply["error"] for item in foreign):
            raise Violation(f"the reply has words of Python: {reply['error']}")
        return REFUSED


class _Caller(AbstractContextManager["_Caller"]):
    """A channel to a job that sends what a test wants."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply

    def __exit__(self, *_: object) -> None:
        pass

    def send(self, _: bytes) -> None:
        pass

    def receive(self, **_: Any) -> bytes:
        return self.reply


class Replies(Target):
    """The commands print any reply of a job, or one line about what is wrong with it."""

    name = "control-reply"
    share = 2

    def valid(self) -> list[bytes]:
        return [json.dumps([name, {"result": result}]).encode() for name, result in REPLIES.items()]

    def mutated(self, random: Random) -> bytes:
        name, reply = json.loads(random.choice(self.corpus))
        text = json.dumps(mutated_tree(random, reply)).encode()
        if random.random() < 0.3:
            text = mutated(random, text, self.corpus)
        return json.dumps([name, text.decode("latin-1")]).encode()

    def check(self, data: bytes) -> str:
        from unittest.mock import patch

        from click.testing import CliRunner

        from flintstream.cli import jobs, metrics, state

        name, reply = json.loads(data)
        text = json.dumps(reply).encode() if isinstance(reply, dict) else reply.encode("latin-1")
        good = {key: json.dumps({"result": value}).encode() for key, value in REPLIES.items()}
        asked: list[str] = []
        asked_really = asking.ask

        def ask(entry: Any, request: str, **arguments: Any) -> Any:
            asked.append(request)
            connection = _Caller(text if request == name else good[request])
            with patch.object(asking, "connect", lambda *_, **__: connection):
                return asked_really(entry, request, **arguments)

        commands: dict[str, Any] = {
            "status": [(jobs.list_command, [])],
            "checkpoints": [(jobs.list_command, ["-v"])],
            "metrics": [(metrics.metrics_command, ["a job", "-f", form]) for form in ("text", "json")],
            "prometheus": [(metrics.metrics_command, ["a job", "-f", "prometheus"])],
            "savepoint": [(state.savepoint_command, ["a job"])],
            "cancel": [(jobs.cancel_command, ["a job"])],
        }
        outcome = EQUAL
        silent: list[Any] = [
            *(patch.object(registry, "entries", lambda: [ENTRY]), patch.object(jobs, "ask", ask)),
            patch.object(asking, "ask", ask),
        ]
        for item in silent:
            item.__enter__()
        try:
            for command, arguments in commands[name]:
                result = CliRunner().invoke(command, arguments)
                if result.exception is not None:
                    if not (isinstance(result.exception, SystemExit) and "Error: " in result.output):
                        raise result.exception
                    outcome = REFUSED
        finally:
            for item in silent:
                item.__exit__(None, None, None)
        if not asked:
            raise Violation("the command did not ask")
        return outcome if outcome == REFUSED or data in self.corpus else ACCEPTED


class Handshake(Target):
    """Whatever a caller sends, the thread that answers it ends without an error."""

    name = "control-handshake"
    share = 6
    refusals = (OSError, EOFError)

    def valid(self) -> list[bytes]:
        request = b'{"request": "status"}'
        frame = len(request).to_bytes(8, "big") + request
        return [b"", b"x" * 64, b"\0" * 64 + frame, frame, b"flintstream channel 1\n" + b"x" * 64 + frame]

    def input(self, random: Random, number: int) -> bytes:
        return b"".join(self.mutated(random) for _ in range(random.randint(1, 3)))

    def check(self, data: bytes) -> str:
        ours, theirs = socket.socketpair()
        ours.sendall(data[:60_000])
        ours.shutdown(socket.SHUT_WR)
        answering = control.Control(_Job(str(self.directory)))  # type: ignore[arg-type]
        try:
            with suppress(OSError):
                answering._answer(accept(theirs, bytes.fromhex(ENTRY.key), time.monotonic() + 60))
        finally:
            theirs.close()
            reply = b""
            with suppress(ConnectionResetError):  # what the other end has not read
                while part := ours.recv(1 << 16):
                    reply += part
            ours.close()
        if b"result" in reply:
            raise Violation("a caller without the key got a result")
        return EQUAL if data in self.corpus else ACCEPTED


class Entries(Target):
    """Damaged and forged entries of jobs are skipped. Nothing but entries and sockets of ours is deleted."""

    name = "job-entries"
    share = 8

    def valid(self) -> list[bytes]:
        gone = {**vars(ENTRY), "pid": 2**22 + 1, "job_id": "1" * 32}
        return [json.dumps(vars(ENTRY)).encode(), json.dumps(gone).encode()]

    def mutated(self, random: Random) -> bytes:
        if random.random() < 0.3:
            return mutated(random, random.choice(self.corpus), self.corpus)
        content = mutated_tree(random, json.loads(random.choice(self.corpus)))
        if isinstance(content, dict) and random.random() < 0.3:
            content["address"] = str(self.directory / "precious")
            content["pid"] = 2**22 + 1
        if isinstance(content, dict) and random.random() < 0.2:
            content["job_id"], content["pid"] = "../precious", 2**22 + 1
        return json.dumps(content).encode()

    def check(self, data: bytes) -> str:
        place = self.directory / "jobs"
        place.mkdir(exist_ok=True)
        precious = [self.directory / "precious", self.directory / "precious.json"]
        for path in precious:
            path.write_bytes(b"mine")
        os.environ[registry.DIRECTORY] = str(place)
        (place / f"{ENTRY.job_id}.json").write_bytes(data)
        try:
            found = registry.entries()
        finally:
            for path in place.iterdir():
                path.unlink()
        if not all(path.exists() for path in precious):
            raise Violation("it deleted a file that is no entry")
        for entry in found:
            if {key: type(value) for key, value in vars(entry).items()} != {
                key: type(value) for key, value in vars(ENTRY).items()
            }:
                raise Violation(f"an entry with members of wrong types: {entry}")
        if data in self.corpus:
            return EQUAL
        return ACCEPTED if found else REFUSED


TARGETS: tuple[type[Target], ...] = (Requests, Replies, Handshake, Entries)
