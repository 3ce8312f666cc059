"""Functions that run as Spark tasks outside a job, with their results or DataFrames of the rows they yield."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.common._user_code import by_value
from flintstream.common._user_code.forks import only_one_returns
from flintstream.engine.spark.columns.types import to_spark_type
from flintstream.engine.spark.connect import refuse_connect
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.provision import dependencies
from flintstream.engine.spark.provision.executors import prepare_context
from flintstream.engine.spark.session import spark_context
from flintstream.engine.spark.slots import variant
from flintstream.engine.spark.worker import own_partition
from flintstream.errors import CheckpointError, ExecutorError
from flintstream.runtime.process_setup import ProcessSetup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame as DataFrame  # noqa: PLC0414 - re-exported for packages that do not import pyspark
    from pyspark.sql import SparkSession as SparkSession  # noqa: PLC0414
    from pyspark.sql.types import StructType

    from flintstream.common.typeinfo import TypeInformation

T = TypeVar("T")
R = TypeVar("R")

_OWN_ERROR = re.compile(r"flintstream\.errors\.(?:Corrupt)?CheckpointError: (.+)")


def session(spark: SparkSession | None) -> SparkSession:
    """Return the given session, the active one, or a new one.

    Raises:
        FlintstreamError: It is one of Spark Connect.
    """
    refuse_connect({}, spark)
    from pyspark.sql import SparkSession

    return spark or SparkSession.getActiveSession() or SparkSession(spark_context({}))


def frame_of(tasks: Sequence[Callable[[], object]], schema: StructType | str, spark: SparkSession) -> DataFrame:
    """Return the rows that functions yield, each function in its own task."""
    if not tasks:
        return spark.createDataFrame([], schema)
    rows = _prepare(spark).parallelize(pack(tasks), len(tasks)).flatMap(_call)
    return spark.createDataFrame(rows, schema, verifySchema=False)


def schema_of(columns: Mapping[str, TypeInformation | None], longs: Sequence[str] = ()) -> Any:
    """Return Spark's schema for columns of our types (None for a string), followed by columns of long integers."""
    from pyspark.sql.types import LongType, StructField, StructType

    fields = [StructField(column, to_spark_type(kind)[0]) for column, kind in columns.items()]
    return StructType([*fields, *(StructField(column, LongType()) for column in longs)])


def run_tasks(tasks: Sequence[Callable[[], R]], spark: SparkSession) -> list[R]:
    """Run functions in parallel and return their results in order."""
    return _collect(_prepare(spark).parallelize(pack(tasks), max(len(tasks), 1)).map(_call))


def results_of(tasks: Sequence[Callable[[], Any]], context: Any) -> list[Any]:
    """Run functions in parallel on a Spark context and return their results in order.

    Raises:
        Exception: A function raised it; Spark does not run such a function again.
    """
    found = context.parallelize(pack(tasks), len(tasks)).map(attempt).collect() if tasks else []
    for _, error in found:
        if error is not None:
            raise error
    return [result for result, _ in found]


def write_dealt(
    data: DataFrame,
    to_pairs: Callable[[object], Iterable[tuple[int, T]]],
    parallelism: int,
    write: Callable[[int, Iterable[tuple[int, T]]], Iterator[R]],
) -> list[R]:
    """Convert rows to (partition number, item) pairs, exchange them by partition, and write each partition."""
    rows = variant(data.rdd, ctx=_prepare(data.sparkSession))
    dealt = rows.flatMap(to_pairs).partitionBy(parallelism, own_partition)
    return _collect(dealt.mapPartitionsWithIndex(write))


def _prepare(spark: SparkSession) -> Any:
    with plainly():
        return prepare_context(spark.sparkContext)


def pack(tasks: Sequence[Callable[..., object]], setup: object = None) -> list[tuple[bytes, bytes]]:
    """Return functions pickled by value, each with the setup that its process needs first."""
    packed = pickle.dumps(setup or ProcessSetup.here().with_main(), 5)
    return [(packed, by_value.dumps(task)) for task in tasks]


def load(packed: tuple[bytes, bytes]) -> Any:
    """Return a packed function, in a process that is set up for it."""
    setup, task = packed
    pickle.loads(setup).enter()
    return pickle.loads(task)


def _call(packed: tuple[bytes, bytes], *arguments: object) -> Any:
    task = load(packed)
    with only_one_returns():
        return task(*arguments)


def attempt(packed: tuple[bytes, bytes], *arguments: object) -> tuple[Any, Exception | None]:
    """Return the result of a packed function, or its error, which Spark must not see: it would run it again."""
    dependencies.enter()
    return try_to_call(_call, packed, *arguments)


def try_to_call(function: Callable[..., Any], *arguments: object) -> tuple[Any, Exception | None]:
    """Return the result of a function, or its error."""
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 - raised again in the driver
        return None, error


def _collect(rdd: Any) -> list[Any]:
    """Run a Spark job; raise flintstream's own errors without Spark's stack traces."""
    try:
        with plainly():
            return rdd.collect()  # type: ignore[no-any-return]
    except ExecutorError:
        raise
    except Exception as error:
        found = _OWN_ERROR.search(str(error))
        if found is None:
            raise
        raise CheckpointError(found.group(1)) from error
