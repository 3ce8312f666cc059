"""Sources of the streaming queries of PySpark."""

from pyspark.sql.functions import col

from benchmarks.workload import SPREAD

BATCHES = 5


def numbers(spark, run):
    """Return the numbers from 0 as the column n, in bounded micro-batches of equal size."""
    path = f"{run.directory}/numbers"
    share = -(-run.records // BATCHES)
    for first in range(0, run.records, share):
        last = min(first + share, run.records)
        spark.range(first, last, 1, 1).select(col("id").alias("n")).write.mode("append").parquet(path)
    return spark.readStream.schema("n long").option("maxFilesPerTrigger", 1).parquet(path)


def keyed(frame, keys, half):
    """Add the column key: the two halves of the numbers have separate keys."""
    spread = (col("n").cast("decimal(38)") * SPREAD % (keys // 2)).cast("long")
    return frame.withColumn("key", spread * 2 + (col("n") >= half).cast("long"))
