"""A real server with the protocol of MongoDB: FerretDB over SQLite, only on this machine, built by Go."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from tests import maven

MODULE = "github.com/FerretDB/FerretDB"
VERSION = "1.24.2"
BINARY = "FLINTSTREAM_FERRETDB"
BUILD_SECONDS = 900
START_SECONDS = 60


class NoServerError(Exception):
    """No FerretDB can be started on this machine; the message has the reason."""


def binary() -> Path:
    """Return the server's program: the one of an environment variable, or the one in the cache.

    ``.ci/systems`` runs this module, which builds it there.
    """
    own = os.environ.get(BINARY)
    path = Path(own) if own else cached()
    if not path.is_file():
        raise NoServerError(f"python -m tests.connectors.mongodb.server builds it in {path.parent}, with Go")
    return path


def cached() -> Path:
    """Return the place of the program in the cache."""
    return Path.home() / ".cache" / "flintstream" / f"ferretdb-{VERSION}" / "ferretdb"


def _run(*command: str, cwd: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False, cwd=cwd
        )
    except subprocess.TimeoutExpired:
        raise NoServerError(f"Go has not built it within {BUILD_SECONDS} s") from None
    if done.returncode:
        raise NoServerError(f"Go cannot build it: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return done.stdout


def build() -> Path:
    """Build the program, unless it is in the cache."""
    path = cached()
    if shutil.which("go") is None and not path.is_file():
        raise NoServerError("it needs Go")
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path.parent}.lock").open("w") as lock, tempfile.TemporaryDirectory(dir=path.parent.parent) as work:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.is_file():  # another process has just built it
            return path
        source = _run("go", "mod", "download", "-json", f"{MODULE}@v{VERSION}", cwd=work)
        shutil.copytree(json.loads(source)["Dir"], f"{work}/source")
        place = Path(work, "source", "build", "version")
        place.chmod(0o755)  # Go's copies cannot be written
        (place / "version.txt").write_text(f"v{VERSION}\n", "utf-8")  # the server does not start without it
        Path(work, "bin").mkdir()
        _run("go", "build", "-o", f"{work}/bin/", "./cmd/ferretdb", cwd=f"{work}/source")
        for directory in Path(work, "source").rglob("*"):
            if directory.is_dir():
                directory.chmod(0o755)
        Path(work, "bin").rename(path.parent)
    return path


class Server:
    """A server in a separate process, which can be killed and restarted with its data."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        for name in ("data", "state"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        self.program = binary()
        self.port = maven.free_port()
        self.uri = f"mongodb://127.0.0.1:{self.port}/"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        command = [
            str(self.program),
            "--handler=sqlite",
            f"--sqlite-url=file:{self.directory}/data/",
            f"--state-dir={self.directory}/state",
            f"--listen-addr=127.0.0.1:{self.port}",
            "--debug-addr=-",
            "--telemetry=disable",
            "--log-level=error",
        ]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)  # noqa: S603
        until = time.monotonic() + START_SECONDS
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise NoServerError(f"the server does not start:\n{(self.directory / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def client(self):
        """Return a client of the driver."""
        from pymongo import MongoClient

        return MongoClient(self.uri)

    def database(self) -> str:
        """Return a name that no other test uses."""
        return f"d{uuid.uuid4().hex[:12]}"

    def documents(self, database: str, collection: str = "c") -> list[dict[str, object]]:
        """Return all documents, by their id."""
        with self.client() as client:
            return sorted(client[database][collection].find(), key=lambda document: str(document["_id"]))

    def insert(self, database: str, documents: list[dict[str, object]], collection: str = "c") -> None:
        """Insert documents."""
        with self.client() as client:
            client[database][collection].insert_many(documents)

    def kill(self) -> None:
        """Kill the server with signal 9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Stop the server and delete its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


if __name__ == "__main__":
    try:
        print(build())
    except NoServerError as error:
        print(f"no FerretDB: {error}")
