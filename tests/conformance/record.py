# mypy: disable-error-code="import-not-found,import-untyped"
"""Run the programs on real PyFlink and record the results.

    python -m tests.conformance.record                 # everything
    python -m tests.conformance.record NAME ...        # some programs
    python -m tests.conformance.record --verify        # compare with the recorded results, write nothing
    python -m tests.conformance.record --what errors   # programs, errors or examples alone

If PyFlink is not importable, a virtual environment is created (downloads 725 MB) and used instead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance import examples, harness
from tests.conformance.harness import Run
from tests.conformance.registry import Collected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.conformance.registry import FailingProgram, Mode, Program

VERSION = "2.3.0"
ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Record; the exit status is 1 if something could not be recorded or verified."""
    parser = argparse.ArgumentParser(description="Record what real PyFlink gives for the conformance programs.")
    parser.add_argument("names", nargs="*", help="the programs to run; without any, all")
    parser.add_argument("--verify", action="store_true", help="compare with what is recorded and write nothing")
    parser.add_argument("--missing", action="store_true", help="only programs of which something is not recorded yet")
    parser.add_argument("--what", choices=("all", "programs", "errors", "examples"), default="all")
    parser.add_argument("--venv", type=Path, default=ROOT / ".oracle-venv", help="where to make a virtual environment")
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)

    if find_spec("pyflink") is None:
        return run_in_venv(options.venv, sys.argv[1:] if arguments is None else list(arguments))
    # The workers of PyFlink are started as `python`.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    if options.journal:
        record_here(options.names, Journal(options.journal), verify=options.verify)
        return 0

    todo: list[str] = []
    if options.what in {"all", "programs"}:
        programs = harness.load_programs().values()
        todo += [program.name for program in programs if not (options.missing and is_recorded(program))]
    if options.what in {"all", "errors"}:
        todo += [program.name for program in harness.load_failing().values()]
    failed = record_in_children([n for n in todo if not options.names or n in options.names], verify=options.verify)
    if options.what == "examples" or (options.what == "all" and not options.names):
        failed += examples.record(verify=options.verify)
    for line in failed:
        say(f"FAILED {line}")
    return 1 if failed else 0


def run_in_venv(directory: Path, arguments: Sequence[str]) -> int:
    """Run this module in a virtual environment with PyFlink."""
    command = [str(python_with_pyflink(directory)), "-m", "tests.conformance.record", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603


def python_with_pyflink(directory: Path) -> Path:
    """Return the Python of a virtual environment with PyFlink, which is created if necessary."""
    python = directory / "bin" / "python"
    if not python.exists():
        say(f"making {directory} with apache-flink=={VERSION}")
        venv.create(directory, with_pip=True)
        (directory / ".gitignore").write_text("*\n", encoding="utf-8")
        # Newer releases of setuptools lack pkg_resources, which dependencies of PyFlink import.
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "setuptools<80", f"apache-flink=={VERSION}"], check=True)  # noqa: S603
    return python


class Journal:
    """Journal of the programs that a child process has started, and of its failures; it outlives the child."""

    def __init__(self, path: Path) -> None:
        """Read and write ``path``."""
        self.path = path

    def add(self, kind: str, text: str) -> None:
        """Append an entry."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([kind, text]) + "\n")

    def entries(self, kind: str) -> list[str]:
        """Return all entries of a kind."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return [text for found, text in map(json.loads, lines) if found == kind]


def record_in_children(names: list[str], *, verify: bool) -> list[str]:
    """Record programs, many in one process; return the failures.

    Some failures end the process that runs PyFlink. Then a new process continues with the rest.
    """
    failed: list[str] = []
    todo = list(names)
    while todo:
        with tempfile.TemporaryDirectory() as directory:
            journal = Journal(Path(directory) / "journal")
            command = [sys.executable, "-m", "tests.conformance.record", "--journal", str(journal.path)]
            status = subprocess.run([*command, *["--verify"] * verify, *todo], cwd=ROOT, check=False).returncode  # noqa: S603
            begun, ended = journal.entries("begin"), set(journal.entries("end"))
            failed += journal.entries("failed")
            if not begun:
                raise RuntimeError(f"recording does not start (exit status {status})")
        failed += [f"{name}: ended the whole process with status {status}" for name in begun if name not in ended]
        todo = [name for name in todo if name not in begun]
    return failed


