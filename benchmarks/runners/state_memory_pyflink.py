"""The states of benchmarks/state_memory.py in PyFlink, which keeps them in its JVM: one job fills one after the other.

In thread mode the functions run inside the JVM. So the function asks its own process for the size of all live objects,
which collects garbage first, before each state and after the last one.
"""

# ruff: noqa: ANN001, ANN201, ANN204, D101, D102, D103 - as a user of that engine would write it

import os
import subprocess
import sys
from pathlib import Path

from pyflink.common import Types
from pyflink.common.time import Time
from pyflink.datastream import StreamExecutionEnvironment, state
from pyflink.datastream.functions import AggregateFunction, KeyedProcessFunction

from benchmarks.runners.run_pyflink import settings
from benchmarks.sources import numbers
from benchmarks.workload import Run


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return value + accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


def live_bytes():
    histogram = ["jcmd", str(os.getpid()), "GC.class_histogram"]
    done = subprocess.run(histogram, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603
    return int(done.stdout.split()[-1])


class Fill(KeyedProcessFunction):
    def __init__(self, keys, kinds, output):
        self.keys = keys
        self.kinds = kinds
        self.output = output

    def open(self, context):
        self.setters = [self.setter(context, f"{kind}-{ttl}", kind, ttl) for kind, ttl in self.kinds]

    def setter(self, context, name, kind, ttl):
        made = {
            "value": lambda: state.ValueStateDescriptor(name, Types.LONG()),
            "list": lambda: state.ListStateDescriptor(name, Types.LONG()),
            "map": lambda: state.MapStateDescriptor(name, Types.LONG(), Types.LONG()),
            "reducing": lambda: state.ReducingStateDescriptor(name, lambda a, b: a + b, Types.LONG()),
            "aggregating": lambda: state.AggregatingStateDescriptor(name, Sum(), Types.LONG()),
        }[kind]()
        if ttl:
            made.enable_time_to_live(state.StateTtlConfig.new_builder(Time.hours(1)).build())
        if kind == "value":
            return context.get_state(made).update
        if kind == "map":
            entries = context.get_map_state(made)
            return lambda n: entries.put(n, n)
        get = {"list": context.get_list_state, "reducing": context.get_reducing_state}
        return get.get(kind, context.get_aggregating_state)(made).add

    def process_element(self, value, ctx):
        phase, number = divmod(value, self.keys)
        if number == 0:
            with Path(self.output).open("a") as file:
                file.write(f"{live_bytes()}\n")
        if phase < len(self.setters):
            self.setters[phase](number)
        return ()


def main():
    run = Run.from_json(sys.argv[1])
    keys, kinds = run.settings["keys"], run.settings["kinds"]
    env = StreamExecutionEnvironment.get_execution_environment(settings("thread", run))
    env.set_parallelism(1)
    filled = numbers(env, keys * len(kinds) + 1).key_by(lambda n: n % keys, key_type=Types.LONG())
    filled.process(Fill(keys, kinds, run.output), output_type=Types.LONG()).print()
    env.execute("state memory")


if __name__ == "__main__":
    main()
