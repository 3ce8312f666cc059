"""Readers of files, Kafka, connectors and catalogs; mirrors ``pyflink.dataframe.io``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe._checks import require_text
from flintstream.dataframe._options.descriptors import (
    check_watermark,
    computed_columns,
    descriptor_of,
    file_options,
    source_schema,
    text_of_bool,
)
from flintstream.dataframe._options.kafka import offsets_of as _convert_specific_offsets
from flintstream.dataframe._options.kafka import sink_options as _build_kafka_sink_options
from flintstream.dataframe._options.kafka import source_options as _build_kafka_options
from flintstream.dataframe.context import get_or_create_table_environment
from flintstream.dataframe.dataframe import DataFrame
from flintstream.dataframe.errors import as_value_errors
from flintstream.table._owners import extended_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.dataframe.datatype import DataType

__all__ = ["read_catalog_table", "read_generic", "read_json", "read_kafka", "read_parquet"]
_ = (_convert_specific_offsets, _build_kafka_sink_options)  # names that programs import from here


def read_parquet(
    path: str,
    *,
    schema: Mapping[str, DataType],
    partition_by: str | list[str] | None = None,
    monitor_interval: str | None = None,
    path_regex_pattern: str | None = None,
    utc_timezone: bool | None = None,
    connector_options: Mapping[str, str] | None = None,
    format_options: Mapping[str, str] | None = None,
    computed_columns: Mapping[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the rows of Parquet files.

    Args:
        path: A file or folder, or a URI of one.
        schema: The types of the columns, by name.
        partition_by: Columns whose values are in the names of folders.
        monitor_interval: How often to look for new files, such as ``"60s"``; without it, the rows end.
        path_regex_pattern: Which paths to read.
        utc_timezone: Whether times are those of UTC.
        connector_options: Further options of the connector.
        format_options: Further options of the format.
        computed_columns: SQL, by the names of further columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is empty, or options conflict.

    >>> import tempfile
    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> folder = tempfile.mkdtemp()
    >>> pf.read_parquet(folder, schema={"id": pf.DataType.int64()}).columns
    ['id']
    """
    options = file_options(
        path,
        "parquet",
        {"source.monitor-interval": monitor_interval, "source.path.regex-pattern": path_regex_pattern},
        {"utc-timezone": text_of_bool(utc_timezone, "utc_timezone")},
        connector_options,
        format_options,
    )
    return _read("filesystem", schema, options, computed_columns, watermark, partition_by)


