"""Two jobs for a cluster: counting words, and sums by key that survive a failure through checkpoints."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from flintstream.common import Types
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor

KEYS, RECORDS = 7, 2000


class Sums(KeyedProcessFunction):
    """Emit the sum so far of each key; fail once after some records."""

    def __init__(self, failed):
        """Take the path of the file that exists after the failure."""
        self.failed = failed

    def open(self, runtime_context):
        """Declare the state."""
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        """Add a value."""
        if value == RECORDS * 3 // 4 and not Path(self.failed).exists():
            Path(self.failed).touch()
            raise ValueError("once")
        self.sum.update((self.sum.value() or 0) + value)
        yield value % KEYS, self.sum.value()


def environment(directory):
    """Return an environment whose state and checkpoints are beneath one directory that all machines reach."""
    return StreamExecutionEnvironment.get_execution_environment(
        {"execution.checkpointing.dir": Path(directory, "checkpoints").as_uri()}
    )


def words(directory):
    """Count words in BATCH mode."""
    env = environment(directory)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    lines = env.from_collection(["to be or not to be", "to do"], Types.STRING())
    ones = lines.flat_map(lambda line: [(word, 1) for word in line.split()], pair)
    counts = ones.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1]))
    with counts.execute_and_collect("words") as results:
        return sorted(results)


def sums(directory):
    """Add numbers by key in STREAMING mode, with checkpoints and a failure."""
    env = environment(directory)
    env.enable_checkpointing(200)
    numbers = env.from_collection(list(range(RECORDS)), Types.LONG())
    by_key = numbers.key_by(lambda value: value % KEYS).process(Sums(f"{directory}/failed"))
    with by_key.execute_and_collect("sums") as results:
        return sorted(dict(sorted(results)).items())


def main(directory):
    """Run both jobs and write the results and the settings of Spark to a file."""
    from pyspark import SparkContext

    results = {"words": words(directory), "sums": sums(directory)}
    results["settings"] = dict(SparkContext.getOrCreate().getConf().getAll())
    Path(directory, "results.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
