"""The simulated programs and their expected results.

Every result is independent of the order in which records of different splits meet, so that the expected results follow
from the input alone: each function reports each record once, and at the end of time those it has not reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tests.simulation.world import UserFailure, Violation, the_world

from flintstream.common import Duration, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.connectors.sink import CommitRetry, Committer, Sink, SinkWriter
from flintstream.connectors.source import Source, SourceReader, SourceSplit, SplitEnumerator
from flintstream.coordinator.job import Job
from flintstream.datastream import StreamExecutionEnvironment, TimeDomain
from flintstream.datastream.functions import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from flintstream.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.datastream.window import EventTimeTrigger, PurgingTrigger, TumblingEventTimeWindows
from flintstream.graph.planner import plan_job
from flintstream.runtime.plan import JobSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.graph.stream_graph import StreamGraph
    from flintstream.runtime.plan import JobPlan

Record = tuple[int, int, int]
"""Its number, key and timestamp (ms)."""

KEY_GROUPS = 8
WINDOW = 40
LATER = 25
"""Delays of timers after their record."""
END = 10**12
"""An event time that is reached only at the end of the input."""


# -- input -----------------------------------------------------------------------------------------------------------


@dataclass
class Split(SourceSplit):
    """Records ``position`` onwards of a list of the world."""

    source: str
    position: int = 0


class Records(Source):
    """Source of lists of records of the world; each is a split that is discovered sooner or later."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        return Enumerator(self.name)

    def create_reader(self) -> SourceReader:
        return Reader()


class Enumerator(SplitEnumerator):
    def __init__(self, name: str) -> None:
        self.name = name
        self.found = 0

    def discover(self) -> list[Split]:
        world = the_world()
        world.step("splits are discovered")
        left = len(world.inputs[self.name]) - self.found
        count = min(left, world.rng.choice((0, 1, 1, 2)))
        first, self.found = self.found, self.found + count
        return [Split(str(number), self.name) for number in range(first, self.found)]

    def is_finished(self) -> bool:
        return self.found == len(the_world().inputs[self.name])

    def snapshot(self) -> object:
        return self.found

    def restore(self, state: Any) -> None:
        self.found = state


class Reader(SourceReader):
    def read(self, split, fetch):
        world = the_world()
        records = world.inputs[split.source][int(split.split_id)]
        while split.position < len(records):
            if world.rng.random() < 0.05:
                return False
            world.now += world.rng.choice((3, 8, 15))
            first = split.position
            split.position = min(first + world.rng.choice((1, 2, 4)), len(records))
            yield records[first : split.position]
        return True


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


# -- functions -------------------------------------------------------------------------------------------------------


def may_fail(value: object) -> None:
    """Fail like a user's function, once in a while, or be slow."""
    world = the_world()
    if crc32(f"{world.seed} {value}".encode()) % 50 == 0:
        world.now += 100
    if "user" in world.rates and world.fault("user", value):
        raise UserFailure(f"the user's function fails at {value}")


