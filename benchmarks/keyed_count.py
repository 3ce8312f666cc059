"""Records per second of one program on several engines: a count per key in keyed state, 2 cores, STREAMING.

    python -m benchmarks.keyed_count [--records 1000000] [--keys 10000] [--only flintstream,bare] [--venvs DIRECTORY]

The program (``runners/pyflink_job.py``): the numbers 0 to N-1 -> map to (key, n) -> key_by -> a ValueState counts,
every 100th count of a key is emitted -> files. PyFlink in thread and in process mode and flintstream run that very
file. ``runners`` has the same on PySpark's transformWithState, on Bytewax, and on bare Python processes without an
exchange, which is the bound.

How it is measured: the whole command is timed, with N records and with N/100; the difference is the time of the other
99 %, without start-up. If that is less than a few seconds (--min-seconds), N is made 4 times as large until it is
not. An engine counts only if the lines it wrote for N records are exactly the expected ones.

PyFlink, Bytewax and PySpark run in virtual environments below --venvs, which are made when they are not there (that
takes a while, and PyFlink needs Python 3.12 or older), or in given ones (--flink-python, --bytewax-python,
--spark-python).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.runners.options import SPREAD

RUNNERS = Path(__file__).parent / "runners"
REPOSITORY = RUNNERS.parents[1]
REQUIREMENTS = {
    "flink": ["apache-flink==2.3.0"],
    "bytewax": ["bytewax==0.21.1"],
    "spark": ["pyspark==4.3.0", "pandas", "pyarrow", "protobuf"],
}
SMALL = 100
MOST_RECORDS = 64_000_000


@dataclass(frozen=True)
class Engine:
    """One way to run the program."""

    title: str
    script: str
    environment: str | None = None
    """Which of REQUIREMENTS it needs; None: this interpreter."""
    mode: str | None = None

    def command(self, python: str, arguments: list[str]) -> list[str]:
        """Return the command line."""
        mode = [] if self.mode is None else ["--mode", self.mode]
        start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if self.mode == "flintstream" else []
        return [python, *start, str(RUNNERS / self.script), *arguments, *mode]


ENGINES = {
    "flink-process": Engine("PyFlink, process mode", "pyflink_job.py", "flink", "process"),
    "flink-thread": Engine("PyFlink, thread mode", "pyflink_job.py", "flink", "thread"),
    "spark": Engine("PySpark transformWithState", "spark_transform_with_state.py", "spark"),
    "bytewax": Engine("Bytewax, 2 processes", "bytewax_flow.py", "bytewax"),
    "flintstream": Engine("flintstream", "pyflink_job.py", None, "flintstream"),
    "bare": Engine("bare Python, 2 processes, no exchange", "bare.py"),
}


@dataclass(frozen=True)
class Measured:
    """What one engine did."""

    engine: Engine
    records: int = 0
    seconds: float = 0.0
    start_up: float = 0.0
    problem: str = ""

    @property
    def rate(self) -> float:
        """Records per second without start-up; 0 if the run was too short to tell."""
        return self.records / self.seconds if self.seconds > 0 else 0.0


def expected_lines(records: int, keys: int, every: int) -> list[str]:
    """Return what every engine must write, sorted."""
    counts = Counter(n * SPREAD % keys for n in range(records))
    return sorted(f"({key},{number})" for key, count in counts.items() for number in range(every, count + 1, every))


def written_lines(directory: Path) -> list[str]:
    """Return what an engine wrote, sorted; files that are not finished have a leading dot."""
    files = [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
    return sorted(line for path in files for line in path.read_text().splitlines())


def python_of(engine: Engine, options: argparse.Namespace) -> str:
    """Return the interpreter of the engine's virtual environment, which is made if need be."""
    if engine.environment is None:
        return sys.executable
    given: str | None = getattr(options, f"{engine.environment}_python")
    if given:
        return str(Path(given).absolute())
    directory = Path(options.venvs, engine.environment).absolute()  # it runs from another directory
    python = directory / "bin" / "python"
    if not (directory / ".ready").exists():
        print(f"making {directory} ...", file=sys.stderr, flush=True)
        venv.create(directory, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "setuptools<81", *REQUIREMENTS[engine.environment]]
        subprocess.run(install, check=True)  # noqa: S603 - a fixed list
        (directory / ".ready").touch()
    return str(python)


