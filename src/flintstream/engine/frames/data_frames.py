"""DataFrames as sources, and job output as DataFrames.

Data do not pass through the driver. Spark's tasks write the partitions of a DataFrame to Arrow files, which the source
readers read. The sink's tasks write Parquet files, which Spark reads.
"""

from __future__ import annotations

import importlib.util
import json
import time
import uuid
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.connectors.files.arrow import ArrowFile, ArrowReader, arrow_splits
from flintstream.connectors.files.arrow_values import arrow
from flintstream.connectors.files.parquet import ParquetRows
from flintstream.connectors.source import Boundedness, Source, SplitEnumerator
from flintstream.engine.frames.sessions import check_spark, new_directory, prepare_for, session, text_schema
from flintstream.engine.spark.columns.schemas import holds, row_type, schema_of
from flintstream.engine.spark.connect import is_remote
from flintstream.engine.spark.slots import SLOT_OF
from flintstream.engine.spark.versions import arrow_schema
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError
from flintstream.storage.location import Location
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    SparkDataFrame: TypeAlias = DataFrame
    """What other packages call it, which do not import pyspark."""

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.arrow import ArrowSplit
    from flintstream.connectors.source import SourceReader
    from flintstream.storage.file_store import FileStore

__all__ = [
    "BatchSource",
    "DataFrameSource",
    "StreamingSource",
    "check_spark",
    "frame_schema",
    "new_directory",
    "parquet_rows",
    "read",
    "read_stream",
    "source_of",
    "stage",
]

DATES = {"datetimeRebaseMode": "CORRECTED"}
"""How to read the dates in our files, of the Gregorian calendar; Spark 3.5 would ask about those before 1900."""

STAGED = "file string, batches bigint"

CHECK_QUERY_SECONDS = 0.5
"""How often to check that a streaming query still runs."""

BATCHES_AT_ONCE = 100
"""Maximum number of micro-batches to deal before an epoch."""


# -- a DataFrame as a source -----------------------------------------------------------------------------------------


def stage(frame: DataFrame, store: FileStore) -> list[ArrowFile]:
    """Write a DataFrame to files of a store in Spark tasks; files of lost task attempts are ignored.

    The columns are renamed in the files, because Spark cannot select by some names.
    """

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task = TaskContext.get()
        path = f"{task.partitionId() if task is not None else 0:06d}-{uuid.uuid4().hex[:12]}.arrow"
        pa = arrow()
        batches = filter(len, batches)
        first = next(batches, None)
        if first is None:
            return
        count = 1
        with store.create(path) as file, pa.ipc.new_file(file, first.schema) as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)
                count += 1
        yield pa.RecordBatch.from_pydict({"file": [path], "batches": [count]})

    renamed = frame.toDF(*(f"c{index}" for index in range(len(frame.columns))))
    _leave_slot(frame)
    found = renamed.mapInArrow(write, STAGED).collect()
    return sorted((ArrowFile(row.file, row.batches) for row in found), key=lambda file: file.path)


def _leave_slot(frame: DataFrame) -> None:
    """Run the tasks that this thread starts in Spark's own workers: they are not subtasks of a job."""
    if not is_remote(frame):
        context: Any = frame.sparkSession.sparkContext
        context.setLocalProperty(SLOT_OF, None)


class DataFrameSource(Source):
    """Common base of batch and streaming DataFrames; tasks only get the type."""

    store: FileStore | None = None
    """Where the data are stored, once known."""

    def __init__(self, frame: DataFrame, parent: Callable[[], str | None]) -> None:
        """Take the DataFrame, and a function that returns the parent directory for its data when the job starts."""
        arrow()  # fails early if pyarrow is missing
        if importlib.util.find_spec("pandas") is None:
            raise MissingDependencyError("pandas", extra="dataframes", purpose="from_dataframe()")
        self.frame = frame
        self.parent = parent
        self.produced_type = row_type(frame.schema)
        if not frame.columns:
            raise PlanError("the DataFrame has no columns")

    def __getstate__(self) -> dict[str, Any]:
        """Drop the parts that belong to the driver."""
        return {"produced_type": self.produced_type}

    def create_reader(self) -> SourceReader:
        """Return a reader of the files."""
        return ArrowReader(tuple(self.produced_type.get_field_names()))

    def place(self) -> FileStore:
        """Return the store of the data, the same in all attempts of a job."""
        if self.store is None:
            self.store = file_store(new_directory(self.parent(), self.frame.sparkSession)[0])
        return self.store

    def release(self) -> None:
        """Delete the data after the job has read all of them."""
        store, self.store = self.store, None
        if store is not None:
            with suppress(OSError):  # a failed deletion must not fail the job
                store.delete_tree("")


