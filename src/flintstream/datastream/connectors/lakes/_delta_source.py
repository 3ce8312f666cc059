"""The source of Delta Lake, and its builders."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import RowField, RowType, to_type_info
from flintstream.connectors.files.arrow_schema import arrow_schema
from flintstream.connectors.lakes.delta_log import DeltaLog, columns_of
from flintstream.connectors.lakes.delta_scan import LATEST, DeltaExtent, DeltaScan
from flintstream.datastream._settings import check_bool, check_integer
from flintstream.errors import PlanError
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self


class DeltaSource(DeltaScan):
    """Reads rows of a table of Delta Lake, for ``from_source``: one version, or a stream of what versions add.

    The table must be there when the source is built, since it tells the columns. Records are rows.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.lakes import DeltaSink
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())])
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = env.from_collection([("to", 2), ("be", 2)]).sink_to(DeltaSink(directory, words))
    ...     _ = env.execute()
    ...     source = DeltaSource.for_bounded_row_data(directory).build()
    ...     rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     sorted(rows.execute_and_collect(), key=str)
    [Row(word='be', n=2), Row(word='to', n=2)]
    """

    @staticmethod
    def for_bounded_row_data(
        table_path: str, storage_options: Mapping[str, str] | None = None
    ) -> BoundedDeltaSourceBuilder:
        """Return a builder of a source that reads one version.

        Args:
            table_path: the directory of the table, which all workers and the driver must reach.
            storage_options: options of ``deltalake`` for an object store.
        """
        return BoundedDeltaSourceBuilder(table_path, storage_options)

    @staticmethod
    def for_continuous_row_data(
        table_path: str, storage_options: Mapping[str, str] | None = None
    ) -> ContinuousDeltaSourceBuilder:
        """Return a builder of a source that reads the newest version, or what versions add, and then waits for more.

        Args:
            table_path: the directory of the table, which all workers and the driver must reach.
            storage_options: options of ``deltalake`` for an object store.
        """
        return ContinuousDeltaSourceBuilder(table_path, storage_options)


class _Builder:
    """What both builders have."""

    _extent = DeltaExtent()

    def __init__(self, table_path: str, storage_options: Mapping[str, str] | None = None) -> None:
        place = Location.parse(table_path, "the path of a DeltaSource").uri
        self._log = DeltaLog(place, dict(storage_options or {}))
        self._names: tuple[str, ...] = ()

    def _change(self, **values: object) -> Self:
        self._extent = replace(self._extent, **values)  # type: ignore[arg-type]  # each method has checked its value
        return self

    def column_names(self, column_names: Sequence[str]) -> Self:
        """Set the columns to read; all by default."""
        if isinstance(column_names, str) or not all(isinstance(name, str) for name in column_names):
            raise TypeError(f"the columns must be a list of names, got {column_names!r}")
        self._names = tuple(column_names)
        return self

    def build(self) -> DeltaSource:
        """Return the source.

        Raises:
            PlanError: Two settings exclude each other, or a column is missing.
            LakeError: The table is not there.
            MissingDependencyError: deltalake or pyarrow is not installed.
        """
        found = columns_of(self._log.open())
        known = found.field_names()
        for name in self._names:
            if name not in known:
                raise PlanError(
                    f"the Delta table {self._log.location} has no column '{name}': it has {', '.join(known)}"
                )
        fields = {field.name: field for field in found.fields}
        chosen = RowType([RowField(name, fields[name].data_type) for name in self._names or known])
        schema = arrow_schema(chosen, "DeltaSource")
        return DeltaSource(self._log, schema, self._extent, frozenset(chosen.field_names()), to_type_info(chosen))


class BoundedDeltaSourceBuilder(_Builder):
    """Builds a source of one version: the newest one, unless a number or a time chooses another.

    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from deltalake import write_deltalake
    >>> with TemporaryDirectory() as directory:
    ...     write_deltalake(directory, pa.table({"n": [1], "name": ["a"]}))
    ...     builder = BoundedDeltaSourceBuilder(directory).column_names(["n"])
    ...     builder.version_as_of(0).build().produced_type
    ...     later = builder.timestamp_as_of("2100-01-01 00:00:00")
    RowTypeInfo(n: Long)
    """

    def version_as_of(self, snapshot_version: int) -> Self:
        """Set the number of the version."""
        version = check_integer(snapshot_version, "the version", minimum=0, maximum=(1 << 63) - 1)
        return self._change(version=version, time_ms=None)

    def timestamp_as_of(self, snapshot_timestamp: str) -> Self:
        """Set the time, of UTC, at which the version was the newest one, as ``2024-05-01 12:30:00``."""
        return self._change(version=None, time_ms=millis_of(snapshot_timestamp, "the time of the version"))


class ContinuousDeltaSourceBuilder(_Builder):
    """Builds a source that reads all rows of the newest version, and then those that versions add.

    With a first version, or a time, it reads only what versions add, from that one on.

    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from deltalake import write_deltalake
    >>> with TemporaryDirectory() as directory:
    ...     write_deltalake(directory, pa.table({"n": [1], "name": ["a"]}))
    ...     builder = ContinuousDeltaSourceBuilder(directory).update_check_interval_millis(1000)
    ...     builder = builder.ignore_deletes(True).ignore_changes(False)
    ...     builder.starting_version("latest").build().get_boundedness().name
    ...     later = builder.starting_timestamp("2024-05-01")
    'CONTINUOUS_UNBOUNDED'
    """

    _extent = DeltaExtent(streaming=True)

    def starting_version(self, starting_version: int | str) -> Self:
        """Set the first version: a number, or ``latest`` for the newest one."""
        if isinstance(starting_version, str):
            return self._change(version=version_of(starting_version, "the first version"), time_ms=None)
        version = check_integer(starting_version, "the first version", minimum=0, maximum=(1 << 63) - 1)
        return self._change(version=version, time_ms=None)

    def starting_timestamp(self, starting_timestamp: str) -> Self:
        """Set a time, of UTC, as ``2024-05-01 12:30:00``: the first version is the one of this time, or after it."""
        return self._change(version=None, time_ms=millis_of(starting_timestamp, "the time of the first version"))

    def update_check_interval_millis(self, update_check_interval: int) -> Self:
        """Set how often to look for new versions (ms); every 5 s by default."""
        return self._change(interval_ms=check_integer(update_check_interval, "the interval", minimum=1))

    def ignore_deletes(self, ignore_deletes: bool) -> Self:
        """Set whether versions that only remove rows are passed over. By default, they fail the job."""
        return self._change(ignores_deletes=check_bool(ignore_deletes, "ignore_deletes"))

    def ignore_changes(self, ignore_changes: bool) -> Self:
        """Set whether versions that remove or replace rows are read as well. By default, they fail the job.

        All rows of a file that replaces another one are emitted, also those that have not changed.
        """
        return self._change(ignores_changes=check_bool(ignore_changes, "ignore_changes"))


def version_of(text: str, what: str) -> int:
    """Return the number of a version; that of ``latest`` is negative.

    Raises:
        PlanError: It is none.

    >>> version_of("17", "the version"), version_of("Latest", "the version") == LATEST
    (17, True)
    """
    if text.lower() == "latest":
        return LATEST
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise PlanError(f"{what} must be a number or 'latest', got '{text}'")
    return int(text)


def millis_of(text: str, what: str) -> int:
    """Return the milliseconds since 1970 of a time of UTC.

    Raises:
        PlanError: It is none.

    >>> millis_of("1970-01-01", "the time"), millis_of("1970-01-01T00:00:01.5", "the time")
    (0, 1500)
    """
    try:
        found = dt.datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise PlanError(f"{what} must be written as '2024-05-01 12:30:00' or '2024-05-01', got {text!r}") from None
    zoned = found if found.tzinfo is not None else found.replace(tzinfo=dt.timezone.utc)
    return (zoned - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(milliseconds=1)
