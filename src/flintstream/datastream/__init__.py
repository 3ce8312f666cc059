"""The DataStream API. Mirrors ``pyflink.datastream``, including the names of PyFlink 1.

Names are loaded on first use: importing one setting does not import the environment, the planner and so on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.datastream import (
        async_data_stream as async_data_stream,
    )
    from flintstream.datastream import (
        async_retry_strategies as async_retry_strategies,
    )
    from flintstream.datastream import (
        checkpoint_config as checkpoint_config,
    )
    from flintstream.datastream import (
        checkpoint_storage as checkpoint_storage,
    )
    from flintstream.datastream import (
        checkpointing_mode as checkpointing_mode,
    )
    from flintstream.datastream import (
        connectors as connectors,
    )
    from flintstream.datastream import (
        data_stream as data_stream,
    )
    from flintstream.datastream import (
        execution_mode as execution_mode,
    )
    from flintstream.datastream import (
        externalized_checkpoint_retention as externalized_checkpoint_retention,
    )
    from flintstream.datastream import (
        formats as formats,
    )
    from flintstream.datastream import (
        functions as functions,
    )
    from flintstream.datastream import (
        output_tag as output_tag,
    )
    from flintstream.datastream import (
        slot_sharing_group as slot_sharing_group,
    )
    from flintstream.datastream import (
        state as state,
    )
    from flintstream.datastream import (
        state_backend as state_backend,
    )
    from flintstream.datastream import (
        stream_execution_environment as stream_execution_environment,
    )
    from flintstream.datastream import (
        time_characteristic as time_characteristic,
    )
    from flintstream.datastream import (
        time_domain as time_domain,
    )
    from flintstream.datastream import (
        timerservice as timerservice,
    )
    from flintstream.datastream import (
        window as window,
    )
    from flintstream.datastream.async_data_stream import AsyncDataStream
    from flintstream.datastream.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup
    from flintstream.datastream.checkpoint_storage import (
        CheckpointStorage,
        CustomCheckpointStorage,
        FileSystemCheckpointStorage,
        JobManagerCheckpointStorage,
    )
    from flintstream.datastream.checkpointing_mode import CheckpointingMode
    from flintstream.datastream.data_stream import (
        BroadcastConnectedStream,
        BroadcastStream,
        ConnectedStreams,
        DataStream,
        DataStreamSink,
        KeyedStream,
        WindowedStream,
    )
    from flintstream.datastream.execution_mode import RuntimeExecutionMode
    from flintstream.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
    from flintstream.datastream.functions import (
        AggregateFunction,
        AsyncFunction,
        AsyncRetryPredicate,
        AsyncRetryStrategy,
        BroadcastProcessFunction,
        CoFlatMapFunction,
        CoMapFunction,
        CoProcessFunction,
        FilterFunction,
        FlatMapFunction,
        KeyedBroadcastProcessFunction,
        KeyedCoProcessFunction,
        KeyedProcessFunction,
        KeySelector,
        MapFunction,
        Partitioner,
        ProcessFunction,
        ProcessWindowFunction,
        ReduceFunction,
        RuntimeContext,
        SinkFunction,
        SourceFunction,
        WindowFunction,
    )
    from flintstream.datastream.output_tag import OutputTag
    from flintstream.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
    from flintstream.datastream.state_backend import (
        CustomStateBackend,
        EmbeddedRocksDBStateBackend,
        FsStateBackend,
        HashMapStateBackend,
        MemoryStateBackend,
        PredefinedOptions,
        RocksDBStateBackend,
        StateBackend,
    )
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
    from flintstream.datastream.time_characteristic import TimeCharacteristic
    from flintstream.datastream.time_domain import TimeDomain
    from flintstream.datastream.timerservice import TimerService
    from flintstream.datastream.window import (
        CountWindow,
        GlobalWindow,
        MergingWindowAssigner,
        TimeWindow,
        Trigger,
        TriggerResult,
        Window,
        WindowAssigner,
    )

__all__ = [
    "AggregateFunction",
    "AsyncDataStream",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BroadcastConnectedStream",
    "BroadcastProcessFunction",
    "BroadcastStream",
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "ConnectedStreams",
    "CountWindow",
    "CustomCheckpointStorage",
    "CustomStateBackend",
    "DataStream",
    "DataStreamSink",
    "EmbeddedRocksDBStateBackend",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "FileSystemCheckpointStorage",
    "FilterFunction",
    "FlatMapFunction",
    "FsStateBackend",
    "GlobalWindow",
    "HashMapStateBackend",
    "JobManagerCheckpointStorage",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "MemorySize",
    "MemoryStateBackend",
    "MergingWindowAssigner",
    "OutputTag",
    "Partitioner",
    "PredefinedOptions",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RocksDBStateBackend",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SinkFunction",
    "SlotSharingGroup",
    "SourceFunction",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeCharacteristic",
    "TimeDomain",
    "TimeWindow",
    "TimerService",
    "Trigger",
    "TriggerResult",
    "Window",
    "WindowAssigner",
    "WindowFunction",
    "WindowedStream",
]

# All names of PyFlink by the module that defines them. This version lacks those that are not in __all__.
_NAMES_OF_MODULE = {
    "async_data_stream": "AsyncDataStream",
    "checkpoint_config": "CheckpointConfig ExternalizedCheckpointCleanup",
    "checkpoint_storage": (
        "CheckpointStorage CustomCheckpointStorage FileSystemCheckpointStorage JobManagerCheckpointStorage"
    ),
    "checkpointing_mode": "CheckpointingMode",
    "data_stream": (
        "BroadcastConnectedStream BroadcastStream ConnectedStreams DataStream DataStreamSink KeyedStream WindowedStream"
    ),
    "execution_mode": "RuntimeExecutionMode",
    "externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
    "functions": (
        "AggregateFunction AsyncFunction AsyncRetryPredicate AsyncRetryStrategy BroadcastProcessFunction "
        "CoFlatMapFunction CoMapFunction CoProcessFunction FilterFunction FlatMapFunction KeySelector "
        "KeyedBroadcastProcessFunction KeyedCoProcessFunction KeyedProcessFunction MapFunction Partitioner "
        "ProcessFunction ProcessWindowFunction ReduceFunction RuntimeContext SinkFunction SourceFunction "
        "WindowFunction"
    ),
    "output_tag": "OutputTag",
    "slot_sharing_group": "MemorySize SlotSharingGroup",
    "state_backend": (
        "CustomStateBackend EmbeddedRocksDBStateBackend FsStateBackend HashMapStateBackend MemoryStateBackend "
        "PredefinedOptions RocksDBStateBackend StateBackend"
    ),
    "stream_execution_environment": "StreamExecutionEnvironment",
    "time_characteristic": "TimeCharacteristic",
    "time_domain": "TimeDomain",
    "timerservice": "TimerService",
    "window": "CountWindow GlobalWindow MergingWindowAssigner TimeWindow Trigger TriggerResult Window WindowAssigner",
}
_MODULE_OF_NAME = {name: module for module, names in _NAMES_OF_MODULE.items() for name in names.split()}

# Modules that PyFlink loads together with the package. Programs use them without importing them.
_MODULES = {*_NAMES_OF_MODULE, "async_retry_strategies", "connectors", "formats", "state"}


if not TYPE_CHECKING:  # type checkers know the names from above, and must reject others

    def __getattr__(name: str) -> object:
        """Load a name on first use."""
        if name not in _MODULE_OF_NAME and name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        path = f"{__name__}.{_MODULE_OF_NAME.get(name, name)}"
        try:
            module = import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
            module = None
        value = module if name in _MODULES else getattr(module, name, None)
        if value is None:
            # An ImportError, because "from ... import" discards the text of an AttributeError
            raise ImportError(f"this version of flintstream does not have {name} yet", name=path)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
