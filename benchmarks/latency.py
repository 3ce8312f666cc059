"""Time from the event time of a record until it leaves a keyed function, at given rates: percentiles over a run.

    python -m benchmarks.latency [--engines flintstream,pyflink,bytewax] [--rates 1000,10000,100000,400000]
                                 [--seconds 30] [--parallelism 1] [--keys 1000] [--no-resident-tasks]

A source emits a record every 1/rate s, with its due time as event time. One exchange, a keyed count in a state of a
value, checkpoints (Bytewax: snapshots) every 10 s. The programs are in ``benchmarks/runners``:

    flintstream   with a changelog, as PyFlink
    pyflink       in thread mode, with the default time that records may wait in a buffer, 100 ms
    pyflink-1ms   the same with 1 ms (execution.buffer-timeout.interval)
    bytewax       with recovery; as many processes as --parallelism

*Emitted* is the time at which the keyed function emits a record, *committed*, of flintstream only, that at which the
driver has committed its line, which with this sink is at the end of the epoch. All sinks write their lines in the
task. Each is the difference to the event time. The first ten seconds do not count. An engine keeps up if it has emitted
all records two seconds after the last one was due; a source stops then, whatever is left.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tempfile
import time
from array import array
from dataclasses import asdict, dataclass, field
from itertools import product, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.beats import PATIENCE_SECONDS, Beats
from benchmarks.engines import ENGINES, RUNNERS, python_of
from benchmarks.process import RunError, timed
from benchmarks.workload import Run
from flintstream.common import Types
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped
from flintstream.datastream import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from flintstream.connectors.source import Fetch
    from flintstream.datastream.functions import RuntimeContext

WARM_UP_SECONDS = 10
START_SECONDS = 180
"""Time that a run may take for start and end."""
POINTS = (50, 90, 95, 99, 99.9)
COMMITS = ".commits-"
"""Prefix of a file with a row for each commit: how many further lines of a file are committed, and the time in ms."""


@dataclass
class Beat(SourceSplit):
    """``number``, ``number + step``, ...; number 0 was due when reading began, at ``start`` (ms)."""

    number: int
    step: int
    end: int
    pause_ms: float
    start: float = 0.0
    lasts_ms: float = math.inf
    """Nothing is read this long after the start."""


class Metronome(Source):
    """Emit records of their number and the time (ms) at which they were due."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, rate: float, seconds: float, *, to_the_end: bool = True) -> None:
        """Emit ``rate`` records per second; if not ``to_the_end``, none after the time in which all should be read."""
        self.rate, self.records = rate, int(rate * seconds)
        self.lasts_ms = math.inf if to_the_end else (seconds + PATIENCE_SECONDS) * 1000

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        """Return an enumerator of one split per subtask."""
        pause = 1000 / self.rate
        splits = [Beat(f"{n}", n, parallelism, self.records, pause, lasts_ms=self.lasts_ms) for n in range(parallelism)]
        return StaticEnumerator(splits)

    def create_reader(self) -> SourceReader:
        """Return the reader."""
        return _Ticks()


class _Ticks(SourceReader):
    gives_away = True

    def read(self, split: Beat, fetch: Fetch) -> Generator[list[Any] | Timestamped, None, bool]:
        now = time.time() * 1000
        split.start = split.start or now
        if now - split.start > split.lasts_ms:
            return True
        due = min(split.end, int((now - split.start) / split.pause_ms) + 1)
        while split.number < due:
            numbers = range(split.number, due, split.step)[: fetch.size]
            split.number = numbers[-1] + split.step
            times = [split.start + number * split.pause_ms for number in numbers]
            yield Timestamped(list(zip(numbers, times, strict=True)), list(map(int, times)))
        return split.number >= split.end


