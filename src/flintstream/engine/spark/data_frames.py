"""DataFrames as sources, and what a job has written as DataFrames.

Data do not pass through the driver. Spark's tasks write the partitions of a DataFrame into files of Arrow's format,
which the source's readers read; the sink's tasks write Parquet, which Spark reads.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import shutil
import tempfile
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
from flintstream.engine.spark.engine import one_machine
from flintstream.engine.spark.frame_types import holds, row_type, schema_of
from flintstream.engine.spark.session import spark_context
from flintstream.engine.spark.slots import SLOT_OF
from flintstream.engine.spark.tasks import session
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError
from flintstream.options.execution import ENGINE, STATE_DIRECTORY
from flintstream.storage.file_store import file_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.arrow import ArrowSplit
    from flintstream.connectors.source import SourceReader
    from flintstream.storage.file_store import FileStore

STAGED = "file string, batches bigint"

CHECK_QUERY_SECONDS = 0.5
"""How often a streaming query is asked whether it still runs."""

BATCHES_AT_ONCE = 100
"""How many micro-batches are handed out before an epoch, at most."""


# -- places ----------------------------------------------------------------------------------------------------------


def check_spark(configuration: Mapping[str, str]) -> None:
    """Start Spark, if it is the program's engine and does not run yet.

    Raises:
        PlanError: The engine is another one, and there is no session.
    """
    if ENGINE.read(configuration) == ENGINE.default:
        spark_context(configuration)
        return
    from pyspark import SparkContext  # noqa: PLC0415 - slow to import

    if SparkContext._active_spark_context is None:  # noqa: SLF001 - there is no public way to look
        raise PlanError(
            "a DataFrame needs Spark, but the program runs on the inline engine and there is no Spark session: leave "
            f"'{ENGINE.key}' at '{ENGINE.default}', or create a session before"
        )


def new_directory(parent: str | None, spark: SparkSession | None = None) -> tuple[str, Callable[[], None]]:
    """Return the name of a new directory below ``parent``, and a function that deletes it.

    Without a parent it is a temporary one, which goes with this process.

    Raises:
        PlanError: There is no parent, but workers on other machines have to reach the directory.
    """
    if parent is not None:
        directory = f"{parent}/{uuid.uuid4().hex}"
        return directory, lambda: file_store(directory).delete_tree("")
    master = str(session(spark).sparkContext.master)
    if not one_machine(master):
        raise PlanError(
            f"on the cluster {master} data of DataFrames are handed over in files: pass a directory that all workers "
            f"can reach, or set '{STATE_DIRECTORY.key}' to one"
        )
    directory = tempfile.mkdtemp(prefix="flintstream-dataframe-")
    delete = partial(shutil.rmtree, directory, ignore_errors=True)
    atexit.register(delete)
    return directory, delete


# -- a DataFrame as a source -----------------------------------------------------------------------------------------


def stage(frame: DataFrame, store: FileStore) -> list[ArrowFile]:
    """Have Spark's tasks write a DataFrame into files of a store; an attempt that is lost leaves one that is not used.

    The columns have other names there, as theirs may be ones that Spark cannot select by.
    """

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext  # noqa: PLC0415

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
    """Have the tasks that this thread starts run in Spark's own workers: they are none of a job's subtasks."""
    context: Any = frame.sparkSession.sparkContext
    context.setLocalProperty(SLOT_OF, None)


class DataFrameSource(Source):
    """What batch and streaming DataFrames have in common; only the type travels to the tasks."""

    store: FileStore | None = None
    """Where the data are, once that is known."""

    def __init__(self, frame: DataFrame, parent: Callable[[], str | None]) -> None:
        """Take the DataFrame, and what says below which directory to keep its data; it is asked when the job starts."""
        arrow()  # for its message, if it is not there
        if importlib.util.find_spec("pandas") is None:
            raise MissingDependencyError("pandas", extra="dataframes", purpose="from_dataframe()")
        self.frame = frame
        self.parent = parent
        self.produced_type = row_type(frame.schema)
        if not frame.columns:
            raise PlanError("the DataFrame has no columns")

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what belongs to the driver."""
        return {"produced_type": self.produced_type}

    def create_reader(self) -> SourceReader:
        """Return a reader of the files."""
        return ArrowReader(tuple(self.produced_type.get_field_names()))

    def place(self) -> FileStore:
        """Return where the data are or go, the same in all attempts of a job."""
        if self.store is None:
            self.store = file_store(new_directory(self.parent(), self.frame.sparkSession)[0])
        return self.store

    def finished(self) -> None:
        """Delete the data: the job has read them all."""
        store, self.store = self.store, None
        if store is not None:
            with suppress(OSError):  # the job itself is fine
                store.delete_tree("")


