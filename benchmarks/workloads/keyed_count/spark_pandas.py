"""On PySpark's applyInPandasWithState, which passes all rows of a key and batch at once, in any order."""

import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

from benchmarks.sources_spark import keyed, numbers
from benchmarks.workload import SAMPLE


def count_rows(key, frames, state):
    (count,) = state.get if state.exists else (0,)
    counted = []
    for n in sorted(n for frame in frames for n in frame["n"]):
        count += 1
        if n % SAMPLE == 0:
            counted.append((key[0], count))
    state.update((count,))
    yield pd.DataFrame(counted, columns=["key", "count"])


def build(spark, run):
    pairs = keyed(numbers(spark, run), run.settings["keys"], run.half)
    return pairs.groupBy("key").applyInPandasWithState(
        count_rows, "key long, count long", "count long", "update", GroupStateTimeout.NoTimeout
    )
