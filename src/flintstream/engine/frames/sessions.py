"""What DataFrames need of their Spark session, be it a classic one or one of Spark Connect."""

from __future__ import annotations

import shutil
import sys
import uuid
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from flintstream.engine.connect import tasks as connect_tasks
from flintstream.engine.connect.session import connect_session, prepare_session
from flintstream.engine.spark import tasks as classic_tasks
from flintstream.engine.spark.connect import find_connect, is_remote
from flintstream.engine.spark.job_log import one_machine
from flintstream.engine.spark.session import spark_context
from flintstream.engine.spark.versions import schema_of_text
from flintstream.errors import PlanError
from flintstream.options.execution import ENGINE, STATE_DIRECTORY
from flintstream.storage.stores import file_store
from flintstream.storage.temporary import temporary_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql.connect.session import SparkSession as RemoteSession
    from pyspark.sql.types import StructType

    from flintstream.engine.connect.session import ConnectSession
    from flintstream.engine.spark.tasks import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")

__all__ = [
    "check_spark",
    "frame_of",
    "new_directory",
    "prepare_for",
    "run_tasks",
    "session",
    "text_schema",
    "write_dealt",
]


def session(spark: SparkSession | None, configuration: Mapping[str, str] | None = None) -> SparkSession:
    """Return the given session, the active one, or a new one for a configuration."""
    if spark is None and find_connect(configuration or {}) is not None:
        return cast("SparkSession", connect_session(configuration or {}).spark)
    return spark or classic_tasks.session(None)


def check_spark(configuration: Mapping[str, str]) -> None:
    """Start Spark if it is the program's engine and is not running yet.

    Raises:
        PlanError: The engine is another one, and there is no Spark session.
    """
    remote = find_connect(configuration) is not None
    if ENGINE.read(configuration) == ENGINE.default:
        if remote:
            connect_session(configuration)
        else:
            spark_context(configuration)
    elif not remote and getattr(getattr(sys.modules.get("pyspark"), "SparkContext", None), _ACTIVE, None) is None:
        raise PlanError(
            "a DataFrame needs Spark, but the program runs on the inline engine and there is no Spark session: leave "
            f"'{ENGINE.key}' at '{ENGINE.default}', or create a session first"
        )


_ACTIVE = "_active_spark_context"


def text_schema(text: str) -> StructType:
    """Return the schema for a text such as ``name string, age int``, which Spark parses in the JVM or on its server."""
    if find_connect({}) is None:
        return cast("StructType", schema_of_text(text))
    return session(None).createDataFrame([], text).schema


def prepare_for(frame: DataFrame) -> None:
    """Make flintstream and the program's modules available to the tasks that read a DataFrame."""
    if is_remote(frame):
        _prepare(frame.sparkSession).add_program()


def _prepare(spark: SparkSession) -> ConnectSession:
    return prepare_session(cast("RemoteSession", spark))


def new_directory(
    parent: str | None, spark: SparkSession | None = None, configuration: Mapping[str, str] | None = None
) -> tuple[str, Callable[[], None]]:
    """Return the name of a new directory below ``parent``, and a function that deletes it.

    Without a parent, the directory is temporary and is deleted with this process.

    Raises:
        PlanError: There is no parent, but workers on other machines must access the directory.
    """
    if parent is not None:
        directory = f"{parent}/{uuid.uuid4().hex}"
        return directory, lambda: file_store(directory).delete_tree("")
    found = session(spark, configuration)
    remote = cast("RemoteSession", found)
    master = f"sc://{remote.client.host}" if is_remote(found) else str(found.sparkContext.master)
    if not one_machine(master):
        raise PlanError(
            f"on the cluster {master}, DataFrames are transferred in files: pass a directory that all workers "
            f"can reach, or set '{STATE_DIRECTORY.key}' to one"
        )
    directory = temporary_directory("flintstream-dataframe-")
    return directory, partial(shutil.rmtree, directory, ignore_errors=True)


def frame_of(tasks: Sequence[Callable[[], object]], schema: StructType | str, spark: SparkSession) -> DataFrame:
    """Return the rows that functions yield, each function in its own task."""
    if not tasks:
        return spark.createDataFrame([], schema)
    if is_remote(spark):
        return connect_tasks.frame_of(tasks, schema, _prepare(spark))
    return classic_tasks.frame_of(tasks, schema, spark)


def run_tasks(tasks: Sequence[Callable[[], R]], spark: SparkSession) -> list[R]:
    """Run functions in parallel and return their results in order."""
    if is_remote(spark):
        return connect_tasks.run_tasks(tasks, _prepare(spark))
    return classic_tasks.run_tasks(tasks, spark)


def write_dealt(
    data: DataFrame,
    to_pairs: Callable[[object], Iterable[tuple[int, T]]],
    parallelism: int,
    write: Callable[[int, Iterable[tuple[int, T]]], Iterator[R]],
) -> list[R]:
    """Convert rows to (partition number, item) pairs, exchange them by partition, and write each partition."""
    if is_remote(data):
        return connect_tasks.write_dealt(data, to_pairs, parallelism, write, _prepare(data.sparkSession))
    return classic_tasks.write_dealt(data, to_pairs, parallelism, write)
