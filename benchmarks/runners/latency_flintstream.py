"""The program of benchmarks/latency.py on flintstream."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.beats import Beats
from benchmarks.latency import COMMITS, Count, Metronome
from benchmarks.workload import Run, line
from flintstream.common import WatermarkStrategy
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.datastream import StreamExecutionEnvironment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.sink import WriterContext


class Lines(Sink):
    """Write records to a file for each subtask, and the times at which they are committed to another one."""

    def __init__(self, directory: str) -> None:
        """Write to a directory that exists."""
        self.directory = directory

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer, which writes the lines in the task, as those of the other engines do."""
        return _Written(f"{self.directory}/part-{context.subtask}")

    def create_committer(self) -> Committer:
        """Return the committer, which notes in the driver how many lines are committed."""
        return _Noted(self.directory)


class _Written(SinkWriter):
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[str] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.lines += map(line, values)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        lines, self.lines = self.lines, []
        if not lines:
            return ()
        with Path(self.path).open("a") as file:
            file.writelines(lines)
        return ((Path(self.path).name, len(lines)),)


class _Noted(Committer):
    def __init__(self, directory: str) -> None:
        self.directory = directory

    def commit(self, committables: Sequence[Any]) -> None:
        now = time.time() * 1000
        for part, lines in committables:
            with Path(self.directory, f"{COMMITS}{part}").open("a") as file:
                file.write(f"{lines},{now}\n")


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
        .sink_to(Lines(run.output))
    )
    result = env.execute("latency")
    print(f"{result.get_net_runtime() / 1000:.0f} s, {result.get_all_accumulator_results()}")


if __name__ == "__main__":
    main()