class BatchSource(DataFrameSource):
    """The rows of a batch DataFrame, which is computed only once, when the job starts, regardless of restarts."""

    boundedness = Boundedness.BOUNDED
    staged: list[ArrowFile] | None = None

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator that computes the DataFrame and deals its parts."""
        return _Parts(self, parallelism)

    def release(self) -> None:
        """Delete the data; another run of the program computes the DataFrame again."""
        super().release()
        self.staged = None


class _Parts(SplitEnumerator):
    def __init__(self, source: BatchSource, parallelism: int) -> None:
        self._source = source
        self._parallelism = parallelism
        self._done = False

    def discover(self) -> Sequence[ArrowSplit]:
        if self._done:
            return []
        source = self._source
        store = source.place()
        if source.staged is None:
            prepare_for(source.frame)
            source.staged = stage(source.frame, store)
        self._done = True
        return arrow_splits(store, source.staged, self._parallelism)

    def is_finished(self) -> bool:
        return self._done

    def snapshot(self) -> object:
        return (self._done, self._source.place().uri(""))

    def restore(self, state: Any) -> None:
        self._done, place = state
        self._source.store = file_store(place)


class StreamingSource(DataFrameSource):
    """The rows of a streaming DataFrame, one micro-batch at a time."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(
        self, frame: DataFrame, parent: Callable[[], str | None], trigger: str, retention_ms: int | None
    ) -> None:
        """Also take Spark's trigger interval between micro-batches, and the retention of their data."""
        super().__init__(frame, parent)
        self.trigger = trigger
        self.retention_ms = retention_ms

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator that runs the query and deals the micro-batches."""
        return _MicroBatches(self, parallelism)


class _MicroBatches(SplitEnumerator):
    """Runs a query that stages each micro-batch under its number, and deals the micro-batches in order.

    A micro-batch is complete when its list of files exists. Spark runs an incomplete one again, with the same data.
    """

    def __init__(self, source: StreamingSource, parallelism: int) -> None:
        self._source = source
        self._parallelism = parallelism
        self._next = 0
        self._oldest = 0
        self._query: Any = None
        self._checked = 0.0

    def discover(self) -> Sequence[ArrowSplit]:
        if self._query is None:
            self._start()
        store = self._source.place()
        splits: list[ArrowSplit] = []
        for number in range(self._next, self._next + BATCHES_AT_ONCE):
            if not store.exists(_listing(number)):
                break
            files = [ArrowFile(*file) for file in json.loads(store.read(_listing(number)))["files"]]
            splits += arrow_splits(store, files, self._parallelism)
            self._next = number + 1
        if splits:
            self._expire(store)
        else:
            self._check_query()
        return splits

    def is_finished(self) -> bool:
        return False

    def snapshot(self) -> object:
        return (self._next, self._source.place().uri(""))

    def restore(self, state: Any) -> None:
        self._next, place = state
        self._source.store = file_store(place)

    def close(self) -> None:
        if self._query is not None:
            self._query.stop()

    def _start(self) -> None:
        store = self._source.place()
        there = {int(path.partition(".")[0]) for path in store.list("") if path.endswith(".json") and "/" not in path}
        if self._next > 0 and (not there or (self._next not in there and max(there) > self._next)):
            raise FlintstreamError(
                f"micro-batch {self._next} of a streaming DataFrame is no longer in {store.uri('')}, so the job cannot "
                "continue from this checkpoint: start from a later one, and use a longer retention_ms next time"
            )
        self._oldest = min(there, default=self._next)
        frame = self._source.frame
        prepare_for(frame)
        _leave_slot(frame)
        place = store.uri("query")
        writer = frame.writeStream.foreachBatch(partial(_stage_once, store)).trigger(
            processingTime=self._source.trigger
        )
        self._query = writer.option("checkpointLocation", Path(place).as_uri() if place[0] == "/" else place).start()

    def _check_query(self) -> None:
        now = time.monotonic()
        if now - self._checked < CHECK_QUERY_SECONDS:
            return
        self._checked = now
        if not self._query.isActive:
            error = self._query.exception()
            raise FlintstreamError(f"the query of a streaming DataFrame has ended: {error or 'it was stopped'}")

    def _expire(self, store: FileStore) -> None:
        """Delete data older than the retention, except for the latest, which marks the progress of the query."""
        if self._source.retention_ms is None:
            return
        until = time.time() * 1000 - self._source.retention_ms
        while self._oldest < self._next - 1:
            listing = _listing(self._oldest)
            if store.exists(listing):
                if json.loads(store.read(listing))["time"] > until:
                    break
                store.delete_tree(_files(self._oldest))
                store.delete(listing)
            self._oldest += 1


def _stage_once(store: FileStore, frame: DataFrame, number: int) -> None:
    if not store.exists(_listing(number)):
        files = [(f"{_files(number)}/{file.path}", file.batches) for file in stage(frame, store.child(_files(number)))]
        store.write(_listing(number), json.dumps({"time": int(time.time() * 1000), "files": files}).encode())


def _listing(number: int) -> str:
    return f"{number}.json"


def _files(number: int) -> str:
    return f"batch-{number}"


def source_of(frame: Any, parent: Callable[[], str | None], trigger: str, retention_ms: int | None) -> DataFrameSource:
    """Return the source for a DataFrame.

    Raises:
        TypeError: ``frame`` is not a DataFrame.
        PlanError: A column has an unsupported type.
    """
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        given = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__qualname__}".removeprefix("builtins.")
        ways = (
            ": give it to spark.createDataFrame() first, to from_pandas() of a table environment, or "
            "to from_pandas() of flintstream.dataframe"
            if given == "pandas.DataFrame"
            else ""
        )
        raise TypeError(f"from_dataframe() needs a DataFrame of Spark, but got {given}{ways}")
    if frame.isStreaming:
        return StreamingSource(frame, parent, trigger, retention_ms)
    return BatchSource(frame, parent)


# -- a stream as a DataFrame -----------------------------------------------------------------------------------------


def frame_schema(schema: Any, declared: TypeInformation | None) -> StructType:
    """Return the given schema, which may be a string, or the schema for the declared type of the records.

    Raises:
        PlanError: Neither is given, or a type is not supported.
    """
    from pyspark.sql.types import StructType

    if schema is None:
        if declared is None:
            raise PlanError(
                "the stream has no type that defines the columns: declare output_type=Types.ROW_NAMED([...], "
                "[...]) where its records are made, or pass a schema"
            )
        return schema_of(declared)
    found = text_schema(schema) if isinstance(schema, str) else schema
    if not isinstance(found, StructType):
        raise TypeError(f"a schema must be a StructType or a string like 'name string, age int', but got {schema!r}")
    row_type(found)  # rejects unsupported types
    for field in found.fields:
        if holds(field.dataType, "NullType"):
            raise PlanError(
                f"column '{field.name}' is of type {field.dataType.simpleString()}, which files do not support"
            )
    return found


def parquet_rows(schema: StructType) -> ParquetRows:
    """Return a writer factory for rows of a schema."""
    arrow()
    return ParquetRows(arrow_schema(schema), row_type(schema))


def read(
    directory: str, schema: StructType, spark: SparkSession | None, configuration: Mapping[str, str] | None = None
) -> DataFrame:
    """Return the DataFrame of all files in a directory."""
    Path(directory).mkdir(parents=True, exist_ok=True)  # the job may not have written anything yet
    return session(spark, configuration).read.schema(schema).options(**DATES).parquet(Location.parse(directory).uri)


def read_stream(directory: str, schema: StructType, spark: SparkSession | None) -> DataFrame:
    """Return a streaming DataFrame of the files that appear in a directory."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    return session(spark).readStream.schema(schema).options(**DATES).parquet(Location.parse(directory).uri)
