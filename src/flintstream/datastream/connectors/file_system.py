"""Reading and writing files; mirrors ``pyflink.datastream.connectors.file_system``."""

from __future__ import annotations

from flintstream.connectors.files.bad_records import BadRecord, BadRecordError, BadRecords
from flintstream.connectors.files.buckets import BucketAssigner
from flintstream.connectors.files.rolling import DefaultRollingPolicy, OnCheckpointRollingPolicy, RollingPolicy
from flintstream.datastream.connectors._file_compaction import FileCompactor, FileCompactStrategy
from flintstream.datastream.connectors._file_formats import BulkFormat, DivertBadRecords, RecordFormat, StreamFormat
from flintstream.datastream.connectors._file_sink import FileSink, OutputFileConfig, StreamingFileSink
from flintstream.datastream.connectors._file_source import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
)

__all__ = [
    "BadRecord",
    "BadRecordError",
    "BadRecords",
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "DivertBadRecords",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RecordFormat",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
