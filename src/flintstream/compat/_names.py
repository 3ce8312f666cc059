"""Names of PyFlink's modules that ours have not, by where they come from.

Made by ``python -m tests.parity.surface``.
"""

from __future__ import annotations

__all__ = ["NAMES", "WITHOUT_ALL"]

NAMES: dict[str, dict[str, str]] = {
    "pyflink": {
        "a module": "sys",
        "functools": "wraps",
    },
    "pyflink.common": {
        "nothing": "_install",
        "pyflink.common.execution_mode": "ExecutionMode",
        "pyflink.datastream.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
        "pyflink.datastream.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
        "pyflink.datastream.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    },
    "pyflink.common.completable_future": {
        "py4j.protocol": "Py4JJavaError",
        "pyflink.util.exceptions": "convert_py4j_exception",
    },
    "pyflink.common.config_options": {
        "pyflink.java_gateway": "get_gateway",
        "typing": "Generic TypeVar",
    },
    "pyflink.common.configuration": {
        "py4j.java_gateway": "JavaObject",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "add_jars_to_context_class_loader",
        "typing": "Dict Set",
    },
    "pyflink.common.execution_config": {
        "a module": "warnings",
        "pyflink.common.execution_mode": "ExecutionMode",
        "pyflink.common.input_dependency_constraint": "InputDependencyConstraint",
        "pyflink.common.restart_strategy": "RestartStrategies RestartStrategyConfiguration",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "load_java_class",
        "typing": "Dict List",
    },
    "pyflink.common.execution_mode": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.common.input_dependency_constraint": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.common.io": {
        "pyflink.common.utils": "JavaObjectWrapper",
    },
    "pyflink.common.job_client": {
        "pyflink.common.completable_future": "CompletableFuture",
        "pyflink.common.job_execution_result": "JobExecutionResult",
        "pyflink.common.job_id": "JobID",
        "pyflink.common.job_status": "JobStatus",
    },
    "pyflink.common.job_execution_result": {
        "pyflink.common.job_id": "JobID",
        "typing": "Any Dict",
    },
    "pyflink.common.job_status": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.common.restart_strategy": {
        "abc": "ABCMeta",
        "datetime": "timedelta",
        "py4j.java_gateway": "get_java_class",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "from_j_duration from_j_flink_time to_j_duration to_j_flink_time",
        "typing": "Optional",
    },
    "pyflink.common.serialization": {
        "pyflink.common": "typeinfo",
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.common.utils": "JavaObjectWrapper",
        "pyflink.datastream.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
        "pyflink.datastream.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
        "pyflink.datastream.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
        "pyflink.java_gateway": "get_gateway java_import",
        "pyflink.util.java_utils": "load_java_class",
    },
    "pyflink.common.serializer": {
        "abc": "ABC abstractmethod",
        "io": "BytesIO",
        "typing": "Generic T TypeVar",
    },
    "pyflink.common.time": {
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.common.typeinfo": {
        "a module": "calendar datetime time",
        "enum": "Enum",
        "nothing": "_from_java_type _is_instance_of",
        "py4j.java_gateway": "JavaClass JavaObject",
        "pyflink.java_gateway": "get_gateway",
        "typing": "List Union",
    },
    "pyflink.common.types": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
        "typing": "List",
    },
    "pyflink.common.watermark_strategy": {
        "a module": "abc",
        "pyflink.common.time": "Duration",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Any Optional",
    },
    "pyflink.datastream.async_data_stream": {
        "a module": "inspect",
        "nothing": "_get_one_input_stream_operator",
        "pyflink.common.time": "Time",
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.datastream": "async_retry_strategies",
        "pyflink.datastream.data_stream": "DataStream",
        "pyflink.datastream.functions": "AsyncFunction AsyncFunctionDescriptor AsyncRetryStrategy",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "get_j_env_configuration",
    },
    "pyflink.datastream.async_retry_strategies": {
        "a type variable": "OUT",
        "pyflink.datastream.functions": "AsyncRetryPredicate AsyncRetryStrategy",
        "typing": "Callable Generic List Optional TypeVar",
    },
    "pyflink.datastream.checkpoint_config": {
        "a module": "warnings",
        "enum": "Enum",
        "nothing": "_from_j_checkpoint_storage",
        "pyflink.common.time": "Duration",
        "pyflink.datastream.checkpoint_storage": "CheckpointStorage",
        "pyflink.datastream.checkpointing_mode": "CheckpointingMode",
        "pyflink.datastream.externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional",
    },
    "pyflink.datastream.checkpoint_storage": {
        "abc": "ABCMeta",
        "nothing": "_from_j_checkpoint_storage",
        "py4j.java_gateway": "get_java_class",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional",
    },
    "pyflink.datastream.checkpointing_mode": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.connectors": {
        "a module": "abc",
        "enum": "Enum",
        "nothing": """
            JavaFunctionWrapper PulsarDeserializationSchema PulsarSource PulsarSourceBuilder StartCursor StopCursor
            SubscriptionType _get_kafka_consumer _install
        """,
        "py4j.java_gateway": "JavaObject",
        "pyflink.common": "typeinfo",
        "pyflink.common.config_options": "ConfigOption",
        "pyflink.common.execution_config": "ExecutionConfig",
        "pyflink.common.serialization": "DeserializationSchema Encoder SerializationSchema",
        "pyflink.common.time": "Duration",
        "pyflink.common.typeinfo": "RowTypeInfo TypeInformation",
        "pyflink.datastream.connectors.kafka": "FlinkKafkaConsumerBase FlinkKafkaProducerBase",
        "pyflink.datastream.functions": "SinkFunction SourceFunction",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "to_jarray",
        "typing": "Dict List Union",
    },
    "pyflink.datastream.connectors.base": {
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "nothing": "JavaFunctionWrapper",
        "py4j.java_gateway": "JavaObject",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional Union",
    },
    "pyflink.datastream.connectors.cassandra": {
        "enum": "Enum",
        "nothing": """
            CassandraCommitter CassandraFailureHandler CassandraSink ClusterBuilder ConsistencyLevel MapperOptions
        """,
        "pyflink.common.time": "Duration",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.connectors.dynamic_kafka": {
        "py4j.java_gateway": "JavaObject",
        "pyflink.common.serialization": "DeserializationSchema",
        "pyflink.datastream.connectors.base": "Source",
        "pyflink.datastream.connectors.kafka": "KafkaOffsetsInitializer",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Dict Set Union",
    },
    "pyflink.datastream.connectors.elasticsearch": {
        "a module": "abc",
        "enum": "Enum",
        "pyflink.datastream.connectors.base": "DeliveryGuarantee Sink",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "to_jarray",
        "typing": "List Union",
    },
    "pyflink.datastream.connectors.file_system": {
        "a module": "warnings",
        "abc": "abstractmethod",
        "pyflink.common.serialization": "BulkWriterFactory Encoder RowDataBulkWriterFactory",
        "pyflink.common.time": "Duration",
        "pyflink.common.utils": "JavaObjectWrapper",
        "pyflink.datastream.connectors.base": "Sink Source StreamTransformer SupportsPreprocessing",
        "pyflink.datastream.functions": "SinkFunction",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "is_instance_of to_jarray",
        "typing": "Optional TYPE_CHECKING",
    },
    "pyflink.datastream.connectors.hybrid_source": {
        "py4j.java_gateway": "JavaObject",
        "pyflink.datastream.connectors.base": "Source",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.connectors.jdbc": {
        "pyflink.common.typeinfo": "RowTypeInfo",
        "pyflink.datastream.functions": "SinkFunction",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "to_jarray",
    },
    "pyflink.datastream.connectors.kafka": {
        "a module": "warnings",
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "nothing": "_get_kafka_consumer",
        "py4j.java_gateway": "JavaObject get_java_class",
        "pyflink.common": "typeinfo",
        "pyflink.common.serialization": "DeserializationSchema SerializationSchema",
        "pyflink.common.typeinfo": "TypeInformation Types",
        "pyflink.common.types": "Row",
        "pyflink.datastream.connectors.base": "Sink Source StreamTransformer SupportsPreprocessing",
        "pyflink.datastream.functions": "SinkFunction SourceFunction",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "get_field get_field_value to_jarray",
        "typing": "Any Callable Dict List Optional Set Union",
    },
    "pyflink.datastream.connectors.kinesis": {
        "nothing": """
            FlinkKinesisConsumer KinesisDeserializationSchema KinesisFirehoseSink KinesisFirehoseSinkBuilder
            KinesisShardAssigner KinesisStreamsSink KinesisStreamsSinkBuilder PartitionKeyGenerator WatermarkTracker
        """,
        "pyflink.common.serialization": "DeserializationSchema SerializationSchema",
        "pyflink.common.watermark_strategy": "AssignerWithPeriodicWatermarksWrapper",
        "pyflink.datastream.connectors.base": "Sink",
        "pyflink.datastream.functions": "SourceFunction",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Dict List Union",
    },
    "pyflink.datastream.connectors.number_seq": {
        "pyflink.datastream.connectors.base": "Source",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.connectors.pulsar": {
        "a module": "warnings",
        "enum": "Enum",
        "nothing": """
            MessageDelayer PulsarDeserializationSchema PulsarSerializationSchema PulsarSink PulsarSinkBuilder
            PulsarSource PulsarSourceBuilder RangeGenerator StartCursor StopCursor SubscriptionType TopicRoutingMode
        """,
        "pyflink.common.config_options": "ConfigOption ConfigOptions",
        "pyflink.common.execution_config": "ExecutionConfig",
        "pyflink.common.serialization": "DeserializationSchema SerializationSchema",
        "pyflink.common.time": "Duration",
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.datastream.connectors.base": "DeliveryGuarantee Sink Source",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "load_java_class",
        "typing": "Dict List Optional Union",
    },
    "pyflink.datastream.connectors.rabbitmq": {
        "pyflink.common.serialization": "DeserializationSchema SerializationSchema",
        "pyflink.datastream.functions": "SinkFunction SourceFunction",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.data_stream": {
        "a module": "typing uuid warnings",
        "enum": "Enum",
        "nothing": """
            FilterFunctionWrapper FlatMapFunctionWrapper InternalIterableAllWindowFunction
            InternalIterableProcessAllWindowFunction InternalIterableProcessWindowFunction
            InternalIterableWindowFunction InternalSingleValueAllWindowFunction
            InternalSingleValueProcessAllWindowFunction InternalSingleValueProcessWindowFunction
            InternalSingleValueWindowFunction InternalWindowFunction KeySelectorFunctionWrapper MapFunctionWrapper
            PartitionerFunctionWrapper WindowOperationDescriptor _create_j_data_stream_python_function_info
            _from_java_type _get_one_input_stream_operator _get_python_env _get_two_input_stream_operator
            convert_to_python_obj
        """,
        "pyflink.common": "typeinfo",
        "pyflink.common.execution_config": "ExecutionConfig",
        "pyflink.common.typeinfo": "RowTypeInfo TypeInformation Types",
        "pyflink.common.types": "Row",
        "pyflink.common.watermark_strategy": "TimestampAssigner WatermarkStrategy",
        "pyflink.datastream.connectors.base": "Sink",
        "pyflink.datastream.functions": """
            AggregateFunction AllWindowFunction AsyncFunctionDescriptor BroadcastProcessFunction CoFlatMapFunction
            CoMapFunction CoProcessFunction FilterFunction FlatMapFunction Function FunctionWrapper KeySelector
            KeyedBroadcastProcessFunction KeyedCoProcessFunction KeyedProcessFunction MapFunction
            NullByteKeySelector Partitioner PassThroughAllWindowFunction PassThroughWindowFunction
            ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction ReduceFunctionWrapper
            RuntimeContext SinkFunction WindowFunction
        """,
        "pyflink.datastream.output_tag": "OutputTag",
        "pyflink.datastream.slot_sharing_group": "SlotSharingGroup",
        "pyflink.datastream.state": """
            AggregatingStateDescriptor ListStateDescriptor MapStateDescriptor ReducingState ReducingStateDescriptor
            StateDescriptor ValueState ValueStateDescriptor
        """,
        "pyflink.datastream.window": """
            CountSlidingWindowAssigner CountTumblingWindowAssigner CountWindowSerializer GlobalWindowSerializer
            MergingWindowAssigner TimeWindowSerializer Trigger WindowAssigner
        """,
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "get_j_env_configuration to_jarray",
        "typing": "Callable List Optional Union cast overload",
    },
    "pyflink.datastream.execution_mode": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.externalized_checkpoint_retention": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.formats.avro": {
        "py4j.java_gateway": "JavaObject get_java_class",
        "pyflink.common.io": "InputFormat",
        "pyflink.common.serialization": "BulkWriterFactory DeserializationSchema SerializationSchema",
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.datastream.utils": "ResultTypeQueryable",
        "pyflink.java_gateway": "get_gateway java_import",
        "pyflink.util.java_utils": "get_field_value load_java_class",
    },
    "pyflink.datastream.formats.csv": {
        "pyflink.common.serialization": """
            BulkWriterFactory DeserializationSchema RowDataBulkWriterFactory SerializationSchema
        """,
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.datastream.connectors.file_system": "StreamFormat",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional TYPE_CHECKING",
    },
    "pyflink.datastream.formats.json": {
        "pyflink.common": "typeinfo",
        "pyflink.common.serialization": "DeserializationSchema SerializationSchema",
        "pyflink.common.typeinfo": "TypeInformation",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.formats.orc": {
        "nothing": "create_hadoop_configuration create_java_properties",
        "pyflink.common.configuration": "Configuration",
        "pyflink.common.serialization": "BulkWriterFactory RowDataBulkWriterFactory",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "to_jarray",
        "typing": "Optional TYPE_CHECKING",
    },
    "pyflink.datastream.formats.parquet": {
        "nothing": "create_hadoop_configuration",
        "pyflink.common.configuration": "Configuration",
        "pyflink.common.serialization": "BulkWriterFactory RowDataBulkWriterFactory",
        "pyflink.datastream.connectors.file_system": "BulkFormat StreamFormat",
        "pyflink.datastream.formats.avro": "AvroSchema",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional TYPE_CHECKING",
    },
    "pyflink.datastream.functions": {
        "a type variable": "IN IN1 IN2 KEY OUT W W2",
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "nothing": """
            FilterFunctionWrapper FlatMapFunctionWrapper InternalIterableAllWindowFunction
            InternalIterableProcessAllWindowFunction InternalIterableProcessWindowFunction
            InternalIterableWindowFunction InternalProcessAllWindowContext InternalProcessWindowContext
            InternalSingleValueAllWindowFunction InternalSingleValueProcessAllWindowFunction
            InternalSingleValueProcessWindowFunction InternalSingleValueWindowFunction InternalWindowFunction
            JavaFunctionWrapper KeySelectorFunctionWrapper MapFunctionWrapper PartitionerFunctionWrapper
            _get_python_env
        """,
        "py4j.java_gateway": "JavaObject",
        "pyflink.datastream.state": """
            AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor MapState
            MapStateDescriptor ReadOnlyBroadcastState ReducingState ReducingStateDescriptor ValueState
            ValueStateDescriptor
        """,
        "pyflink.datastream.time_domain": "TimeDomain",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.metrics.metricbase": "MetricGroup",
        "typing": "Any Callable Generic Iterable List Optional TypeVar Union",
    },
    "pyflink.datastream.output_tag": {
        "pyflink.common.typeinfo": "RowTypeInfo TypeInformation Types",
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional Union",
    },
    "pyflink.datastream.slot_sharing_group": {
        "pyflink.java_gateway": "get_gateway",
        "typing": "Optional",
    },
    "pyflink.datastream.state": {
        "a type variable": "IN K OUT V",
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "pyflink.common.time": "Duration Time",
        "pyflink.common.typeinfo": "PickledBytesTypeInfo TypeInformation Types",
        "typing": "Dict Generic Iterable Iterator List Optional T Tuple TypeVar",
    },
    "pyflink.datastream.state_backend": {
        "abc": "ABCMeta",
        "enum": "Enum",
        "nothing": "_from_j_state_backend",
        "py4j.java_gateway": "get_java_class",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.util.java_utils": "load_java_class",
        "typing": "List Optional",
    },
    "pyflink.datastream.stream_execution_environment": {
        "a module": "os tempfile warnings",
        "nothing": "_from_j_state_backend",
        "py4j.java_gateway": "JavaObject",
        "pyflink.common.configuration": "Configuration",
        "pyflink.common.execution_config": "ExecutionConfig",
        "pyflink.common.io": "InputFormat",
        "pyflink.common.job_client": "JobClient",
        "pyflink.common.job_execution_result": "JobExecutionResult",
        "pyflink.common.restart_strategy": "RestartStrategies RestartStrategyConfiguration",
        "pyflink.common.typeinfo": "TypeInformation Types",
        "pyflink.common.watermark_strategy": "WatermarkStrategy",
        "pyflink.datastream.checkpoint_config": "CheckpointConfig",
        "pyflink.datastream.checkpointing_mode": "CheckpointingMode",
        "pyflink.datastream.connectors.base": "Source",
        "pyflink.datastream.data_stream": "DataStream",
        "pyflink.datastream.execution_mode": "RuntimeExecutionMode",
        "pyflink.datastream.functions": "SourceFunction",
        "pyflink.datastream.slot_sharing_group": "SlotSharingGroup",
        "pyflink.datastream.state_backend": "StateBackend",
        "pyflink.datastream.time_characteristic": "TimeCharacteristic",
        "pyflink.datastream.utils": "ResultTypeQueryable",
        "pyflink.java_gateway": "get_gateway",
        "pyflink.serializers": "PickleSerializer",
        "pyflink.util.api_stability_decorators": "Public",
        "pyflink.util.java_utils": """
            add_jars_to_context_class_loader get_field_value get_j_env_configuration invoke_method
            is_local_deployment load_java_class
        """,
        "typing": "Any List Optional cast",
    },
    "pyflink.datastream.time_characteristic": {
        "enum": "Enum",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.time_domain": {
        "enum": "Enum",
    },
    "pyflink.datastream.timerservice": {
        "a type variable": "K N",
        "abc": "ABC abstractmethod",
        "nothing": "InternalTimer InternalTimerService",
        "typing": "Generic TypeVar",
    },
    "pyflink.datastream.utils": {
        "a module": "ast datetime pickle",
        "abc": "abstractmethod",
        "nothing": """
            convert_to_python_obj create_hadoop_configuration create_java_properties
            pickled_bytes_to_python_converter pickled_bytes_to_python_obj
        """,
        "pyflink.common.configuration": "Configuration",
        "pyflink.common.typeinfo": """
            BasicArrayTypeInfo ExternalTypeInfo ListTypeInfo MapTypeInfo ObjectArrayTypeInfo PrimitiveArrayTypeInfo
            RowTypeInfo TupleTypeInfo TypeInformation Types
        """,
        "pyflink.common.types": "Row RowKind",
        "pyflink.java_gateway": "get_gateway",
    },
    "pyflink.datastream.window": {
        "a module": "math sys",
        "a type variable": "IN KEY OUT W W2",
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "flintstream.compat.home.window_hashes": "long_to_int_with_bit_mixing mod_inverse",
        "io": "BytesIO",
        "nothing": "InternalWindowFunction Min WindowOperationDescriptor",
        "pyflink.common.serializer": "TypeSerializer",
        "pyflink.common.time": "Time",
        "pyflink.common.typeinfo": "Types",
        "pyflink.datastream.functions": "ReduceFunction RuntimeContext",
        "pyflink.datastream.output_tag": "OutputTag",
        "pyflink.datastream.state": """
            ReducingState ReducingStateDescriptor State StateDescriptor ValueStateDescriptor
        """,
        "pyflink.metrics.metricbase": "MetricGroup",
        "typing": "Any Collection Generic Iterable Optional T TypeVar cast",
    },
    "pyflink.java_gateway": {
        "a module": "importlib os shlex shutil struct tempfile time",
        "logging": "WARN _lock",
        "nothing": "PythonFunctionFactory Watchdog _find_flink_home launch_gateway_server_process",
        "py4j.java_gateway": "CallbackServerParameters GatewayParameters JavaGateway logger",
        "pyflink.util.exceptions": "install_exception_handler install_py4j_hooks",
        "threading": "RLock",
    },
    "pyflink.metrics.metricbase": {
        "a module": "abc json",
        "abc": "ABC abstractmethod",
        "enum": "Enum",
        "nothing": "GenericMetricGroup MetricGroupType",
        "typing": "Callable List Tuple",
    },
    "pyflink.serializers": {
        "a module": "pickle struct",
        "abc": "abstractmethod",
        "io": "BytesIO",
        "itertools": "chain",
        "pyflink.common.serializer": "TypeSerializer",
        "typing": "Iterable T TypeVar",
    },
    "pyflink.table": {
        "nothing": """
            AggregateFunction AsyncScalarFunction ChangelogMode CompiledPlan DataView EnvironmentSettings
            ExplainDetail Expression FormatDescriptor FunctionContext GroupWindowedTable GroupedTable ListView
            MapView Module ModuleEntry OverWindowedTable PlanReference ResultKind ScalarFunction Schema SqlDialect
            StatementSet StreamTableEnvironment Table TableAggregateFunction TableConfig TableDescriptor
            TableEnvironment TableFunction TablePipeline TableResult TableSchema UserDefinedType WindowGroupedTable
        """,
    },
    "pyflink.table.catalog": {
        "nothing": """
            Catalog CatalogBaseTable CatalogColumnStatistics CatalogDatabase CatalogDescriptor CatalogFunction
            CatalogModel CatalogPartition CatalogPartitionSpec CatalogTableStatistics Column ComputedColumn
            Constraint HiveCatalog JdbcCatalog MetadataColumn ObjectIdentifier ObjectPath PhysicalColumn Procedure
            ResolvedSchema UniqueConstraint WatermarkSpec
        """,
    },
    "pyflink.table.changelog_mode": {
        "nothing": "ChangelogMode",
    },
    "pyflink.table.compiled_plan": {
        "nothing": "CompiledPlan",
    },
    "pyflink.table.data_view": {
        "nothing": "DataView K ListView MapView T V",
    },
    "pyflink.table.descriptors": {
        "nothing": "Descriptor Rowtime Schema",
    },
    "pyflink.table.environment_settings": {
        "nothing": "EnvironmentSettings",
    },
    "pyflink.table.explain_detail": {
        "nothing": "ExplainDetail",
    },
    "pyflink.table.expression": {
        "nothing": """
            Expression JsonExistsOnError JsonOnNull JsonQueryOnEmptyOrError JsonQueryWrapper JsonType
            JsonValueOnEmptyOrError T TimeIntervalUnit TimePointUnit
        """,
    },
    "pyflink.table.expressions": {
        "nothing": """
            CURRENT_RANGE CURRENT_ROW UNBOUNDED_RANGE UNBOUNDED_ROW and_ array atan2 call call_sql coalesce col
            concat concat_ws convert_tz current_database current_date current_time current_timestamp
            current_watermark date_format descriptor e from_unixtime if_then_else json json_array json_array_agg
            json_object json_object_agg json_string lag lead lit local_time local_timestamp log map_ map_from_arrays
            negative not_ null_of object_of or_ pi rand rand_integer range_ row row_interval source_watermark
            temporal_overlaps timestamp_diff to_date to_timestamp to_timestamp_ltz unix_timestamp uuid
            with_all_columns with_columns without_columns
        """,
    },
    "pyflink.table.functions": {
        "nothing": """
            AvgAggFunction Count1AggFunction CountAggFunction DecimalSum0AggFunction FirstValueAggFunction
            FirstValueWithRetractAggFunction FloatSum0AggFunction IntSum0AggFunction LastValueAggFunction
            LastValueWithRetractAggFunction ListAggFunction ListAggWithRetractAggFunction
            ListAggWsWithRetractAggFunction MaxAggFunction MaxWithRetractAggFunction MinAggFunction
            MinWithRetractAggFunction Sum0AggFunction SumAggFunction SumWithRetractAggFunction WelfordM2AggFunction
        """,
    },
    "pyflink.table.model_descriptor": {
        "nothing": "ModelDescriptor",
    },
    "pyflink.table.module": {
        "nothing": "HiveModule Module ModuleEntry",
    },
    "pyflink.table.plan_reference": {
        "nothing": "BytesContentPlanReference FilePlanReference JsonContentPlanReference PlanReference",
    },
    "pyflink.table.resolved_expression": {
        "nothing": "ResolvedExpression",
    },
    "pyflink.table.result_kind": {
        "nothing": "ResultKind",
    },
    "pyflink.table.schema": {
        "nothing": "Schema",
    },
    "pyflink.table.serializers": {
        "nothing": "ArrowSerializer",
    },
    "pyflink.table.sql_dialect": {
        "nothing": "SqlDialect",
    },
    "pyflink.table.statement_set": {
        "nothing": "StatementSet",
    },
    "pyflink.table.table": {
        "nothing": """
            AggregatedTable FlatAggregateTable GroupWindowedTable GroupedTable OverWindowedTable Table
            WindowGroupedTable
        """,
    },
    "pyflink.table.table_config": {
        "nothing": "TableConfig",
    },
    "pyflink.table.table_descriptor": {
        "nothing": "FormatDescriptor TableDescriptor",
    },
    "pyflink.table.table_environment": {
        "nothing": "StreamTableEnvironment TableEnvironment",
    },
    "pyflink.table.table_pipeline": {
        "nothing": "TablePipeline",
    },
    "pyflink.table.table_result": {
        "nothing": "CloseableIterator TableResult",
    },
    "pyflink.table.table_schema": {
        "nothing": "TableSchema",
    },
    "pyflink.table.types": {
        "nothing": """
            DayTimeIntervalType ListViewType MapViewType RawType Resolution UserDefinedType YearMonthIntervalType
            ZonedTimestampType create_arrow_schema from_arrow_type to_arrow_type
        """,
    },
    "pyflink.table.udf": {
        "nothing": """
            ACC AggregateFunction AsyncScalarFunction DelegatingAsyncScalarFunction
            DelegatingPandasAggregateFunction DelegatingScalarFunction DelegationTableFunction FunctionContext
            ImperativeAggregateFunction PandasAggregateFunctionWrapper ScalarFunction T TableAggregateFunction
            TableFunction UserDefinedAggregateFunctionWrapper UserDefinedAsyncScalarFunctionWrapper
            UserDefinedFunction UserDefinedFunctionWrapper UserDefinedScalarFunctionWrapper
            UserDefinedTableFunctionWrapper udaf udf udtaf udtf
        """,
    },
    "pyflink.table.utils": {
        "nothing": """
            arrow_to_pandas pandas_to_arrow pickled_bytes_to_python_converter to_expression_jarray
            tz_convert_from_internal tz_convert_to_internal
        """,
    },
    "pyflink.table.window": {
        "nothing": """
            GroupWindow Over OverWindow OverWindowPartitioned OverWindowPartitionedOrdered
            OverWindowPartitionedOrderedPreceding Session SessionWithGap SessionWithGapOnTime Slide SlideWithSize
            SlideWithSizeAndSlide SlideWithSizeAndSlideOnTime Tumble TumbleWithSize TumbleWithSizeOnTime
        """,
    },
    "pyflink.util.api_stability_decorators": {
        "a module": "warnings",
        "abc": "ABCMeta abstractmethod",
        "inspect": "getmembers isclass isfunction",
        "textwrap": "dedent indent",
        "typing": "Any Callable Optional Type TypeVar Union",
    },
    "pyflink.util.exceptions": {
        "a module": "py4j",
        "nothing": "exception_mapping",
        "py4j.protocol": "Py4JJavaError",
    },
    "pyflink.util.java_utils": {
        "datetime": "timedelta",
        "py4j.java_gateway": "JavaClass JavaObject get_java_class",
        "py4j.protocol": "Py4JJavaError",
        "pyflink.java_gateway": "get_gateway",
    },
}

