"""The program of the soak: keyed state, windows and timers at a constant rate, in several legs.

Each leg ends with a savepoint, from which the next one starts at another parallelism, in the same process and the same
Spark context. The results say everything about the input: :func:`expected` computes them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common import Encoder, Time, Types, WatermarkStrategy
from flintstream.common.job_status import JobStatus
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSink, RollingPolicy
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, ProcessWindowFunction
from flintstream.datastream.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.rest.serving import Place, beside

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from flintstream.common.job_client import JobClient

SPLITS = 12
TICK_SECONDS = 0.5
"""How often the source has records, so that the cost of epochs leaves some of a busy machine to others."""
KEYS = 10_000
"""Keys that stay. A result follows every hundredth record of each."""
EVERY = 100
GROUPS = 1_000
"""Keys of the windows."""
WINDOW_SECONDS = 5
VISITS = 4
"""Records of a key that comes, and goes with a timer."""
VISITORS = 8
"""One in so many of these keys comes."""
SAMPLED = 25
"""One in so many of those has a result."""
EXAMINE_SECONDS = 120.0


@dataclass(frozen=True)
class Leg:
    """A part of the soak, from one savepoint to the next."""

    parallelism: int
    backend: str
    changelog: bool


LEGS = (
    Leg(2, "rocksdb", changelog=False),
    Leg(3, "hashmap", changelog=False),
    Leg(2, "rocksdb", changelog=False),
    Leg(3, "hashmap", changelog=True),
)
"""They repeat."""


@dataclass(frozen=True)
class Plan:
    """The soak as a whole."""

    directory: str
    rate: int
    seconds: int
    leg_seconds: int

    @property
    def records(self) -> int:
        """The number of records."""
        return self.rate * self.seconds

    def path(self, name: str) -> Path:
        """Return a path in the directory."""
        return Path(self.directory, name)


@dataclass
class Beat(SourceSplit):
    """``number``, ``number + SPLITS``, ...; ``start`` is the time (s) on the machine's clock since its boot."""

    number: int
    start: float


