"""Fill keyed state, then change a part of it at a steady rate; in PyFlink's API, for PyFlink and flintstream."""

# ruff: noqa: ANN001, ANN201, ANN204, D102, D103 - as a user of that engine would write it

import argparse
import logging
import sys
import time
from pathlib import Path

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedProcessFunction, MapFunction
from pyflink.datastream.state import ValueStateDescriptor

SPREAD = 2_654_435_761


class Steady(MapFunction):
    """Pass the first records at full speed, and the others at a steady rate."""

    def __init__(self, keys, rate, note):
        self.keys, self.rate, self.note = keys, rate, note
        self.began = None

    def map(self, value):
        if value < self.keys:
            return value, value
        if self.began is None:
            self.began, self.first = time.time(), value
            with Path(self.note).open("a") as file:
                print("filled", self.began, file=file)
        wait = self.began + (value - self.first) / self.rate - time.time()
        if wait > 0.002:
            time.sleep(wait)
        return value * SPREAD % self.keys, value


class Keep(KeyedProcessFunction):
    """Keep 100 bytes per key; fail once if requested, and record when processing resumes."""

    def __init__(self, fail_at, note):
        self.fail_at, self.note = fail_at, note

    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))
        self.failed = Path(self.note + ".failed")
        self.waiting = self.failed.exists()

    def process_element(self, value, ctx):
        if self.waiting:
            self.waiting = False
            with Path(self.note).open("a") as file:
                print("works again", time.time(), file=file)
        if self.fail_at and value[1] >= self.fail_at and not self.failed.exists():
            self.failed.touch()
            with Path(self.note).open("a") as file:
                print("fails", time.time(), file=file)
            raise ValueError("the requested failure")
        self.state.update(f"{value[1]:0100d}")
        if value[1] < 0:
            yield value


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("keys", 100_000), ("rate", 2000), ("seconds", 30), ("interval", 2000), ("fail", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--state", default="hashmap")
    parser.add_argument("--changelog", default="false")
    parser.add_argument("--mode", default="thread")
    parser.add_argument("--directory", required=True)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(created)f %(levelname)s %(name)s: %(message)s")
    configuration = Configuration()
    if options.mode != "flintstream":
        configuration.set_string("python.execution-mode", options.mode)
        configuration.set_string("python.executable", sys.executable)
        configuration.set_string("python.client.executable", sys.executable)
        configuration.set_string("state.changelog.dstl.dfs.base-path", f"file://{options.directory}/changelog")
        configuration.set_string("state.changelog.storage", "filesystem")
    configuration.set_string("state.backend.type", options.state)
    configuration.set_string("state.changelog.enabled", options.changelog)
    configuration.set_string("execution.checkpointing.incremental", "true")
    configuration.set_string("execution.checkpointing.interval", f"{options.interval} ms")
    configuration.set_string("execution.checkpointing.dir", f"file://{options.directory}/checkpoints")
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    records = options.keys + options.rate * options.seconds
    note = f"{options.directory}/notes"
    fail_at = records - options.rate * 3 if options.fail else 0
    (
        env.from_source(
            NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
        )
        .set_parallelism(1)
        .map(
            Steady(options.keys, options.rate, note),
            output_type=Types.TUPLE([Types.LONG(), Types.LONG()]),
        )
        .set_parallelism(1)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .process(Keep(fail_at, note), output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .print()
    )
    env.execute("checkpoints")


if __name__ == "__main__":
    main()
