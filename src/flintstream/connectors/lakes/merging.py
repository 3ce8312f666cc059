"""Merges small files of a table of Iceberg, in one commit that changes no row."""

from __future__ import annotations

import logging
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.table.snapshots import Operation, Summary

from flintstream.connectors.files.arrow_values import arrow
from flintstream.connectors.files.parquet import parquet_writer
from flintstream.connectors.lakes.deletes import EqualityDeletes, plan
from flintstream.connectors.lakes.partitions import data_files
from flintstream.connectors.lakes.writer import DataFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyiceberg.table import Table

    from flintstream.connectors.lakes.compaction import Compaction
    from flintstream.connectors.lakes.deletes import ReadTask

_LOG = logging.getLogger(__name__)


def merge_files(table: Table, compaction: Compaction) -> int:
    """Merge small files of the newest version of a table, and return how many.

    If another writer has committed in between, nothing changes, and the merged files are deleted again.
    """
    snapshot = table.current_snapshot()
    if snapshot is None:
        return 0
    groups = _groups([*plan(table, snapshot).values()], table.spec().spec_id, compaction)
    merged: list[DataFile] = []
    if not groups:
        return 0
    try:
        merged += [_write(table, group) for group in groups]
        with table.transaction() as changes:
            replacing = changes.update_snapshot().overwrite()
            summarize = replacing._summary

            def summary(*given: object, **more: object) -> object:
                found = summarize(*given, **more)  # type: ignore[arg-type]  # as it is called
                return Summary(Operation.REPLACE, **found.additional_properties)  # streams of the table pass over it

            replacing._summary = summary  # type: ignore[assignment,method-assign]  # pyiceberg has no such commit
            with replacing:
                for group in groups:
                    for task in group:
                        replacing.delete_data_file(task.task.file)
                for added in data_files(table, merged):
                    replacing.append_data_file(added)
    except (CommitFailedException, ValidationException, OSError) as error:
        _LOG.info("The small files of the Iceberg table %s were not merged: %s", ".".join(table.name()), error)
        for file in merged:
            with suppress(OSError):
                table.io.delete(file.path)
        return 0
    return sum(map(len, groups))


def _groups(tasks: Sequence[ReadTask], spec: int, compaction: Compaction) -> list[list[ReadTask]]:
    """Return the files that become one, all of one partition."""
    found: dict[str, list[ReadTask]] = {}
    small = [task for task in tasks if task.task.file.file_size_in_bytes < compaction.target_bytes * 3 // 4]
    for task in sorted(small, key=lambda task: task.task.file.file_path):
        if task.task.file.spec_id == spec:
            found.setdefault(repr(task.task.file.partition), []).append(task)
    groups: list[list[ReadTask]] = []
    left = compaction.most_bytes
    for members in found.values():
        group: list[ReadTask] = []
        size = 0
        for task in members:
            more = task.task.file.file_size_in_bytes
            if group and size + more > compaction.target_bytes:
                groups.append(group)
                group, size = [], 0
            if left < more:
                break
            group.append(task)
            size, left = size + more, left - more
        groups.append(group)
    return [group for group in groups if len(group) >= compaction.files]


def _write(table: Table, group: Sequence[ReadTask]) -> DataFile:
    """Write the rows of files into a new one."""
    path = f"{table.location().rstrip('/')}/data/merged-{uuid.uuid4()}.parquet"
    schema, deletes, rows = schema_to_pyarrow(table.schema()), EqualityDeletes(table), 0
    scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
    with table.io.new_output(path).create() as stream:
        writer = parquet_writer(stream, schema)  # type: ignore[arg-type]  # a file
        for task, deleting in group:
            batches = scan.to_record_batches([task])
            for batch in deletes.filter(batches, deleting) if deleting else batches:
                writer.write_table(arrow().Table.from_batches([batch]).cast(schema))
                rows += len(batch)
        writer.close()
    partition = group[0].task.file.partition
    values = tuple(partition[at] for at in range(len(partition)))
    return DataFile(path, len(table.io.new_input(path)), rows, values, table.spec().spec_id)
