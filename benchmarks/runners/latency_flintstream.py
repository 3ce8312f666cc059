"""The program of benchmarks/latency.py on flintstream."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.beats import Beats
from benchmarks.latency import Count, Metronome
from benchmarks.workload import Run, line
from flintstream.common import WatermarkStrategy
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.datastream import StreamExecutionEnvironment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.sink import WriterContext


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
            file.writelines(line((*value, now)) for values in committables for value in values)


def main() -> None:
    """Build the program and execute it."""
    run = Run.from_json(sys.argv[1])
    beats, keys = Beats(**run.settings["beats"]), run.settings["keys"]
    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.master": "local[2]",
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.dir": Path(run.directory, "checkpoints").as_uri(),
            "state.changelog.enabled": "true",
            **run.settings["configuration"],
        }
    )
    env.set_parallelism(beats.parts)
    (
        env.from_source(
            Metronome(beats.rate, beats.seconds, to_the_end=False),
            WatermarkStrategy.for_monotonous_timestamps(),
            "metronome",
        )
        .key_by(lambda value: value[0] % keys)
        .process(Count())
        .sink_to(Lines(f"{run.output}/lines"))
    )
    result = env.execute("latency")
    print(f"{result.get_net_runtime() / 1000:.0f} s, {result.get_all_accumulator_results()}")


if __name__ == "__main__":
    main()
