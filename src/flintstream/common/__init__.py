"""Types, rows, times, watermarks and configuration. Mirrors ``pyflink.common``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from flintstream.common.completable_future import CompletableFuture
from flintstream.common.config_options import ConfigOption, ConfigOptions
from flintstream.common.configuration import Configuration
from flintstream.common.execution_config import ExecutionConfig
from flintstream.common.input_dependency_constraint import InputDependencyConstraint
from flintstream.common.job_client import JobClient
from flintstream.common.job_execution_result import JobExecutionResult
from flintstream.common.job_id import JobID
from flintstream.common.job_status import JobStatus
from flintstream.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from flintstream.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from flintstream.common.serializer import TypeSerializer
from flintstream.common.time import Duration, Instant, Time
from flintstream.common.typeinfo import TypeInformation, Types
from flintstream.common.types import Row, RowKind
from flintstream.common.watermark_strategy import AssignerWithPeriodicWatermarksWrapper, WatermarkStrategy

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]

# PyFlink also exports the row formats here. They belong to a higher layer, so they are loaded on first use.
_FORMATS = {
    f"{name}Row{kind}Schema": f"flintstream.datastream.formats.{name.lower()}"
    for name in ("Json", "Csv", "Avro")
    for kind in ("Serialization", "Deserialization")
}


def __getattr__(name: str) -> Any:
    if name in _FORMATS:
        return getattr(import_module(_FORMATS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