class Tally(KeyedProcessFunction):
    """Keep a part of every record in each kind of state, and read it again in timers of both kinds."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.event = runtime_context.get_map_state(MapStateDescriptor("event", Types.LONG(), Types.LONG()))
        self.processing = runtime_context.get_map_state(MapStateDescriptor("processing", Types.LONG(), Types.LONG()))
        total = ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        self.total = runtime_context.get_reducing_state(total)

    def process_element(self, value, ctx):
        may_fail(value)
        number, key, timestamp = value
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.seen.add(number)
        self.total.add(number)
        self.event.put(number, timestamp + LATER)
        service = ctx.timer_service()
        service.register_event_time_timer(timestamp + LATER)
        service.register_event_time_timer(END)
        due = service.current_processing_time() + LATER
        self.processing.put(number, due)
        service.register_processing_time_timer(due)
        yield ("count", key, count)

    def on_timer(self, timestamp, ctx):
        may_fail(timestamp)
        key = ctx.get_current_key()
        event_time = ctx.time_domain() == TimeDomain.EVENT_TIME
        service = ctx.timer_service()
        if timestamp > (service.current_watermark() if event_time else service.current_processing_time()):
            raise Violation(f"a timer of {timestamp} fires too early")
        if timestamp == END:
            yield ("all", key, tuple(sorted(self.seen)), self.total.get())
            for number, due in list(self.processing.items()):
                service.delete_processing_time_timer(due)
                yield ("processing", key, number)
            self.processing.clear()
            return
        name, waiting = ("event", self.event) if event_time else ("processing", self.processing)
        for number, due in list(waiting.items()):
            if due == timestamp:
                waiting.remove(number)
                yield (name, key, number)


class InWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        for value in elements:
            may_fail(value)
        yield ("window", key, context.window().start, tuple(value[0] for value in elements))


RULES = MapStateDescriptor("rules", Types.LONG(), Types.LONG())


class Ruled(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        may_fail(value)
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        ctx.timer_service().register_event_time_timer(END)
        yield ("count", value[1], count)

    def process_broadcast_element(self, value, ctx):
        may_fail(value)
        state = ctx.get_broadcast_state(RULES)
        state.put(value[0], (state.get(value[0]) or 0) + 1)

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(RULES)
        yield ("rules", ctx.get_current_key(), tuple(sorted((key, rules.get(key)) for key in rules.keys())))  # noqa: SIM118


# -- output ----------------------------------------------------------------------------------------------------------


class External:
    """An external system with transactions: prepared ones outlive all crashes, and committing is idempotent."""

    def __init__(self) -> None:
        self.prepared: dict[str, list[Any]] = {}
        self.committed: set[str] = set()

    def rows(self) -> Counter[Any]:
        """Return the records that readers of that system see."""
        return Counter(row for name in self.committed for row in self.prepared[name])

    def copy(self) -> External:
        """Return a system in the same state."""
        other = External()
        other.prepared, other.committed = dict(self.prepared), set(self.committed)
        return other


class Transactions(Sink):
    """Writer of transactions; a lazy one holds records back until there is a checkpoint."""

    def __init__(self, *, lazy: bool = False) -> None:
        self.lazy = lazy

    def create_writer(self, context):
        return Writer(self.lazy)

    def create_committer(self):
        return TransactionCommitter()


class Writer(SinkWriter):
    def __init__(self, lazy):
        self.lazy = lazy
        self.open: list[Any] = []

    def write(self, values, timestamps):
        self.open += values

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        if not self.open or (self.lazy and not checkpoint and not end_of_input):
            return []
        world = the_world()
        name = next(world.names)
        world.external.prepared[name], self.open = self.open, []
        return [name]

    def snapshot(self):
        return list(self.open)

    def restore(self, state):
        self.open = list(state)

    def recover(self, states):
        self.open = [row for state in states for row in state]


class TransactionCommitter(Committer):
    """Commits in tasks, or in the driver."""

    retry = CommitRetry(attempts=3, delay_ms=20)

    def __init__(self):
        self.tasks = the_world().rng.choice((0, 1, 2))

    def commit(self, committables):
        if not self.tasks:
            return self._commit(committables)
        shares = [committables[number :: self.tasks] for number in range(self.tasks)]
        later = self.run_tasks([partial(self._commit, share) for share in shares])
        return [name for several in later for name in several]

    def _commit(self, committables):
        world = the_world()
        external = world.external
        later = []
        for name in committables:
            world.step("before a commit")
            if "later" in world.rates and world.fault("later", name[:6]):
                later.append(name)
                continue
            if "commit" in world.rates and world.fault("commit", name[:6]):
                raise OSError("the external system does not commit")
            external.committed.add(name)
            world.log(f"committed {name[:6]}: {external.prepared[name]}")
            world.step("after a commit")
        return later


# -- programs --------------------------------------------------------------------------------------------------------


def _timed(stream: Any) -> Any:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(ThirdField())).uid("times")


def _tally(main: Any, side: Any, sink: Any) -> None:
    _timed(main).key_by(_key).process(Tally()).uid("tally").add_sink(sink).uid("out")


def _windows(main: Any, side: Any, sink: Any) -> None:
    windows = _timed(main.union(side)).key_by(_key).window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
    windows = windows.allowed_lateness(END).trigger(PurgingTrigger.of(EventTimeTrigger.create()))
    windows.process(InWindow()).uid("windows").add_sink(sink).uid("out")


def _rules(main: Any, side: Any, sink: Any) -> None:
    rules = side.broadcast(RULES)
    _timed(main).key_by(_key).connect(rules).process(Ruled()).uid("ruled").add_sink(sink).uid("out")


def _key(value: Record) -> int:
    return value[1]


PROGRAMS = {"tally": _tally, "windows": _windows, "rules": _rules}
STATEFUL = {"tally": "tally", "windows": "windows", "rules": "ruled"}
"""Program -> uid of its keyed operator."""


@cache
def planned(program: str, parallelism: int, sources: int, *, lazy: bool) -> tuple[JobPlan, StreamGraph, StreamGraph]:
    """Plan a program; ``sources`` is the parallelism of its sources. Also return its graph, rewritten and not."""
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(parallelism).set_max_parallelism(KEY_GROUPS)
    main, side = (
        env.from_source(Records(name), WatermarkStrategy.no_watermarks(), name).uid(name).set_parallelism(sources)
        for name in ("main", "side")
    )
    PROGRAMS[program](main, side, Transactions(lazy=lazy))
    compiled = env._program()
    return plan_job(compiled.graph, "simulated", "", JobSettings()), compiled.graph, compiled._raw


def job_of(program: str, parallelism: int, sources: int, *, lazy: bool, job_id: str, settings: JobSettings) -> Job:
    """Return a job that runs a program, without checkpoints."""
    plan, graph, raw = planned(program, parallelism, sources, lazy=lazy)
    return Job.of(replace(plan, job_id=job_id, settings=settings), graph, program=raw)


# -- what must come out ----------------------------------------------------------------------------------------------


def by_key(records: Iterable[Record]) -> dict[int, list[Record]]:
    """Group records."""
    found: dict[int, list[Record]] = {}
    for record in records:
        found.setdefault(record[1], []).append(record)
    return found


def flat(rows: Counter[Any]) -> Counter[Any]:
    """Split the results of windows into records, since the number of firings depends on the lateness of records."""
    found: Counter[Any] = Counter()
    for row, count in rows.items():
        if row[0] == "window":
            for number in row[3]:
                found[("window", row[1], row[2], number)] += count
        else:
            found[row] += count
    return found


def expected(program: str, main: list[Record], side: list[Record]) -> Counter[Any]:
    """Return all rows, each of which must appear once in the output."""
    rows: list[Any] = []
    if program == "windows":
        rows = [("window", key, ts - ts % WINDOW, number) for number, key, ts in main + side]
    for key, records in by_key(main).items():
        if program == "windows":
            break
        rows += [("count", key, n + 1) for n in range(len(records))]
        numbers = tuple(sorted(number for number, _, _ in records))
        if program == "rules":
            rows.append(("rules", key, tuple((number, 1) for number in sorted(n for n, _, _ in side))))
        else:
            rows.append(("all", key, numbers, sum(numbers)))
            rows += [(kind, key, number) for kind in ("event", "processing") for number in numbers]
    return Counter(rows)
