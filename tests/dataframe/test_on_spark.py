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
