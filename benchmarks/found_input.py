"""Time from a line of input that appears until a keyed function receives it, and until its result is printed.

    python -m benchmarks.found_input files|kafka|sockets [--seconds 60] [--engines flintstream,pyflink-thread,asyncio]
                                                         [--flink-python PYTHON] [--jar JAR]

Every 50 ms, 50 lines appear: in a new file of a directory, which the program (``runners/found_input.py``) searches
every 50 ms, in a topic of one partition, or in a connection of a server. PyFlink runs the same program with default
settings. With Kafka it needs the jar flink-sql-connector-kafka-5.0.0-2.2.jar (from Maven Central); from sockets, only
its Java interface reads. The engine "asyncio", for sockets, is a reader in plain Python. The first ten seconds in which
lines are printed do not count. The broker is that of the tests.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from confluent_kafka import Producer
from tests.connectors.kafka.broker import Broker

from benchmarks.latency import WARM_UP_SECONDS, percentiles

RUNNER = Path(__file__).parent / "runners" / "found_input.py"
PLAIN = RUNNER.with_name("found_input_asyncio.py")
SOURCES = RUNNER.parents[2] / "src"
PRINTED = re.compile(rb"found (\d+) ([\d.]+) ([\d.]+)")
PERIOD_SECONDS = 0.05
LINES = 50


class Files:
    """A directory in which files appear."""

    def __init__(self, work: Path) -> None:
        """Use a new directory below ``work``."""
        self.where = work / "input"
        self.where.mkdir()

    def write(self, number: int) -> None:
        """Move a file of lines into the directory."""
        hidden = self.where / f".{number}"
        hidden.write_text("".join(f"{line}\n" for line in lines(number)))
        hidden.rename(self.where / f"{number:06}.csv")

    def close(self) -> None:
        """Do nothing: the directory is temporary."""


class Kafka:
    """A topic of a broker on this machine."""

    def __init__(self, work: Path) -> None:
        """Start the broker."""
        self._broker = Broker(work / "broker")
        self._topic = self._broker.topic(partitions=1)
        self._producer = Producer({"bootstrap.servers": self._broker.servers, "linger.ms": 0})
        self.where = f"{self._broker.servers}/{self._topic}"

    def write(self, number: int) -> None:
        """Send lines."""
        for line in lines(number):
            self._producer.produce(self._topic, line)
        self._producer.flush()

    def close(self) -> None:
        """Stop the broker."""
        self._broker.close()


class Sockets:
    """A server on this machine that sends lines to the first client that connects."""

    def __init__(self, work: Path) -> None:
        """Listen."""
        self._server = socket.create_server(("127.0.0.1", 0))
        self._client: socket.socket | None = None
        self.where = f"127.0.0.1:{self._server.getsockname()[1]}"

    def write(self, number: int) -> None:
        """Send lines; the first ones wait for the client, in a thread."""
        if self._client is None:
            threading.Thread(target=self._send, args=(number,), daemon=True).start()
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        if self._client is None:
            self._client, _ = self._server.accept()
        self._client.sendall("".join(f"{line}\n" for line in lines(number)).encode())

    def close(self) -> None:
        """Close the connection and the server."""
        if self._client is not None:
            self._client.close()
        self._server.close()


KINDS: dict[str, type[Files | Kafka | Sockets]] = {"files": Files, "kafka": Kafka, "sockets": Sockets}


def lines(number: int) -> list[str]:
    """Return lines: number of the line, time, key."""
    now = time.time()
    return [f"{line},{now},{line % 97}" for line in range(number * LINES, (number + 1) * LINES)]


def write_all(place: Files | Kafka | Sockets, times: int, stopped: threading.Event) -> None:
    """Write lines every 50 ms, from number 1 on."""
    start = time.time()
    for number in range(1, times):
        if stopped.wait(max(0.0, start + number * PERIOD_SECONDS - time.time())):
            return
        place.write(number)


def command(engine: str, python: str, kind: str, where: str, jar: str) -> list[str]:
    """Return the command line of an engine."""
    if engine == "asyncio":
        return [python, str(PLAIN), where]
    if engine == "flintstream":
        return [python, "-m", "flintstream.cli", "run", "--master", "local[2]", str(RUNNER), kind, where, jar]
    return [python, str(RUNNER), kind, where, engine.removeprefix("pyflink-"), jar]


def measure(kind: str, engine: str, python: str, jar: str, seconds: float) -> tuple[list[float], list[float]]:
    """Run the program; return how long (ms) each line took to the keyed function, and to the terminal.

    Raises:
        RuntimeError: The program ended early.
    """
    variables = {
        **os.environ,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCES) if engine == "flintstream" else "",
    }
    with tempfile.TemporaryDirectory(prefix="found-input-") as work, Path(work, "log").open("wb") as log:
        place = KINDS[kind](Path(work))
        place.write(0)  # the others follow when this one has been printed
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command(engine, python, kind, str(place.where), jar),
            env={**variables, "FLINK_LOG_DIR": work}, cwd=work, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        times = int((seconds + WARM_UP_SECONDS) / PERIOD_SECONDS)
        received, printed, missing = read(process, place, times)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        place.close()
        if missing:
            raise RuntimeError(f"{missing} lines are missing\n{Path(work, 'log').read_text(errors='replace')[-2000:]}")
    return received, printed


def read(
    process: subprocess.Popen[bytes], place: Files | Kafka | Sockets, times: int
) -> tuple[list[float], list[float], int]:
    """Write the input, and read what the program prints; return the times, and the number of lines that are missing."""
    assert process.stdout is not None
    received: list[float] = []
    printed: list[float] = []
    stopped = threading.Event()
    writer = threading.Thread(target=write_all, args=(place, times, stopped))
    missing, counts_from = times * LINES, 0.0
    for line in process.stdout:
        now = time.time()
        found = PRINTED.search(line)
        if found is None:
            continue
        if not counts_from:
            counts_from = now + WARM_UP_SECONDS
            writer.start()
        written = float(found[2])
        if written > counts_from:
            received.append((float(found[3]) - written) * 1000)
            printed.append((now - written) * 1000)
        missing -= 1
        if not missing:
            break
    stopped.set()
    return received, printed, missing


def main() -> None:
    """Measure the engines one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--jar", default="", help="of Kafka's connector, for PyFlink")
    parser.add_argument("--engines", default="flintstream,pyflink-thread")
    parser.add_argument("--flink-python", help="an interpreter that has apache-flink 2.3.0")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    for engine in options.engines.split(","):
        if engine == "asyncio" and options.kind != "sockets":
            parser.error("asyncio reads from sockets only")
        python = sys.executable if engine in {"flintstream", "asyncio"} else options.flink_python
        if not python:
            parser.error("give --flink-python, or --engines flintstream")
        received, printed = measure(options.kind, engine, python, options.jar, options.seconds)
        print(f"{engine:16} received {percentiles(received)} ms")
        print(f"{engine:16} printed  {percentiles(printed)} ms", flush=True)


if __name__ == "__main__":
    main()
