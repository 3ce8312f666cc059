"""The file sink."""

from __future__ import annotations

import uuid
import warnings
from typing import TYPE_CHECKING, Self

from flintstream.common.serialization import BulkWriterFactory, Encoder
from flintstream.connectors.files.buckets import BucketAssigner
from flintstream.connectors.files.compaction import CompactionSettings
from flintstream.connectors.files.part_writers import BulkParts, RowParts
from flintstream.connectors.files.rolling import OnCheckpointRollingPolicy, PartNames, RollingPolicy
from flintstream.connectors.files.sink import CHECK_INTERVAL_MS, PartFileCommitter, PartFileWriter
from flintstream.datastream.connectors._file_compaction import FileCompactor, FileCompactStrategy
from flintstream.datastream.connectors.base import Sink, SupportsPreprocessing
from flintstream.errors import PlanError
from flintstream.storage.reading import reachable

if TYPE_CHECKING:
    from flintstream.connectors.files.part_writers import PartFormat
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext
    from flintstream.datastream.connectors.base import StreamTransformer


class OutputFileConfig:
    """How part files are called: ``<prefix>-<uuid>-<number><suffix>``.

    Raises:
        PlanError: The prefix or suffix cannot stand in a file name.
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._names = PartNames(part_prefix, part_suffix)

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return what the names begin with."""
        return self._names.prefix

    def get_part_suffix(self) -> str:
        """Return what the names end with."""
        return self._names.suffix

    class OutputFileConfigBuilder:
        """Builds an :class:`OutputFileConfig`; without further calls the prefix is "part" and the suffix empty."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> Self:
            """Set what the names begin with."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> Self:
            """Set what the names end with."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


def _rows(encoder: Encoder) -> RowParts:
    if not isinstance(encoder, Encoder):
        raise TypeError(f"a file sink needs an Encoder such as Encoder.simple_string_encoder(), not {encoder!r}")
    return RowParts(encoder)


def _bulks(writer_factory: BulkWriterFactory) -> BulkParts:
    if not isinstance(writer_factory, BulkWriterFactory):
        raise TypeError(f"a bulk format needs a BulkWriterFactory, not {writer_factory!r}")
    return BulkParts(writer_factory)


class FileSink(Sink, SupportsPreprocessing):
    """Writes records into files in bucket directories, each record exactly once when checkpointing is on.

    A part file has a hidden name until the checkpoint (without checkpointing: the epoch) that ends it counts. Built by
    :meth:`for_row_format`; unless told otherwise, buckets are hours (``yyyy-MM-dd--HH``) and a file is closed at
    128 MB, after a minute, or when nothing was written to it for a minute. That is looked at whenever records arrive,
    at the end of each epoch and, while the stream rests, at the bucket check interval (60 s).
    """

    _check_interval = CHECK_INTERVAL_MS
    _compaction: CompactionSettings | None = None

    def __init__(
        self, base_path: str, file_format: PartFormat, assigner: BucketAssigner, policy: RollingPolicy, names: PartNames
    ) -> None:
        self._base_path = base_path
        self._format = file_format
        self._assigner = assigner
        self._policy = policy
        self._names = names
        self._uid = uuid.uuid4()

    def get_transformer(self) -> StreamTransformer | None:
        """Return None: the stream needs no change."""
        return None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of part files."""
        return PartFileWriter(
            context,
            self._base_path,
            self._uid,
            self._format,
            self._assigner,
            self._policy,
            self._names,
            self._check_interval,
            self._compaction,
        )

    def create_committer(self) -> Committer:
        """Return what gives part files their final names."""
        return PartFileCommitter(self._base_path, self._names)

    class BaseBuilder:
        """What all builders of file sinks have in common."""

        _made: type[FileSink]

        def __init__(self, base_path: str, file_format: PartFormat, policy: RollingPolicy) -> None:
            self._base_path = reachable(base_path)
            self._format = file_format
            self._policy = policy
            self._assigner = BucketAssigner.date_time_bucket_assigner()
            self._names = PartNames()
            self._check_interval = CHECK_INTERVAL_MS
            self._compaction: CompactionSettings | None = None

        def with_bucket_check_interval(self, interval: int) -> Self:
            """Say how often (ms) to look for files that are too old while no records come; the default is 60,000."""
            if interval <= 0:
                raise PlanError(f"the bucket check interval must be positive, not {interval}")
            self._check_interval = interval
            return self

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> Self:
            """Say which directory a record goes to."""
            if not isinstance(bucket_assigner, BucketAssigner):
                raise TypeError(f"with_bucket_assigner needs a BucketAssigner, not {bucket_assigner!r}")
            self._assigner = bucket_assigner
            return self

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
            """Say how part files are called."""
            if not isinstance(output_file_config, OutputFileConfig):
                raise TypeError(f"with_output_file_config needs an OutputFileConfig, not {output_file_config!r}")
            self._names = PartNames(output_file_config.get_part_prefix(), output_file_config.get_part_suffix())
            return self

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Say when a file is closed."""
            if not isinstance(rolling_policy, RollingPolicy):
                raise TypeError(f"with_rolling_policy needs a RollingPolicy, not {rolling_policy!r}")
            self._policy = rolling_policy
            return self

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Self:
            """Merge small files into larger ones, whose names begin with ``compacted-``, before anybody sees them.

            Each subtask merges the files of a bucket that it has written itself; all records are still there once.

            Args:
                strategy: When to merge.
                compactor: How to.

            Raises:
                PlanError: Files of the format cannot be written one after the other.
            """
            if not isinstance(strategy, FileCompactStrategy):
                raise TypeError(f"enable_compact needs a FileCompactStrategy, not {strategy!r}")
            if not isinstance(compactor, FileCompactor):
                raise TypeError(f"enable_compact needs a FileCompactor, not {compactor!r}")
            if compactor.concatenates and not self._format.can_be_concatenated:
                raise PlanError(
                    "files of this format cannot be written one after the other: "
                    "use FileCompactor.record_wise_file_compactor(reader, writer_factory)"
                )
            self._compaction = CompactionSettings(
                strategy.checkpoints, strategy.size_threshold, strategy.threads, compactor
            )
            return self

        def disable_compact(self) -> Self:
            """Do not merge files, as by default; what a checkpoint still holds to be merged is committed as it is."""
            self._compaction = None
            return self

        def build(self) -> FileSink:
            """Return the sink."""
            sink = self._made(self._base_path, self._format, self._assigner, self._policy, self._names)
            sink._check_interval = self._check_interval  # noqa: SLF001 - our own
            sink._compaction = self._compaction  # noqa: SLF001 - our own
            return sink

    class RowFormatBuilder(BaseBuilder):
        """Builds a sink that encodes record by record."""

    class BulkFormatBuilder(BaseBuilder):
        """Builds a sink that writes batches of records."""

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Accept the one policy there is for such formats.

            Raises:
                PlanError: It is another one.
            """
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise PlanError("a bulk format needs the rolling policy RollingPolicy.on_checkpoint_rolling_policy()")
            return super().with_rolling_policy(rolling_policy)

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Begin to build a sink that encodes record by record.

        Args:
            base_path: The directory to write to, with or without ``file://``, or the URI of an object store or another
                file system that fsspec reaches; it is made when needed.
            encoder: Such as ``Encoder.simple_string_encoder()``: one line for each record.

        Raises:
            PlanError: There is no such file system.
            MissingDependencyError: The client of the file system is not installed.
            TypeError: An argument is of a wrong type.
        """
        return FileSink.RowFormatBuilder(base_path, _rows(encoder), RollingPolicy.default_rolling_policy())

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Begin to build a sink whose files can only be read as a whole; each ends at the next checkpoint.

        Args:
            base_path: As for :meth:`for_row_format`.
            writer_factory: Makes the writer of each file.

        Raises:
            PlanError: There is no such file system.
            MissingDependencyError: The client of the file system is not installed.
            TypeError: An argument is of a wrong type.
        """
        return FileSink.BulkFormatBuilder(
            base_path, _bulks(writer_factory), RollingPolicy.on_checkpoint_rolling_policy()
        )


