"""``PARTITIONED BY``: columns whose values are in the names of directories, as ``day=2020-01-02/hour=3``."""

from __future__ import annotations

import posixpath
import re
from datetime import datetime, timezone
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from flintstream.common._types.columns import LocalZonedTimestampType
from flintstream.common._types.data_types import DataTypes
from flintstream.common.serialization import BulkWriter, BulkWriterFactory, Encoder
from flintstream.common.types import _make_row
from flintstream.connectors.source import SourceReader
from flintstream.datastream.connectors._file_sink import mark_partitions
from flintstream.datastream.connectors.file_system import BucketAssigner, StreamFormat
from flintstream.storage.reading import details_of
from flintstream.table._connectors.formats import reader
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions import helpers
from flintstream.table._expressions.times.helpers import to_instant
from flintstream.table._expressions.times.texts import read_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from typing import BinaryIO

    from flintstream.common._types.data_types import DataType
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row
    from flintstream.connectors.source import Fetch
    from flintstream.datastream.connectors.file_system import FileSink
    from flintstream.table._connectors.contract import ConnectorTable

MOST_KNOWN = 1024
"""The most directories whose names are kept."""
_UNSAFE = re.compile(r'[\x01-\x1f"#%\'*/:=?\\\x7f{}\[\]^]')


def check(table: ConnectorTable) -> None:
    """Refuse keys that are not columns, or all of them.

    Raises:
        SqlError: They are.
    """
    names, keys = table.names, table.partitions
    for key in keys:
        if key not in names:
            raise SqlError(
                f"table '{table.name}': PARTITIONED BY names the unknown column '{key}'{nearest(key, names)}"
            )
    if len(set(keys)) == len(names):
        raise SqlError(f"table '{table.name}': PARTITIONED BY leaves no column for the files")


COMMIT_OPTIONS = (
    "partition.time-extractor.kind",
    "partition.time-extractor.class",
    "partition.time-extractor.timestamp-formatter",
    "partition.time-extractor.timestamp-pattern",
    "sink.partition-commit.trigger",
    "sink.partition-commit.delay",
    "sink.partition-commit.watermark-time-zone",
    "sink.partition-commit.policy.class",
    "sink.partition-commit.policy.kind",
    "sink.partition-commit.success-file.name",
)
"""Options that say when a partition is complete, and what then happens."""


def commit_partitions(sink: FileSink, table: ConnectorTable) -> FileSink:
    """Return a sink that marks complete partitions, if the options want that.

    Raises:
        SqlError: An option has a value that is not supported.
    """
    options = table.options
    given = {key: options.text(key) for key in COMMIT_OPTIONS}
    policies = {policy.strip() for policy in (given["sink.partition-commit.policy.kind"] or "").split(",")} - {""}
    if "metastore" in policies:
        raise SqlError(
            f"table '{table.name}': Can not configure a 'metastore' partition commit policy for a file system table: "
            "use 'success-file'"
        )
    for key in ("partition.time-extractor.kind", "sink.partition-commit.policy.kind"):
        if "custom" in (given[key] or ""):
            raise SqlError(f"table '{table.name}': '{key}' = 'custom' names a Java class, which flintstream cannot run")
    if policies - {"success-file"}:
        raise SqlError(f"table '{table.name}': unknown partition commit policy '{min(policies - {'success-file'})}'")
    trigger = given["sink.partition-commit.trigger"] or "process-time"
    if trigger not in {"process-time", "partition-time"}:
        raise SqlError(
            f"table '{table.name}': 'sink.partition-commit.trigger' must be process-time or partition-time, not "
            f"'{trigger}'"
        )
    if not policies or not table.partitions:
        return sink
    time_of = None
    if trigger == "partition-time":
        pattern = given["partition.time-extractor.timestamp-pattern"] or f"${table.partitions[0]}"
        zone = given["sink.partition-commit.watermark-time-zone"] or "UTC"
        time_of = partial(_time_of, pattern, given["partition.time-extractor.timestamp-formatter"], zone)
    delay = options.millis("sink.partition-commit.delay") or 0
    return mark_partitions(sink, given["sink.partition-commit.success-file.name"] or "_SUCCESS", delay, time_of)