WITHOUT_ALL = """
    pyflink.common.configuration pyflink.common.constants pyflink.common.utils
    pyflink.common.watermark_strategy pyflink.datastream.async_data_stream
    pyflink.datastream.async_retry_predicates pyflink.datastream.connectors.base pyflink.datastream.formats
    pyflink.datastream.output_tag pyflink.datastream.time_domain pyflink.datastream.timerservice
    pyflink.datastream.utils pyflink.java_gateway pyflink.metrics.metricbase pyflink.serializers
    pyflink.util pyflink.util.exceptions pyflink.util.java_utils pyflink.table pyflink.table.catalog
    pyflink.table.changelog_mode pyflink.table.compiled_plan pyflink.table.data_view
    pyflink.table.descriptors pyflink.table.environment_settings pyflink.table.explain_detail
    pyflink.table.expression pyflink.table.expressions pyflink.table.functions
    pyflink.table.model_descriptor pyflink.table.module pyflink.table.plan_reference
    pyflink.table.resolved_expression pyflink.table.result_kind pyflink.table.schema
    pyflink.table.serializers pyflink.table.sql_dialect pyflink.table.statement_set pyflink.table.table
    pyflink.table.table_config pyflink.table.table_descriptor pyflink.table.table_environment
    pyflink.table.table_pipeline pyflink.table.table_result pyflink.table.table_schema pyflink.table.types
    pyflink.table.udf pyflink.table.utils pyflink.table.window
"""
"""Modules of which a star imports whatever is public: they have no ``__all__``, or one of all of it."""
