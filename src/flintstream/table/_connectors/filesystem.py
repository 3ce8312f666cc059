"""``'connector' = 'filesystem'``: files in many formats, perhaps in directories by columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from flintstream.common._types import data_types as t
from flintstream.common.configuration import Configuration
from flintstream.common.serialization import Encoder
from flintstream.common.time import Duration, Instant
from flintstream.connectors.files.lines import LineSchema
from flintstream.connectors.files.rolling import DefaultRollingPolicy
from flintstream.connectors.files.sink import CHECK_INTERVAL_MS
from flintstream.datastream.connectors._file_sink import replace_files
from flintstream.datastream.connectors._file_source import build_unchecked, check_paths
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    StreamFormat,
)
from flintstream.datastream.formats._columnar_files import ColumnarFormat, ColumnarRows, in_batches
from flintstream.datastream.formats.avro import AvroFileFormat, AvroSchema
from flintstream.options.types import SIZE
from flintstream.table._connectors import changes
from flintstream.table._connectors.avro import AvroRowFiles, schema_of, tuple_of
from flintstream.table._connectors.contract import (
    CHANGES,
    INSERTIONS,
    Records,
    SinkConnector,
    SourceConnector,
    TableSink,
    TableSource,
)
from flintstream.table._connectors.csv import OF_READERS, CsvFiles, CsvLines, csv_schema
from flintstream.table._connectors.formats import JsonDecoder
from flintstream.table._connectors.messages import Raw, decoder, encoder
from flintstream.table._connectors.partitions import (
    COMMIT_OPTIONS,
    METADATA,
    Converted,
    Directories,
    LinesWithoutKeys,
    WithKeys,
    WithoutKeys,
    check,
    commit_partitions,
)
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.patterns.helpers import checked_regex
from flintstream.table._expressions.times.helpers import from_millis

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.formats import Decoder
    from flintstream.table._connectors.formats import Encoder as RowEncoder
    from flintstream.table._connectors.options import Options

FORMATS = ("avro", "csv", "json", "orc", "parquet", "raw", *changes.FORMATS)
_DEFAULT = "__DEFAULT_PARTITION__"


def _format(options: Options) -> str:
    name = options.required("format")
    if name not in FORMATS:
        raise SqlError(
            f"table '{options.table}': the format '{name}' is not supported for files{nearest(name, FORMATS)}"
        )
    return name


def _row_type(names: Sequence[str], types: Sequence[t.DataType]) -> t.RowType:
    return t.RowType([t.RowField(name, kind) for name, kind in zip(names, types, strict=True)])


class _Lines(LineSchema):
    """Reads a tuple from each line; lines without one are skipped."""

    def __init__(self, decoded: Decoder) -> None:
        self.decoded = decoded
        self._ready: Any = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def deserialize(self, message: bytes) -> object:
        """Return the tuple."""
        if self._ready is None:
            self._ready = self.decoded.decode()
        return self._ready(message)

    def deserialize_lines(self, lines: Sequence[str]) -> list[object] | None:
        """Return a tuple for each line, if the line is the value."""
        return list(zip(lines)) if isinstance(self.decoded, Raw) and self.decoded.takes_text else None

    def get_produced_type(self) -> Any:
        """Return None: records are tuples of the table."""
        return None


class _Changes(_Lines):
    """Reads the changes of each line, tuples that end with their kinds, as one record."""

    def deserialize(self, message: bytes) -> object:
        """Return a tuple of them."""
        found = cast("changes.Changes | None", super().deserialize(message))
        return None if found is None else tuple([(*row, kind) for row, kind in found])


class _Tuples(StreamFormat[object]):
    """The records of Avro files as tuples."""

    splittable = True

    def __init__(self, names: Sequence[str], types: Sequence[t.DataType]) -> None:
        self.names, self.types = tuple(names), tuple(types)
        self.inner = AvroFileFormat(AvroSchema.parse_string(schema_of(names, types)))

    def create_reader(self) -> SourceReader:
        """Return a reader of file splits."""
        return Converted(self.inner.create_reader(), tuple_of(self.names, self.types))


def _stream_format(
    kind: str, names: Sequence[str], types: Sequence[t.DataType], options: Options, need: Collection[str] | None
) -> StreamFormat[object]:
    if kind in {"json", "raw"}:
        decoded = decoder(kind, names, types, options)
        if isinstance(decoded, JsonDecoder):
            decoded.need = need
        return StreamFormat.message_line_format(_Lines(decoded))
    if kind in changes.FORMATS:
        return StreamFormat.message_line_format(_Changes(changes.ChangeDecoder(kind, names, types, options, "")))
    if kind == "csv":
        return CsvFiles(names, types, options, need)
    if kind == "parquet":
        from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat

        utc = options.flag("parquet.utc-timezone")
        return ParquetColumnarRowInputFormat(_row_type(names, types), is_utc_timestamp=utc)
    if kind == "orc":
        from flintstream.datastream.formats.orc import OrcColumnarRowInputFormat

        return OrcColumnarRowInputFormat(_row_type(names, types))
    return _Tuples(names, types)


_SINK_OPTIONS = {
    "compaction.parallelism": "each subtask merges the files that it has written",
    "compaction.small-files.avg-size": "small files are merged up to compaction.file-size, whatever their average",
    "sink.shuffle-by-partition.enable": "each subtask writes the rows that it has",
}
"""Options of sinks without effect, with the reasons."""

_OF_WRITERS = {
    "parquet": ("parquet.compression", "parquet.timestamp.time.unit", "parquet.write.int64.timestamp"),
    "orc": ("orc.compress", "orc.stripe.size"),
}
"""The options that formats pass on to their writers."""
_CODECS = ("bzip2", "deflate", "null", "snappy", "xz", "zstandard")
_NEVER = 1 << 62
_COLUMNAR = ("orc", "parquet")
_MERGING = ("auto-compaction", "compaction.file-size")
_ROLLING = tuple(f"sink.rolling-policy.{key}" for key in ("file-size", "rollover-interval", "check-interval"))


class FileSystem(SourceConnector, SinkConnector):
    """Reads and writes files; the columns of ``PARTITIONED BY`` are in the names of directories."""

    def metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of what a table tells of files."""
        return METADATA

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source; fields of CSV and JSON that a query does not read may be wrong."""
        options, fewer = table.options, partial(_file_source, table)
        options.of_sinks(*_SINK_OPTIONS, *_ROLLING, *_MERGING, "avro.codec", "avro.timestamp_mapping.legacy")
        options.of_sinks("sink.parallelism")
        options.of_sinks(*COMMIT_OPTIONS)
        options.known("source.report-statistics", "plans do not depend on statistics")
        kind, source = _format(options), _file_source(table)
        options.of_sinks(*_OF_WRITERS.get(kind, ()))
        options.ignore_unknown(f"{kind}.")
        with_columns, check = fewer if kind in {"csv", "json"} else None, partial(check_paths, source)
        if kind in changes.FORMATS:
            return TableSource(source, Records.LISTS, CHANGES, check=check)
        columnar = kind in _COLUMNAR and not table.partitions and not table.metadata
        batches = partial(_batch_source, table) if columnar else None
        return TableSource(source, _records(kind), with_columns=with_columns, check=check, batches=batches)

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        kind, path = _format(options), options.required("path")
        for key, because in _SINK_OPTIONS.items():
            options.known(key, because)
        options.of_sources("source.monitor-interval", "source.report-statistics", "source.path.regex-pattern")
        options.of_sources("partition.default-name", *(f"csv.{key}" for key in OF_READERS if kind == "csv"))
        assigner: BucketAssigner = BucketAssigner.base_path_bucket_assigner()
        names, types, keys = table.names, table.types, table.partitions
        positions = [i for i, name in enumerate(names) if name not in keys]
        if keys:
            check(table)
            assigner = Directories(names, types, keys, options.text("partition.default-name", _DEFAULT) or "")
        stored = [names[i] for i in positions], [types[i] for i in positions]
        made: FileSink.BaseBuilder
        batches: Callable[[], FileSink] | None = None
        of_changes = kind in changes.FORMATS
        if kind in {"json", "raw"} or of_changes:
            if of_changes:
                lines: Encoder = _EncodedLines(changes.ChangeEncoder(kind, *stored, options, ""))
                positions.append(-1)
            else:
                lines = _EncodedLines(encoder(kind, *stored, options))
            made = FileSink.for_row_format(path, LinesWithoutKeys(lines, positions) if keys else lines)
            made.with_rolling_policy(_rolling(options))
            made.with_bucket_check_interval(_checks(options))
            compactor = FileCompactor.concat_file_compactor()
        else:
            for key in _ROLLING:
                options.known(key, "for line-based formats only: other files end with each checkpoint")
            writers, without = _bulk_writers(kind, *stored, options, positions if keys else None)
            made = FileSink.for_bulk_format(path, without)
            compactor = _compactor(kind, *stored, options, writers)
            if isinstance(writers, ColumnarRows) and not keys and not options.flag(_MERGING[0]):
                batches = partial(_batch_sink, path, writers, assigner)
        if options.flag(_MERGING[0]):
            made.enable_compact(_merging(options), compactor)
        options.known(_MERGING[1], "for auto-compaction only")
        sink = commit_partitions(made.with_bucket_assigner(assigner).build(), table)
        overwriting = partial(replace_files, sink, by_directory=bool(keys))
        parallelism = options.integer("sink.parallelism")
        options.ignore_unknown(f"{kind}.")
        mode = CHANGES if of_changes else INSERTIONS
        records = Records.TUPLES if kind == "csv" else _records(kind)
        return TableSink(sink, records, mode, parallelism=parallelism, overwriting=overwriting, batches=batches)


def _bulk_writers(
    kind: str, names: Sequence[str], types: Sequence[t.DataType], options: Options, positions: Sequence[int] | None
) -> tuple[BulkWriterFactory, BulkWriterFactory]:
    """Return what writes stored columns, and what writes rows that have them at some positions; None for all."""
    if kind == "csv":
        lines = CsvLines(csv_schema(names, types, options), range(len(names)) if positions is None else positions)
        return lines, lines
    writers = _writers(kind, names, types, options)
    return writers, writers if positions is None else WithoutKeys(writers, positions)


def _records(kind: str) -> Records:
    """Return what the records of a format are: those of messages are as in a plan."""
    return Records.TUPLES if kind in {"json", "raw", "avro", *changes.FORMATS} else Records.ROWS


def _file_source(table: ConnectorTable, need: Collection[str] | None = None) -> FileSource[object]:
    """Return the source of a query that reads the columns ``need``; None for all."""
    options, keys = table.options, table.partitions
    check(table)
    more = {*keys, *table.metadata}
    default = options.text("partition.default-name", _DEFAULT) or ""
    stored = [(n, k) for n, k in zip(table.names, table.types, strict=True) if n not in more]
    made = _stream_format(_format(options), [n for n, _ in stored], [k for _, k in stored], options, need)
    if more:
        time_of = Instant.of_epoch_milli if _records(_format(options)) is Records.ROWS else from_millis
        of_changes = _format(options) in changes.FORMATS
        made = WithKeys(made, table.names, table.types, keys, default, table.metadata, time_of, of_changes=of_changes)
    return _of_files(table, made)


def _batch_source(table: ConnectorTable, names: Sequence[str], size: int) -> FileSource[object]:
    """Return the source of some columns of columnar files, as batches."""
    options = table.options
    made = _stream_format(_format(options), table.names, table.types, options, None)
    if not isinstance(made, ColumnarFormat):
        raise TypeError(f"{made!r} has no batches")
    return _of_files(table, in_batches(made, names, size))


def _batch_sink(path: str, writers: ColumnarRows, assigner: BucketAssigner) -> FileSink:
    """Return the sink that writes batches to columnar files."""
    return FileSink.for_bulk_format(path, writers.in_batches()).with_bucket_assigner(assigner).build()


def _of_files(table: ConnectorTable, made: StreamFormat[object]) -> FileSource[object]:
    """Return the source of files in a format."""
    options, path = table.options, table.options.required("path")
    interval = options.millis("source.monitor-interval")
    source = FileSource.for_record_stream_format(made, path)
    pattern = options.text("source.path.regex-pattern")
    if pattern is not None:
        checked_regex(pattern)
        source.set_file_enumerator(FileEnumeratorProvider(splittable=True, keep=partial(_is_named, pattern)))
    if interval is not None:
        source.monitor_continuously(Duration.of_millis(interval))
    return build_unchecked(source)


def _is_named(pattern: str, path: str) -> bool:
    """Return whether the whole path of a file, without a scheme, is as a regular expression says."""
    return checked_regex(pattern).fullmatch(urlsplit(path).path) is not None


def _checks(options: Options) -> int:
    """Return how often files are checked that get no lines, in ms."""
    found = options.millis(_ROLLING[2])
    return CHECK_INTERVAL_MS if found is None else max(found, 1)


def _rolling(options: Options) -> DefaultRollingPolicy:
    """Return when a file of lines ends, by Flink's defaults."""
    size = SIZE.read(options.text(_ROLLING[0], "128 mb") or "")
    age = options.millis(_ROLLING[1])
    policy = _Merged if options.flag(_MERGING[0]) else DefaultRollingPolicy
    return policy(size, 1_800_000 if age is None else age, _NEVER)