def _time_of(pattern: str, form: str | None, zone: str, directory: str) -> int:
    """Return the time of a partition (ms), as its columns tell.

    >>> _time_of("$day $hour:00:00", None, "UTC", "day=1970-01-02/hour=3") // 3_600_000
    27

    Raises:
        SqlError: They do not tell a time.
    """
    values = dict(part.split("=", 1) for part in directory.split("/"))
    text = re.sub(r"\$(\w+)", lambda match: unquote(values.get(match[1], match[0])), pattern)
    found = read_timestamp(text, form) if form else read_timestamp(text)
    if found is None:
        raise SqlError(
            f"the partition '{directory}' has no time: '{text}' is not a timestamp; set "
            "'partition.time-extractor.timestamp-pattern' or 'partition.time-extractor.timestamp-formatter'"
        )
    return int(helpers.unzoned(found, zone).replace(tzinfo=timezone.utc).timestamp() * 1000)


def _escape(value: object, default: str) -> str:
    text = "" if value is None else helpers.row_text(value)
    return _UNSAFE.sub(lambda m: f"%{ord(m[0]):02X}", text) if text else default


class Directories(BucketAssigner):
    """The directory of a row."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], keys: Sequence[str], default: str) -> None:
        self.keys = [(key, list(names).index(key)) for key in keys]
        self.columns_of = itemgetter(*(i for _, i in self.keys))
        self.instants = frozenset(i for i, kind in enumerate(types) if isinstance(kind, LocalZonedTimestampType))
        self.default = default
        self.known: dict[object, str] = {}
        """Directories by the values of their columns."""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "known": {}}

    def get_bucket_id(self, element: Any, context: object) -> str:
        """Return the directory."""
        return self._directory(self.columns_of(values_of(element)))

    def split_block(
        self, values: Sequence[object], timestamps: Sequence[int] | None, now: int, watermark: int
    ) -> Mapping[str, list[object]]:
        """Return the rows of each directory, which depends on columns alone."""
        columns_of, groups = self.columns_of, dict[object, list[object]]()
        for row in values:
            found = columns_of(row if row.__class__ is tuple else values_of(cast("Row", row)))
            group = groups.get(found)
            if group is None:
                groups[found] = [row]
            else:
                group.append(row)
        buckets: dict[str, list[object]] = {}
        for found, group in groups.items():
            buckets.setdefault(self._directory(found), []).extend(group)
        return buckets

    def _directory(self, found: object) -> str:
        directory = self.known.get(found)
        if directory is None:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            named = zip(self.keys, [found] if len(self.keys) == 1 else cast("Iterable[object]", found), strict=True)
            directory = "/".join([f"{key}={self._text(value, i)}" for (key, i), value in named])
            self.known[found] = directory
        return directory

    def _text(self, value: object, position: int) -> str:
        if position in self.instants and isinstance(value, datetime):
            return _escape(to_instant(value), self.default)
        return _escape(value, self.default)


def values_of(row: Row | tuple[object, ...]) -> Sequence[object]:
    """Return the values of a row; a change is a tuple, and its kind comes last."""
    return row if isinstance(row, tuple) else row._values  # quicker than its methods


class WithoutKeys(BulkWriterFactory[object]):
    """Writes the columns of rows that are not in the directory's name."""

    def __init__(self, factory: BulkWriterFactory[Any], positions: Sequence[int]) -> None:
        self.factory, self.positions = factory, tuple(positions)
        self.can_be_concatenated = factory.can_be_concatenated

    def create(self, stream: BinaryIO) -> BulkWriter[object]:
        """Return a writer for a new file."""
        return _Writer(self.factory.create(stream), self.positions)


def _without(positions: Sequence[int], row: Any) -> object:
    values = values_of(row)
    return _make_row(None, [values[i] for i in positions])


class _Writer(BulkWriter[object]):
    def __init__(self, writer: BulkWriter[Any], positions: Sequence[int]) -> None:
        self.writer, self.project = writer, partial(_without, positions)

    def add_element(self, element: object) -> None:
        self.writer.add_element(self.project(element))

    def add_elements(self, elements: Sequence[object]) -> None:
        self.writer.add_elements(list(map(self.project, elements)))

    def flush(self) -> None:
        self.writer.flush()

    def finish(self) -> None:
        self.writer.finish()


