"""Time from a line of input that appears until a keyed function receives it, and until its result is printed.

    python -m benchmarks.found_input [--seconds 60] [--engines flintstream,pyflink-thread] [--flink-python PYTHON]

Every 50 ms a file of 50 lines appears in a directory, which the program (``runners/found_input.py``) searches every
50 ms. PyFlink runs the same program, with a JVM's defaults otherwise. The first ten seconds in which lines are printed
do not count.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.latency import WARM_UP_SECONDS, percentiles

RUNNER = Path(__file__).parent / "runners" / "found_input.py"
SOURCES = RUNNER.parents[2] / "src"
PRINTED = re.compile(rb"found (\d+) ([\d.]+) ([\d.]+)")
PERIOD_SECONDS = 0.05
LINES = 50


def write_file(directory: Path, number: int) -> None:
    """Move a file of lines into the directory: number of the line, time, key."""
    hidden, now = directory / f".{number}", time.time()
    lines = range(number * LINES, (number + 1) * LINES)
    hidden.write_text("".join(f"{line},{now},{line % 97}\n" for line in lines))
    hidden.rename(directory / f"{number:06}.csv")


def write_files(directory: Path, files: int, stopped: threading.Event) -> None:
    """Write a file every 50 ms, from number 1 on."""
    start = time.time()
    for number in range(1, files):
        if stopped.wait(max(0.0, start + number * PERIOD_SECONDS - time.time())):
            return
        write_file(directory, number)


def measure(engine: str, python: str, seconds: float) -> tuple[list[float], list[float]]:
    """Run the program; return how long (ms) each line took to the keyed function, and to the terminal.

    Raises:
        RuntimeError: The program ended early.
    """
    start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if engine == "flintstream" else []
    mode = [] if engine == "flintstream" else [engine.removeprefix("pyflink-")]
    variables = {
        **os.environ,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCES) if engine == "flintstream" else "",
    }
    with tempfile.TemporaryDirectory(prefix="found-input-") as work, Path(work, "log").open("wb") as log:
        directory = Path(work, "input")
        directory.mkdir()
        write_file(directory, 0)  # the others follow when this one has been printed
        process = subprocess.Popen(  # noqa: S603 - our own programs
            [python, *start, str(RUNNER), str(directory), *mode],
            env={**variables, "FLINK_LOG_DIR": work}, cwd=work, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        files = int((seconds + WARM_UP_SECONDS) / PERIOD_SECONDS)
        received, printed, missing = read(process, directory, files)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        if missing:
            raise RuntimeError(f"{missing} lines are missing\n{Path(work, 'log').read_text(errors='replace')[-2000:]}")
    return received, printed


def read(process: subprocess.Popen[bytes], directory: Path, files: int) -> tuple[list[float], list[float], int]:
    """Write the files, and read what the program prints; return the times, and the number of lines that are missing."""
    assert process.stdout is not None
    received: list[float] = []
    printed: list[float] = []
    stopped = threading.Event()
    writer = threading.Thread(target=write_files, args=(directory, files, stopped))
    missing, counts_from = files * LINES, 0.0
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
    parser.add_argument("--engines", default="flintstream,pyflink-thread")
    parser.add_argument("--flink-python", help="an interpreter that has apache-flink 2.3.0")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    for engine in options.engines.split(","):
        python = sys.executable if engine == "flintstream" else options.flink_python
        if not python:
            parser.error("give --flink-python, or --engines flintstream")
        received, printed = measure(engine, python, options.seconds)
        print(f"{engine:16} received {percentiles(received)} ms")
        print(f"{engine:16} printed  {percentiles(printed)} ms", flush=True)


if __name__ == "__main__":
    main()
