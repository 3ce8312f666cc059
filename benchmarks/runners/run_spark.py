"""Run a workload on PySpark's structured streaming.

``benchmarks.workloads.PACKAGE.MODE.build(spark, run)`` returns a streaming DataFrame whose rows are written as results;
the mode is ``spark`` or ``spark_pandas``.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from benchmarks.workload import Run, line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def main() -> None:
    """Run the query until its input has been read."""
    mode, run = sys.argv[1], Run.from_json(sys.argv[2])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.streaming.stateStore.providerClass", STORE)
        # With state that expires, Spark runs empty batches indefinitely, even if the query is to stop at the end.
        .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        .getOrCreate()
    )

    def write(batch: DataFrame, number: int) -> None:
        Path(run.output, f"part-{number}").write_text("".join(map(line, batch.collect())))

    module = importlib.import_module(f"benchmarks.workloads.{run.package}.{mode}")
    query = (
        module.build(spark, run)
        .writeStream.outputMode("update")
        .option("checkpointLocation", f"{run.directory}/checkpoint")
        .trigger(availableNow=True)
        .foreachBatch(write)
        .start()
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
