"""The program of benchmarks/latency.py on Bytewax with recovery."""

# ruff: noqa: ANN001, ANN201, ANN204, D101, D102, D103 - as a user of that engine would write it

import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from benchmarks.beats import Beats
from benchmarks.workload import Run, line

RUN = "BENCHMARK_RUN"
MOST = 4096
PAUSE = timedelta(milliseconds=1)


class Ticks(StatefulSourcePartition):
    def __init__(self, beats, number):
        self.beats, self.number, self.start = beats, number, None

    def next_batch(self):
        now = time.time() * 1000
        if self.start is None:
            self.start = now
        elapsed, beats = now - self.start, self.beats
        if self.number >= beats.records or beats.is_over(elapsed):
            raise StopIteration
        due = range(self.number, min(beats.until(elapsed), self.number + MOST * beats.parts), beats.parts)
        if due:
            self.number = due[-1] + beats.parts
        return [(number, self.start + beats.due(number)) for number in due]

    def next_awake(self):
        if self.start is None or self.start + self.beats.due(self.number) <= time.time() * 1000:
            return None
        return datetime.now(timezone.utc) + PAUSE

    def snapshot(self):
        return self.number


class Metronome(FixedPartitionedSource):
    def __init__(self, beats):
        self.beats = beats

    def list_parts(self):
        return [str(part) for part in range(self.beats.parts)]

    def build_part(self, step_id, for_part, resume_state):
        return Ticks(self.beats, int(for_part) if resume_state is None else resume_state)


class Lines(StatelessSinkPartition):
    def __init__(self, path):
        self.file = path.open("w")

    def write_batch(self, items):
        self.file.writelines(line(values) for _, values in items)

    def close(self):
        self.file.close()


class Files(DynamicSink):
    def __init__(self, output):
        self.output = Path(output)

    def build(self, step_id, worker_index, worker_count):
        return Lines(self.output / f"part-{worker_index}")


def count(state, due):
    return (state or 0) + 1, [(due, time.time() * 1000)]


def flow():
    run = Run.from_json(os.environ[RUN])
    keys = run.settings["keys"]
    dataflow = Dataflow("latency")
    records = op.input("metronome", dataflow, Metronome(Beats(**run.settings["beats"])))
    keyed = op.map("with_key", records, lambda value: (str(value[0] % keys), value[1]))
    op.output("lines", op.stateful_flat_map("count", keyed, count), Files(run.output))
    return dataflow


def main():
    run = Run.from_json(sys.argv[1])
    processes = str(run.settings["beats"]["parts"])
    recovery = f"{run.directory}/recovery"
    Path(recovery).mkdir()
    subprocess.run([sys.executable, "-m", "bytewax.recovery", recovery, processes], check=True)  # noqa: S603
    command = [sys.executable, "-m", "bytewax.testing", "-p", processes, "-w", "1"]
    command += ["-r", recovery, "-s", "10", "-b", "0", "benchmarks.runners.latency_bytewax:flow()"]
    subprocess.run(command, check=True, env={**os.environ, RUN: run.to_json()})  # noqa: S603


if __name__ == "__main__":
    main()
