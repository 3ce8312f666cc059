"""Names of PyFlink that have no effect here, are impossible here, or take other arguments; each with the reason."""

from __future__ import annotations

import re

JAVA = "a Java object, which does not exist here"
JAVA_OBJECT = re.compile(r"(^|\.)(get_java_\w+|to_j_\w+|from_j_\w+|JavaObjectWrapper)(\.|$)")
"""Names that concern Java objects."""

_JAVA = JAVA
_INTERNAL = "an internal of PyFlink's Python operators"
_RECORDS = "records are Python objects: no serializer of the JVM sees them"
_PLACED = "Spark places tasks"
_UNALIGNED = "epochs end with nothing in flight, so there is nothing to align"
_JARS = "connectors are Python packages"
_ONE_PARAMETER = "the parameter is called `obj`"

_STATIC = "its static methods make it; PyFlink's constructor takes a Java object"

_ITSELF = "there is no Java object: returns the object itself"

_CLOSURES = "a Python function is pickled together with everything it refers to"
_CANCELLED = "Spark interrupts tasks, and ends their processes"

NO_OPS: dict[str, str] = {
    "FlinkKafkaProducer.ignore_failures_after_transaction_timeout": "no transaction stays open between checkpoints",
    "ElasticsearchSinkBuilderBase.set_bulk_flush_interval": "documents are written when an epoch ends",
    "ElasticsearchSinkBuilderBase.set_connection_request_timeout": "there is no pool of connections to wait for",
    "FlinkKinesisConsumer.set_shard_assigner": "subtasks get shards in turn",
    "FlinkKinesisConsumer.set_watermark_tracker": "watermark alignment of the strategy does this",
    "KinesisStreamsSinkBuilder.set_max_in_flight_requests": "a subtask sends one request at a time",
    "KinesisStreamsSinkBuilder.set_max_buffered_requests": "a subtask buffers one request at most",
    "KinesisStreamsSinkBuilder.set_max_time_in_buffer_ms": "records are written when an epoch ends",
    "KinesisFirehoseSinkBuilder.set_max_in_flight_requests": "a subtask sends one request at a time",
    "KinesisFirehoseSinkBuilder.set_max_buffered_requests": "a subtask buffers one request at most",
    "KinesisFirehoseSinkBuilder.set_max_time_in_buffer_ms": "records are written when an epoch ends",
    "MemorySize.get_java_memory_size": _ITSELF,
    "RMQConnectionConfig.Builder.set_topology_recovery_enabled": "queues are declared whenever a connection comes up",
    "SlotSharingGroup.get_java_slot_sharing_group": _ITSELF,
    "StreamExecutionEnvironment.add_jars": _JARS,
    "StreamExecutionEnvironment.add_classpaths": _JARS,
    "StreamExecutionEnvironment.register_cached_file": "no Python function can ask for the file, nor can it in PyFlink",
    "StreamExecutionEnvironment.add_default_kryo_serializer": _RECORDS,
    "StreamExecutionEnvironment.register_type": _RECORDS,
    "StreamExecutionEnvironment.register_type_with_kryo_serializer": _RECORDS,
    "StreamExecutionEnvironment.register_slot_sharing_group": _PLACED,
    "ExecutionConfig.enable_closure_cleaner": _CLOSURES,
    "ExecutionConfig.disable_closure_cleaner": _CLOSURES,
    "ExecutionConfig.set_latency_tracking_interval": "latency markers do not flow between epochs",
    "ExecutionConfig.set_task_cancellation_interval": _CANCELLED,
    "ExecutionConfig.set_task_cancellation_timeout": _CANCELLED,
    "ExecutionConfig.set_use_snapshot_compression": "state files are not compressed; RocksDB compresses its own",
    "CheckpointConfig.enable_unaligned_checkpoints": _UNALIGNED,
    "CheckpointConfig.disable_unaligned_checkpoints": _UNALIGNED,
    "CheckpointConfig.set_alignment_timeout": _UNALIGNED,
    "CheckpointConfig.set_aligned_checkpoint_timeout": _UNALIGNED,
    "CheckpointConfig.set_force_unaligned_checkpoints": _UNALIGNED,
    "CheckpointConfig.set_max_concurrent_checkpoints": "an epoch has one checkpoint, and epochs follow one another",
    "ExecutionConfig.enable_force_kryo": _RECORDS,
    "ExecutionConfig.disable_force_kryo": _RECORDS,
    "ExecutionConfig.enable_generic_types": _RECORDS,
    "ExecutionConfig.disable_generic_types": _RECORDS,
    "ExecutionConfig.enable_force_avro": _RECORDS,
    "ExecutionConfig.disable_force_avro": _RECORDS,
    "ExecutionConfig.enable_object_reuse": "records are never copied between functions of a chain",
    "ExecutionConfig.disable_object_reuse": "records are never copied between functions of a chain",
}

