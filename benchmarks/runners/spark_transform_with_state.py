"""PySpark as one would write it by hand: transformWithState over bounded micro-batches."""

# ruff: noqa: ANN001, ANN201, ARG002, D101, D102, D103 - as a user of that engine would write it

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from options import SPREAD, read
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

BATCHES = 5


class Count(StatefulProcessor):
    def __init__(self, every: int) -> None:
        self.every = every

    def init(self, handle):
        self.count = handle.getValueState("count", "count long")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803 - PySpark's
        state = self.count.get()
        count = state[0] if state is not None else 0
        for _ in rows:
            count += 1
            if count % self.every == 0:
                yield Row(key=key[0], count=count)
        self.count.update((count,))

    def close(self) -> None:
        """Nothing to release."""


def main() -> None:
    options = read()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    work = tempfile.mkdtemp(prefix="keyed-count-")
    numbers = f"{work}/numbers"
    share = -(-options.records // BATCHES)
    for first in range(0, options.records, share):
        spark.range(first, min(first + share, options.records), 1, 1).write.mode("append").parquet(numbers)

    def write(batch, number: int) -> None:
        rows = batch.collect()
        Path(options.output, f"part-{number}").write_text("".join(f"({row.key},{row['count']})\n" for row in rows))

    keys = ((col("id").cast("decimal(38)") * lit(SPREAD)) % lit(options.keys)).cast("long")
    counted = (
        spark.readStream.schema("id long")
        .option("maxFilesPerTrigger", 1)
        .parquet(numbers)
        .select(keys.alias("key"), col("id").alias("n"))
        .groupBy("key")
        .transformWithState(Count(options.every), "key long, count long", "Update", "None")
    )
    query = (
        counted.writeStream.outputMode("update")
        .option("checkpointLocation", f"{work}/checkpoint")
        .trigger(availableNow=True)
        .foreachBatch(write)
        .start()
    )
    query.awaitTermination()
    spark.stop()
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
