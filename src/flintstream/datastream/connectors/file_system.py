"""Reading and writing files; mirrors ``pyflink.datastream.connectors.file_system``."""

from __future__ import annotations

from flintstream.connectors.buckets import BucketAssigner
from flintstream.connectors.rolling import DefaultRollingPolicy, OnCheckpointRollingPolicy, RollingPolicy
from flintstream.datastream.connectors._file_sink import (
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    StreamingFileSink,
)
from flintstream.datastream.connectors._file_source import (
    BulkFormat,
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    NotAvailableError,
    StreamFormat,
)

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "NotAvailableError",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