class LinesWithoutKeys(Encoder):
    """Encodes the columns of rows that are not in the directory's name."""

    def __init__(self, encoder: Encoder, positions: Sequence[int]) -> None:
        self.encoder, self.positions = encoder, tuple(positions)

    def encode(self, value: object, type_info: TypeInformation | None) -> bytes:
        """Return a line."""
        return self.encoder.encode(_without(self.positions, value), type_info)


class WithKeys(StreamFormat[object]):
    """Adds values of the file and its directory to the records of a format, and puts columns into their order."""

    def __init__(
        self,
        inner: StreamFormat[Any],
        names: Sequence[str],
        types: Sequence[DataType],
        keys: Sequence[str],
        default: str,
        metadata: Mapping[str, str],
        time_of: Callable[[int], object],
        *,
        of_changes: bool,
    ) -> None:
        """Take the columns, those in directories, and the metadata by column.

        Args:
            inner: The format.
            names: The columns.
            types: Their types.
            keys: The columns that are in the names of directories.
            default: The name that stands for NULL.
            metadata: What columns tell of the file.
            time_of: Makes a time from ms.
            of_changes: Whether a record is several tuples, each with its kind of change.
        """
        self.of_changes = of_changes
        self.metadata, self.time_of = dict(metadata), time_of
        self.inner, self.names, self.types, self.keys, self.default = inner, tuple(names), tuple(types), keys, default
        self.splittable = inner.splittable

    def create_reader(self) -> SourceReader:
        """Return a reader of file splits."""
        return _Reader(self, self.inner.create_reader())


METADATA: Mapping[str, DataType] = {
    "file.path": DataTypes.STRING(),
    "file.name": DataTypes.STRING(),
    "file.size": DataTypes.BIGINT(),
    "file.modification-time": DataTypes.TIMESTAMP_LTZ(3),
}
"""What a table of files tells of the file of each row."""


def _about_file(key: str, path: str, time_of: Callable[[int], object]) -> object:
    place = urlsplit(path).path
    if key == "file.path":
        return place
    if key == "file.name":
        return posixpath.basename(place)
    size, modified = details_of(path)
    return size if key == "file.size" else time_of(modified)


class Converted(SourceReader):
    """Converts the records of another reader one by one."""

    def __init__(self, inner: SourceReader, convert: Callable[[Any], Any]) -> None:
        self.inner, self.convert = inner, convert
        self.gives_away = inner.gives_away

    def open(self, runtime_context: Any) -> None:
        """Open the other reader."""
        self.inner.open(runtime_context)

    def conversion(self, split: object) -> Callable[[object], object]:
        """Return the function for the records of a split."""
        return self.convert

    def read(self, split: Any, fetch: Fetch) -> Generator[Any, None, bool]:
        """Yield converted batches."""
        convert = self.conversion(split)
        batches = self.inner.read(split, fetch)
        try:
            while True:
                batch: Any = next(batches)
                yield list(map(convert, batch))
        except StopIteration as end:
            return bool(end.value)
        finally:
            batches.close()

    def close(self) -> None:
        """Close the other reader."""
        self.inner.close()


class _Reader(Converted):
    def __init__(self, form: WithKeys, inner: SourceReader) -> None:
        super().__init__(inner, tuple)
        self.form = form
        self.read_value = {
            name: reader(kind, iso=None) for name, kind in zip(form.names, form.types, strict=True) if name in form.keys
        }

    def _values(self, path: str) -> dict[str, object]:
        found = {}
        for part in path.split("/"):
            key, equals, text = part.partition("=")
            if equals and key in self.read_value:
                found[key] = None if text == self.form.default else self.read_value[key](unquote(text))
        missing = [key for key in self.form.keys if key not in found]
        if missing:
            raise ValueError(f"{path}: the directories above the file have no value for {', '.join(missing)}")
        return found

    def conversion(self, split: Any) -> Callable[[Any], Any]:
        values, names = self._values(split.path), self.form.names
        values |= {name: _about_file(key, split.path, self.form.time_of) for name, key in self.form.metadata.items()}
        stored = [name for name in names if name not in values]
        order = [(None, values[n]) if n in values else (stored.index(n), None) for n in names]
        if self.form.of_changes:
            order.append((-1, None))
            return lambda rows: tuple([tuple([value if i is None else row[i] for i, value in order]) for row in rows])
        return lambda row: tuple([value if i is None else row[i] for i, value in order])