@dataclass(frozen=True)
class _Merged(DefaultRollingPolicy):
    """When a file of lines ends that is going to be merged: at each checkpoint, too, as in Flink."""

    def rolls_on_checkpoint(self) -> bool:
        """Return True."""
        return True


def _merging(options: Options) -> FileCompactStrategy:
    """Return when files are merged: those of one checkpoint are, up to a size that is that of files of lines."""
    size = options.text(_MERGING[1]) or options.text(_ROLLING[0], "128 mb") or ""
    return FileCompactStrategy(checkpoints=1, target_size=SIZE.read(size))


def _compactor(
    kind: str, names: Sequence[str], types: Sequence[t.DataType], options: Options, writers: BulkWriterFactory
) -> FileCompactor:
    if kind == "csv":  # has no header
        return FileCompactor.concat_file_compactor()
    return FileCompactor.record_wise_file_compactor(_stream_format(kind, names, types, options, None), writers)


class _EncodedLines(Encoder):
    def __init__(self, encoded: RowEncoder) -> None:
        self.encoded = encoded
        self._ready: Any = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def encode(self, value: object, type_info: TypeInformation | None) -> bytes:
        """Return a line."""
        if self._ready is None:
            self._ready = self.encoded.encode()
        line: bytes = self._ready(value)
        return line + b"\n"