def read_json(
    path: str,
    *,
    schema: Mapping[str, DataType],
    partition_by: str | list[str] | None = None,
    monitor_interval: str | None = None,
    path_regex_pattern: str | None = None,
    ignore_parse_errors: bool | None = None,
    fail_on_missing_field: bool | None = None,
    timestamp_format: str | None = None,
    connector_options: Mapping[str, str] | None = None,
    format_options: Mapping[str, str] | None = None,
    computed_columns: Mapping[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the rows of files of JSON, an object in each line.

    Args:
        path: A file or folder, or a URI of one.
        schema: The types of the columns, by name.
        partition_by: Columns whose values are in the names of folders.
        monitor_interval: How often to look for new files, such as ``"60s"``; without it, the rows end.
        path_regex_pattern: Which paths to read.
        ignore_parse_errors: Whether wrong values become None.
        fail_on_missing_field: Whether a missing value is an error.
        timestamp_format: ``SQL`` or ``ISO-8601``.
        connector_options: Further options of the connector.
        format_options: Further options of the format.
        computed_columns: SQL, by the names of further columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is empty, or options conflict.

    >>> import pathlib, tempfile
    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> folder = tempfile.mkdtemp()
    >>> _ = pathlib.Path(folder, "users.json").write_text('{"id": 1, "name": "ann"}')
    >>> pf.read_json(folder, schema={"id": pf.DataType.int64(), "name": pf.DataType.string()}).collect()
    [<Row(1, 'ann')>]
    """
    options = file_options(
        path,
        "json",
        {"source.monitor-interval": monitor_interval, "source.path.regex-pattern": path_regex_pattern},
        {
            "ignore-parse-errors": text_of_bool(ignore_parse_errors, "ignore_parse_errors"),
            "fail-on-missing-field": text_of_bool(fail_on_missing_field, "fail_on_missing_field"),
            "timestamp-format.standard": timestamp_format,
        },
        connector_options,
        format_options,
    )
    return _read("filesystem", schema, options, computed_columns, watermark, partition_by)


def read_kafka(
    bootstrap_servers: str,
    *,
    schema: Mapping[str, DataType],
    topic: str | list[str] | None = None,
    topic_pattern: str | None = None,
    group_id: str | None = None,
    format: str = "json",
    format_options: Mapping[str, str] | None = None,
    key_format: str | None = None,
    key_format_options: Mapping[str, str] | None = None,
    key_fields: list[str] | None = None,
    key_fields_prefix: str | None = None,
    value_format: str | None = None,
    value_format_options: Mapping[str, str] | None = None,
    value_fields_include: str = "ALL",
    startup_mode: str = "group-offsets",
    startup_specific_offsets: Mapping[int, int] | None = None,
    startup_timestamp_millis: int | None = None,
    topic_partition_discovery_interval: str | None = "5 min",
    bounded_mode: str = "unbounded",
    bounded_timestamp_millis: int | None = None,
    bounded_specific_offsets: Mapping[int, int] | None = None,
    properties: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    computed_columns: Mapping[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the messages of topics of Kafka as rows.

    Args:
        bootstrap_servers: Addresses of brokers, with commas.
        schema: The types of the columns, by name.
        topic: The topic or topics.
        topic_pattern: A pattern of topics, instead.
        group_id: The consumer group.
        format: The format of values; ``value_format`` takes precedence.
        format_options: Its options.
        key_format: The format of keys.
        key_format_options: Its options.
        key_fields: The columns in the key.
        key_fields_prefix: What their names begin with.
        value_format: The format of values.
        value_format_options: Its options.
        value_fields_include: ``ALL``, or ``EXCEPT_KEY`` if the value lacks the columns of the key.
        startup_mode: Where to start: ``earliest-offset``, ``latest-offset``, ``group-offsets``, ``timestamp`` or
            ``specific-offsets``.
        startup_specific_offsets: Offsets by partition.
        startup_timestamp_millis: A time in milliseconds since 1970.
        topic_partition_discovery_interval: How often to look for new partitions; None for never.
        bounded_mode: Where to end: ``unbounded``, or as ``startup_mode``.
        bounded_timestamp_millis: A time in milliseconds since 1970.
        bounded_specific_offsets: Offsets by partition.
        properties: Settings of the consumer.
        options: Further options of the connector.
        computed_columns: SQL, by the names of further columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is missing, or conflicts with another one.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> kinds = {"id": pf.DataType.int64()}
    >>> pf.read_kafka("broker:9092", schema=kinds, topic="orders", startup_mode="earliest-offset").columns
    ['id']
    """
    found = _build_kafka_options(
        bootstrap_servers,
        topic=topic,
        topic_pattern=topic_pattern,
        group_id=group_id,
        value_format=format if value_format is None else value_format,
        format_options=format_options,
        value_format_options=value_format_options,
        key_format=key_format,
        key_format_options=key_format_options,
        key_fields=key_fields,
        key_fields_prefix=key_fields_prefix,
        value_fields_include=value_fields_include,
        startup_mode=startup_mode,
        startup_specific_offsets=startup_specific_offsets,
        startup_timestamp_millis=startup_timestamp_millis,
        topic_partition_discovery_interval=topic_partition_discovery_interval,
        bounded_mode=bounded_mode,
        bounded_timestamp_millis=bounded_timestamp_millis,
        bounded_specific_offsets=bounded_specific_offsets,
        properties=properties,
        extra_options=options,
    )
    return _read("kafka", schema, found, computed_columns, watermark)


def read_generic(
    connector: str,
    *,
    schema: Mapping[str, DataType],
    options: Mapping[str, str],
    computed_columns: Mapping[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the rows of a connector of the Table API.

    Args:
        connector: Its name: the option ``connector`` of a table.
        schema: The types of the columns, by name.
        options: Its other options.
        computed_columns: SQL, by the names of further columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is empty, or the connector refuses an option.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> rows = {"number-of-rows": "3"}
    >>> len(pf.read_generic("datagen", schema={"id": pf.DataType.int64()}, options=rows).collect())
    3
    """
    return _read(connector, schema, options, computed_columns, watermark)


def _read(
    connector: object,
    schema: object,
    options: object,
    computed: object,
    watermark: object,
    partition_by: object = None,
) -> DataFrame:
    described = source_schema(schema, computed, watermark)
    descriptor = descriptor_of(connector, options, described, partition_by)
    with as_value_errors():
        return DataFrame(get_or_create_table_environment().from_descriptor(descriptor))


def read_catalog_table(
    path: str, *, computed_columns: Mapping[str, str] | None = None, watermark: tuple[str, str] | None = None
) -> DataFrame:
    """Return the rows of a table of a catalog, perhaps with more columns or another watermark than it declares.

    Args:
        path: ``table``, ``database.table`` or ``catalog.database.table``.
        computed_columns: SQL, by the names of further columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: The table does not exist, or a view would get columns.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> _ = pf.get_or_create_table_environment().execute_sql(
    ...     "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '2')"
    ... )
    >>> pf.read_catalog_table("numbers", computed_columns={"twice": "n * 2"}).columns
    ['n', 'twice']
    """
    require_text(path, "path")
    environment = get_or_create_table_environment()
    more, marks = _computed(computed_columns), check_watermark(watermark)
    with as_value_errors():
        if more or marks is not None:
            return DataFrame(extended_table(environment, path, more, marks))
        return DataFrame(environment.from_path(path))


_computed = computed_columns
publish(__name__, __all__, globals())
