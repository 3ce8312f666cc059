"""A job on Spark whose processes are killed, and its expected final output."""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
import signal
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
from tests.standalone import Standalone

from flintstream.coordinator import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parents[2]
RECORDS = 250
"""Records of a round with up to three kills."""
SECONDS = 300
"""Time limit of a round with up to three kills, on any machine."""
SECONDS_FOR_VICTIM = 30
"""How long a kill waits for a process of its kind."""

PYTHON = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PYSPARK_PYTHON": sys.executable}
"""Environment variables of all processes."""

MASTERS = {"local": "local[2]", "cluster": "local-cluster[2,1,1024]"}
"""The masters that need no processes of their own. At ``standalone``, a round starts a cluster."""

VICTIMS = {
    "local": ("worker", "daemon", "jvm", "driver", "tree"),
    "cluster": ("worker", "executor", "driver", "tree"),
    "standalone": ("worker", "executor", "driver", "node", "master"),
}
"""``driver`` is the program's own process, ``tree`` all processes of the job at once. ``node`` is a worker of
the cluster with its executor, ``decommissioned`` an executor that is asked to leave."""

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
    "decommissioning": {
        "spark.ui.enabled": "false",
        "spark.decommission.enabled": "true",
        "spark.storage.decommission.enabled": "true",
        "spark.storage.decommission.shuffleBlocks.enabled": "true",
    },
    "dynamic": {
        "spark.ui.enabled": "false",
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
        "spark.dynamicAllocation.minExecutors": "1",
        "spark.dynamicAllocation.executorIdleTimeout": "1s",
        "spark.dynamicAllocation.cachedExecutorIdleTimeout": "1s",
        "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
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
last_kill = Path("last-kill").absolute()
tally(env, int(sys.argv[2]), 0.01, sink=sink, hurry=last_kill)
env.execute("counting")
Path("over").touch()
while not last_kill.exists():  # killed here, when its job is over, it must not run it again
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
        place = rng.choice(sorted(MASTERS))  # without a standalone cluster, which takes long to start
        kills = tuple((rng.choice(VICTIMS[place]), rng.uniform(0, 1.5)) for _ in range(rng.randint(1, 3)))
        parallelism = tuple(rng.randint(1, 3) for _ in range(len(kills) + 1))
        backend, changelog = rng.choice(["hashmap", "rocksdb"]), rng.random() < 0.5
        session = rng.choice(["foreign", "own", "speculative"]) if place == "cluster" else "own"
        return cls(seed, place, backend, changelog, kills, parallelism, session)

    @property
    def size(self) -> int:
        """How often this round is as long as one with up to three kills."""
        return -(-len(self.kills) // 3)

    def __str__(self) -> str:
        """Return a description of the plan."""
        kills = ", ".join(f"{victim} after {seconds:.2f} s" for victim, seconds in self.kills[:3])
        kills += f" and {len(self.kills) - 3} more" if len(self.kills) > 3 else ""
        log = " with changelog" if self.changelog else ""
        session = "" if self.session == "own" else f" with a {self.session} session"
        where = f"{MASTERS.get(self.place, self.place)}{session}, {self.backend}{log}"
        return f"seed {self.seed}: {where}, parallelism {self.parallelism}: {kills}"


def cells(kills: int) -> Iterator[Round]:
    """Return a round for each cell of the matrix of victims, state and sessions on a standalone cluster.

    Args:
        kills: How many kills each round has.
    """
    rng = random.Random(0)
    plain = itertools.product(["executor", "node", "driver", "master"], ["own", "foreign"])
    special = [("executor", "speculative"), ("decommissioned", "decommissioning"), ("executor", "dynamic")]
    for seed, ((victim, session), changelog) in enumerate(itertools.product([*plain, *special], [False, True])):
        plan = tuple((victim, rng.uniform(0, 1.5)) for _ in range(kills))
        backend = "rocksdb" if seed % 4 in {1, 2} else "hashmap"
        yield Round(seed, "standalone", backend, changelog, plan, (2, 3, 1), session)


@dataclass
class Course:
    """A running round."""

    program = PROGRAM
    seconds = SECONDS

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
    next_look: float = 0.0
    cluster: Standalone | None = None

    def run(self) -> None:
        """Run the job to its end through all kills.

        Raises:
            RoundError: The job lost or repeated a record, did not end, or failed by itself.
        """
        try:
            self.cluster = self._new_cluster()
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

    def _new_cluster(self) -> Standalone | None:
        if self.plan.place != "standalone":
            return None
        return Standalone(self.directory / "cluster", environment=PYTHON)

    def _settings(self) -> Mapping[str, str]:
        return {
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": self._checkpoints(),
            "execution.checkpointing.incremental": "true",
            "flintstream.epoch.idle-duration": "50",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": str(20 * self.plan.size),
            "restart-strategy.fixed-delay.delay": "100 ms",
            "state.backend.type": self.plan.backend,
            "state.changelog.enabled": str(self.plan.changelog).lower(),
            "state.changelog.periodic-materialize.interval": "300 ms",
        }

    def _checkpoints(self) -> str:
        """The directory of the checkpoints."""
        return (self.directory / "checkpoints").as_uri()

    def _output(self) -> str:
        """The output directory of the program."""
        return str(self.directory / "output")

    def _arguments(self) -> list[str]:
        """Further arguments of the program."""
        foreign = SESSIONS[self.plan.session]
        return [str(self._records), json.dumps({"spark.master": self._master, **foreign} if foreign else {})]

    def _variables(self) -> Mapping[str, str]:
        """Further environment variables of the program."""
        return {}

    @property
    def _records(self) -> int:
        return RECORDS * self.plan.size * (3 if self.plan.place == "standalone" else 1)

    @property
    def _master(self) -> str:
        return MASTERS[self.plan.place] if self.cluster is None else self.cluster.url

    def _start(self) -> None:
        script = self.directory / "counting.py"
        script.write_text(self.program, encoding="utf-8")
        (self.directory / "tmp").mkdir(exist_ok=True)
        environment = {
            **os.environ,
            **PYTHON,
            "PYTHONFAULTHANDLER": "1",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(self.directory / "tmp"),
            **self._variables(),
            registry.DIRECTORY: str(self.directory / "jobs"),
        }
        settings = [f"-D{key}={value}" for key, value in self._settings().items()]
        parallelism = str(self.plan.parallelism[self.starts % len(self.plan.parallelism)])
        command = [sys.executable, "-m", "flintstream.cli", "run", "--master", self._master]
        command += ["-p", parallelism, *settings, "--resume"]
        command += [str(script), self._output(), *self._arguments()]
        self.starts += 1
        with (self.directory / f"log-{self.starts}").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=self.directory, env=environment, stdout=log, stderr=log)  # noqa: S603
        self.say(f"started, process {self.process.pid}, parallelism {parallelism}")

    def _poll(self) -> int | None:
        """Check the visible files; return the program's exit code."""
        assert self.process is not None
        limit = self.seconds * self.plan.size
        if time.monotonic() - self.began > limit:
            raise RoundError(f"it has not ended after {limit} s")
        if time.monotonic() > self.next_look:  # at every process of the machine, so not often
            self.seen.update(process for pid in (self.process.pid, *self._nodes()) for process in below(pid))
            self.next_look = time.monotonic() + 0.5
        self._look_at_files()
        return self.process.poll()

    def _present(self) -> dict[Path, int]:
        """Return the visible files with their sizes."""
        found = (path for path in (self.directory / "output").rglob("*") if not path.name.startswith("."))
        return {path: path.stat().st_size for path in found if path.is_file()}

    def _text(self, path: Path) -> str:
        return path.read_text("utf-8")

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
        rng = random.Random(self.plan.seed + self.starts + self.killed.total())
        if victim in {"master", "node"}:
            self._kill_of_cluster(victim, rng)
            return
        number = signal.SIGPWR if victim == "decommissioned" else signal.SIGKILL
        kind = "executor" if victim == "decommissioned" else victim
        chosen = self._victims(kind, rng)
        if not chosen:
            self.say(f"there is no {victim} at the moment")
            return
        hit = [process for process in chosen if kill(process, number)]
        self._count(victim, happened=bool(hit))
        if not hit:
            self.say(f"the {victim} had ended before")
            return
        self.say(f"killed {victim}, {[process.pid for process in hit]}; {len(self.files)} files are committed")
        self._replace(victim)

    def _replace(self, victim: str) -> None:
        """Start again what does not start itself."""
        if victim in {"driver", "tree"} and self.process is not None:
            self.process.wait()
            self._start()

    def _victims(self, kind: str, rng: random.Random) -> list[Process]:
        """Return the processes to kill; after the last kill, it may take a while until there are new ones."""
        assert self.process is not None
        until = time.monotonic() + SECONDS_FOR_VICTIM
        while True:
            chosen = victims(self.process.pid, kind, rng, self._nodes())
            if chosen or time.monotonic() > until or self._poll() is not None:
                return chosen
            time.sleep(0.05)

    def _count(self, victim: str, *, happened: bool) -> None:
        over = (self.directory / "over").exists()
        self.killed[f"{victim} after the end" if over else victim] += happened

    def _nodes(self) -> list[int]:
        """The processes outside of the program that start executors for it."""
        return [] if self.cluster is None else [node.pid for node in self.cluster.workers if node is not None]

    def _kill_of_cluster(self, victim: str, rng: random.Random) -> None:
        assert self.cluster is not None
        if victim == "master":
            self.cluster.kill_master()
            self.cluster.start_master()
        else:
            number = rng.randrange(len(self.cluster.workers))
            self.cluster.kill_worker(number)
            self.cluster.start_worker(number)
        self._count(victim, happened=True)
        self.say(f"killed {victim} and started it again; {len(self.files)} files are committed")

    def _check(self) -> None:
        lines = Counter(canonical(line) for path in self.files for line in self._text(path).splitlines())
        wanted = Counter(canonical(str(row)) for row in expected(range(self._records)))
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
        self._close_cluster()
        wait_for_end(self.seen, 10)

    def _close_cluster(self) -> None:
        if self.cluster is not None:
            self.cluster.close()


def canonical(line: str) -> str:
    """Return a result in a canonical form: the order of a map depends on the backend."""
    row = ast.literal_eval(line)
    return repr([sorted(item.items()) if isinstance(item, dict) else item for item in row])


def run_round(
    plan: Round,
    say: Callable[[str], None] = lambda _: None,
    kind: Callable[[Round, Path, Callable[[str], None]], Course] = Course,
) -> Counter[str]:
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
