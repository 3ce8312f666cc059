"""Processes that check inputs. A process that dies or hangs is replaced, and the input it had is a failure."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz import guard
from tests.fuzz.mutate import deeply
from tests.fuzz.target import EQUAL, REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.target import Target

CHUNK = 2000
"""Inputs after which a new process continues, so that one input can hardly affect many others."""

STUCK_SECONDS = 600
"""Wall-clock time after which a process without any progress counts as hung: it waits for something."""


@dataclass
class Failure:
    """An input that was not handled well."""

    target: str
    number: int
    what: str
    file: str


@dataclass
class Tally:
    """The outcomes of one target."""

    valid: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return sum(self.outcomes.values())


def seeded(seed: int, target: str, number: int) -> Random:
    """Return the generator for one input. Nothing else decides what the input is."""
    return Random(f"{seed}:{target}:{number}")


def fuzz(kind: type[Target], seed: int, first: int, count: int, saved: Path, most_failures: int = 20) -> Tally:
    """Check ``count`` inputs of a target, beginning with number ``first``."""
    tally, end = Tally(), first + count
    while first < end and len(tally.failures) < most_failures:
        last = first - 1
        directory = tempfile.mkdtemp(prefix="flintstream-fuzz-")
        try:
            for line in _in_process(kind, seed, first, min(end, first + CHUNK), directory, saved):
                report = json.loads(line)
                if "valid" in report:
                    tally.valid = report["valid"]
                    continue
                last = report["number"]
                tally.outcomes[report["outcome"]] += 1
                if "what" in report:
                    tally.failures.append(Failure(kind.name, last, report["what"], report["file"]))
                if len(tally.failures) >= most_failures:
                    break
            else:
                first = last + 1
        except _Died as died:
            if not tally.valid:
                raise RuntimeError(f"{kind.name} does not start: {died}") from died
            tally.outcomes[died.outcome] += 1
            if died.outcome not in kind.of_libraries:
                file = _save(kind, seed, last + 1, Path(directory, "input"), saved)
                tally.failures.append(Failure(kind.name, last + 1, str(died), file))
            first = last + 2
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    return tally


class _Died(Exception):  # noqa: N818 - an event
    def __init__(self, outcome: str, what: str) -> None:
        super().__init__(what)
        self.outcome = outcome


def _in_process(kind: type[Target], seed: int, first: int, end: int, directory: str, saved: Path) -> Iterator[str]:
    """Yield the lines that a new process reports."""
    receive, send = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(receive)
            with os.fdopen(send, "w", buffering=1) as reports:
                _work(kind, seed, range(first, end), Path(directory), saved, reports)
            status = 0
        except BaseException:  # noqa: BLE001 - the status tells
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(send)
    ended = False
    try:
        with os.fdopen(receive) as reports:
            while True:
                if not select.select([reports], [], [], STUCK_SECONDS)[0]:
                    raise _Died("hung", f"no progress for {STUCK_SECONDS} s")
                line = reports.readline()
                if not line.endswith("\n"):
                    break
                yield line
        _, status = os.waitpid(pid, 0)
        ended = True
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGPROF:
                raise _Died("hung", f"more than {guard.SECONDS} s of CPU time")
            raise _Died("died", f"the process was ended by {signal.Signals(number).name}")
        if os.WEXITSTATUS(status):
            raise _Died("died", f"the process ended with code {os.WEXITSTATUS(status)}")
    finally:
        if not ended:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _work(kind: type[Target], seed: int, numbers: range, directory: Path, saved: Path, reports: object) -> None:
    inside = directory / "inside"
    inside.mkdir()
    tempfile.tempdir = os.fspath(inside)
    os.environ["TMPDIR"] = os.fspath(inside)
    os.chdir(inside)
    target = kind(inside)
    print(json.dumps({"valid": len(target.corpus)}), file=reports)  # type: ignore[call-overload]
    guard.limit()
    for number in numbers:
        report = outcome(target, seed, number, directory)
        if "what" in report:
            report["file"] = _save(kind, seed, number, directory / "input", saved)
        print(json.dumps({"number": number, **report}), file=reports)  # type: ignore[call-overload]


def outcome(target: Target, seed: int, number: int, directory: Path) -> dict[str, str]:
    """Check one input; return its outcome, and what was wrong."""
    with deeply():
        data = target.input(seeded(seed, target.name, number), number)
    Path(directory, "input").write_bytes(data)  # in case the process dies
    return checked(target, data, directory, valid=data in target.corpus)


def checked(target: Target, data: bytes, directory: Path, *, valid: bool = False) -> dict[str, str]:
    """Check data; ``valid`` tells whether the result must be the one of the original."""
    before = guard.peak_bytes()
    error: BaseException | None = None
    found = ""
    guard.start(target.directory, may_unpickle=target.may_unpickle)
    try:
        found = target.check(data)
    except BaseException as raised:  # noqa: BLE001 - any error is an outcome
        error = raised
    finally:
        guard.stop()
    extra = sorted(path.name for path in directory.iterdir() if path.name not in {"inside", "input"})
    if extra:
        return {"outcome": "wrote outside", "what": f"it wrote {extra} outside of its directory"}
    if guard.peak_bytes() - before > guard.MEMORY // 2:
        return {"outcome": "memory", "what": f"it took {(guard.peak_bytes() - before) >> 20} MB"}
    if error is not None and target.is_refusal(error):
        if valid:
            return {"outcome": "wrong", "what": f"a valid input is refused: {error}"[:2000]}
        if target.explains and not str(error).strip():
            return {"outcome": "no message", "what": f"{type(error).__name__} without a message"}
        return {"outcome": REFUSED}
    if error is not None:
        text = "".join(traceback.format_exception(error))
        return {"outcome": type(error).__name__, "what": text[-4000:]}
    if valid and found != EQUAL:
        return {"outcome": "wrong", "what": f"a valid input is just {found}"}
    return {"outcome": found}


def _save(kind: type[Target], seed: int, number: int, source: Path, saved: Path) -> str:
    saved.mkdir(parents=True, exist_ok=True)
    path = saved / f"{kind.name}-{seed}-{number}.bin"
    if source.exists():
        shutil.copyfile(source, path)
    return os.fspath(path)
