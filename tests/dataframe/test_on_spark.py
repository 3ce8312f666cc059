"""DataFrames on Spark."""

from __future__ import annotations

import pytest

import flintstream.dataframe as pf
from flintstream.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark


class Scale:
    """Loads its factor once in each subtask."""

    def __init__(self):
        self.factor = 10

    def __call__(self, batch):
        return {"scaled": batch["id"] * self.factor}


@pytest.fixture
def spark():
    """A batch environment on Spark."""
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.master", "local[2]")
    pf.set_table_environment(t_env)
    yield t_env
    pf.set_table_environment(None)


def test_batches_joins_and_groups_run_on_spark(spark):
    numbers = pf.range(100)
    scaled = numbers.map_batches(
        Scale, return_dtype="ROW<scaled BIGINT>", batch_format="pandas", batch_size=7, concurrency=2
    )
    labels = pf.from_records([(0, "even"), (1, "odd")], schema=["rest", "label"])
    counted = (
        scaled.with_column("rest", (pf.col("scaled") / 10) % 2)
        .join(labels, on="rest")
        .group_by("label")
        .agg(total=pf.col("scaled").sum)
    )
    assert sorted(tuple(row) for row in counted.collect()) == [("even", 24500), ("odd", 25000)]


def test_batches_of_arrow_go_from_files_through_functions_to_files_on_spark(spark, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    for number in range(2):
        ids = range(number, 1000, 2)
        pq.write_table(
            pa.table({"id": ids, "text": [str(i) for i in ids]}),
            tmp_path / "in" / f"{number}.parquet",
            row_group_size=70,
        )
    rows = pf.read_parquet(str(tmp_path / "in"), schema={"id": pf.DataType.int64(), "text": pf.DataType.string()})
    scaled = rows.map_batches(
        Scale, return_dtype="ROW<scaled BIGINT>", batch_format="pandas", batch_size=64, concurrency=3
    )
    scaled.write_parquet(str(tmp_path / "out"))
    found = [row["scaled"] for path in (tmp_path / "out").glob("*") for row in pq.read_table(path).to_pylist()]
    assert sorted(found) == [10 * i for i in range(1000)]
    assert scaled.to_arrow().num_rows == 1000
