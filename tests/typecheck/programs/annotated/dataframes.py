"""DataFrames as a typed program uses them."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

import flintstream.dataframe as pf
from flintstream.table import Table
from flintstream.table.expression import Expression


class Scored(TypedDict):
    """What the model returns for a row."""

    id: int
    score: float


class Model:
    """Scores batches."""

    def __init__(self) -> None:
        self.factor = 0.5

    def __call__(self, batch: dict[str, list[int]]) -> dict[str, list[float]]:
        """Return the scores of a batch."""
        return {"id": [*batch["id"]], "score": [n * self.factor for n in batch["id"]]}


def score(row: dict[str, object]) -> Scored:
    """Return the score of a row."""
    return {"id": int(str(row["id"])), "score": 1.0}


@pf.udf
def add_one(n: int) -> int:
    """Return the next number."""
    return n + 1


@pf.udtf(return_dtype=str)
def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


def twice(frame: pf.DataFrame, name: str) -> pf.DataFrame:
    """Add a column for pipe()."""
    return frame.with_column(name, pf.col("id") * 2)


def build() -> pf.DataFrame:
    """Return a frame that most methods have made."""
    numbers: pf.DataFrame = pf.range(5)
    column: Expression = numbers["id"]
    chosen: pf.DataFrame = numbers[["id"]]
    kept: pf.DataFrame = numbers[column > 0]
    also: Expression = numbers.id
    frame = kept.select("id", again=also).with_columns(n=add_one(pf.col("id"))).rename({"again": "other"})
    frame = frame.pipe(twice, "doubled").drop("other").where(lambda current: current["n"] > 1)
    grouped = frame.group_by("id")
    totals: pf.DataFrame = grouped.agg(pf.col("n").sum.alias("total"), most=pf.col("n").max)
    joined = frame.join(totals, on="id", how="left").union_all(frame.join(totals, on="id"))
    scored = joined.map_batches(Model, return_dtype="ROW<id BIGINT, score DOUBLE>", batch_format="pandas")
    mapped = scored.map(score, concurrency=1).flat_map(lambda row: [row["id"]], return_dtype=int)
    return mapped.limit(3).union_all(chosen.rename("id", "f0").head(0))


def results(frame: pf.DataFrame) -> int:
    """Return what results are."""
    with frame.iter_rows() as rows:
        first: dict[str, object] = next(rows)
    with frame.iter_batches(batch_format="pyarrow") as batches:
        batch = next(batches)
    taken: list[dict[str, object]] = frame.take(1, timeout=1.5)
    table: Table = frame.to_table()
    columns: list[str] = frame.columns
    assert (first, batch, taken, table, columns) is not None
    return len(frame.collect())


def timed(events: pf.DataFrame, rates: pf.DataFrame) -> pf.DataFrame:
    """Return windows and versions."""
    priced = events.join_asof(rates, on="at", by="coin", how="left")
    windows = priced.tumble(on="at", size=timedelta(minutes=1))
    running = pf.col("n").sum.over(order_by="at", partition_by="coin", rows=pf.preceding(2))
    return windows.select("coin", running=running)


def mistakes(frame: pf.DataFrame) -> None:
    """Call with wrong arguments."""
    frame.map_batches(Model, return_dtype="ROW<id BIGINT>", batch_format="polars")  # expect: arg-type reportArgumentType
    frame.map_batches(Model, return_dtype="ROW<id BIGINT>")  # expect: call-arg reportCallIssue
    frame.limit("3")  # expect: arg-type reportArgumentType
    frame.with_column("n", 3)  # expect: arg-type reportArgumentType
    frame.join(5, on="id")  # expect: arg-type reportArgumentType
    frame.group_by("id").collect()  # expect: attr-defined reportAttributeAccessIssue
    pf.from_records(5)  # expect: arg-type reportArgumentType
    pf.DataType.int65()  # expect: attr-defined reportAttributeAccessIssue
    n: int = frame.columns  # expect: assignment reportAssignmentType
    pf.sql(5)  # expect: arg-type reportArgumentType
    assert n
