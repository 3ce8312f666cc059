"""The cost of checkpoints and recovery as state grows while the rate of changes stays the same.

    python -m benchmarks.checkpoints [--keys 100000,1000000] [--only flintstream] [--flink-python PYTHON]

The program (``runners/pyflink_checkpoints.py``) sets 100 bytes for each of the requested keys. Then some of them change
at a steady rate while checkpoints are taken; towards the end the job fails once. The report has the median duration of
the checkpoints taken while the rate was steady, as the engine itself logs it, and the time from the failure to the
first record that is processed again. PyFlink runs the same file, in thread mode.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNNERS = Path(__file__).parent / "runners"
REPOSITORY = RUNNERS.parents[1]
BACKENDS = {
    "hashmap": ("hashmap", "false"),
    "hashmap, changelog": ("hashmap", "true"),
    "rocksdb": ("rocksdb", "false"),
    "rocksdb, changelog": ("rocksdb", "true"),
}
OURS = re.compile(
    r"^(\S+) INFO .*checkpoint (\d+) completed in (\d+) ms: (\d+) bytes written, (\d+) in all", re.MULTILINE
)
FLINK = re.compile(
    r"^(\S+ \S+?) INFO .*Completed checkpoint (\d+) for job \w+ \((\d+) bytes, checkpointDuration=(\d+) ms",
    re.MULTILINE,
)


def run(engine: str, python: str, keys: int, backend: str, options: argparse.Namespace) -> str:
    """Run the program once; return a row of the table."""
    state, changelog = BACKENDS[backend]
    with tempfile.TemporaryDirectory(prefix="checkpoints-") as directory:
        start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if engine == "flintstream" else []
        mode = "flintstream" if engine == "flintstream" else "thread"
        command = [
            python, *start, str(RUNNERS / "pyflink_checkpoints.py"), "--keys", str(keys), "--rate", str(options.rate),
            "--seconds", str(options.seconds), "--interval", str(options.interval), "--fail", "1", "--state", state,
            "--changelog", changelog, "--mode", mode, "--directory", directory,
        ]  # fmt: skip
        environment = {
            **os.environ,
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY / "src") if engine == "flintstream" else "",
            "FLINK_LOG_DIR": directory,
        }
        began = time.time()
        done = subprocess.run(  # noqa: S603 - our own programs
            command, env=environment, cwd=directory, capture_output=True, text=True, check=False, timeout=3600
        )
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip()[-1500:]}"
        lines = Path(directory, "notes").read_text().splitlines()
        notes = dict(line.rsplit(" ", 1) for line in reversed(lines))  # the first line of each kind counts
        logs = done.stderr + "".join(path.read_text() for path in Path(directory).glob("*.log"))
        filled, fails = float(notes["filled"]), float(notes["fails"])
        durations = checkpoint_durations(logs, engine, filled, fails)
        recovery = float(notes["works again"]) - fails
        if not durations:
            return "no checkpoint was completed while the rate was steady"
        filling = filled - began
        median, longest = statistics.median(durations), max(durations)
        return f"{median:8.0f} ms{longest:8.0f} ms{len(durations):6}{recovery:10.2f} s{filling:10.1f} s"


def checkpoint_durations(logs: str, engine: str, begin: float, end: float) -> list[int]:
    """Return the durations (ms) of the checkpoints between two times, except the first two, which write the filling."""
    durations = []
    if engine == "flintstream":
        for at, _, duration, _, _ in OURS.findall(logs):
            if begin <= float(at) <= end:
                durations.append(int(duration))
    else:
        for at, _, _, duration in FLINK.findall(logs):
            seconds = time.mktime(time.strptime(at.split(",")[0], "%Y-%m-%d %H:%M:%S"))
            if begin <= seconds <= end:
                durations.append(int(duration))
    return durations[2:]


def main() -> None:
    """Run all combinations one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default="100000,1000000")
    parser.add_argument("--rate", type=int, default=2000, help="changes per second")
    parser.add_argument("--seconds", type=int, default=40)
    parser.add_argument("--interval", type=int, default=2000, help="ms between checkpoints")
    parser.add_argument("--backends", default=";".join(BACKENDS))
    parser.add_argument("--only", default="flintstream,pyflink")
    parser.add_argument("--flink-python", help="an interpreter that has apache-flink 2.3.0")
    options = parser.parse_args()
    columns = f"{'median':>11}{'longest':>11}{'n':>6}{'recovery':>12}{'filling':>12}"
    print(f"{'engine':14}{'backend':20}{'keys':>12}{columns}")
    for engine in options.only.split(","):
        python = sys.executable if engine == "flintstream" else options.flink_python
        if not python:
            parser.error("give --flink-python, or --only flintstream")
        for backend in options.backends.split(";"):
            for keys in map(int, options.keys.split(",")):
                row = run(engine, python, keys, backend, options)
                print(f"{engine:14}{backend:20}{keys:12,}{row}", flush=True)


if __name__ == "__main__":
    main()
