"""The source of Delta Lake, and sinks of Delta Lake and Iceberg that write a stream exactly once.

They need the extras ``delta`` and ``iceberg``. PyFlink has none of them: there, they are tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.connectors.files.arrow_schema import arrow_schema, with_required_fields
from flintstream.connectors.lakes import delta, iceberg
from flintstream.connectors.lakes.compaction import compaction_of
from flintstream.connectors.lakes.delta import DeltaCommitter, DeltaOutput, DeltaPlace
from flintstream.connectors.lakes.iceberg import IcebergCommitter, IcebergOutput, IcebergPlace
from flintstream.connectors.lakes.writer import LakeWriter, UpsertWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream.connectors.lakes._delta_source import (
    BoundedDeltaSourceBuilder,
    ContinuousDeltaSourceBuilder,
    DeltaSource,
)
from flintstream.errors import PlanError
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common._types.data_types import RowType
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext

__all__ = [
    "BoundedDeltaSourceBuilder",
    "ContinuousDeltaSourceBuilder",
    "DeltaSink",
    "DeltaSource",
    "IcebergSink",
]


def _check_columns(chosen: Sequence[str], names: Sequence[str], verb: str) -> tuple[str, ...]:
    found = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    for name in found:
        if name not in names:
            raise PlanError(f"the table cannot {verb} '{name}': its columns are {', '.join(names)}")
    return found


class DeltaSink(Sink[T_contra]):
    """Appends rows or tuples to a table of Delta Lake, for ``sink_to``, exactly once if checkpointing is on.

    Tasks write Parquet files, and the driver adds those of a checkpoint in one version of the table. The version names
    the epochs whose records it has, so that a commit that is repeated after a failure changes nothing. The table is
    created if it is missing.

    >>> from tempfile import TemporaryDirectory
    >>> from deltalake import DeltaTable
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = env.from_collection([("to", 2), ("be", 2)]).sink_to(DeltaSink(directory, words))
    ...     _ = env.execute()
    ...     DeltaTable(directory).to_pyarrow_table().sort_by("word").to_pylist()
    [{'word': 'be', 'n': 2}, {'word': 'to', 'n': 2}]
    """

    def __init__(
        self,
        location: str,
        row_type: RowType,
        partition_by: Sequence[str] = (),
        storage_options: Mapping[str, str] | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> None:
        """Take the table.

        Args:
            location: the directory of the table, which all workers and the driver must reach.
            row_type: the columns, from ``DataTypes.ROW``.
            partition_by: the columns by which a new table is partitioned.
            storage_options: options of ``deltalake`` for an object store, for the log and for all files.
            configuration: properties of a new table, such as ``delta.logRetentionDuration``.

        Raises:
            PlanError: A type has no counterpart, or a column of the partitions is missing.
            MissingDependencyError: deltalake or pyarrow is not installed.
        """
        delta.library()
        schema = arrow_schema(row_type, "DeltaSink")
        place = Location.parse(location, "the location of a DeltaSink").uri
        by = _check_columns(partition_by, row_type.field_names(), "be partitioned by")
        self._names = tuple(row_type.field_names())
        self._output = DeltaOutput(place, schema, by, dict(storage_options or {}), dict(configuration or {}))

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        own = self._output
        return LakeWriter(DeltaPlace(own.location, own.by, own.storage), own.schema, self._names, context)

    def create_committer(self) -> Committer:
        """Return the committer, which opens or creates the table."""
        return DeltaCommitter(self._output)


class IcebergSink(Sink[T_contra]):
    """Appends rows or tuples to a table of Iceberg, for ``sink_to``, exactly once if checkpointing is on.

    Tasks write Parquet files, and the driver adds those of a checkpoint in one snapshot. The properties of the table
    name the epochs whose records it has, so that a commit that is repeated after a failure changes nothing. The table
    is created if it is missing.

    >>> from tempfile import TemporaryDirectory
    >>> from pyiceberg.catalog import load_catalog
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     catalog = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}"}
    ...     _ = env.from_collection([("to", 2), ("be", 2)]).sink_to(IcebergSink("shop.words", words, catalog))
    ...     _ = env.execute()
    ...     table = load_catalog("default", **catalog).load_table("shop.words")
    ...     sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["word"])
    [{'word': 'be', 'n': 2}, {'word': 'to', 'n': 2}]
    """

    def __init__(
        self,
        table: str,
        row_type: RowType,
        catalog: Mapping[str, str],
        partition_by: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        upsert_by: Sequence[str] = (),
        *,
        upsert_insertions: bool = True,
        maintenance: Mapping[str, str] | None = None,
    ) -> None:
        """Take the table.

        Args:
            table: namespace and name, as ``shop.orders``.
            row_type: the columns, from ``DataTypes.ROW``.
            catalog: the properties with which ``pyiceberg`` loads the catalog: ``type``, ``uri``, ``warehouse`` and
                others; ``name`` is its name, ``default`` if it is missing.
            partition_by: the columns by whose values a new table is partitioned.
            properties: properties of a new table.
            upsert_by: the columns of a key. A row then replaces the one with its key, and a deletion removes it. All
                rows of a key must come from one subtask. Each commit rewrites the files in which rows are replaced.
            upsert_insertions: whether insertions replace rows as well, or only updates.
            maintenance: options such as ``flink-maintenance.rewrite.enabled``, which merges small files after some
                commits; those of the table's properties count, too.

        Raises:
            PlanError: The name has no namespace, a type has no counterpart, or a column of the partitions is missing.
            MissingDependencyError: pyiceberg or pyarrow is not installed.
        """
        iceberg.library()
        if not table.rpartition(".")[0]:
            raise PlanError(f"the table needs a namespace and a name, as 'shop.orders', got '{table}'")
        schema = with_required_fields(arrow_schema(row_type, "IcebergSink"), row_type)
        by = _check_columns(partition_by, row_type.field_names(), "be partitioned by")
        self._names = tuple(row_type.field_names())
        key = _check_columns(upsert_by, row_type.field_names(), "have the key")
        self._replaces = upsert_insertions
        self._output = IcebergOutput(
            table, schema, dict(catalog), by, dict(properties or {}), key, dict(maintenance or {})
        )
        compaction_of(self._output.maintenance)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        own = self._output
        if not own.key:
            return LakeWriter(IcebergPlace(own), own.schema, self._names, context)
        return UpsertWriter(IcebergPlace(own), own.schema, self._names, context, own.key, replaces=self._replaces)

    def create_committer(self) -> Committer:
        """Return the committer, which opens or creates the table."""
        return IcebergCommitter(self._output)
