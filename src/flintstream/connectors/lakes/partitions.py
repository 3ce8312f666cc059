"""The partitions of a table of Iceberg: values of columns, or what transforms make of them."""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec
from typing import TYPE_CHECKING

from flintstream.common.time import Instant
from flintstream.connectors.lakes.writer import LakeError
from flintstream.errors import optional_module

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from pyiceberg.manifest import DataFile as IcebergFile
    from pyiceberg.table import Table, Transaction

    from flintstream.connectors.lakes.writer import DataFile, PartitionOf

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_MICROSECOND = dt.timedelta(microseconds=1)


def part(name: str) -> ModuleType:
    """Return a module of pyiceberg.

    Raises:
        MissingDependencyError: pyiceberg is not installed.
    """
    return optional_module(f"pyiceberg.{name}", extra="iceberg", purpose="Iceberg tables", package="pyiceberg")


def columns_of(table: Table) -> list[str]:
    """Return the columns by whose values a table is partitioned, without transforms and fields of rows."""
    names, identity = {item.field_id: item.name for item in table.schema().fields}, part("transforms").IdentityTransform
    return [
        names[item.source_id]
        for item in table.spec().fields
        if isinstance(item.transform, identity) and item.source_id in names
    ]


def are_plain(table: Table) -> bool:
    """Return whether all partitions of a table are values of columns."""
    void = part("transforms").VoidTransform
    return len(columns_of(table)) == sum(not isinstance(item.transform, void) for item in table.spec().fields)


def check_rewrites(name: str) -> None:
    """Refuse to replace rows of a table with transforms if pyiceberg cannot write the files that it replaces.

    Raises:
        LakeError: It cannot.
    """
    if find_spec("pyiceberg_core") is None:
        raise LakeError(
            f"rows of the Iceberg table {name} can only be replaced with the package pyiceberg-core, since transforms "
            "make its partitions. Install the release that fits pyiceberg: pip install 'pyiceberg[pyiceberg-core]'"
        )


def partition_of(table: Table, names: tuple[str, ...]) -> PartitionOf:
    """Return what returns the partition of a row with columns of some names, as Iceberg keeps it.

    Raises:
        LakeError: A transform is unknown.
    """
    schema, steps = table.schema(), []
    for item in table.spec().fields:
        if isinstance(item.transform, part("transforms").UnknownTransform):
            raise LakeError(f"the Iceberg table {'.'.join(table.name())} has the unknown partition {item}")
        path = (schema.find_column_name(item.source_id) or "").split(".")
        steps.append((names.index(path[0]), path[1:], item.transform.transform(schema.find_type(item.source_id))))

    def partition(row: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(transform(_plain(_inner(row[index], path))) for index, path, transform in steps)

    return partition


def _inner(value: object, path: Sequence[str]) -> object:
    """Return a field of a row in a column, and so on."""
    for name in path:
        value = None if value is None else value[name]  # type: ignore[index]  # a row
    return value


def _plain(value: object) -> object:
    """Return a value as Iceberg keeps it: days, or microseconds.

    >>> _plain(dt.date(1970, 1, 3)), _plain(dt.datetime(1970, 1, 1, 0, 0, 1)), _plain(Instant(1, 5000))
    (2, 1000000, 1000005)
    >>> _plain(dt.time(0, 0, 1)), _plain("a")
    (1000000, 'a')
    """
    if isinstance(value, Instant):
        return value.seconds * 1_000_000 + value.nanos // 1000
    if isinstance(value, dt.datetime):
        zoned = value if value.tzinfo is not None else value.replace(tzinfo=dt.timezone.utc)
        return (zoned - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.date):
        return (value - _EPOCH.date()).days
    if isinstance(value, dt.time):
        return (dt.datetime.combine(_EPOCH, value, dt.timezone.utc) - _EPOCH) // _MICROSECOND
    return value


def data_files(table: Table, files: Sequence[DataFile]) -> list[IcebergFile]:
    """Return files as a commit of Iceberg takes them, with their partitions.

    Raises:
        LakeError: They were written with another partitioning than the table has now.
    """
    parquet = optional_module("pyarrow.parquet", extra="iceberg", purpose="Iceberg tables", package="pyarrow")
    arrow, manifest, typedef = part("io.pyarrow"), part("manifest"), part("typedef")
    schema, spec = table.schema(), table.spec().spec_id
    columns = arrow.compute_statistics_plan(schema, table.properties)
    numbers = arrow.parquet_path_to_id_mapping(schema)
    found = []
    for file in files:
        if file.spec != spec:
            raise LakeError(
                f"the Iceberg table {'.'.join(table.name())} is partitioned in another way than when the job wrote "
                f"{file.path}: undo this change, or start the job again from an earlier savepoint"
            )
        with table.io.new_input(file.path).open() as stream:
            footer = parquet.read_metadata(stream)
        statistics = arrow.data_file_statistics_from_parquet_metadata(footer, columns, numbers)
        found.append(
            manifest.DataFile.from_args(
                content=manifest.DataFileContent.DATA,
                file_path=file.path,
                file_format=manifest.FileFormat.PARQUET,
                partition=typedef.Record(*file.partition),
                file_size_in_bytes=file.size,
                sort_order_id=None,
                spec_id=spec,
                equality_ids=None,
                key_metadata=None,
                **statistics.to_serialized_dict(),
            )
        )
    return found


def append(table: Table, changes: Transaction, files: Sequence[IcebergFile]) -> None:
    """Add files to the changes of a table; they have no numbers of columns, which the table then finds by names."""
    properties = part("table").TableProperties
    if table.name_mapping() is None:
        mapping = table.schema().name_mapping.model_dump_json()
        changes.set_properties({properties.DEFAULT_NAME_MAPPING: mapping})
    merges = table.properties.get(properties.MANIFEST_MERGE_ENABLED, "false").lower() == "true"
    update = changes.update_snapshot()
    with update.merge_append() if merges else update.fast_append() as snapshot:
        for file in files:
            snapshot.append_data_file(file)
