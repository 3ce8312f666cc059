"""A Spark Connect server on this machine, for as long as something needs it.

    python -m tests.connect_server COMMAND ...                   # runs a command with SPARK_REMOTE set
    python -m tests.connect_server --server PYTHON COMMAND ...   # with the PySpark of another environment as the server

The server serves 127.0.0.1 only and asks for a token, which the command gets in its environment.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 90
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - the name of the variable


class NoServerError(Exception):
    """The environment has no Spark Connect server, or it did not start."""


class Server(NamedTuple):
    """A server that accepts connections."""

    process: subprocess.Popen[bytes]
    port: int
    token: str

    @property
    def address(self) -> str:
        """The address for clients. A token without TLS is for this name only."""
        return f"sc://localhost:{self.port}"


@contextmanager
def running_server(
    python: str = sys.executable, *, like: Server | None = None, master: str = "local[2]"
) -> Iterator[Server]:
    """Start the server that the PySpark of an interpreter has, and end it afterwards.

    Args:
        python: the interpreter.
        like: a server that has ended, whose port and token the new one takes.
        master: where the server runs its tasks.

    Raises:
        NoServerError: There is none, or it ended, or it took too long.
    """
    home = find_server(python)
    port, token = (_free_port(), secrets.token_hex(16)) if like is None else (like.port, like.token)
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    local = {TOKEN: token, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    inherited = {key: value for key, value in os.environ.items() if key not in {"SPARK_REMOTE", "PYTHONPATH"}}
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with tempfile.TemporaryDirectory(prefix="connect-server-") as directory:
        log = Path(directory, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - a command of our own
                [home / "bin" / "spark-submit", "--class", name, "--master", master, *confs, "spark-internal"],
                env={**inherited, **local}, cwd=directory, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            _wait_for(port, process, log)
            yield Server(process, port, token)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def find_server(python: str = sys.executable) -> Path:
    """Return the directory of an interpreter's PySpark, which has a server.

    Raises:
        NoServerError: It has none.
    """
    find = "import importlib.util as u; print(u.find_spec('pyspark').submodule_search_locations[0])"
    found = subprocess.run([python, "-c", find], capture_output=True, text=True, check=False)  # noqa: S603
    if found.returncode:
        raise NoServerError(f"{python} has no PySpark")
    home = Path(found.stdout.strip())
    if not list(home.glob("jars/spark-connect_*.jar")):
        raise NoServerError("this PySpark has no Connect server")
    return home


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            raise NoServerError(f"the server ended: {log.read_text()[-2000:]}")
        if time.monotonic() > until:
            raise NoServerError(f"the server did not start in {START_SECONDS} s")
        time.sleep(0.1)


def main() -> int:
    """Run a command beside a server, and return its exit code."""
    parser = argparse.ArgumentParser(prog="tests.connect_server", description=__doc__)
    parser.add_argument("--server", default=sys.executable, metavar="PYTHON", help="the interpreter of the server")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    with running_server(given.server) as server:
        there = {"SPARK_REMOTE": server.address, TOKEN: server.token}
        return subprocess.run(given.command, env={**os.environ, **there}, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