IMPOSSIBLE: dict[str, str] = {
    "FlinkKinesisConsumer.set_periodic_watermark_assigner": "takes a Java object",
    "ElasticsearchSinkBuilderBase.get_http_host_class": f"returns {_JAVA}",
    "Elasticsearch6SinkBuilder.get_http_host_class": f"returns {_JAVA}",
    "Elasticsearch7SinkBuilder.get_http_host_class": f"returns {_JAVA}",
    "JavaFunctionWrapper": f"wraps {_JAVA}",
    "OutputTag.get_java_output_tag": _JAVA,
    "create_hadoop_configuration": f"makes {_JAVA}",
    "create_java_properties": f"makes {_JAVA}",
    "convert_to_python_obj": f"reads {_JAVA}",
    "pickled_bytes_to_python_obj": f"reads {_JAVA}",
    "WindowOperationDescriptor": _INTERNAL,
    "long_to_int_with_bit_mixing": _INTERNAL,
    "mod_inverse": _INTERNAL,
    "Min": _INTERNAL,
    **dict.fromkeys(
        (
            "InternalWindowFunction",
            "InternalSingleValueWindowFunction",
            "InternalSingleValueAllWindowFunction",
            "InternalIterableWindowFunction",
            "InternalIterableAllWindowFunction",
            "InternalProcessWindowContext",
            "InternalProcessAllWindowContext",
            "InternalSingleValueProcessWindowFunction",
            "InternalSingleValueProcessAllWindowFunction",
            "InternalIterableProcessWindowFunction",
            "InternalIterableProcessAllWindowFunction",
        ),
        _INTERNAL,
    ),
}

OTHERWISE: dict[str, str] = {
    "MessageDelayer": _STATIC,
    "StartCursor": _STATIC,
    "StopCursor": _STATIC,
    "MemorySize": "the size must be given; PyFlink fails later without it",
    "SourceFunction": "is written in Python; it does not accept the Java object that PyFlink's wraps",
    "SinkFunction": "is written in Python; it does not accept the Java object that PyFlink's wraps",
    "DateTypeInfo.to_internal_type": _ONE_PARAMETER,
    "DateTypeInfo.from_internal_type": _ONE_PARAMETER,
    "TimeTypeInfo.to_internal_type": _ONE_PARAMETER,
    "TimeTypeInfo.from_internal_type": _ONE_PARAMETER,
    "TimestampTypeInfo.to_internal_type": _ONE_PARAMETER,
    "TimestampTypeInfo.from_internal_type": _ONE_PARAMETER,
}

_OWN = "for internal use by PyFlink's operators"
_TRIGGER = "the operator calls it on the trigger"
_GENERATOR = "of a generator; here a list, or an iterator"
_LINKED = "PyFlink's list of read and added elements"

NOT_HANDED_OUT: dict[str, str] = {
    "CacheType": _INTERNAL,
    "advance_watermark": _OWN,
    "clear": _TRIGGER,
    "close": _GENERATOR,
    "commit": _OWN,
    "enable_time_to_live": "belongs on the descriptor, before the state is created",
    "first": _LINKED,
    "get_java_output_tag": f"returns {_JAVA}",
    "get_keyed_state_backend": _INTERNAL,
    "gi_code": _GENERATOR,
    "gi_frame": _GENERATOR,
    "gi_running": _GENERATOR,
    "gi_suspended": _GENERATOR,
    "gi_yieldfrom": _GENERATOR,
    "merge_namespaces": _OWN,
    "of": _INTERNAL,
    "on_element": _TRIGGER,
    "on_event_time": _TRIGGER,
    "on_merge": _TRIGGER,
    "on_processing_time": _TRIGGER,
    "second": _LINKED,
    "send": _GENERATOR,
    "serializer": _INTERNAL,
    "set_current_key": _OWN,
    "set_current_namespace": _OWN,
    "set_keyed_state_backend": _OWN,
    "set_time_domain": _OWN,
    "set_timestamp": _OWN,
    "throw": _GENERATOR,
    "timer_service": "the timer service is not a context here; use the context",
    "timestamp": "the timer service is not a context here; use the context",
}
"""Attributes of the objects that PyFlink passes to user code, which ours lack."""
