"""Run programs on real PyFlink, many in one process: :class:`Oracle` asks, and this module as a script answers.

The script runs in a separate process, with the Python of a virtual environment with PyFlink. It reads programs from
each line of its input and answers each with a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Timer
from typing import IO, TYPE_CHECKING, Any

from tests.conformance import record
from tests.conformance.harness import Run
from tests.differential.description import from_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.differential.description import Program

    Outcome = list[dict[str, list[str]]]

# A watermark never comes before the end. Processes are wrong in BATCH: see the conformance tests.
CONFIG = {"pipeline.auto-watermark-interval": "10 h", "python.execution-mode": "thread"}


class OracleError(Exception):
    """PyFlink could not run a program."""


class Oracle:
    """A process with PyFlink, which is restarted when it ends."""

    def __init__(self, venv: Path, seconds: float = 120) -> None:
        """Use the virtual environment ``venv``, created if necessary; ``seconds`` is the time limit of a program."""
        self.python = record.python_with_pyflink(venv)
        self.seconds = seconds
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it lives as long as this object
        self._known: dict[str, Outcome] = {}
        self._process: subprocess.Popen[str] | None = None

    def prepare(self, programs: Iterable[Program], together: int) -> None:
        """Run programs in jobs of up to ``together`` programs each, and keep the outcomes."""
        alike: dict[tuple[str, int], list[Program]] = {}
        for program in programs:
            alike.setdefault((program.mode, program.parallelism), []).append(program)
        for group in alike.values():
            for first in range(0, len(group), together):
                some = group[first : first + together]
                # If one fails, the others have no result; then each runs alone.
                started = time.monotonic()
                try:
                    self._known |= zip(map(str, some), self._ask(some), strict=True)
                except OracleError as error:
                    record.say(f"{len(some)} programs: {error}")
                record.say(f"{len(some)} programs, {time.monotonic() - started:.1f} s")

    def run(self, program: Program) -> Outcome:
        """Return the text and the values of the results.

        Raises:
            OracleError: The program fails, ends the process or does not end.
        """
        return self._known.get(str(program)) or self._ask([program])[0]

    def _ask(self, programs: list[Program]) -> list[Outcome]:
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        watchdog = Timer(self.seconds + 20 * len(programs), process.kill)
        watchdog.start()
        try:
            process.stdin.write(json.dumps([program.to_json() for program in programs]) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            watchdog.cancel()
        if not answer:
            self.close()
            self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 2000))
            raise OracleError(f"ended the process with status {process.returncode}: {self._log.read()}")
        content = json.loads(answer)
        if "error" in content:
            raise OracleError(content["error"])
        outcomes: list[Outcome] = content["outcomes"]
        return outcomes

    def _start(self) -> subprocess.Popen[str]:
        # The process logs a lot, which is only useful if it dies.
        command = [str(self.python), "-m", "tests.differential.oracle"]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=record.ROOT, stdin=pipe, stdout=pipe, stderr=self._log, text=True)  # noqa: S603

    def close(self) -> None:
        """Stop the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def answer(programs: list[Program]) -> dict[str, Any]:
    """Run programs of the same mode and parallelism on PyFlink, in one job of this process."""
    from tests.differential import build

    try:
        env = record.make_environment(Run(programs[0].mode, programs[0].parallelism), CONFIG.items())
        collects = [[record.collector(stream) for stream in build.build(env, program)] for program in programs]
        env.execute("random programs")
        return {"outcomes": [[dict(zip(("text", "values"), c(), strict=True)) for c in some] for some in collects]}
    except Exception as error:  # noqa: BLE001 - the other programs must run after any error
        return {"error": record.essence(error)}


def serve(questions: IO[str], answers: IO[str]) -> None:
    """Answer until there are no more questions."""
    import cloudpickle
    from tests.differential import build, functions, keyed_functions

    # Like in a user's script, the functions are not in a module that a worker could import.
    for module in (build, functions, keyed_functions):
        cloudpickle.register_pickle_by_value(module)
    for line in questions:
        answers.write(json.dumps(answer([from_json(content) for content in json.loads(line)])) + "\n")
        answers.flush()


if __name__ == "__main__":
    # The workers of PyFlink are started as `python`.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    # PyFlink's own output is not an answer.
    with os.fdopen(os.dup(1), "w") as stream:
        os.dup2(2, 1)
        serve(sys.stdin, stream)