class Count(KeyedProcessFunction):
    """Count per key, and emit the current time."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, float], ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        """Count."""
        self.count.update((self.count.value() or 0) + 1)
        yield value[1], time.time() * 1000


@dataclass(frozen=True)
class Peer:
    """An engine, and the runner of its program."""

    name: str
    runner: str
    engine: str
    """The engine of benchmarks/engines.py whose environment it needs."""
    configuration: dict[str, str] = field(default_factory=dict)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("flintstream", "flintstream", "flintstream"),
        Peer("pyflink", "pyflink", "flink-thread"),
        Peer("pyflink-1ms", "pyflink", "flink-thread", {"execution.buffer-timeout.interval": "1 ms"}),
        Peer("bytewax", "bytewax", "bytewax"),
    )
}


@dataclass
class Latencies:
    """What a run has given: ms from the due time of each record until it was emitted and committed."""

    expected: int
    emitted: array[float] = field(default_factory=lambda: array("d"))
    committed: array[float] = field(default_factory=lambda: array("d"))
    in_time: int = 0
    """Records that were emitted while the engine had time for them, of the whole run."""

    @property
    def keeps_up(self) -> bool:
        """Whether all records were emitted in time."""
        return self.in_time == self.expected


def latencies(beats: Beats, rows: Iterable[tuple[float, ...]]) -> Latencies:
    """Evaluate rows of due time, time of emission and, perhaps, time of commit (ms)."""
    found = Latencies(beats.records)
    start = last = 0.0
    for due, emitted, *committed in rows:
        if not start:  # nearly the first one of all: subtasks and files begin within milliseconds
            start = due
            last = start + (beats.seconds + PATIENCE_SECONDS) * 1000
        found.in_time += emitted <= last
        if due >= start + WARM_UP_SECONDS * 1000:
            found.emitted.append(emitted - due)
            found.committed.extend(time - due for time in committed)
    return found


def rows_of(directory: str) -> Iterator[tuple[float, ...]]:
    """Read the lines that a run has written, with the times of their commits if it has noted them."""
    for path in sorted(Path(directory).rglob("*")):
        if path.is_file() and not path.name.startswith((".", "_")):
            commits = _commits_of(path)
            with path.open() as file:
                for text in file:
                    yield (*map(float, text.strip("()\n").split(",")), *next(commits, ()))


def _commits_of(path: Path) -> Iterator[tuple[float]]:
    """Give the time of the commit (ms) of each line of a file; none if it is not noted."""
    noted = path.with_name(f"{COMMITS}{path.name}")
    for text in noted.read_text().splitlines() if noted.exists() else ():
        lines, _, time_of_commit = text.partition(",")
        yield from repeat((float(time_of_commit),), int(lines))


def cuts_of(values: Iterable[float]) -> list[float]:
    """Return the percentiles that POINTS names (ms)."""
    cuts = statistics.quantiles(values, n=1000, method="inclusive")
    return [cuts[int(point * 10) - 1] for point in POINTS]


def percentiles(values: list[float] | array[float]) -> str:
    """Return the percentiles of a distribution (ms) as a text."""
    cuts = zip(POINTS, cuts_of(values), strict=True)
    return "  ".join(f"p{point:g} {cut:6.0f}" for point, cut in cuts) + f"  max {max(values):6.0f}"


def row_of(name: str, beats: Beats, found: Latencies) -> str:
    """Return the row of a table: p50, p90 and p99 of what was emitted, or how much of it there was."""
    if not found.keeps_up:
        rate = found.in_time / (beats.seconds + PATIENCE_SECONDS)
        return f"| {beats.rate:,.0f} | {name} | does not keep up: {rate:,.0f} records per second | | |"
    p50, p90, _, p99, _ = cuts_of(found.emitted)
    return f"| {beats.rate:,.0f} | {name} | {p50:.0f} | {p90:.0f} | {p99:.0f} |"


def measure(peer: Peer, python: str, beats: Beats, keys: int, configuration: dict[str, str]) -> Latencies:
    """Run the program once.

    Raises:
        RunError: It fails, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="latency-", ignore_cleanup_errors=True) as directory:
        settings = {"beats": asdict(beats), "keys": keys, "durable": True, "configuration": configuration}
        run = Run("latency", beats.records, directory, settings)
        Path(run.output).mkdir()
        command = [python, str(RUNNERS / f"latency_{peer.runner}.py"), run.to_json()]
        timed(command, ENGINES[peer.engine].variables(python), directory, beats.seconds + START_SECONDS)
        return latencies(beats, rows_of(run.output))


def read_options() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="flintstream", help=f"comma-separated, of {', '.join(PEERS)}")
    parser.add_argument("--rates", "--rate", default="1000", help="records per second, comma-separated")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--guarantee", default="AT_LEAST_ONCE", help="EXACTLY_ONCE lets the sink wait for checkpoints")
    parser.add_argument("--no-resident-tasks", action="store_true", help="each epoch of flintstream is a Spark job")
    parser.add_argument("--flink-python", help="an interpreter that has apache-flink 2.3.0; by default one is made")
    parser.add_argument("--bytewax-python", help="the same for bytewax 0.21.1")
    parser.add_argument("--venvs", type=Path, default=Path("build/benchmark-venvs"), help="where they are made")
    options = parser.parse_args()
    if unknown := [name for name in options.engines.split(",") if name not in PEERS]:
        parser.error(f"unknown engines: {', '.join(unknown)}; choose from {', '.join(PEERS)}")
    if options.seconds <= WARM_UP_SECONDS:
        parser.error(f"--seconds must be more than {WARM_UP_SECONDS}: the first ones do not count")
    return options


def main() -> None:
    """Run the program for each rate and engine; print the percentiles, and a table in the end."""
    options = read_options()
    given = {"flink": options.flink_python, "bytewax": options.bytewax_python}
    rows = []
    for rate, name in product(map(float, options.rates.split(",")), options.engines.split(",")):
        peer, beats = PEERS[name], Beats(rate, options.seconds, options.parallelism)
        configuration = dict(peer.configuration)
        if name == "flintstream":
            configuration["execution.checkpointing.mode"] = options.guarantee
            configuration["flintstream.resident-tasks"] = str(not options.no_resident_tasks).lower()
        python = python_of(ENGINES[peer.engine], given, options.venvs)
        try:
            found = measure(peer, python, beats, options.keys, configuration)
        except RunError as error:
            print(f"{name}, {rate:,.0f} records per second: {error}", file=sys.stderr, flush=True)
            rows.append(f"| {rate:,.0f} | {name} | failed: {str(error).splitlines()[0]} | | |")
            continue
        rows.append(row_of(name, beats, found))
        in_time = f"{found.in_time:,} of {found.expected:,} emitted in time"
        print(f"{name}, {rate:,.0f} records per second, {in_time}, load {os.getloadavg()[0]:.0f}", flush=True)
        for kind, values in (("emitted", found.emitted), ("committed", found.committed)):
            if values:
                print(f"{kind:9} {percentiles(values)} ms", flush=True)
    print("| records per second | engine | emitted p50, ms | p90 | p99 |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