def record_here(names: Iterable[str], journal: Journal, *, verify: bool) -> None:
    """Record programs in this process."""
    programs, failing = harness.load_programs(), harness.load_failing()
    for name in names:
        journal.add("begin", name)
        if name in programs:
            failed = record_program(programs[name], verify=verify)
        else:
            failed = record_error(failing[name], verify=verify)
        for line in failed:
            journal.add("failed", line)
        journal.add("end", name)


def is_recorded(program: Program) -> bool:
    """Return whether all runs of a program are recorded."""
    path = harness.golden_path(program.name)
    if not path.exists():
        return False
    return set(json.loads(path.read_text(encoding="utf-8"))["runs"]) == {str(run) for run in harness.runs_of(program)}


def record_program(program: Program, *, verify: bool) -> list[str]:
    """Run a program and write its golden file; return the failures."""
    failed: list[str] = []
    recorded: dict[str, Any] = {}
    for run in harness.runs_of(program):
        start = time.monotonic()
        try:
            outputs = run_program(program, run)
            recorded[str(run)] = {"execution": execution(run.mode), "outputs": outputs}
            if verify:
                harness.compare(program, run, [output["text"] for output in outputs])
        except Exception as error:  # noqa: BLE001 - the other programs must run after any error
            failed.append(f"{program.name} {run}: {error if verify else essence(error)}")
        say(f"{program.name} {run}: {time.monotonic() - start:.1f} s")
    if not verify and not failed:
        content = {"program": program.name, "flink": VERSION, "ordering": program.ordering, "runs": recorded}
        write(harness.golden_path(program.name), content)
    return failed


