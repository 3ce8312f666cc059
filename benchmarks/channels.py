"""What a round trip between the driver and a resident task costs over each kind of connection.

``python -m benchmarks.channels`` prints the median and the 99th percentile of round trips of a message to another
process and back, in microseconds.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.channels.channel import new_key
from flintstream.channels.listener import Listener
from flintstream.channels.tls import OwnCertificate

if TYPE_CHECKING:
    from flintstream.channels.channel import Address, Channel

ECHO = """
import pickle, sys
from flintstream.channels.channel import connect
with connect(pickle.load(sys.stdin.buffer), 60) as channel:
    while message := channel.receive():
        channel.send(message)
"""

SIZES = {"empty epoch": len(pickle.dumps((0, []), 5)), "64 KiB": 1 << 16, "1 MiB": 1 << 20}


def measure(address: Address, size: int, rounds: int, *, encrypted: bool) -> list[float]:
    """Return the seconds of each round trip."""
    taken: list[float] = []

    def serve(channel: Channel) -> None:
        message = bytes(size)
        with channel:
            for _ in range(rounds):
                began = time.perf_counter()
                channel.send(message)
                channel.receive()
                taken.append(time.perf_counter() - began)
            channel.send(b"")

    listener = Listener(address, new_key(), serve, encryption=OwnCertificate() if encrypted else None)
    given, variables = pickle.dumps(listener.endpoint()), {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", ECHO], input=given, check=True, env=variables)  # noqa: S603 - code of this file
    listener.close()
    return taken


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3000)
    arguments = parser.parse_args()
    print(f"{'':14}{'connection':12}{'median µs':>12}{'p99 µs':>12}")
    with tempfile.TemporaryDirectory() as directory:
        places: dict[str, Address] = {
            "Unix": str(Path(directory, "socket")),
            "TCP": ("127.0.0.1", 0),
            "TLS": ("127.0.0.1", 0),
        }
        for name, size in SIZES.items():
            for kind, place in places.items():
                rounds = arguments.rounds if size < 1 << 20 else arguments.rounds // 10
                taken = sorted(measure(place, size, rounds, encrypted=kind == "TLS"))
                p99 = taken[len(taken) * 99 // 100]
                print(f"{name:14}{kind:12}{statistics.median(taken) * 1e6:12.0f}{p99 * 1e6:12.0f}")


if __name__ == "__main__":
    main()
