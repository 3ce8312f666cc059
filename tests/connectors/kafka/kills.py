"""``python -m tests.connectors.kafka.kills``: from Kafka through keyed state to Kafka while processes are killed.

A topic is filled with numbers. A job on Spark counts them per key, and writes a line for each to
another topic, exactly once. Meanwhile workers, drivers, whole process trees and the broker are killed with signal 9; a
lost driver is started again. In the end a reader of committed records must find each line once.

With ``--tasks``, the job runs on a cluster of two executors, and tasks write all lines. Some kills then hit a worker or
an executor while it commits, and some drivers are lost within a commit. Each start has another parallelism.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.traffic import PARTITIONS, Feeder, Watcher
from tests.faults.processes import Process, below, kill, victims, wait_for_end

from flintstream.coordinator import registry

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
KEYS = 1000
"""A multiple of the partitions: all of a key is in one, in order."""
VICTIMS = ("worker", "daemon", "jvm", "driver", "tree", "broker")
WHILE_IT_COMMITS = "while it commits"
VICTIMS_OF_TASKS = (
    f"worker {WHILE_IT_COMMITS}",
    f"executor {WHILE_IT_COMMITS}",
    f"driver {WHILE_IT_COMMITS}",
    f"tree {WHILE_IT_COMMITS}",
    "executor",
    "broker",
)
MASTERS = ("local[2]", "local-cluster[2,1,1024]")
"""Without and with ``--tasks``."""
SECONDS_PER_KILL = 300
"""The greatest delay that a kill may cause, on any machine."""
SECONDS_WITHOUT_VICTIM = 5
"""After this time the whole tree is killed instead: without its daemon, Spark forks no workers until it needs one."""

PROGRAM = """
import os, random, sys, time
from dataclasses import replace
from pathlib import Path
from pyflink.common import SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource, KafkaTopicPartition,
)
from tests.faults.counting import Count

servers, numbers, lines, records, keys, partitions, last_kill, tasks = sys.argv[1:]


class Shown:
    # A task that writes lines; a file shows that it runs, and in which process.
    def __init__(self, function, directory):
        self.function, self.directory = function, directory

    def __call__(self):
        shown = Path(self.directory, f"{os.getpid()}-{random.random()}")
        shown.touch()
        try:
            before = random.random() < 0.5
            self.wait(before)
            result = self.function()
            self.wait(not before)
            return result
        finally:
            shown.unlink()

    def wait(self, does):
        # Until the kill that is due, at most for a while: then it has hit another process.
        until = time.monotonic() + 20
        while does and Path(self.directory, "due").exists() and time.monotonic() < until:
            time.sleep(0.01)


class InTasks(KafkaSink):
    def create_committer(self):
        return committer_of(super().create_committer())


def committer_of(made):
    class Showing(type(made)):
        def _in_tasks(self, *args):
            run = self.run_tasks
            self.run_tasks = lambda functions: run([Shown(each, tasks) for each in functions])
            try:
                super()._in_tasks(*args)
            finally:
                self.run_tasks = run

    made.__class__ = Showing
    return made