FileSink.BaseBuilder._made = FileSink  # noqa: SLF001 - the class does not exist yet where the builder is defined


class StreamingFileSink(FileSink):
    """The older name of :class:`FileSink`, for ``add_sink``."""

    def __init__(
        self, base_path: str, file_format: PartFormat, assigner: BucketAssigner, policy: RollingPolicy, names: PartNames
    ) -> None:
        warnings.warn("StreamingFileSink is deprecated: use FileSink and sink_to", DeprecationWarning, stacklevel=3)
        super().__init__(base_path, file_format, assigner, policy, names)

    class BaseBuilder(FileSink.BaseBuilder):
        """What both builders have in common."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Self:
            """Say when a file is closed."""
            return super().with_rolling_policy(policy)

    class DefaultRowFormatBuilder(BaseBuilder, FileSink.RowFormatBuilder):
        """Builds a sink that encodes record by record."""

    class DefaultBulkFormatBuilder(BaseBuilder, FileSink.BulkFormatBuilder):
        """Builds a sink that writes batches of records."""

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Begin to build a sink that encodes record by record, as :meth:`FileSink.for_row_format` does."""
        policy = RollingPolicy.default_rolling_policy()
        return StreamingFileSink.DefaultRowFormatBuilder(base_path, _rows(encoder), policy)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Begin to build a sink of files that end at checkpoints, as :meth:`FileSink.for_bulk_format` does."""
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        return StreamingFileSink.DefaultBulkFormatBuilder(base_path, _bulks(writer_factory), policy)


StreamingFileSink.DefaultRowFormatBuilder._made = StreamingFileSink  # noqa: SLF001 - as above
StreamingFileSink.DefaultBulkFormatBuilder._made = StreamingFileSink  # noqa: SLF001 - as above