class BatchSource(DataFrameSource):
    """The rows of a batch DataFrame, which is computed once, when the job starts, whatever fails later."""

    boundedness = Boundedness.BOUNDED
    staged: list[ArrowFile] | None = None

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return what has the DataFrame computed and hands out its parts."""
        return _Parts(self, parallelism)

    def finished(self) -> None:
        """Delete the data; should the program run again, the DataFrame is computed again."""
        super().finished()
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
    """The rows of a streaming DataFrame, a micro-batch at a time."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(
        self, frame: DataFrame, parent: Callable[[], str | None], trigger: str, retention_ms: int | None
    ) -> None:
        """Take how long Spark waits between micro-batches, and how long their data are kept."""
        super().__init__(frame, parent)
        self.trigger = trigger
        self.retention_ms = retention_ms

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return what runs the query and hands out the micro-batches."""
        return _MicroBatches(self, parallelism)


class _MicroBatches(SplitEnumerator):
    """Runs a query that stages each micro-batch under its number, and hands them out in order.

    A micro-batch is there when the list of its files is. One that is not is run once more, with the same data.
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
                f"micro-batch {self._next} of a streaming DataFrame is not in {store.uri('')} any more, so that the "
                "job cannot go on from this checkpoint: start from a later one, and next time use a longer retention_ms"
            )
        self._oldest = min(there, default=self._next)
        frame = self._source.frame
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
        """Delete what is older than the retention, but never the latest: it shows how far the query has come."""
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
        TypeError: It is none.
        PlanError: A column has a type that has no counterpart.
    """
    from pyspark.sql import DataFrame  # noqa: PLC0415

    if not isinstance(frame, DataFrame):
        raise TypeError(f"from_dataframe() needs a DataFrame of Spark, but got {type(frame).__name__}")
    if frame.isStreaming:
        return StreamingSource(frame, parent, trigger, retention_ms)
    return BatchSource(frame, parent)


# -- a stream as a DataFrame -----------------------------------------------------------------------------------------


def frame_schema(schema: Any, declared: TypeInformation | None) -> StructType:
    """Return the schema that was given, as one of Spark or as a text, or that of the declared type of the records.

    Raises:
        PlanError: There is neither, or a type has no counterpart.
    """
    from pyspark.sql.types import StructType  # noqa: PLC0415

    if schema is None:
        if declared is None:
            raise PlanError(
                "the stream has no type that says what the columns are: declare output_type=Types.ROW_NAMED([...], "
                "[...]) where its records are made, or pass a schema"
            )
        return schema_of(declared)
    found = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    if not isinstance(found, StructType):
        raise TypeError(f"a schema is a StructType, or a text such as 'name string, age int', but this is {schema!r}")
    row_type(found)  # complains of what has no counterpart
    for field in found.fields:
        if holds(field.dataType, "NullType"):
            raise PlanError(f"column '{field.name}' is of type {field.dataType.simpleString()}, which no file can have")
    return found


def parquet_rows(schema: StructType) -> ParquetRows:
    """Return what writes rows of a schema."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

    arrow()
    return ParquetRows(to_arrow_schema(schema, timezone="UTC"), row_type(schema))


def read(directory: str, schema: StructType, spark: SparkSession | None) -> DataFrame:
    """Return the DataFrame of all files in a directory."""
    Path(directory).mkdir(parents=True, exist_ok=True)  # there may be no records yet
    return session(spark).read.schema(schema).parquet(Path(directory).as_uri())


def read_stream(directory: str, schema: StructType, spark: SparkSession | None) -> DataFrame:
    """Return the streaming DataFrame of the files that appear in a directory."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    return session(spark).readStream.schema(schema).parquet(Path(directory).as_uri())
