"""The file sink."""

from __future__ import annotations

import posixpath
import uuid
import warnings
from copy import copy
from typing import TYPE_CHECKING

from flintstream.common.serialization import BulkWriterFactory, Encoder
from flintstream.connectors.files.buckets import BucketAssigner
from flintstream.connectors.files.compaction import CompactionSettings
from flintstream.connectors.files.part_writers import BulkParts, RowParts
from flintstream.connectors.files.partitions import CompletePartitions, Replacement, files_below
from flintstream.connectors.files.rolling import OnCheckpointRollingPolicy, PartNames, RollingPolicy
from flintstream.connectors.files.sink import CHECK_INTERVAL_MS, PartFileCommitter, PartFileWriter
from flintstream.datastream.connectors._file_compaction import FileCompactor, FileCompactStrategy
from flintstream.datastream.connectors.base import Sink, SupportsPreprocessing
from flintstream.errors import PlanError
from flintstream.storage.reading import reachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.connectors.files.part_writers import PartFormat
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext
    from flintstream.datastream.connectors.base import StreamTransformer


class OutputFileConfig:
    """The names of part files: ``<prefix>-<uuid>-<number><suffix>``.

    >>> config = OutputFileConfig.builder().with_part_prefix("sales").with_part_suffix(".csv").build()
    >>> config.get_part_prefix(), config.get_part_suffix()
    ('sales', '.csv')
    >>> builder = FileSink.for_row_format("/data/sales", Encoder.simple_string_encoder())
    >>> sink = builder.with_output_file_config(config).build()

    Raises:
        PlanError: The prefix or suffix is not valid in a file name.
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._names = PartNames(part_prefix, part_suffix)

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return the prefix of the names."""
        return self._names.prefix

    def get_part_suffix(self) -> str:
        """Return the suffix of the names."""
        return self._names.suffix

    class OutputFileConfigBuilder:
        """Builds an :class:`OutputFileConfig`. By default the prefix is "part" and the suffix is empty."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> Self:
            """Set the prefix of the names."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> Self:
            """Set the suffix of the names."""
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
    r"""Writes records to files in bucket directories, exactly once if checkpointing is on.

    A part file has a hidden name until the checkpoint that closes it completes (or the epoch, without checkpointing).
    Build a sink with :meth:`for_row_format`. By default, buckets are hours (``yyyy-MM-dd--HH``), and a file is closed
    at 128 MB, after a minute, or after a minute without writes. The sink checks this whenever records arrive, at the
    end of each epoch and, while the stream is idle, at the bucket check interval (60 s).

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    >>> with TemporaryDirectory() as directory:
    ...     builder = FileSink.for_row_format(directory, Encoder.simple_string_encoder())
    ...     sink = builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    ...     _ = env.from_collection(["to be", "or not"]).sink_to(sink)
    ...     _ = env.execute()
    ...     [part.read_text() for part in Path(directory).iterdir()]
    ['to be\nor not\n']
    """

    _check_interval = CHECK_INTERVAL_MS
    _compaction: CompactionSettings | None = None
    _replacement: Replacement | None = None
    _partitions: CompletePartitions | None = None

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
            partitions=self._partitions,
        )

    def create_committer(self) -> Committer:
        """Return the committer, which gives part files their final names."""
        return PartFileCommitter(self._base_path, self._names, self._replacement, self._partitions)

    class BaseBuilder:
        """Base class of the builders of file sinks."""

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
            """Set how often (ms) to look for files that are too old while the stream is idle; 60,000 by default."""
            if interval <= 0:
                raise PlanError(f"the bucket check interval must be positive, got {interval}")
            self._check_interval = interval
            return self

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> Self:
            """Set the assigner, which chooses the directory of each record."""
            if not isinstance(bucket_assigner, BucketAssigner):
                raise TypeError(f"with_bucket_assigner needs a BucketAssigner, not {bucket_assigner!r}")
            self._assigner = bucket_assigner
            return self

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
            """Set the names of part files."""
            if not isinstance(output_file_config, OutputFileConfig):
                raise TypeError(f"with_output_file_config needs an OutputFileConfig, not {output_file_config!r}")
            self._names = PartNames(output_file_config.get_part_prefix(), output_file_config.get_part_suffix())
            return self

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Set when a file is closed."""
            if not isinstance(rolling_policy, RollingPolicy):
                raise TypeError(f"with_rolling_policy needs a RollingPolicy, not {rolling_policy!r}")
            self._policy = rolling_policy
            return self

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Self:
            """Merge small files, before they become visible, into larger ones whose names begin with ``compacted-``.

            Each subtask merges its own files of a bucket. Each record still appears exactly once.

            Args:
                strategy: When to merge.
                compactor: How to merge.

            Raises:
                PlanError: The compactor concatenates, but concatenated files of this format are not valid.
            """
            if not isinstance(strategy, FileCompactStrategy):
                raise TypeError(f"enable_compact needs a FileCompactStrategy, not {strategy!r}")
            if not isinstance(compactor, FileCompactor):
                raise TypeError(f"enable_compact needs a FileCompactor, not {compactor!r}")
            if compactor.concatenates and not self._format.can_be_concatenated:
                raise PlanError(
                    "files of this format cannot be concatenated: "
                    "use FileCompactor.record_wise_file_compactor(reader, writer_factory)"
                )
            self._compaction = CompactionSettings(
                strategy.checkpoints, strategy.size_threshold, strategy.threads, compactor, strategy.target_size
            )
            return self

        def disable_compact(self) -> Self:
            """Do not merge files, as by default. Files that a checkpoint holds for a merge are committed unmerged."""
            self._compaction = None
            return self

        def build(self) -> FileSink:
            """Return the sink."""
            sink = self._made(self._base_path, self._format, self._assigner, self._policy, self._names)
            sink._check_interval = self._check_interval
            sink._compaction = self._compaction
            return sink

    class RowFormatBuilder(BaseBuilder):
        """Builds a sink that encodes record by record."""

    class BulkFormatBuilder(BaseBuilder):
        """Builds a sink that writes batches of records."""

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Accept the only policy that works with bulk formats.

            Raises:
                PlanError: The policy is a different one.
            """
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise PlanError("a bulk format needs the rolling policy RollingPolicy.on_checkpoint_rolling_policy()")
            return super().with_rolling_policy(rolling_policy)

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Return a builder of a sink that encodes record by record.

        Args:
            base_path: The directory to write to, with or without ``file://``, or a URI of an object store or another
                file system that fsspec supports. It is created if needed.
            encoder: The encoder, such as ``Encoder.simple_string_encoder()`` for one line per record.

        Raises:
            PlanError: The file system is unknown.
            MissingDependencyError: The client of the file system is not installed.
            TypeError: An argument is of a wrong type.
        """
        return FileSink.RowFormatBuilder(base_path, _rows(encoder), RollingPolicy.default_rolling_policy())

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        r"""Return a builder of a sink whose files are written as a whole; each ends at the next checkpoint.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.common import Row
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.formats.csv import CsvBulkWriters, CsvSchema
        >>> from flintstream.table.types import DataTypes
        >>> schema = CsvSchema.builder().add_string_column("name").add_number_column("age", DataTypes.INT()).build()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with TemporaryDirectory() as directory:
        ...     builder = FileSink.for_bulk_format(directory, CsvBulkWriters.for_schema(schema))
        ...     names = OutputFileConfig.builder().with_part_suffix(".csv").build()
        ...     sink = builder.with_output_file_config(names).build()
        ...     _ = env.from_collection([Row("ann", 30)], schema.type_info).sink_to(sink)
        ...     _ = env.execute()
        ...     [part.read_text() for part in Path(directory).rglob("*.csv")]
        ['ann,30\n']

        Args:
            base_path: As for :meth:`for_row_format`.
            writer_factory: Creates the writer of each file.

        Raises:
            PlanError: The file system is unknown.
            MissingDependencyError: The client of the file system is not installed.
            TypeError: An argument is of a wrong type.
        """
        return FileSink.BulkFormatBuilder(
            base_path, _bulks(writer_factory), RollingPolicy.on_checkpoint_rolling_policy()
        )


FileSink.BaseBuilder._made = FileSink


class StreamingFileSink(FileSink):
    """The older name of :class:`FileSink`, for ``add_sink``.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it is deprecated
    ...     sink = StreamingFileSink.for_row_format("/data/sales", Encoder.simple_string_encoder()).build()
    >>> isinstance(sink, FileSink)
    True
    """

    def __init__(
        self, base_path: str, file_format: PartFormat, assigner: BucketAssigner, policy: RollingPolicy, names: PartNames
    ) -> None:
        warnings.warn("StreamingFileSink is deprecated: use FileSink and sink_to", DeprecationWarning, stacklevel=3)
        super().__init__(base_path, file_format, assigner, policy, names)

    class BaseBuilder(FileSink.BaseBuilder):
        """Base class of both builders."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Self:
            """Set when a file is closed."""
            return super().with_rolling_policy(policy)

    class DefaultRowFormatBuilder(BaseBuilder, FileSink.RowFormatBuilder):
        """Builds a sink that encodes record by record."""

    class DefaultBulkFormatBuilder(BaseBuilder, FileSink.BulkFormatBuilder):
        """Builds a sink that writes batches of records."""

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Return a builder of a sink that encodes record by record, like :meth:`FileSink.for_row_format`."""
        policy = RollingPolicy.default_rolling_policy()
        return StreamingFileSink.DefaultRowFormatBuilder(base_path, _rows(encoder), policy)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Return a builder of a sink of files that end at checkpoints, like :meth:`FileSink.for_bulk_format`."""
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        return StreamingFileSink.DefaultBulkFormatBuilder(base_path, _bulks(writer_factory), policy)


StreamingFileSink.DefaultRowFormatBuilder._made = StreamingFileSink
StreamingFileSink.DefaultBulkFormatBuilder._made = StreamingFileSink


def replace_files(sink: FileSink, *, by_directory: bool) -> FileSink:
    """Return a sink whose files replace those that are there now, all or in the directories that get new ones."""
    made = copy(sink)
    old = [path for path in files_below(sink._base_path) if not posixpath.basename(path).startswith("_")]
    made._replacement = Replacement(tuple(old), by_directory)
    return made


def mark_partitions(sink: FileSink, name: str, delay: int, time_of: Callable[[str], int] | None) -> FileSink:
    """Return a sink that writes an empty file into directories when they are complete; see CompletePartitions."""
    made = copy(sink)
    made._partitions = CompletePartitions(sink._base_path, name, delay, time_of)
    return made