class Metronome(Source):
    """Numbers at a constant rate, whatever happens to the job; event time starts at 0 with number 0."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED
    watermarks_per_split = True

    def __init__(self, plan: Plan) -> None:
        """Emit the numbers of a plan."""
        self.plan = plan

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        """Return an enumerator of the same splits at any parallelism."""
        now = time.monotonic()
        return StaticEnumerator([Beat(str(number), number, now) for number in range(SPLITS)])

    def create_reader(self) -> SourceReader:
        """Return the reader."""
        return _Ticks(self.plan)


class _Ticks(SourceReader):
    gives_away = True

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def read(self, split: Beat, fetch: Any) -> Generator[Timestamped, None, bool]:
        rate, records, first = self.plan.rate, self.plan.records, split.number
        ticks = int((time.monotonic() - split.start) / TICK_SECONDS)
        due = min(records, int(ticks * TICK_SECONDS * rate))
        try:
            while split.number < due:
                numbers = range(split.number, min(due, split.number + SPLITS * fetch.size), SPLITS)
                split.number = numbers[-1] + SPLITS
                yield Timestamped(list(numbers), [number * 1000 // rate for number in numbers])
        finally:
            if split.number > first:
                position = f"{split.number} {split.start:.3f}".ljust(40)
                self.plan.path("positions").joinpath(split.split_id).write_text(position, encoding="utf-8")
        return split.number >= records


class Count(KeyedProcessFunction):
    """Count by key, with a map of bounded size and timers in processing time."""

    def open(self, runtime_context: Any) -> None:
        """Get the state."""
        kept = StateTtlConfig.new_builder(Time.seconds(60)).build()
        recent = MapStateDescriptor("recent", Types.LONG(), Types.LONG())
        recent.enable_time_to_live(kept)
        self.recent = runtime_context.get_map_state(recent)
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.fired = runtime_context.get_state(ValueStateDescriptor("fired", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[str]:
        """Count."""
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % 10 == 0:
            self.recent.put(count % 70, value)
            timers = ctx.timer_service()
            timers.register_processing_time_timer(timers.current_processing_time() // 5000 * 5000 + 10_000)
        if count % EVERY == 0:
            yield f"c {value % KEYS} {count}"

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        """Remember when it was."""
        self.fired.update(timestamp)


class Visit(KeyedProcessFunction):
    """Count the few records of a key until its timer, which clears its state."""

    def open(self, runtime_context: Any) -> None:
        """Get the state."""
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> None:
        """Count."""
        seen = self.seen.value()
        if seen is None:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1000)
        self.seen.update((seen or 0) + 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        """Emit the count of some keys, and each that is wrong."""
        seen, key = self.seen.value(), ctx.get_current_key()
        self.seen.clear()
        if seen != VISITS or key // VISITORS % SAMPLED == 0:
            yield f"v {key} {seen}"


class Sums(AggregateFunction):
    """Count and sum."""

    def create_accumulator(self) -> tuple[int, int]:
        """Start at zero."""
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        """Add a number."""
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        """Return both."""
        return accumulator

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        """Add both."""
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Line(ProcessWindowFunction):
    """Write the result of a window as a line."""

    def process(self, key: int, context: Any, elements: Any) -> Iterator[str]:
        """Write it."""
        for count, total in elements:
            yield f"w {key} {context.window().start} {count} {total}"


def build(env: StreamExecutionEnvironment, plan: Plan) -> None:
    """Add the program to an environment."""
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    numbers = env.from_source(Metronome(plan), strategy, "metronome").uid("numbers")
    counts = numbers.key_by(lambda n: n % KEYS, Types.LONG()).process(Count(), Types.STRING()).uid("counts")
    visitors = numbers.filter(lambda n: n // VISITS % VISITORS == 0).uid("visitors")
    visits = visitors.key_by(lambda n: n // VISITS, Types.LONG()).process(Visit(), Types.STRING()).uid("visits")
    windows = (
        numbers.key_by(lambda n: n % GROUPS, Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.seconds(WINDOW_SECONDS)))
        .aggregate(Sums(), Line(), output_type=Types.STRING())
        .uid("windows")
    )
    lines = FileSink.for_row_format(str(plan.path("output")), Encoder.simple_string_encoder())
    sink = lines.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    counts.union(visits, windows).sink_to(sink).uid("sink")


def expected(plan: Plan) -> Iterator[str]:
    """Generate the lines of the output, in any order."""
    for key in range(KEYS):
        records = len(range(key, plan.records, KEYS))
        yield from (f"c {key} {count}" for count in range(EVERY, records + 1, EVERY))
    for key in range(0, plan.records // VISITS, VISITORS * SAMPLED):
        yield f"v {key} {VISITS}"
    width = WINDOW_SECONDS * plan.rate
    for start in range(0, plan.records, width):
        for key in range(GROUPS):
            numbers = range(start + (key - start) % GROUPS, min(start + width, plan.records), GROUPS)
            if numbers:
                total = len(numbers) * (numbers[0] + numbers[-1]) // 2
                yield f"w {key} {start * 1000 // plan.rate} {len(numbers)} {total}"


def settings(plan: Plan, leg: Leg, savepoint: str | None) -> dict[str, str]:
    """Return the configuration of a leg."""
    return {
        "flintstream.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(plan.path("tmp")),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={plan.path('tmp')}",
        "execution.checkpointing.interval": "3 s",
        "execution.checkpointing.dir": plan.path("checkpoints").as_uri(),
        "execution.checkpointing.savepoint-dir": plan.path("savepoints").as_uri(),
        "execution.checkpointing.incremental": "true",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "500 ms",
        "state.backend.type": leg.backend,
        "state.changelog.enabled": str(leg.changelog).lower(),
        "state.changelog.periodic-materialize.interval": "30 s",
        # The default of 128 MB fills with blocks of files for as long as two legs last, however small the state is.
        "state.backend.rocksdb.memory.fixed-per-slot": "24 mb",
        **({} if savepoint is None else {"execution.state-recovery.path": savepoint}),
    }


class Journal:
    """Events and examinations, one JSON object per line."""

    def __init__(self, plan: Plan) -> None:
        """Write into the directory of a plan."""
        self.path = plan.path("journal")
        self.lock = threading.Lock()

    def add(self, event: str, **details: object) -> None:
        """Append an event."""
        with self.lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": time.monotonic(), "event": event, **details}) + "\n")


class _Mallinfo(ctypes.Structure):
    """What mallinfo2 returns: ten numbers, of which the fifth and the eighth are bytes in use."""

    _fields_ = (("numbers", ctypes.c_size_t * 10),)


def large() -> int:
    """Return how many bytes of this process the C library has given out: to libraries, and to objects over 512 bytes.

    Unlike the size of the process, this leaves out what was freed. 0 if the C library does not tell.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return 0
    library.mallinfo2.restype = _Mallinfo
    numbers = library.mallinfo2().numbers
    return int(numbers[4] + numbers[7])


