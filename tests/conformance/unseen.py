"""Names that no conformance program reaches, and the reasons."""

from __future__ import annotations

_FAILS = "fails on PyFlink 2.3, whose Java class has lost the method: there is nothing to record"
_JAVA = "takes or gives a Java object on PyFlink"
_CONNECTORS = "is handed to connectors; tests/connectors shows what it does"
_INTERNAL = "an internal of PyFlink"
_WORKERS = "needs separate workers, which the inline engine does not have; tests/engine shows it on Spark"
_TRAVEL = "the form in which records travel inside PyFlink, which is not ours"
_MESSAGES = "works without a job: tests/formats shows what it makes of messages"
_JARS = "needs jars that do not come with PyFlink; tests/formats and tests/connectors/files show what it does"

UNSEEN: dict[str, str] = {
    "DataStream.add_sink": _JAVA,
    "KeyedStream.add_sink": _JAVA,
    "SourceFunction": _JAVA,
    "SinkFunction": _JAVA,
    "MemorySize.get_java_memory_size": _JAVA,
    "SlotSharingGroup.get_java_slot_sharing_group": _JAVA,
    "StreamExecutionEnvironment.add_source": _JAVA,
    "StreamExecutionEnvironment.create_input": _JAVA,
    "StreamExecutionEnvironment.add_jars": _JAVA,
    "StreamExecutionEnvironment.add_classpaths": _JAVA,
    "EmbeddedRocksDBStateBackend.set_options": _JAVA,
    "ResultTypeQueryable.get_produced_type": "is asked of formats, which are connectors",
    "CachedDataStream.invalidate": "fails on PyFlink 2.3 with Py4JError; tests/engine/test_cache.py shows it",
    "AsyncFunctionDescriptor": _INTERNAL,
    "OperatorStateStore.get_broadcast_state": "no function is handed such a store",
    "HashMapStateBackend": "has no method that a program could call",
    "StreamExecutionEnvironment.register_cached_file": "no Python function can ask for the file",
    "StreamExecutionEnvironment.set_python_requirements": _WORKERS,
    "StreamExecutionEnvironment.add_python_archive": _WORKERS,
    "StreamExecutionEnvironment.set_python_executable": _WORKERS,
    **dict.fromkeys(
        (
            "AvroSchema.parse_string",
            "AvroSchema.parse_file",
            "GenericRecordAvroTypeInfo",
            "AvroInputFormat",
            "AvroBulkWriters",
            "AvroRowDeserializationSchema",
            "AvroRowSerializationSchema",
            "OrcBulkWriters",
            "AvroParquetReaders",
            "AvroParquetWriters",
            "ParquetColumnarRowInputFormat",
            "ParquetBulkWriters",
        ),
        _JARS,
    ),
    **dict.fromkeys(
        (
            "CsvSchema.size",
            "CsvSchemaBuilder.add_columns_from",
            "CsvSchemaBuilder.clear_columns",
            "CsvSchemaBuilder.set_any_property_name",
            "CsvSchemaBuilder.disable_array_element_separator",
            "CsvSchemaBuilder.remove_array_element_separator",
            "CsvSchemaBuilder.set_array_element_separator",
            "CsvSchemaBuilder.disable_escape_char",
            "CsvSchemaBuilder.set_line_separator",
            "CsvSchemaBuilder.disable_quote_char",
            "CsvSchemaBuilder.set_strict_headers",
            "CsvSchemaBuilder.size",
            "CsvRowDeserializationSchema.Builder",
            "CsvRowSerializationSchema.Builder",
            "JsonRowDeserializationSchema",
            "JsonRowSerializationSchema",
        ),
        _MESSAGES,
    ),
    **dict.fromkeys(
        (
            "ExecutionConfig.enable_force_kryo",
            "ExecutionConfig.disable_force_kryo",
            "ExecutionConfig.is_force_kryo_enabled",
            "ExecutionConfig.enable_generic_types",
            "ExecutionConfig.disable_generic_types",
            "ExecutionConfig.has_generic_types_disabled",
            "ExecutionConfig.enable_force_avro",
            "ExecutionConfig.disable_force_avro",
            "ExecutionConfig.is_force_avro_enabled",
            "ExecutionConfig.get_default_kryo_serializer_classes",
            "ExecutionConfig.get_registered_kryo_types",
            "ExecutionConfig.get_registered_pojo_types",
            "JobClient.trigger_savepoint",
            "JobClient.stop_with_savepoint",
            "RestartStrategyConfiguration",
            "RestartStrategies",
        ),
        _FAILS,
    ),
    **dict.fromkeys(
        (
            "SerializationSchema",
            "DeserializationSchema",
            "SimpleStringSchema",
            "ByteArraySchema",
            "RowDataBulkWriterFactory",
            "RowFieldExtractorSchema",
        ),
        _CONNECTORS,
    ),
    "VoidNamespaceSerializer": _INTERNAL,
    "LocalTimeTypeInfo": "no method of Types gives it",
    "ExternalTypeInfo": "belongs to the Table API",
    **dict.fromkeys(
        (
            f"{kind}.{method}"
            for kind in (
                "TypeInformation",
                "InstantTypeInfo",
                "RowTypeInfo",
                "TupleTypeInfo",
                "DateTypeInfo",
                "TimeTypeInfo",
                "TimestampTypeInfo",
            )
            for method in ("to_internal_type", "from_internal_type")
        ),
        _TRAVEL,
    ),
}
"""Names of methods and classes; a class includes all its methods."""
