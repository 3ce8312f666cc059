"""On PySpark's transformWithState, which passes all rows of a key and batch at once, in any order."""

# ruff: noqa: N802, N803 - PySpark's names

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from benchmarks.sources_spark import keyed, numbers
from benchmarks.workload import SAMPLE


class Count(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "count long")

    def handleInputRows(self, key, rows, timerValues):
        state = self.count.get()
        count = state[0] if state is not None else 0
        for n in sorted(row.n for row in rows):
            count += 1
            if n % SAMPLE == 0:
                yield Row(key=key[0], count=count)
        self.count.update((count,))

    def close(self):
        pass


def build(spark, run):
    pairs = keyed(numbers(spark, run), run.settings["keys"], run.half)
    return pairs.groupBy("key").transformWithState(Count(), "key long, count long", "Update", "None")
