"""Servers of Redis and MQTT, only on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

START_SECONDS = 60


class Server:
    """A server in a separate process, which can be killed and started again with its data."""

    def __init__(self, program: str, command: list[str], port: int, directory: Path) -> None:
        self.port, self._command, self._directory = port, [program, *command], directory
        self.start()

    def start(self) -> None:
        """Start, and wait until it listens."""
        with (self._directory / "log").open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self._directory)  # noqa: S603
        until = time.monotonic() + START_SECONDS
        while not self._listens():
            assert self.process.poll() is None, (self._directory / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.02)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """Kill it with signal 9."""
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str, *elsewhere: str) -> str:
    """Return the path of a program, or skip the test."""
    found = shutil.which(name) or next((path for path in elsewhere if Path(path).exists()), None)
    if found is None:
        pytest.skip(f"{name} is not installed on this machine")
    return found


def redis_server(directory: Path) -> Server:
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(directory)]
    return Server(
        program("redis-server"), [*options, "--appendonly", "yes", "--appendfsync", "always"], port, directory
    )


def mqtt_broker(directory: Path) -> Server:
    port = free_port()
    (directory / "conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
    return Server(program("mosquitto", "/usr/sbin/mosquitto"), ["-c", str(directory / "conf")], port, directory)
