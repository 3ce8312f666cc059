"""Functions that run as tasks of Spark Connect outside a job, with their results or DataFrames of their rows."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar, cast

from flintstream.engine.connect.exchange import keys_of_partitions
from flintstream.engine.connect.session import rows_of
from flintstream.engine.connect.worker import SCHEMA, CallTask, payloads, row_of
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.tasks import attempt, load, pack, try_to_call
from flintstream.engine.spark.versions import schema_of_json, table_of
from flintstream.errors import JobFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from flintstream.engine.connect.dependencies import WorkerSetup
    from flintstream.engine.connect.session import ConnectSession

T = TypeVar("T")
R = TypeVar("R")

__all__ = ["frame_of", "run_tasks", "write_dealt"]

ROWS_AT_ONCE = 4096
"""How many rows of a DataFrame are one batch in memory."""


def frame_of(tasks: Sequence[Callable[[], object]], schema: StructType | str, session: ConnectSession) -> DataFrame:
    """Return the rows that functions yield, each function in its own task."""
    session.add_program()
    declared = session.spark.createDataFrame([], schema).schema
    numbers = session.spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(RowsTask(pack(tasks), declared.json()), declared)


class RowsTask:
    """Calls functions that were pickled by value, and yields the rows that they yield."""

    def __init__(self, functions: list[tuple[bytes, bytes]], schema: str) -> None:
        """Take packed functions, and the columns of their rows as JSON."""
        self.functions = functions
        self.schema = schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the functions whose numbers these are."""
        schema = schema_of_json(self.schema)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = iter(load(self.functions[number])())
                while some := list(islice(rows, ROWS_AT_ONCE)):
                    yield from table_of(some, schema).to_batches()


def run_tasks(tasks: Sequence[Callable[[], R]], session: ConnectSession, setup: WorkerSetup | None = None) -> list[R]:
    """Run functions in parallel and return their results in order.

    Args:
        tasks: the functions.
        session: where they run.
        setup: how workers get ready for them; by default as for this process.

    Raises:
        Exception: A function raised it; Spark does not run such a function again.
    """
    if not tasks:
        return []
    with plainly():
        session.add_program()
        rows = session.run(len(tasks), CallTask(pack(tasks, setup)))
    answers: dict[int, tuple[R, Exception | None]] = {number: pickle.loads(payload) for number, payload in rows}
    _raise_first(error for _, error in answers.values())
    return [answers[number][0] for number in range(len(tasks))]


def write_dealt(
    data: DataFrame,
    to_pairs: Callable[[object], Iterable[tuple[int, T]]],
    parallelism: int,
    write: Callable[[int, Iterable[tuple[int, T]]], Iterator[R]],
    session: ConnectSession,
) -> list[R]:
    """Convert rows to (partition number, item) pairs, exchange them by partition, and write each partition."""
    session.add_program()
    from pyspark.sql import types
    from pyspark.sql.connect import functions

    by_id = session.has_direct_exchange
    keys = tuple(range(parallelism)) if by_id else keys_of_partitions(parallelism)
    # Arrow would hand the function other objects for some columns than a classic session does.
    packets = types.ArrayType(types.StructType().add("key", types.IntegerType()).add("payload", types.BinaryType()))
    deal = cast("Callable[[Column], Column]", functions.udf(_Deal(pack([to_pairs])[0], keys), packets, useArrow=False))
    pairs = data.select(functions.inline(deal(functions.struct(*(data[f"`{name}`"] for name in data.columns)))))
    dealt = pairs.repartitionById(parallelism, "key") if by_id else pairs.repartition(parallelism, "key")
    with plainly():
        rows = rows_of(dealt.mapInArrow(WriteTask(pack([partial(_write_all, write)])[0]), SCHEMA))
    answers: list[tuple[list[R] | None, Exception | None]] = [pickle.loads(payload) for _, payload in rows]
    _raise_first(error for _, error in answers)
    return [result for results, _ in answers for result in results or ()]


def _raise_first(errors: Iterable[Exception | None]) -> None:
    for error in errors:
        if error is not None:
            raise error


class _Deal:
    """Converts a row to the packets of a function's pairs."""

    def __init__(self, function: tuple[bytes, bytes], keys: Sequence[int]) -> None:
        """Take a packed function, and the key of each partition."""
        self.function = function
        self.keys = keys
        self.loaded: Callable[[object], Iterable[tuple[int, object]]] | None = None

    def __call__(self, row: object) -> list[tuple[int, bytes]]:
        """Return the key and the packet of each pair; an error becomes a packet, which the writer raises."""
        if self.loaded is None:
            self.loaded = load(self.function)
        found, error = try_to_call(self.loaded, row)
        if error is not None:
            return [(self.keys[0], pickle.dumps((0, None, error), 5))]
        return [(self.keys[number], pickle.dumps((number, item, None), 5)) for number, item in found]


def _write_all(
    write: Callable[[int, Iterable[tuple[int, T]]], Iterator[R]],
    partition: int,
    packets: Iterator[tuple[int, T, Exception | None]],
) -> list[R]:
    return list(write(partition, _pairs(partition, packets)))


def _pairs(partition: int, packets: Iterator[tuple[int, T, Exception | None]]) -> Iterator[tuple[int, T]]:
    for number, item, error in packets:
        if error is not None:
            raise error
        if number != partition:
            raise JobFailedError(f"the exchange put rows for the tasks {partition} and {number} into one partition")
        yield number, item


class WriteTask:
    """Gives the pairs of a partition to a function."""

    def __init__(self, function: tuple[bytes, bytes]) -> None:
        """Take a packed function."""
        self.function = function

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the function returns, in one row."""
        packets = map(pickle.loads, payloads(batches))
        first = next(packets, None)
        if first is not None:  # other tasks have no rows, and nothing to write
            yield row_of(0, pickle.dumps(attempt(self.function, first[0], chain((first,), packets)), 5))