stop = {KafkaTopicPartition(numbers, p): int(records) // int(partitions) for p in range(int(partitions))}

source = (
    KafkaSource.builder().set_bootstrap_servers(servers).set_topics(numbers).set_group_id("kills")
    .set_starting_offsets(KafkaOffsetsInitializer.earliest())
    .set_unbounded(KafkaOffsetsInitializer.offsets(stop))
    .set_property("partition.discovery.interval.ms", "-1")
    .set_value_only_deserializer(SimpleStringSchema()).build()
)
schema = (
    KafkaRecordSerializationSchema.builder().set_topic(lines)
    .set_value_serialization_schema(SimpleStringSchema()).build()
)
sink = (
    KafkaSink.builder().set_bootstrap_servers(servers).set_record_serializer(schema)
    .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("kills").build()
)
if tasks:
    sink = InTasks(replace(sink._output, shared_bytes=0))
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
keyed = stream.key_by(lambda text: int(text) % int(keys), key_type=Types.LONG())
keyed.process(Count(), output_type=Types.STRING()).sink_to(sink)
env.execute("kills")
while not Path(last_kill).exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""

SETTINGS = {
    "execution.checkpointing.interval": "300 ms",
    "flintstream.epoch.idle-duration": "50",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1000",
    "restart-strategy.fixed-delay.delay": "200 ms",
}


class KillsError(AssertionError):
    """The result of a run."""


class Course:
    """One job and its kills."""

    program = PROGRAM
    per_line = 1
    """How many numbers become one line."""

    def __init__(
        self, records: int, seed: int, directory: Path, say: Callable[[str], None], *, tasks: bool = False
    ) -> None:
        self.records = records
        self.tasks = tasks
        self.committing = directory / "committing"
        self.rng = random.Random(seed)
        self.directory = directory
        self.say = say
        self.starts = 0
        self.killed: Counter[str] = Counter()
        self.seen: set[Process] = set()

    def message(self, number: int) -> str:
        """Return the message that the job reads for a number."""
        return str(number)

    def wanted(self) -> set[bytes]:
        """Return the lines that the job must write."""
        return {f"{number} {number // KEYS + 1}".encode() for number in range(self.records)}

    def run(self, plan: list[str]) -> None:
        """Run the job to its end; kill the planned processes at random points, each after a sign of life.

        Raises:
            KillsError: A line is missing or duplicated, or the job has not ended.
        """
        self.until = time.monotonic() + SECONDS_PER_KILL * (len(plan) + 2)
        self.broker = Broker(self.directory / "broker")
        try:
            topics = [self.broker.topic(name, PARTITIONS) for name in ("numbers", "lines")]
            self.watcher = Watcher(self.broker, topics[1])
            self.watcher.start()
            Feeder(self, topics[0], self.records // (2 * len(plan) + 2)).start()
            self._start()
            # Some input must be left, so that there is something to kill.
            points = sorted(self.rng.uniform(0, (0.7 if self.tasks else 0.95) * self.records) for _ in plan)
            for victim, point in zip(plan, points, strict=True):
                if not self._wait_for(min(max(point, self.watcher.count + 1), self.records)) or not self._pause(
                    self.rng.uniform(0, 1)
                ):
                    break
                self._kill(victim)
            (self.directory / "last-kill").touch()
            while self._poll() is None:
                time.sleep(0.05)
            if self._poll() != 0:
                raise KillsError(f"the program ended with {self._poll()}")
            self._check()
        finally:
            self._end()

    def _start(self) -> None:
        script = self.directory / "counting.py"
        script.write_text(self.program, encoding="utf-8")
        (self.directory / "tmp").mkdir(exist_ok=True)
        self.committing.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(self.directory / "tmp"),
            registry.DIRECTORY: str(self.directory / "jobs"),
        }
        settings = {**SETTINGS, "execution.checkpointing.dir": (self.directory / "checkpoints").as_uri()}
        command = [sys.executable, "-m", "flintstream.cli", "run", "--master", MASTERS[self.tasks], "--resume"]
        command += ["-p", str(2 + self.starts % 2 if self.tasks else 2)]
        command += [f"-D{key}={value}" for key, value in settings.items()]
        numbers = str(self.records * self.per_line)
        command += [str(script), self.broker.servers, "numbers", "lines", numbers, str(KEYS), str(PARTITIONS)]
        command += [str(self.directory / "last-kill"), str(self.committing) if self.tasks else ""]
        self.starts += 1
        with (self.directory / f"log-{self.starts}").open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603
        self.say(f"started, process {self.process.pid}")

    def _poll(self) -> int | None:
        if time.monotonic() > self.until:
            raise KillsError(f"it has not ended in time; {len(self.watcher.lines)} lines are there")
        self.seen.update(below(self.process.pid))
        return self.process.poll()

    def _wait_for(self, lines: float) -> bool:
        while self.watcher.count < lines:
            if self._poll() is not None:
                return False
            time.sleep(0.05)
        return True

    def _pause(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._poll() is not None:
                return False
            time.sleep(min(left, 0.02))
        return True

    def _kill(self, victim: str) -> None:
        until = time.monotonic() + SECONDS_WITHOUT_VICTIM
        if victim.endswith(WHILE_IT_COMMITS):
            (self.committing / "due").touch()
        while not self._hit(victim):  # there is no such process at the moment
            if not self._pause(0.02):
                return
            if time.monotonic() > until and WHILE_IT_COMMITS not in victim:
                victim = "tree"
        (self.committing / "due").unlink(missing_ok=True)
        self.killed[victim] += 1
        self.say(f"killed {victim}; {self.watcher.count} lines are committed")
        if victim == "broker":
            self.broker.start()
        elif victim.split()[0] in {"driver", "tree"}:
            self.process.wait()
            self._start()

    def _hit(self, victim: str) -> bool:
        if victim == "broker":
            self.broker.kill()
            return True
        if victim.endswith(WHILE_IT_COMMITS):
            return self._hit_committing(victim.split(maxsplit=1)[0])
        return sum(map(kill, victims(self.process.pid, victim, self.rng))) > 0  # all of them

    def _hit_committing(self, kind: str) -> bool:
        """Kill a worker that commits, or the process of this kind that it belongs to."""
        tree = {process.pid: process for process in below(self.process.pid)}
        shown = [int(path.name.partition("-")[0]) for path in self.committing.glob("*-*")]
        running = [tree[pid] for pid in shown if pid in tree]
        if not running:
            return False
        if kind == "executor":
            above = running[0]
            while above.pid in tree and "CoarseGrainedExecutorBackend" not in above.command:
                above = tree.get(above.parent, above._replace(pid=0))
            return above.pid in tree and kill(above)
        if kind == "worker":
            return kill(running[0])
        return sum(map(kill, victims(self.process.pid, kind, self.rng))) > 0

    def _check(self) -> None:
        until = time.monotonic() + 30
        while self.watcher.count < self.records and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(1)  # for duplicates
        lines = self.watcher.lines
        wanted = self.wanted()
        missing, added = wanted - lines.keys(), lines.keys() - wanted
        twice = [line for line, count in lines.items() if count > 1]
        self.say(
            f"{len(lines)} distinct lines, {len(missing)} missing, {len(added)} wrong, {len(twice)} more than once"
        )
        if missing or added or twice:
            found = f"missing {sorted(missing)[:3]}, wrong {sorted(added)[:3]}, more than once {sorted(twice)[:3]}"
            raise KillsError(f"of {self.records} lines: {len(missing)}, {len(added)}, {len(twice)} are {found}")

    def _end(self) -> None:
        if self.starts and self.process.poll() is None:
            for process in below(self.process.pid):
                kill(process)
            self.process.wait()
        wait_for_end(self.seen, 10)
        if hasattr(self, "watcher"):
            self.watcher.stopped.set()
            self.watcher.join(10)
        self.broker.close()


def run_kills(
    records: int,
    plan: list[str],
    seed: int,
    say: Callable[[str], None],
    *,
    tasks: bool = False,
    kind: type[Course] = Course,
) -> Counter[str]:
    """Run the job, and return the number of kills of each kind; the logs of a failed run are kept.

    Raises:
        KillsError: A line was lost or repeated.
    """
    directory = Path(tempfile.mkdtemp(prefix=f"flintstream-kills-{seed}-"))
    course = kind(records, seed, directory, say, tasks=tasks)
    try:
        course.run(plan)
    except BaseException as error:
        logs = "\n".join(path.read_text(errors="replace")[-1500:] for path in sorted(directory.glob("log-*"))[-2:])
        raise KillsError(f"seed {seed}, {plan}\n{error}\nin {directory}\n{logs}") from error
    subprocess.run(["rm", "-rf", str(directory)], check=True)  # noqa: S603, S607
    return course.killed


def main() -> int:
    """Run the command line; return 1 if the run fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.connectors.kafka.kills")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tasks", action="store_true", help="tasks write all lines, on a cluster")
    arguments = parser.parse_args()
    if arguments.records % KEYS:
        parser.error(f"the records must be a multiple of {KEYS}")
    rng = random.Random(arguments.seed)
    kinds = VICTIMS_OF_TASKS if arguments.tasks else VICTIMS
    plan = [rng.choice(kinds) for _ in range(arguments.kills)]
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"  {time.monotonic() - began:7.2f} s  {what}", flush=True)

    try:
        killed = run_kills(arguments.records, plan, arguments.seed, say, tasks=arguments.tasks)
    except KillsError as error:
        print(f"FAILED: {error}")
        return 1
    print(f"passed in {time.monotonic() - began:.0f} s: {arguments.records} lines, each once; killed {dict(killed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