def write(path: Path, content: object) -> None:
    """Write ``content`` as readable JSON that is easy to compare."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def execution(mode: Mode) -> str:
    """Return the execution mode of Python functions with correct results.

    Keyed programs with timers are wrong in BATCH with worker processes: deleted timers fire, and state
    of one key appears at another.
    """
    return "thread" if mode == "BATCH" else "process"


def make_environment(run: Run, config: Iterable[tuple[str, str]] = ()) -> Any:
    """Return a new environment of real PyFlink."""
    from pyflink.common import Configuration
    from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

    configuration = Configuration()
    configuration.set_string("python.execution-mode", execution(run.mode))
    configuration.set_string("restart-strategy.type", "none")
    for key, value in config:
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode[run.mode])
    env.set_parallelism(run.parallelism)
    return env


def run_program(program: Program, run: Run) -> list[dict[str, list[str]]]:
    """Run one program on real PyFlink and return the text and the values of every output."""
    env = make_environment(run, program.config.items())
    with tempfile.TemporaryDirectory() as directory:
        results = program.function(env, Path(directory)) if program.directory else program.function(env)
        outputs = results if isinstance(results, list) else [results]
        collects = [collector(output) for output in outputs]
        if not all(isinstance(output, Collected) for output in outputs):
            env.execute(program.name)
        records = [collect() for collect in collects]
    return [in_order(texts, values, program.ordering) for texts, values in records]


def in_order(texts: list[str], values: list[str], ordering: Any) -> dict[str, list[str]]:
    """Sort records whose order does not count, so that recordings do not differ."""
    return {"text": harness.canonical(texts, ordering), "values": values if ordering == "exact" else sorted(values)}


def collector(output: Any) -> Callable[[], tuple[list[str], list[str]]]:
    """Attach a collecting sink to a stream; the result returns its records after the execution.

    The sink that PyFlink's own tests use is not in the wheel. What ``execute_and_collect`` uses underneath is, and any
    number of them can be part of one job. The text of a typed record is what its Java object's ``toString`` gives; that
    of a pickled one is its ``str``. Both are what the sink of PyFlink's tests gives.
    """
    if isinstance(output, Collected):
        return lambda: ([str(value) for value in output.values], [repr(value) for value in output.values])

    from pyflink.common import Types
    from pyflink.datastream import KeyedStream
    from pyflink.datastream.data_stream import CloseableIterator
    from pyflink.java_gateway import get_gateway

    stream = output._values() if isinstance(output, KeyedStream) else output
    type_info = stream.get_type()
    java_iterator = stream._j_data_stream.collectAsync()

    def collect() -> tuple[list[str], list[str]]:
        jvm = get_gateway().jvm
        java_list = jvm.org.apache.flink.shaded.guava33.com.google.common.collect.Lists.newArrayList(java_iterator)
        # py4j turns an Integer into an int on its way; inside a list it stays the Java object that it is.
        texts = [java_list.subList(i, i + 1).toString()[1:-1] for i in range(java_list.size())]
        again = jvm.org.apache.flink.util.CloseableIterator.adapterForIterator(java_list.iterator())
        try:
            values = list(CloseableIterator(again, type_info))
        except Exception as error:  # noqa: BLE001 - some types cannot be brought to Python in this way
            return texts, [f"{harness.NOT_CONVERTIBLE}: {essence(error)}"]
        if type_info == Types.PICKLED_BYTE_ARRAY():
            texts = [str(value) for value in values]
        return texts, [repr(value) for value in values]

    return collect


def record_error(program: FailingProgram, *, verify: bool) -> list[str]:
    """Run a program that must fail; return a line if it does not fail as declared."""
    stage, kind, message = run_failing(program)
    say(f"{program.name}: {stage}, {kind}: {message}")
    claimed = (program.stage, program.exception)
    if (stage, kind) != claimed or program.match.lower() not in message.lower():
        return [f"{program.name}: {stage} {kind}: {message}; claimed: {claimed} {program.match!r}"]
    if not verify:
        path = harness.ERRORS / "recorded.json"
        recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        recorded[program.name] = {"stage": stage, "exception": kind, "message": message}
        write(path, dict(sorted(recorded.items())))
    return []


def run_failing(program: FailingProgram) -> tuple[str, str, str]:
    """Return the stage, the exception and the message of a program's failure on real PyFlink."""
    stage = "build"
    try:
        env = make_environment(Run(program.mode, 1))
        result = program.function(env)
        stage = "run"
        if result is not None:
            collect = collector(result)
            env.execute(program.name)
            collect()
    except Exception as error:  # noqa: BLE001 - the error is the result
        kind, _, message = essence(error).partition(": ")
        return stage, kind, message
    return "none", "", ""


def essence(error: BaseException) -> str:
    """Return ``class: first line of the message`` of the cause of ``error``.

    An exception of a user's function arrives as the last lines of a Python traceback inside the message of a Java one.
    """
    from py4j.protocol import Py4JJavaError

    if not isinstance(error, Py4JJavaError):
        return f"{type(error).__name__}: {first_line(str(error))}"
    cause, deepest = error.java_exception, error.java_exception
    while cause is not None:
        deepest, cause = cause, cause.getCause()
    text = deepest.toString().splitlines()
    tracebacks = [i for i, line in enumerate(text) if "Traceback (most recent call last)" in line]
    if tracebacks:
        # A traceback ends with the line of the exception, the first one after it that is not indented.
        last = tracebacks[-1]
        text = [line for line in text[last + 1 :] if line and not line[0].isspace()]
    kind, _, message = text[0].partition(": ")
    return f"{kind.rpartition('.')[2]}: {message}"


def say(line: str) -> None:
    """Print progress; PyFlink turns the logging of the process off."""
    print(line, file=sys.stderr, flush=True)


def first_line(message: str) -> str:
    """Return the first line that is not blank."""
    return next((line for line in message.splitlines() if line.strip()), "")


if __name__ == "__main__":
    sys.exit(main())
