"""``'connector' = 'filesystem'``: files in CSV, JSON, Parquet and ORC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.common.serialization import Encoder
from flintstream.common.time import Duration
from flintstream.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat
from flintstream.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from flintstream.table._errors import SqlError, nearest, unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.serialization import BulkWriterFactory
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.sink import Sink
    from flintstream.connectors.source import Source
    from flintstream.table._connectors.options import Options

FORMATS = ("csv", "json", "orc", "parquet")


def _format(options: Options) -> str:
    name = options.required("format")
    if name not in FORMATS:
        raise SqlError(
            f"table '{options.table}': the format '{name}' is not supported for files{nearest(name, FORMATS)}"
        )
    return name


def _row_type(names: Sequence[str], types: Sequence[t.DataType]) -> t.RowType:
    return t.RowType([t.RowField(name, kind) for name, kind in zip(names, types, strict=True)])


def _csv(names: Sequence[str], types: Sequence[t.DataType], options: Options) -> CsvSchema:
    builder = CsvSchema.builder()
    for name, kind in zip(names, types, strict=True):
        builder._add(name, kind)  # noqa: SLF001 - any type that files support, not only the builder's
    delimiter = options.text("csv.field-delimiter", ",") or ","
    builder.set_column_separator(delimiter.replace("\\t", "\t"))
    if options.flag("csv.disable-quote-character"):
        builder.disable_quote_char()
    quote, null, escape = (
        options.text(f"csv.{key}") for key in ("quote-character", "null-literal", "escape-character")
    )
    if quote is not None:
        builder.set_quote_char(quote)
    if escape is not None:
        builder.set_escape_char(escape)
    builder.set_null_value("" if null is None else null)
    if options.flag("csv.allow-comments"):
        builder.set_allow_comments()
    return builder.build()


def file_source(names: Sequence[str], types: Sequence[t.DataType], options: Options) -> Source:
    """Return the source of a table of files."""
    kind, path = _format(options), options.required("path")
    interval = options.millis("source.monitor-interval")
    if kind == "csv":
        options.not_yet("csv.ignore-parse-errors", "false")
        stream_format: Any = CsvReaderFormat.for_schema(_csv(names, types, options))
    elif kind == "json":
        builder = JsonRowDeserializationSchema.builder().type_info(t.to_type_info(_row_type(names, types)))
        if options.flag("json.ignore-parse-errors"):
            builder.ignore_parse_errors()
        if options.flag("json.fail-on-missing-field"):
            builder.fail_on_missing_field()
        stream_format = StreamFormat.message_line_format(builder.build())
    elif kind == "parquet":
        from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat  # noqa: PLC0415 - pyarrow

        utc = options.flag("parquet.utc-timezone")
        stream_format = ParquetColumnarRowInputFormat(_row_type(names, types), is_utc_timestamp=utc)
    else:
        raise unsupported("reading ORC files", None, "read Parquet files")
    source = FileSource.for_record_stream_format(stream_format, path)
    if interval is not None:
        source.monitor_continuously(Duration.of_millis(interval))
    return source.build()


class _JsonLines(Encoder):
    def __init__(self, schema: JsonRowSerializationSchema) -> None:
        self.schema = schema

    def encode(self, value: Any, type_info: TypeInformation | None) -> bytes:  # noqa: ARG002 - the contract
        """Return a line."""
        return (self.schema.serialize(value) or b"") + b"\n"


def file_sink(names: Sequence[str], types: Sequence[t.DataType], options: Options) -> Sink:
    """Return the sink of a table of files; its records are rows."""
    kind, path = _format(options), options.required("path")
    for key in ("file-size", "rollover-interval", "check-interval"):
        options.not_yet(f"sink.rolling-policy.{key}")
    options.not_yet("auto-compaction", "false")
    options.known("sink.parallelism")
    row_type, beneath = _row_type(names, types), BucketAssigner.base_path_bucket_assigner()
    if kind == "json":
        schema = JsonRowSerializationSchema.builder().with_type_info(t.to_type_info(row_type)).build()
        return FileSink.for_row_format(path, _JsonLines(schema)).with_bucket_assigner(beneath).build()
    return FileSink.for_bulk_format(path, _writers(kind, names, types, options)).with_bucket_assigner(beneath).build()


def _writers(kind: str, names: Sequence[str], types: Sequence[t.DataType], options: Options) -> BulkWriterFactory:
    row_type = _row_type(names, types)
    if kind == "csv":
        return CsvBulkWriters.for_schema(_csv(names, types, options))
    if kind == "parquet":
        from flintstream.datastream.formats.parquet import ParquetBulkWriters  # noqa: PLC0415 - pyarrow

        return ParquetBulkWriters.for_row_type(row_type, utc_timestamp=options.flag("parquet.utc-timezone"))
    from flintstream.datastream.formats.orc import OrcBulkWriters  # noqa: PLC0415 - pyarrow

    return OrcBulkWriters.for_row_type(row_type)
