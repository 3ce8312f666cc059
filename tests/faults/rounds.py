"""A job on Spark whose processes are killed, and its expected final output."""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.tally import expected
from tests.faults.processes import Process, below, kill, victims, wait_for_end

from flintstream.coordinator import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
RECORDS = 250
SECONDS = 300
"""Time limit of a round, on any machine."""

MASTERS = {"local": "local[2]", "cluster": "local-cluster[2,1,1024]"}
VICTIMS = {"local": ("worker", "daemon", "jvm", "driver", "tree"), "cluster": ("worker", "executor", "driver", "tree")}
"""``driver`` is the program's own process, ``tree`` all processes of the job at once."""

SESSIONS = {
    "own": {},
    "foreign": {"spark.ui.enabled": "false"},
    "speculative": {
        "spark.ui.enabled": "false",
        "spark.speculation": "true",
        "spark.speculation.interval": "20ms",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "20ms",
    },
}
"""What the program says of Spark before it makes its environment; with ``own``, flintstream starts Spark."""

PROGRAM = """
import json, sys, time
from pathlib import Path
foreign = json.loads(sys.argv[3])
if foreign:
    from pyspark.sql import SparkSession
    builder = SparkSession.builder
    for key, value in foreign.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
from pyflink.common import Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from tests.engine.tally import tally

sink = FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
tally(env, int(sys.argv[2]), 0.01, sink=sink)
env.execute("counting")
Path("over").touch()
while not Path("last-kill").exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""


class RoundError(AssertionError):
    """The result of a round."""


@dataclass(frozen=True)
class Round:
    """The plan of a round; everything follows from the seed, except the exact position of the job at a kill."""

    seed: int
    place: str
    backend: str
    changelog: bool
    kills: tuple[tuple[str, float], ...]
    """Victims, and the seconds between a sign of life and the kill."""
    parallelism: tuple[int, ...]
    """The parallelism of each start of the program."""
    session: str = "own"
    """One of :data:`SESSIONS`."""

    @classmethod
    def of(cls, seed: int) -> Round:
        """Return the round of a seed."""
        rng = random.Random(seed)
        place = rng.choice(sorted(MASTERS))
        kills = tuple((rng.choice(VICTIMS[place]), rng.uniform(0, 1.5)) for _ in range(rng.randint(1, 3)))
        parallelism = tuple(rng.randint(1, 3) for _ in range(len(kills) + 1))
        backend, changelog = rng.choice(["hashmap", "rocksdb"]), rng.random() < 0.5
        session = rng.choice(sorted(SESSIONS)) if place == "cluster" else "own"
        return cls(seed, place, backend, changelog, kills, parallelism, session)

    def __str__(self) -> str:
        """Return a description of the plan."""
        kills = ", ".join(f"{victim} after {seconds:.2f} s" for victim, seconds in self.kills)
        log = " with changelog" if self.changelog else ""
        session = "" if self.session == "own" else f" with a {self.session} session"
        where = f"{MASTERS[self.place]}{session}, {self.backend}{log}"
        return f"seed {self.seed}: {where}, parallelism {self.parallelism}: {kills}"


@dataclass
class Course:
    """A running round."""

    program = PROGRAM

    plan: Round
    directory: Path
    say: Callable[[str], None]
    starts: int = 0
    process: subprocess.Popen[bytes] | None = None
    seen: set[Process] = field(default_factory=set)
    files: dict[Path, int] = field(default_factory=dict)
    """Sizes of the visible files when they were first seen."""
    killed: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Run the job to its end through all kills.

        Raises:
            RoundError: The job lost or repeated a record, did not end, or failed by itself.
        """
        try:
            self._start()
            for victim, seconds in self.plan.kills:
                if not self._wait_for_life() or not self._pause(seconds):
                    break
                self._kill(victim)
            (self.directory / "last-kill").touch()
            while self._poll() is None:
                time.sleep(0.02)
            if self._poll() != 0:
                raise RoundError(f"the program ended with {self._poll()}")
            self._check()
        finally:
            self._end()

    def _settings(self) -> Mapping[str, str]:
        return {
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (self.directory / "checkpoints").as_uri(),
            "execution.checkpointing.incremental": "true",
            "flintstream.epoch.idle-duration": "50",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "20",
            "restart-strategy.fixed-delay.delay": "100 ms",
            "state.backend.type": self.plan.backend,
            "state.changelog.enabled": str(self.plan.changelog).lower(),
            "state.changelog.periodic-materialize.interval": "300 ms",
        }

    def _output(self) -> str:
        """The output directory of the program."""
        return str(self.directory / "output")

    def _arguments(self) -> list[str]:
        """Further arguments of the program."""
        foreign = SESSIONS[self.plan.session]
        return [str(RECORDS), json.dumps({"spark.master": MASTERS[self.plan.place], **foreign} if foreign else {})]

    def _start(self) -> None:
        script = self.directory / "counting.py"
        script.write_text(self.program, encoding="utf-8")
        (self.directory / "tmp").mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "PYTHONFAULTHANDLER": "1",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(self.directory / "tmp"),
            registry.DIRECTORY: str(self.directory / "jobs"),
        }
        settings = [f"-D{key}={value}" for key, value in self._settings().items()]
        parallelism = str(self.plan.parallelism[self.starts])
        command = [sys.executable, "-m", "flintstream.cli", "run", "--master", MASTERS[self.plan.place]]
        command += ["-p", parallelism, *settings, "--resume"]
        command += [str(script), self._output(), *self._arguments()]
        self.starts += 1
        with (self.directory / f"log-{self.starts}").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=self.directory, env=environment, stdout=log, stderr=log)  # noqa: S603
        self.say(f"started, process {self.process.pid}, parallelism {parallelism}")

    def _poll(self) -> int | None:
        """Check the visible files; return the program's exit code."""
        assert self.process is not None
        if time.monotonic() - self.began > SECONDS:
            raise RoundError(f"it has not ended after {SECONDS} s")
        self.seen.update(below(self.process.pid))
        self._look_at_files()
        return self.process.poll()

    def _present(self) -> dict[Path, int]:
        """Return the visible files with their sizes."""
        found = (path for path in (self.directory / "output").rglob("*") if not path.name.startswith("."))
        return {path: path.stat().st_size for path in found if path.is_file()}

    def _look_at_files(self) -> None:
        present = self._present()
        for path, size in present.items():
            if self.files.setdefault(path, size) != size:
                raise RoundError(f"{path.name} has changed from {self.files[path]} to {size} bytes")
        for path in self.files.keys() - present.keys():
            raise RoundError(f"{path.name} has gone")

    def _wait_for_life(self) -> bool:
        """Wait until the job has committed records since the last kill, or all of them; return if it still runs."""
        before = len(self.files)
        while len(self.files) == before and not (self.directory / "over").exists():
            if self._poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def _pause(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._poll() is not None:
                return False
            time.sleep(min(left, 0.02))
        return True

    def _kill(self, victim: str) -> None:
        assert self.process is not None
        chosen = victims(self.process.pid, victim, random.Random(self.plan.seed + self.starts))
        if not chosen:
            self.say(f"there is no {victim} at the moment")
            return
        hit = [process for process in chosen if kill(process)]
        self.killed[victim] += bool(hit)
        self.say(f"killed {victim}, {[process.pid for process in chosen]}; {len(self.files)} files are committed")
        if victim in {"driver", "tree"}:
            self.process.wait()
            self._start()

    def _check(self) -> None:
        lines = Counter(canonical(line) for path in self.files for line in path.read_text("utf-8").splitlines())
        wanted = Counter(canonical(str(row)) for row in expected(range(RECORDS)))
        missing, added = wanted - lines, lines - wanted
        if missing or added:
            raise RoundError(
                f"{missing.total()} results are missing, as {sorted(missing)[:3]}; "
                f"{added.total()} are too many, as {sorted(added)[:3]}"
            )

    def _end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            for process in below(self.process.pid):
                kill(process)
            self.process.wait()
        wait_for_end(self.seen, 10)


def canonical(line: str) -> str:
    """Return a result in a canonical form: the order of a map depends on the backend."""
    row = ast.literal_eval(line)
    return repr([sorted(each.items()) if isinstance(each, dict) else each for each in row])


def run_round(plan: Round, say: Callable[[str], None] = lambda _: None, kind: type[Course] = Course) -> Counter[str]:
    """Run a round and return the number of kills of each process; the files of a failed round are kept.

    Args:
        plan: What happens in it.
        say: Is told what does.
        kind: Which program it is.

    Raises:
        RoundError: A record was lost or repeated.
    """
    directory = Path(tempfile.mkdtemp(prefix=f"flintstream-round-{plan.seed}-"))
    course = kind(plan, directory, say)
    try:
        course.run()
    except BaseException as error:
        logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(directory.glob("log-*")))
        raise RoundError(f"{plan}\n{error}\nin {directory}\n{logs}") from error
    subprocess.run(["rm", "-rf", str(directory)], check=True)  # noqa: S603, S607
    return course.killed