def _codec(options: Options) -> str:
    """Return how Avro files are compressed; not at all by default, as some codecs need another package.

    Raises:
        SqlError: There is no such codec.
    """
    given = options.text("avro.codec", "null") or ""
    if given not in _CODECS:
        raise SqlError(f"table '{options.table}': 'avro.codec' does not accept '{given}'{nearest(given, _CODECS)}")
    return given


def _writers(kind: str, names: Sequence[str], types: Sequence[t.DataType], options: Options) -> BulkWriterFactory:
    row_type = _row_type(names, types)
    if kind == "parquet":
        from flintstream.datastream.formats.parquet import ParquetBulkWriters

        utc = options.flag("parquet.utc-timezone")
        return ParquetBulkWriters.for_row_type(row_type, _of_writer(kind, options), utc_timestamp=utc)
    if kind == "avro":
        local = not options.flag("avro.timestamp_mapping.legacy", default=True)
        return AvroRowFiles(names, types, _codec(options), local=local)
    from flintstream.datastream.formats.orc import OrcBulkWriters

    return OrcBulkWriters.for_row_type(row_type, _of_writer(kind, options))


def _of_writer(kind: str, options: Options) -> Configuration:
    found = {key: options.text(key) for key in _OF_WRITERS[kind]}
    return Configuration.from_dict({key: value for key, value in found.items() if value is not None})