def examine(journal: Journal) -> None:
    """Record again and again how much memory of the driver and of its JVM is in use after a full collection."""
    from pyspark import SparkContext

    while True:
        time.sleep(EXAMINE_SECONDS)
        context: Any = SparkContext._active_spark_context
        if context is None:
            continue
        gc.collect()
        jvm = context._jvm.java.lang
        jvm.System.gc()
        beans = jvm.management.ManagementFactory
        journal.add(
            "examined",
            heap=beans.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
            metaspace=beans.getMemoryMXBean().getNonHeapMemoryUsage().getUsed(),
            classes=beans.getClassLoadingMXBean().getLoadedClassCount(),
            jvm_threads=beans.getThreadMXBean().getThreadCount(),
            # Not gc.get_objects(), which lacks tuples of numbers, and breaks tuples that other threads are building.
            objects=sys.getallocatedblocks(),
            large=large(),
            threads=threading.active_count(),
        )


def stop(client: JobClient, journal: Journal) -> str:
    """Stop a job with a savepoint, which fails while the job restarts: then once more."""
    while True:
        try:
            return str(client.stop_with_savepoint(False).result())
        except Exception as error:
            journal.add("savepoint failed", error=str(error)[:200])
            if client.get_job_status().result() not in {JobStatus.RUNNING, JobStatus.RESTARTING, JobStatus.CREATED}:
                raise
            time.sleep(1)


def run(plan: Plan) -> None:
    """Run all legs."""
    with beside(Place()) as place:  # in this process, so that whatever the page holds grows the driver
        plan.path("page").write_text(place.address(), encoding="utf-8")
        run_legs(plan, Journal(plan))


def run_legs(plan: Plan, journal: Journal) -> None:
    """Run one leg after the other, each from the savepoint that ended the last one."""
    plan.path("positions").mkdir(exist_ok=True)
    threading.Thread(target=examine, args=(journal,), daemon=True).start()
    savepoint: str | None = None
    began = time.monotonic()
    number = 0
    while True:
        leg = LEGS[number % len(LEGS)]
        env = StreamExecutionEnvironment.get_execution_environment(settings(plan, leg, savepoint))
        env.set_parallelism(leg.parallelism).set_max_parallelism(SPLITS)
        build(env, plan)
        journal.add("leg", number=number, **vars(leg))
        client = env.execute_async("soak")
        number += 1
        until = began + number * plan.leg_seconds
        is_last = number * plan.leg_seconds >= plan.seconds
        while time.monotonic() < until and not is_last:
            if client.get_job_status().result() in {JobStatus.FAILED, JobStatus.FINISHED, JobStatus.CANCELED}:
                break
            time.sleep(0.5)
        if is_last:
            client.get_job_execution_result().result()
            break
        taken = stop(client, journal)
        client.get_job_execution_result().result()
        if savepoint is not None:
            shutil.rmtree(savepoint.removeprefix("file://"), ignore_errors=True)
        savepoint = taken
        journal.add("savepoint", path=savepoint)
    journal.add("end", pid=os.getpid())


if __name__ == "__main__":
    from tests.soak import job  # so that workers import the classes rather than get them by value

    job.run(job.Plan(**json.loads(sys.argv[1])))
