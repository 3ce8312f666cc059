"""State of savepoints as DataFrames, and DataFrames as state. Tasks read and write it, not the driver."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.checkpoint.codec import Opaque
from flintstream.checkpoint.json_text import to_json
from flintstream.engine.frames.sessions import frame_of, session, write_dealt
from flintstream.engine.spark.columns.types import infer_type, to_spark_type
from flintstream.engine.spark.tasks import schema_of
from flintstream.errors import CheckpointError, shorten
from flintstream.savepoint.entries import StateEntry, entries_of
from flintstream.savepoint.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flintstream.checkpoint.metadata import ChainState, Metadata, OperatorInfo, StatePiece
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.engine.spark.tasks import DataFrame, SparkSession
    from flintstream.savepoint.entries import StateSummary
    from flintstream.savepoint.rewrite import NewState
    from flintstream.savepoint.subtask_files import SubtaskFiles
    from flintstream.storage.file_store import FileStore

_GENERIC = (
    "operator_uid string, operator string, state string, kind string, key string, namespace string, map_key string, "
    "value string, last_access_ms bigint"
)


class ReadSavepoint(Protocol):
    """What a DataFrame needs of a savepoint."""

    @property
    def metadata(self) -> Metadata:
        """The content of ``_metadata``."""

    def find(self, uid: str) -> tuple[ChainState, OperatorInfo]:
        """Return the chain of an operator and its entry in the metadata."""

    def subtasks(self, chain: ChainState) -> list[SubtaskFiles]:
        """Return the files of each subtask of a chain."""

    def state(self, uid: str, name: str) -> StateSummary:
        """Return the description of one state."""


# -- reading ---------------------------------------------------------------------------------------------------------


def generic_frame(savepoint: ReadSavepoint, uid: str | None, spark: SparkSession | None) -> DataFrame:
    """Return all keyed state, or the keyed state of one operator, with keys and values as JSON."""
    chains = savepoint.metadata.chains if uid is None else [savepoint.find(uid)[0]]
    tasks = [
        partial(_generic_rows, files, [info for info in chain.operators if info.keyed and uid in {None, info.uid}])
        for chain in chains
        if any(info.keyed for info in chain.operators)
        for files in savepoint.subtasks(chain)
    ]
    return frame_of(tasks, _GENERIC, session(spark))


def _generic_rows(files: SubtaskFiles, operators: Sequence[OperatorInfo]) -> Iterator[tuple[Any, ...]]:
    for info in operators:
        for change in files.states(info.uid):
            table = change.table
            for entry in entries_of(change):
                yield (
                    info.uid,
                    info.name,
                    table.name,
                    table.kind,
                    to_json(entry.key),
                    to_json(entry.namespace) if table.namespaced else None,
                    to_json(entry.map_key) if table.kind == "map" else None,
                    to_json(entry.value),
                    entry.last_access_ms,
                )


def typed_frame(
    savepoint: ReadSavepoint,
    uid: str,
    name: str,
    key_type: TypeInformation | None,
    value_type: TypeInformation | None,
    spark: SparkSession | None,
) -> DataFrame:
    """Return one state with its declared types."""
    chain, _ = savepoint.find(uid)
    state, keys = _first_keys(savepoint, uid, name)
    declared = value_type or parse_type(state.type)
    columns: dict[str, TypeInformation | None] = {"key": key_type or infer_type(keys)}
    if state.namespaced:
        columns["namespace"] = None
    if state.kind == "map":
        columns["map_key"] = getattr(declared, "_key_type_info", None)
        declared = getattr(declared, "_value_type_info", None)
    columns["value"] = declared
    schema = schema_of(columns, ["last_access_ms"] if state.ttl else [])
    tasks = [partial(_typed_rows, files, uid, state, columns) for files in savepoint.subtasks(chain)]
    return frame_of(tasks, schema, session(spark))


def _first_keys(savepoint: ReadSavepoint, uid: str, name: str) -> tuple[StateSummary | Any, list[Any]]:
    """Return the description of a state, and some of its keys."""
    for files in savepoint.subtasks(savepoint.find(uid)[0]):
        for change in files.states(uid, lambda table: table.name == name):
            return change.table, [entry.key for entry in entries_of(change)]
    return savepoint.state(uid, name), []


def _typed_rows(
    files: SubtaskFiles, uid: str, state: Any, columns: dict[str, TypeInformation | None]
) -> Iterator[tuple[Any, ...]]:
    converts = [
        (column, None if declared is None else declared.converter(), to_spark_type(declared)[1])
        for column, declared in columns.items()
    ]
    for change in files.states(uid, lambda table: (table.name, table.namespaced) == (state.name, state.namespaced)):
        for entry in entries_of(change):
            row = []
            for column, check, convert in converts:
                value = getattr(entry, column)
                try:
                    if check is not None and value is not None:
                        value = check(value)
                    row.append(None if value is None and check is not None else convert(value))
                except (TypeError, ValueError, OverflowError) as error:
                    hint = "pass allow_pickle=True" if isinstance(value, Opaque) else "read the state as JSON"
                    raise CheckpointError(
                        f"operator {uid}, state '{state.name}': the {column} {shorten(value)} does not have the type "
                        f"{columns[column]} ({error}): pass its type (key_type, value_type), or {hint}"
                    ) from error
            yield (*row, entry.last_access_ms) if state.ttl else tuple(row)


# -- writing ---------------------------------------------------------------------------------------------------------


def write_state(state: NewState, data: DataFrame, store: FileStore, prefix: str) -> dict[int, StatePiece]:
    """Write a DataFrame as state, and return the file of each subtask that has some of it."""
    columns = set(data.columns)
    needed = {"key", "value"}
    if not needed <= columns or columns - needed - {"map_key", "last_access_ms", "namespace"}:
        raise CheckpointError(
            f"state '{state.table.name}' for operator {state.uid}: the DataFrame has the columns "
            f"{', '.join(data.columns)}, but must have key and value, and may have map_key (for a map) and "
            "last_access_ms"
        )
    if state.table.kind == "map" and "map_key" not in columns and "last_access_ms" in columns:
        raise CheckpointError(f"state '{state.table.name}': with last_access_ms, a map also needs the column map_key")
    to_rows = partial(_rows, state, frozenset(columns))
    return dict(write_dealt(data, to_rows, state.parallelism, partial(_write, state, store, prefix)))


def _rows(state: NewState, columns: frozenset[str], row: Any) -> list[Any]:
    key, value = _plain(row["key"]), _plain(row["value"])
    if not columns & {"map_key", "last_access_ms"}:
        return list(state.rows((key, value)))
    map_key = _plain(row["map_key"]) if "map_key" in columns else None
    last = row["last_access_ms"] if "last_access_ms" in columns else None
    return list(state.rows(StateEntry(key, None, map_key, value, last)))


def _plain(value: Any) -> Any:
    """Return a Spark value with tuples in place of structs."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, list):
        return list(map(_plain, value))
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def _write(
    state: NewState, store: FileStore, prefix: str, subtask: int, rows: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, StatePiece]]:
    output = None
    with ExitStack() as stack:
        for _, row in rows:
            if output is None:
                output = stack.enter_context(state.output(store, f"{prefix}-{subtask}"))
            output.add(*row)
    if output is not None:
        yield subtask, output.piece
