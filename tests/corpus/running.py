"""Run one unmodified program, and judge the result."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition
from tests.connectors.jdbc.servers import PASSWORD
from tests.corpus.preparing import create_files, create_tables, create_topics
from tests.corpus.recipes import Filler, messages

if TYPE_CHECKING:
    from typing import Any

    from tests.connectors.jdbc.servers import Server
    from tests.connectors.kafka.broker import Broker
    from tests.corpus.listing import Program
    from tests.corpus.stand_ins import Aws, Elasticsearch

SHIM = Path(__file__).parent / "shim"
LARGEST = 20 << 20
"""Larger files of a repository are left out of the copy in which a program runs."""

ROUND_SECONDS = 1.5
"""Seconds between two rounds of messages."""

STEADY_SECONDS = 3.0
"""Seconds that an unbounded program must continue after all its output exists."""

END_SECONDS = 15.0

FAILURE = re.compile(r"^(Traceback \(most recent call last\)|Error: |\S*(Error|Exception)\b: )", re.MULTILINE)
LOGGED = re.compile(
    r"^\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|^No module named google\.|^PYFLINK_CYTHON_ENABLED: |^Using Any for unsupported type: "
)
"""Log lines of programs, and those of PyFlink and Beam if a program shows the whole log."""

SUBTASK = re.compile(r"^(\S+:)?\d+> ")


@dataclass(frozen=True)
class Way:
    """The command that starts a program."""

    name: str
    command: list[str]
    environment: dict[str, str]
    engine: str = ""


def flintstream(source: Path, engine: str) -> Way:
    """Return the command with ``flintstream run`` of a source tree."""
    command = [sys.executable, "-m", "flintstream.cli", "run", "--master", "local[2]"]
    if engine != "spark":
        command += ["-D", f"flintstream.engine={engine}"]
    return Way("flintstream", command, {"PYTHONPATH": str(source)}, engine)


def pyflink(python: str, jars: list[str]) -> Way:
    """Return the command with a Python that has PyFlink."""
    environment = {"CORPUS_PYFLINK": "1", "HADOOP_CLASSPATH": os.pathsep.join(jars), "PYTHONPATH": ""}
    environment["PATH"] = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    return Way("pyflink", [python], environment)


@dataclass
class Outcome:
    """The result of a program."""

    verdict: str
    reason: str
    output: str
    errors: str
    seconds: float

    @property
    def digest(self) -> str:
        return digest(self.output)


def digest(output: str) -> str:
    """Return a digest of a program's output, independent of order and subtask, and without its log."""
    lines = sorted(SUBTASK.sub("", line) for line in output.splitlines() if line.strip() and not LOGGED.match(line))
    return f"{len(lines)} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}" if lines else ""


@dataclass
class Servers:
    """The environment of programs on this machine."""

    broker: Broker | None = None
    database: Server | None = None
    libraries: str = ""
    """A directory of packages."""

    patience: float = 1
    """Factor of the time limits of programs, for a busy machine."""

    aws: Aws | None = None
    elasticsearch: Elasticsearch | None = None


