"""The time from the command to the end of a small job: ``flintstream run`` beside PyFlink.

    python -m benchmarks.start [--pairs 5] [--python FLINK_PYTHON] [--mode thread|process] [--pyspark]

The program is PyFlink's own word count. Each pair runs it once with ``flintstream run`` and once with ``python`` of
PyFlink's virtual environment, which is made below ``build/benchmark-venvs`` if no interpreter is given. For thread mode
(``--mode``), which PyFlink takes from the program only, its copy of the program gets that setting. ``--pyspark`` adds a
word count in plain PySpark, as ``python``: what a start of Spark takes without flintstream.

The CPU is that of all processes that a command starts, until the last of them has ended. A first run of each, which
does not count, leaves byte code and an archive of Spark's classes behind.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.engines import ENGINES, REPOSITORY, RUNNERS, python_of
from benchmarks.process import Cost, RunError, adopting, children, cpu_of_children, descendants, end_all

if TYPE_CHECKING:
    from collections.abc import Sequence

PYSPARK = "PySpark"
LONGEST_SECONDS = 300
SETTLED_SECONDS = 11
"""An archive of classes is used once it has not changed for this long."""


class Command(NamedTuple):
    """A way to run the program."""

    name: str
    arguments: list[str]
    variables: dict[str, str]


def whole_cost(command: Command, directory: str) -> tuple[Cost, str]:
    """Run a command; return its time, the CPU of all its processes, and its output.

    Raises:
        RunError: The command fails.
    """
    known = set(children().get(os.getpid(), []))
    used = cpu_of_children()
    log = Path(directory, "errors")
    with log.open("w") as errors, adopting():
        started = time.perf_counter()
        try:
            done = subprocess.run(  # noqa: S603 - our own programs
                command.arguments,
                env=command.variables,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                timeout=LONGEST_SECONDS,
                check=False,
            )
            seconds = time.perf_counter() - started
            while descendants(known) and time.perf_counter() - started < LONGEST_SECONDS:
                _wait_for_orphans(known)
                time.sleep(0.01)
        finally:
            end_all(known)
    if done.returncode:
        raise RunError(f"{command.name}: exit code {done.returncode}\n{log.read_text(errors='replace')[-2000:]}")
    return Cost(seconds, cpu_of_children() - used), done.stdout.decode()


def _wait_for_orphans(known: set[int]) -> None:
    """Wait for the adopted processes that have ended, which adds their CPU to that of this process's children."""
    for pid in children().get(os.getpid(), []):
        if pid not in known:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def results(output: str) -> list[str]:
    """Return the counts that a run has printed, in a fixed order: PyFlink numbers the lines of several subtasks."""
    return sorted(line for line in output.splitlines() if line.startswith("("))


def with_mode(program: str, mode: str) -> str:
    """Return the text of a program whose environment has PyFlink's execution mode."""
    head = "from pyflink.common import Configuration as _Configuration\n"
    setting = f"_Configuration().set_string('python.execution-mode', '{mode}')"
    return head + program.replace(".get_execution_environment()", f".get_execution_environment({setting})")


def commands(flink: str, directory: str, text: str, mode: str) -> list[Command]:
    """Return both ways to run a program, which get a copy each."""
    program, theirs = Path(directory, "word_count.py"), Path(directory, "pyflink", "word_count.py")
    theirs.parent.mkdir()
    program.write_text(text)
    theirs.write_text(with_mode(text, mode))
    ours = [str(Path(sys.executable).parent / "flintstream"), "run", str(program)]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    path = f"{Path(flink).parent}{os.pathsep}{variables['PATH']}"  # PyFlink starts "python"
    return [
        Command("flintstream", ours, variables),
        Command("PyFlink", [flink, str(theirs)], {**variables, "PATH": path}),
    ]


def word_count(flink: str) -> str:
    """Return the path of the word count that comes with PyFlink."""
    find = "import pyflink, pathlib; print(pathlib.Path(pyflink.__file__).parent)"
    done = subprocess.run([flink, "-c", find], stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603
    return str(Path(done.stdout.strip(), "examples", "datastream", "word_count.py"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line per run, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--python", help="the interpreter of an environment with PyFlink")
    parser.add_argument("--mode", choices=["thread", "process"], default="thread", help="where PyFlink runs Python")
    parser.add_argument("--pyspark", action="store_true", help="run a small job in plain PySpark, too")
    parser.add_argument("--only", choices=["flintstream", "PyFlink"], help="leave the other one out")
    options = parser.parse_args(arguments)
    venvs = REPOSITORY / "build" / "benchmark-venvs"
    flink = python_of(ENGINES["flink-thread"], {"flink": options.python}, venvs)
    with tempfile.TemporaryDirectory(prefix="start-") as directory:
        text = Path(word_count(flink)).read_text()
        both = commands(flink, directory, text, options.mode)
        chosen = [command for command in both if options.only in {None, command.name}]
        if options.pyspark:
            chosen.append(Command(PYSPARK, [sys.executable, str(RUNNERS / "start_pyspark.py")], both[0].variables))
        expected = None
        costs: dict[str, list[Cost]] = {command.name: [] for command in chosen}
        for pair in range(options.pairs + 1):
            for command in chosen:
                cost, output = whole_cost(command, directory)
                expected = expected or results(output)
                if command.name != PYSPARK and (results(output) != expected or not expected):
                    raise RunError(f"{command.name} has other results: {output[-2000:]}")
                if pair:
                    costs[command.name].append(cost)
                    print(f"{command.name:12} {cost.seconds:6.2f} s   CPU {cost.cpu:6.2f} s", flush=True)
            if pair == 0:
                time.sleep(SETTLED_SECONDS)
    medians = {
        name: Cost(statistics.median(c.seconds for c in item), statistics.median(c.cpu for c in item))
        for name, item in costs.items()
    }
    for name, cost in medians.items():
        print(f"median of {name:12} {cost.seconds:6.2f} s   CPU {cost.cpu:6.2f} s")
    if options.only is None:
        ours, theirs = medians["flintstream"], medians["PyFlink"]
        print(f"ratio {ours.seconds / theirs.seconds:.2f}, of the CPU {ours.cpu / theirs.cpu:.2f}")


if __name__ == "__main__":
    main()