def run_once(engine: Engine, python: str, records: int, options: argparse.Namespace) -> tuple[float, list[str]]:
    """Run the program once; return its seconds and what it wrote."""
    with tempfile.TemporaryDirectory(prefix="keyed-count-") as directory:
        arguments = {"records": records, "keys": options.keys, "every": options.every, "output": directory}
        command = engine.command(
            python, [part for name, value in arguments.items() for part in (f"--{name}", str(value))]
        )
        path = [str(RUNNERS), *([str(REPOSITORY / "src")] if engine.environment is None else [])]
        environment = {
            **os.environ,
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",  # PyFlink starts "python"
            "PYTHONPATH": os.pathsep.join(path),
        }
        started = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - our own programs
            command,
            env=environment,
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=options.timeout,
        )
        seconds = time.perf_counter() - started
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
        return seconds, written_lines(Path(directory))


def measure(engine: Engine, options: argparse.Namespace, expected: list[str]) -> Measured:
    """Measure one engine."""
    try:
        python = python_of(engine, options)
        records = options.records
        small = records // SMALL
        start_up, _ = run_once(engine, python, small, options)
        seconds, lines = run_once(engine, python, records, options)
        if lines != expected:
            return Measured(engine, problem=f"wrong result: {len(lines)} lines, expected {len(expected)}")
        while seconds - start_up < options.min_seconds and records * 4 <= MOST_RECORDS:
            records *= 4
            seconds, _ = run_once(engine, python, records, options)
        return Measured(engine, records - small, seconds - start_up, start_up)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return Measured(engine, problem=f"{type(error).__name__}: {error}")


def report(results: list[Measured]) -> None:
    """Print the table."""
    right = [result for result in results if not result.problem]
    ours = next((result.rate for result in right if result.engine.mode == "flintstream"), None)
    print(f"\n{'engine':40}{'records/s':>14}{'flintstream is':>18}{'start-up s':>12}{'measured':>22}")
    for result in results:
        if result.problem:
            print(f"{result.engine.title:40}{'-':>14}  {result.problem}")
            continue
        ratio = f"{ours / result.rate:.2f} x" if ours and result.rate else "-"
        measured = f"{result.records:,} in {result.seconds:.1f} s"
        print(f"{result.engine.title:40}{result.rate:>14,.0f}{ratio:>18}{result.start_up:>12.1f}{measured:>22}")


def main() -> None:
    """Run the engines one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=100, help="every which count of a key is emitted")
    parser.add_argument("--only", default=",".join(ENGINES), help="engines, separated by commas: %(default)s")
    parser.add_argument("--venvs", default="build/benchmark-venvs", help="where they are made (%(default)s)")
    parser.add_argument("--min-seconds", type=float, default=5.0)
    parser.add_argument("--timeout", type=float, default=3600, help="seconds that one run may take")
    for environment in REQUIREMENTS:
        parser.add_argument(f"--{environment}-python", help=f"an interpreter that has {REQUIREMENTS[environment][0]}")
    options = parser.parse_args()
    unknown = [name for name in options.only.split(",") if name not in ENGINES]
    if unknown:
        parser.error(f"unknown engines: {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    expected = expected_lines(options.records, options.keys, options.every)
    if not expected:
        parser.error("no key is counted up to --every: give more records or fewer keys")
    results = []
    for name in options.only.split(","):
        print(f"{ENGINES[name].title} ...", file=sys.stderr, flush=True)
        results.append(measure(ENGINES[name], options, expected))
    report(results)


if __name__ == "__main__":
    main()
