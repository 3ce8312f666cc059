"""Time from the event time of a record until it leaves a keyed function, at a given rate: percentiles over a run.

    python -m benchmarks.latency [--rate 1000] [--seconds 300] [--parallelism 1] [--keys 1000]

A source emits a record every 1/rate s, with its due time as event time. One exchange, a keyed count in a ValueState,
checkpoints every 10 s. Two times are recorded for every record, each minus its event time: when the keyed function
emits it, in the worker, and when its line of the sink is committed, in the driver, which with this sink is at the end
of the epoch. The first ten seconds do not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common import Types, WatermarkStrategy
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from flintstream.datastream.state import ValueStateDescriptor

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from flintstream.connectors.sink import WriterContext
    from flintstream.connectors.source import Fetch
    from flintstream.datastream.functions import RuntimeContext

WARM_UP_SECONDS = 10


@dataclass
class Beat(SourceSplit):
    """``number``, ``number + step``, ...; number 0 was due when reading began, at ``start`` (ms)."""

    number: int
    step: int
    end: int
    pause_ms: float
    start: float = 0.0


class Metronome(Source):
    """Emit records of their number and the time (ms) at which they were due."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, rate: float, seconds: float) -> None:
        """Emit ``rate`` records per second."""
        self.rate, self.records = rate, int(rate * seconds)

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        """Return an enumerator of one split per subtask."""
        splits = [Beat(f"{n}", n, parallelism, self.records, 1000 / self.rate) for n in range(parallelism)]
        return StaticEnumerator(splits)

    def create_reader(self) -> SourceReader:
        """Return the reader."""
        return _Ticks()


class _Ticks(SourceReader):
    gives_away = True

    def read(self, split: Beat, fetch: Fetch) -> Generator[list[Any] | Timestamped, None, bool]:  # noqa: ARG002
        now = time.time() * 1000
        split.start = split.start or now
        due = min(split.end, int((now - split.start) / split.pause_ms) + 1)
        numbers = range(split.number, due, split.step)
        if numbers:
            split.number = numbers[-1] + split.step
            times = [split.start + number * split.pause_ms for number in numbers]
            yield Timestamped(list(zip(numbers, times, strict=True)), list(map(int, times)))
        return split.number >= split.end


class Count(KeyedProcessFunction):
    """Count per key, and emit the current time."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, float], ctx: KeyedProcessFunction.Context) -> Iterator[Any]:  # noqa: ARG002
        """Count."""
        self.count.update((self.count.value() or 0) + 1)
        yield value[1], time.time() * 1000


class Lines(Sink):
    """Append committed records to a file, with the time of the commit."""

    def __init__(self, path: str) -> None:
        """Write to ``path``."""
        self.path = path

    def create_writer(self, context: WriterContext) -> SinkWriter:  # noqa: ARG002
        """Return the writer, which collects records in the task."""
        return _Collected()

    def create_committer(self) -> Committer:
        """Return the committer, which writes in the driver."""
        return _Appended(self.path)


class _Collected(SinkWriter):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:  # noqa: ARG002
        self.values += values

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        values, self.values = self.values, []
        return (values,) if values else ()


class _Appended(Committer):
    def __init__(self, path: str) -> None:
        self.path = path

    def commit(self, committables: Sequence[Any]) -> None:
        now = time.time() * 1000
        with Path(self.path).open("a") as file:
            file.writelines(json.dumps([*value, now]) + "\n" for values in committables for value in values)


def percentiles(values: list[float]) -> str:
    """Return the percentiles of a distribution (ms) as a text."""
    cuts = statistics.quantiles(values, n=1000, method="inclusive")
    return (
        "  ".join(f"p{p:g} {cuts[int(p * 10) - 1]:6.0f}" for p in (50, 90, 95, 99, 99.9)) + f"  max {max(values):6.0f}"
    )


def main() -> None:
    """Run the program and print the percentiles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=1000, help="records per second")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--guarantee", default="AT_LEAST_ONCE", help="EXACTLY_ONCE lets the sink wait for checkpoints")
    parser.add_argument("--no-resident-tasks", action="store_true", help="each epoch is a Spark job")
    options = parser.parse_args()
    keys = options.keys
    with tempfile.TemporaryDirectory(prefix="latency-") as directory:
        env = StreamExecutionEnvironment.get_execution_environment(
            {
                "flintstream.master": "local[2]",
                "execution.checkpointing.interval": "10 s",
                "execution.checkpointing.dir": Path(directory).as_uri(),
                "execution.checkpointing.mode": options.guarantee,
                "state.changelog.enabled": "true",
                "flintstream.resident-tasks": str(not options.no_resident_tasks).lower(),
            }
        )
        env.set_parallelism(options.parallelism)
        path = f"{directory}/lines"
        (
            env.from_source(
                Metronome(options.rate, options.seconds),
                WatermarkStrategy.for_monotonous_timestamps(),
                "metronome",
            )
            .key_by(lambda value: value[0] % keys)
            .process(Count())
            .sink_to(Lines(path))
        )
        result = env.execute("latency")
        rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    first = min(due for due, _, _ in rows) + WARM_UP_SECONDS * 1000
    counted = [row for row in rows if row[0] >= first]
    expected = int(options.rate * options.seconds)
    assert len(rows) == expected, f"{len(rows)} of {expected} records were committed"
    print(f"{len(counted):,} records, {result.get_net_runtime() / 1000:.0f} s, {result.get_all_accumulator_results()}")
    print(f"emitted   {percentiles([emitted - due for due, emitted, _ in counted])} ms")
    print(f"committed {percentiles([committed - due for due, _, committed in counted])} ms")


if __name__ == "__main__":
    main()
