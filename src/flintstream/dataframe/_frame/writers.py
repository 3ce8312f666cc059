"""Writers of DataFrames: files, Kafka, connectors and catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flintstream.dataframe._checks import require_text
from flintstream.dataframe._frame.base import Frame
from flintstream.dataframe._options.descriptors import descriptor_of, file_options, text_of_bool, text_of_parallelism
from flintstream.dataframe._options.kafka import sink_options
from flintstream.dataframe.errors import as_value_errors
from flintstream.table._owners import environment_of
from flintstream.table.statement_set import StatementSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table.table_descriptor import TableDescriptor

_AWAITED = ("local", "minicluster")
"""Where a writer waits for the end of its job."""


class Writers(Frame):
    """The methods that write rows. They wait for the end of the job, unless a statement set takes them."""

    def write_parquet(
        self,
        path: str,
        *,
        mode: str = "append",
        partition_by: str | list[str] | None = None,
        compression: str | None = None,
        utc_timezone: bool | None = None,
        sink_parallelism: int | None = None,
        sink_shuffle_by_partition: bool | None = None,
        auto_compaction: bool | None = None,
        compaction_file_size: str | None = None,
        rolling_policy_file_size: str | None = None,
        rolling_policy_rollover_interval: str | None = None,
        rolling_policy_inactivity_interval: str | None = None,
        rolling_policy_check_interval: str | None = None,
        partition_commit_trigger: str | None = None,
        partition_commit_delay: str | None = None,
        partition_commit_policy_kind: str | None = None,
        connector_options: Mapping[str, str] | None = None,
        format_options: Mapping[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write the rows to Parquet files.

        Args:
            path: The folder.
            mode: ``append``, or ``overwrite`` in batch mode.
            partition_by: Columns whose values become names of folders.
            compression: The codec.
            utc_timezone: Whether times are those of UTC.
            sink_parallelism: The parallelism of the writer.
            sink_shuffle_by_partition: Whether rows of a partition go to the same writer.
            auto_compaction: Whether small files are joined.
            compaction_file_size: How large these become.
            rolling_policy_file_size: The size at which the next file begins.
            rolling_policy_rollover_interval: The age at which it does.
            rolling_policy_inactivity_interval: The time without rows after which it does.
            rolling_policy_check_interval: How often to look.
            partition_commit_trigger: ``process-time`` or ``partition-time``.
            partition_commit_delay: How long a partition waits.
            partition_commit_policy_kind: What tells that a partition is complete, such as ``success-file``.
            connector_options: Further options of the connector.
            format_options: Further options of the format.
            statement_set: Takes the rows instead of a job.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is empty, or options conflict.

        >>> import tempfile
        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
        >>> folder = tempfile.mkdtemp()
        >>> pf.range(3).write_parquet(folder)
        >>> len(pf.read_parquet(folder, schema={"id": pf.DataType.int64()}).collect())
        3
        """
        connector = _of_files(
            sink_parallelism, sink_shuffle_by_partition, auto_compaction, compaction_file_size,
            rolling_policy_file_size, rolling_policy_rollover_interval, rolling_policy_inactivity_interval,
            rolling_policy_check_interval, partition_commit_trigger, partition_commit_delay,
            partition_commit_policy_kind,
        )  # fmt: skip
        of_format = {"compression": compression, "utc-timezone": text_of_bool(utc_timezone, "utc_timezone")}
        options = file_options(path, "parquet", connector, of_format, connector_options, format_options)
        self._write("filesystem", options, mode, partition_by, statement_set)

    def write_json(
        self,
        path: str,
        *,
        mode: str = "append",
        partition_by: str | list[str] | None = None,
        timestamp_format: str | None = None,
        ignore_null_fields: bool | None = None,
        decimal_as_plain_number: bool | None = None,
        sink_parallelism: int | None = None,
        sink_shuffle_by_partition: bool | None = None,
        auto_compaction: bool | None = None,
        compaction_file_size: str | None = None,
        rolling_policy_file_size: str | None = None,
        rolling_policy_rollover_interval: str | None = None,
        rolling_policy_inactivity_interval: str | None = None,
        rolling_policy_check_interval: str | None = None,
        partition_commit_trigger: str | None = None,
        partition_commit_delay: str | None = None,
        partition_commit_policy_kind: str | None = None,
        connector_options: Mapping[str, str] | None = None,
        format_options: Mapping[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write the rows to files of JSON, an object in each line.

        ``timestamp_format`` is ``SQL`` or ``ISO-8601``. With ``ignore_null_fields``, objects lack what is None; with
        ``decimal_as_plain_number``, decimals have no exponent. The other arguments are those of :meth:`write_parquet`.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is empty, or options conflict.

        >>> import tempfile
        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
        >>> folder = tempfile.mkdtemp()
        >>> pf.range(3).write_json(folder)
        >>> len(pf.read_json(folder, schema={"id": pf.DataType.int64()}).collect())
        3
        """
        connector = _of_files(
            sink_parallelism, sink_shuffle_by_partition, auto_compaction, compaction_file_size,
            rolling_policy_file_size, rolling_policy_rollover_interval, rolling_policy_inactivity_interval,
            rolling_policy_check_interval, partition_commit_trigger, partition_commit_delay,
            partition_commit_policy_kind,
        )  # fmt: skip
        of_format = {
            "timestamp-format.standard": timestamp_format,
            "encode.ignore-null-fields": text_of_bool(ignore_null_fields, "ignore_null_fields"),
            "encode.decimal-as-plain-number": text_of_bool(decimal_as_plain_number, "decimal_as_plain_number"),
        }
        options = file_options(path, "json", connector, of_format, connector_options, format_options)
        self._write("filesystem", options, mode, partition_by, statement_set)

    def write_kafka(
        self,
        bootstrap_servers: str,
        *,
        topic: str,
        format: str = "json",
        format_options: Mapping[str, str] | None = None,
        key_format: str | None = None,
        key_format_options: Mapping[str, str] | None = None,
        key_fields: list[str] | None = None,
        value_format: str | None = None,
        value_format_options: Mapping[str, str] | None = None,
        value_fields_include: Literal["ALL", "EXCEPT_KEY"] = "ALL",
        delivery_guarantee: Literal["none", "at-least-once", "exactly-once"] = "at-least-once",
        transactional_id_prefix: str | None = None,
        partitioner: str | None = None,
        properties: Mapping[str, str] | None = None,
        sink_parallelism: int | None = None,
        options: Mapping[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write the rows as messages to a topic of Kafka.

        Args:
            bootstrap_servers: Addresses of brokers, with commas.
            topic: The topic.
            format: The format of values; ``value_format`` takes precedence.
            format_options: Its options.
            key_format: The format of keys.
            key_format_options: Its options.
            key_fields: The columns in the key.
            value_format: The format of values.
            value_format_options: Its options.
            value_fields_include: ``EXCEPT_KEY`` leaves out of the value what is in the key.
            delivery_guarantee: ``exactly-once`` needs checkpoints and a prefix.
            transactional_id_prefix: What the IDs of transactions begin with.
            partitioner: Which partition a message goes to: ``default``, ``fixed`` or ``round-robin``.
            properties: Settings of the producer.
            sink_parallelism: The parallelism of the writer.
            options: Further options of the connector.
            statement_set: Takes the rows instead of a job.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is missing, or conflicts with another one.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> statements = pf.create_statement_set()
        >>> pf.range(3).write_kafka("broker:9092", topic="numbers", statement_set=statements)
        """
        found = sink_options(
            bootstrap_servers,
            topic=topic,
            value_format=format if value_format is None else value_format,
            format_options=format_options,
            value_format_options=value_format_options,
            key_format=key_format,
            key_format_options=key_format_options,
            key_fields=key_fields,
            value_fields_include=value_fields_include,
            delivery_guarantee=delivery_guarantee,
            transactional_id_prefix=transactional_id_prefix,
            partitioner=partitioner,
            properties=properties,
            sink_parallelism=sink_parallelism,
            extra_options=options,
        )
        self._write("kafka", found, "append", None, statement_set)

    def write_generic(
        self, connector: str, *, options: Mapping[str, str], statement_set: StatementSet | None = None
    ) -> None:
        """Write the rows with a connector of the Table API.

        Args:
            connector: Its name: the option ``connector`` of a table.
            options: Its other options.
            statement_set: Takes the rows instead of a job.

        Raises:
            TypeError: An argument has another type.
            ValueError: An argument is empty, or the connector refuses an option.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> pf.range(3).write_generic("blackhole", options={})
        """
        self._write(connector, options, "append", None, statement_set)

    def write_catalog_table(
        self, path: str, *, overwrite: bool = False, statement_set: StatementSet | None = None
    ) -> None:
        """Write the rows to a table of a catalog.

        Args:
            path: ``table``, ``database.table`` or ``catalog.database.table``.
            overwrite: Whether they replace its rows.
            statement_set: Takes the rows instead of a job.

        Raises:
            TypeError: An argument has another type.
            ValueError: The table does not exist, or the columns do not fit.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> t_env = pf.get_or_create_table_environment()
        >>> _ = t_env.execute_sql("CREATE TABLE nowhere (id BIGINT) WITH ('connector' = 'blackhole')")
        >>> pf.range(3).write_catalog_table("nowhere")
        """
        require_text(path, "path")
        if not isinstance(overwrite, bool):
            raise TypeError("overwrite must be a bool")
        self._insert(path, statement_set, overwrite=overwrite)

    def _write(
        self, connector: object, options: object, mode: object, partition_by: object, statement_set: object
    ) -> None:
        if not isinstance(mode, str):
            raise TypeError("mode must be a string")
        if mode not in {"append", "overwrite"}:
            raise ValueError("mode must be 'append' or 'overwrite'")
        descriptor = descriptor_of(connector, options, partition_by=partition_by)
        self._insert(descriptor, statement_set, overwrite=mode == "overwrite")

    def _insert(self, target: str | TableDescriptor, statement_set: object, *, overwrite: bool) -> None:
        if statement_set is None:
            with as_value_errors():
                result = self._table.execute_insert(target, overwrite=overwrite)
            if environment_of(self._table).get_config().get("execution.target", "local") in _AWAITED:
                with as_value_errors():
                    result.wait()
            return
        if not isinstance(statement_set, StatementSet):
            raise TypeError("statement_set must be a StatementSet or None")
        if environment_of(self._table) is not environment_of(statement_set):
            raise ValueError("DataFrame and statement_set must belong to the same TableEnvironment")
        with as_value_errors():
            statement_set.add_insert(target, self._table, overwrite=overwrite)


def _of_files(
    parallelism: object,
    shuffle: object,
    compaction: object,
    compacted_size: str | None,
    size: str | None,
    rollover: str | None,
    inactivity: str | None,
    check: str | None,
    trigger: str | None,
    delay: str | None,
    policy: str | None,
) -> dict[str, str | None]:
    """Return the options of the connector of files, by its keys."""
    return {
        "sink.parallelism": text_of_parallelism(parallelism),
        "sink.shuffle-by-partition.enable": text_of_bool(shuffle, "sink_shuffle_by_partition"),
        "auto-compaction": text_of_bool(compaction, "auto_compaction"),
        "compaction.file-size": compacted_size,
        "sink.rolling-policy.file-size": size,
        "sink.rolling-policy.rollover-interval": rollover,
        "sink.rolling-policy.inactivity-interval": inactivity,
        "sink.rolling-policy.check-interval": check,
        "sink.partition-commit.trigger": trigger,
        "sink.partition-commit.delay": delay,
        "sink.partition-commit.policy.kind": policy,
    }
