"""The program of benchmarks/latency.py in PyFlink's API, for PyFlink.

PyFlink has no sources in Python. A number is a tick of a millisecond: a flat map waits until it is due and emits its
records.
"""

# ruff: noqa: ANN001, ANN201, ANN204, D101, D102, D103 - as a user of that engine would write it

import sys
import time

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink
from pyflink.datastream.functions import FlatMapFunction, KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from benchmarks.beats import TICKS, Beats
from benchmarks.runners.run_pyflink import settings
from benchmarks.sources import numbers
from benchmarks.workload import Run


class Metronome(FlatMapFunction):
    def __init__(self, beats):
        self.beats = beats
        self.start = None

    def flat_map(self, value):
        now = time.time() * 1000
        if self.start is None:
            self.start = now
        part, tick = divmod(value, self.beats.ticks)
        wait = self.start + tick * 1000 / TICKS - now
        if wait > 0:
            time.sleep(wait / 1000)
        for number in self.beats.of_tick(tick, part):
            if self.beats.is_over(time.time() * 1000 - self.start):
                break
            yield number, self.start + self.beats.due(number)


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield value[1], time.time() * 1000


def main():
    run = Run.from_json(sys.argv[1])
    beats, keys = Beats(**run.settings["beats"]), run.settings["keys"]
    env = StreamExecutionEnvironment.get_execution_environment(settings("thread", run))
    env.set_parallelism(beats.parts)
    files = FileSink.for_row_format(run.output, Encoder.simple_string_encoder())
    (
        numbers(env, beats.ticks * beats.parts)
        .flat_map(Metronome(beats), output_type=Types.TUPLE([Types.LONG(), Types.DOUBLE()]))
        .key_by(lambda value: value[0] % keys, key_type=Types.LONG())
        .process(Count(), output_type=Types.TUPLE([Types.DOUBLE(), Types.DOUBLE()]))
        .sink_to(files.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    )
    env.execute("latency")


if __name__ == "__main__":
    main()
