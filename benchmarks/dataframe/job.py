"""One workload on one engine, in a process of its own.

    python job.py ENGINE WORKLOAD SMALL LARGE REPORT

It runs the workload twice on the rows of one directory, then on those of another one. REPORT gets the results of the
last run, and how many more seconds and CPU seconds of all processes it took, as JSON.
"""

# ruff: noqa: ANN001, ANN201, ANN202, ANN204, D101, D102, D103 - programs as users of these engines would write them

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.nexmark.cpu import cpu_of_family

BATCH = 8192
SHORT_BATCH = 256


def change(batch):
    """Return what the workload ``copy`` makes of a batch of columns of Arrow."""
    import pyarrow.compute as pc

    return {"id": batch["id"], "n": pc.add(pc.multiply(batch["n"], 2), 1), "text": pc.utf8_upper(batch["text"])}


class Model:
    """Loads the lexicon once, and rates texts from -1 to 1."""

    def __init__(self):
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        self.rate = SentimentIntensityAnalyzer().polarity_scores

    def scores(self, texts):
        return [self.rate(text)["compound"] for text in texts]


class ModelOfColumns(Model):
    def __call__(self, batch):
        import pyarrow as pa

        return {"score": pa.array(self.scores(batch["text"].to_pylist()), pa.float64())}


def summary_of(directory):
    """Return what the files of a copy have."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(directory, columns=["id", "n", "text"])
    return [len(table), pc.sum(table["n"]).as_py(), pc.sum(pc.utf8_length(table["text"])).as_py()]


def with_flintstream(batches):
    import flintstream.dataframe as pf

    pf.set_table_environment(None)
    pf.config.set("flintstream.table.arrow-batches", batches).set("parallelism.default", "2")
    schema = {"id": pf.DataType.int64(), "n": pf.DataType.int64(), "text": pf.DataType.string()}

    def copy(source, target):
        made = pf.read_parquet(source, schema=schema).map_batches(
            change, return_dtype="ROW<id BIGINT, n BIGINT, text STRING>", batch_format="pyarrow", batch_size=BATCH
        )
        made.write_parquet(target)
        return summary_of(target)

    def model(source, _):
        made = (
            pf.read_parquet(source, schema=schema)
            .select("text")
            .map_batches(
                ModelOfColumns, return_dtype="ROW<score DOUBLE>", batch_format="pyarrow", batch_size=SHORT_BATCH
            )
        )
        return summary_of_scores(made.to_arrow()["score"].to_pylist())

    return {"copy": copy, "model": model}


def summary_of_scores(scores):
    return [len(scores), round(sum(scores), 3)]


def with_polars(_):
    import os

    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars as pl

    def copy(source, target):
        Path(target).mkdir()
        rows = pl.scan_parquet(f"{source}/*.parquet")
        made = rows.with_columns(n=pl.col("n") * 2 + 1, text=pl.col("text").str.to_uppercase())
        made.sink_parquet(f"{target}/part.parquet")
        return summary_of(target)

    return {"copy": copy}


def with_daft(_):
    import daft

    daft.set_runner_native(num_threads=2)
    kind = daft.DataType.struct(
        {"id": daft.DataType.int64(), "n": daft.DataType.int64(), "text": daft.DataType.string()}
    )

    @daft.func.batch(return_dtype=kind, batch_size=BATCH)
    def changed(number, n, text):
        import pyarrow as pa

        found = change({"id": number.to_arrow(), "n": n.to_arrow(), "text": text.to_arrow()})
        return pa.StructArray.from_arrays(list(found.values()), names=list(found))

    def copy(source, target):
        rows = daft.read_parquet(f"{source}/*.parquet")
        made = rows.select(changed(rows["id"], rows["n"], rows["text"]).alias("r"))
        fields = [made["r"][name].alias(name) for name in ("id", "n", "text")]
        made.select(*fields).write_parquet(target)
        return summary_of(target)

    @daft.cls(max_concurrency=2, use_process=True)
    class Rated(Model):
        @daft.method.batch(return_dtype=daft.DataType.float64(), batch_size=SHORT_BATCH)
        def score(self, texts):
            return self.scores(texts.to_pylist())

    def model(source, _):
        rows = daft.read_parquet(f"{source}/*.parquet").into_partitions(2)
        made = rows.select(Rated().score(rows["text"]).alias("score"))
        return summary_of_scores(made.to_pydict()["score"])

    return {"copy": copy, "model": model}


def with_pyflink(_):
    import pandas as pd
    import pyarrow.parquet as pq
    from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
    from pyflink.table.udf import ScalarFunction, udf

    class Rated(ScalarFunction):
        def open(self, function_context):
            self.model = Model()

        def eval(self, texts):
            return pd.Series(self.model.scores(texts))

    def model(source, _):
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        t_env.get_config().set("parallelism.default", "2")
        t_env.get_config().set("python.fn-execution.arrow.batch.size", str(SHORT_BATCH))
        rated = udf(Rated(), result_type=DataTypes.DOUBLE(), func_type="pandas")
        rows = t_env.from_pandas(pq.read_table(source, columns=["text"]).to_pandas().astype(object), splits_num=2)
        scores = rows.select(rated(rows.text).alias("score"))
        summed = scores.select(scores.score.count, scores.score.sum)  # collect() takes 2 ms for each row
        with summed.execute().collect() as found:
            ((count, total),) = found
        return [count, round(total, 3)]

    return {"model": model}


RUNNERS = {
    "flintstream": lambda _: with_flintstream("true"),
    "flintstream-rows": lambda _: with_flintstream("false"),
    "polars": with_polars,
    "daft": with_daft,
    "pyflink": with_pyflink,
}


def main():
    engine, workload, small, large, report = sys.argv[1:]
    run = RUNNERS[engine](engine)[workload]
    costs = []
    for source in (small, small, large):  # the first run starts the engine
        directory = tempfile.mkdtemp(prefix="dataframe-")
        started, cpu = time.perf_counter(), cpu_of_family()
        found = run(source, f"{directory}/out")
        costs.append((time.perf_counter() - started, cpu_of_family() - cpu))
        shutil.rmtree(directory)
    _, (first, first_cpu), (second, second_cpu) = costs
    report_of = {"found": found, "seconds": second - first, "cpu": second_cpu - first_cpu}
    Path(report).write_text(json.dumps(report_of))


if __name__ == "__main__":
    main()
