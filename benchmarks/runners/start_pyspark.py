"""A small job in plain PySpark, for ``benchmarks/start.py``: what a start of Spark takes, with Python workers."""

from __future__ import annotations

from operator import add

from pyspark.sql import SparkSession


def main() -> None:
    """Count a few words, over one exchange."""
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    lines = session.sparkContext.parallelize(["to be or not to be", "that is the question"] * 10, 2)
    counts = lines.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(add).collect()
    print(len(counts))
    session.stop()


if __name__ == "__main__":
    main()