class OneProcess:
    """A process that runs one program after another, each faster than in a process with a JVM that must start first."""

    def __init__(self, way: Way, libraries: str = "") -> None:
        self._way = way
        self._place = tempfile.TemporaryDirectory(prefix="corpus-process-", ignore_cleanup_errors=True)
        self._files = [Path(self._place.name, name) for name in ("output", "errors")]
        paths = [str(SHIM), way.environment["PYTHONPATH"], libraries]
        self._environment = {**os.environ, **way.environment, "CORPUS": "1", "PYTHONUNBUFFERED": "1"}
        self._environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        self._process: subprocess.Popen[str] | None = None

    def run(self, entry: dict[str, Any]) -> tuple[int | None, list[bytes]]:
        """Run a program; return its exit code, or None if it was late, and what it printed."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(entry) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            self._end()
            return 1, [b"", f"Error: the process ended with {entry['script']}".encode()]
        result = json.loads(answer)
        printed = []
        for path, (begin, end) in zip(self._files, (result["output"], result["errors"]), strict=True):
            with path.open("rb") as file:
                file.seek(begin)
                printed.append(file.read(end - begin))
        if result["code"] is None:
            self._end()  # its job may still run, and print
        return result["code"], printed

    def _started(self) -> subprocess.Popen[str]:
        command = [self._way.command[0], str(Path(__file__).with_name("one_process.py")), *map(str, self._files)]
        return subprocess.Popen(  # noqa: S603
            [*command, self._way.engine],
            cwd=tempfile.mkdtemp(dir=self._place.name),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _end(self) -> None:
        if self._process is not None:
            with self._process:  # closes its pipes
                _end(self._process)
            self._process = None

    def close(self) -> None:
        """End the process."""
        self._end()
        self._place.cleanup()


def run(program: Program, folder: Path, way: Way, servers: Servers, process: OneProcess | None = None) -> Outcome:
    """Run a program in a copy of its repository, and judge it; in a given process, if there is one."""
    with tempfile.TemporaryDirectory(prefix="corpus-", ignore_cleanup_errors=True) as place:
        copy = Path(place, "repository")
        shutil.copytree(program.checkout(folder), copy, ignore=_unwanted, symlinks=True)
        script = copy / program.file
        directory = script.parent if program.directory is None else copy / program.directory
        filler = Filler()
        made = create_files(program, directory, filler)
        if servers.broker is not None:
            create_topics(program, servers.broker)
        if servers.database is not None:
            create_tables(program, servers.database)
        if servers.aws is not None:
            servers.aws.prepare(program)
        if servers.elasticsearch is not None:
            servers.elasticsearch.documents.clear()
        try:
            return _Run(program, way, servers, copy, directory, filler).outcome(script, process)
        finally:
            for path in made:
                path.unlink(missing_ok=True)


def _unwanted(directory: str, names: list[str]) -> list[str]:
    unwanted = [".git"] if ".git" in names else []
    for name in names:
        path = Path(directory, name)
        if path.is_file() and path.stat().st_size > LARGEST:
            unwanted.append(name)
    return unwanted


class _Run:
    """One run of a program."""

    def __init__(
        self, program: Program, way: Way, servers: Servers, copy: Path, directory: Path, filler: Filler
    ) -> None:
        self.program = program
        self.way = way
        self.servers = servers
        self.copy = copy
        self.directory = directory
        self.filler = filler
        self.seconds = int(program.seconds * servers.patience)
        self.output = copy.parent / "output"
        self.errors = copy.parent / "errors"

    def outcome(self, script: Path, process: OneProcess | None) -> Outcome:
        """Run the script, and judge it."""
        began = time.monotonic()
        code = self._code(script) if process is None else self._code_in(process, script)
        seconds = time.monotonic() - began
        complaints = self.errors.read_text("utf-8", "replace")
        verdict, reason = self._judged(code, complaints)
        return Outcome(verdict, reason, self._printed(), complaints, seconds)

    def _code(self, script: Path) -> int | None:
        with self.output.open("wb") as out, self.errors.open("wb") as err:
            process = subprocess.Popen(  # noqa: S603
                [*self.way.command, *self._settings(), str(script), *self.program.args],
                cwd=self.directory,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                return self._watch(process)
            finally:
                _end(process)

    def _settings(self) -> list[str]:
        return [part for entry in self.program.settings for part in ("-D", entry)] if self.way.engine else []

    def _code_in(self, process: OneProcess, script: Path) -> int | None:
        entry = {
            "script": str(script),
            "directory": str(self.directory),
            "repository": str(self.copy),
            "args": self.program.args,
            "path": [str(self.copy / path) for path in self.program.path],
            "seconds": self.seconds,
        }
        code, printed = process.run(entry)
        for path, bytes_ in zip((self.output, self.errors), printed, strict=True):
            path.write_bytes(bytes_)
        return code

    def _environment(self) -> dict[str, str]:
        own = [str(self.copy / path) for path in self.program.path]
        paths = [str(SHIM), *own, self.way.environment["PYTHONPATH"], self.servers.libraries]
        environment = {**os.environ, **self.way.environment, **self.program.env, "CORPUS": "1", "PYTHONUNBUFFERED": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        if self.servers.broker is not None:
            environment["CORPUS_BROKER"] = self.servers.broker.servers
        if self.servers.aws is not None:
            environment |= {**self.servers.aws.environment, "CORPUS_AWS": self.servers.aws.server.endpoint}
        if self.servers.database is not None:
            login = {"host": "127.0.0.1", "port": self.servers.database.port, "user": "me", "password": PASSWORD}
            environment["CORPUS_DATABASE"] = json.dumps({**login, "name": "shop"})
        return environment

    def _watch(self, process: subprocess.Popen[bytes]) -> int | None:
        """Send messages until the program has ended, or has written all expected output; return its exit code."""
        until = time.monotonic() + self.seconds
        broker = self.servers.broker
        producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0}) if broker is not None else None
        sent, steady = 0.0, None
        while time.monotonic() < until:
            code = process.poll()
            if code is not None:
                return code
            now = time.monotonic()
            if now - sent > ROUND_SECONDS:
                sent = now
                if producer is not None:
                    self._send(producer)
                if self.servers.aws is not None:
                    self.servers.aws.send(self.program, self.filler)
            if not self.program.bounded:
                if steady is None and not self._missing():
                    steady = now
                if steady is not None and now - steady > STEADY_SECONDS:
                    return None
            time.sleep(0.3)
        return None

    def _send(self, producer: Producer) -> None:
        for topic, recipe in self.program.topics.items():
            for key, value in messages(recipe, self.filler):
                producer.produce(topic, value, key)
        producer.flush(5)

    def _printed(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def _missing(self) -> str:
        """Return the missing parts of the program's output, in words."""
        program, printed = self.program, self._printed()
        if program.shows and not re.search(program.shows, printed, re.MULTILINE):
            return f"nothing printed matches {program.shows}"
        for name in program.written:
            if not self._is_written(name):
                return f"nothing was written to {name}"
        if not program.shows and not program.written and not printed.strip():
            return "nothing was printed"
        return ""

    def _is_written(self, name: str) -> bool:
        if name.startswith("table:"):
            assert self.servers.database is not None
            return bool(self.servers.database.execute(f"SELECT * FROM {name.partition(':')[2]} LIMIT 1"))  # noqa: S608
        if name.startswith(("stream:", "bucket:", "firehose:")):
            return self.servers.aws is not None and self.servers.aws.is_written(name)
        if name.startswith("index:"):
            taken = self.servers.elasticsearch.documents if self.servers.elasticsearch is not None else {}
            return bool(taken.get(name.partition(":")[2]))
        if "*" not in name:
            return self.servers.broker is not None and _has_records(self.servers.broker, name)
        base, pattern = (Path("/"), name[1:]) if name.startswith("/") else (self.directory, name)
        return any(path.is_file() and path.stat().st_size for path in base.glob(pattern))

    def _judged(self, code: int | None, complaints: str) -> tuple[str, str]:
        program, error = self.program, last_error(complaints)
        if code not in {0, None}:
            return "fails", error or last_error(self._printed()) or f"exit code {code}"
        if code is None and program.bounded:
            return "fails", f"did not end within {self.seconds} s"
        missing = self._missing()
        if missing:
            return "fails", error or missing
        if code == 0 and not program.bounded:
            return "fails", error or "ended, though its input does not"
        return "runs", ""


def _end(process: subprocess.Popen[Any]) -> None:
    for number, seconds in ((signal.SIGINT, END_SECONDS), (signal.SIGKILL, END_SECONDS)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    process.wait()


def _has_records(broker: Broker, topic: str) -> bool:
    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": "corpus", "log_level": 0})
    try:
        parts = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        return any(consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=10)[1] > 0 for part in parts)
    finally:
        consumer.close()


def last_error(complaints: str) -> str:
    """Return the line with the error."""
    lines = [line.strip() for line in complaints.splitlines()]
    found = [line for line in lines if FAILURE.match(line) and not line.startswith("Traceback")]
    return found[-1][:300] if found else ""
