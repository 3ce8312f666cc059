"""The file source."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T_co
from flintstream.common._text.secrets import shown_path
from flintstream.common.time import Duration
from flintstream.connectors.files.bad_records import BadRecords
from flintstream.connectors.files.enumerator import FileMonitor, is_hidden, list_files, plan_splits
from flintstream.connectors.source import Boundedness, StaticEnumerator
from flintstream.datastream.connectors._file_formats import StreamFormat
from flintstream.datastream.connectors.base import Source
from flintstream.errors import PlanError
from flintstream.storage.reading import exists, reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader, SplitEnumerator
    from flintstream.datastream.connectors._file_formats import BulkFormat


class FileEnumeratorProvider:
    """Decides how to cut the files under the source's paths into splits.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "words.txt").write_bytes(bytes(20_000_000))
    ...     for provider in (
    ...         FileEnumeratorProvider.default_splittable_file_enumerator(),
    ...         FileEnumeratorProvider.default_non_splittable_file_enumerator(),
    ...     ):
    ...         builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory)
    ...         source = builder.set_file_enumerator(provider).build()
    ...         print(len(source.create_enumerator(4).discover()), "splits")
    4 splits
    1 splits
    """

    def __init__(self, *, splittable: bool, keep: Callable[[str], bool] | None = None) -> None:
        """Take whether large files may be cut, and which paths of files are read; by default all."""
        self.splittable = splittable
        self.keep = keep

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Cut large files into several splits if the format allows it. Hidden files ('.' and '_') are skipped."""
        return FileEnumeratorProvider(splittable=True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read every file as one split. Hidden files ('.' and '_') are skipped."""
        return FileEnumeratorProvider(splittable=False)


class FileSplitAssignerProvider:
    """Assigns splits to subtasks. There is only one way, because Spark places the tasks.

    >>> from tempfile import gettempdir
    >>> builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), gettempdir())
    >>> source = builder.set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner()).build()
    """

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the assigner."""
        return FileSplitAssignerProvider()


class FileSource(Source[T_co]):
    r"""Reads the files under one or more paths, recursively.

    It skips files and directories whose names begin with '.' or '_', and decompresses compressed files (.gz, .gzip,
    .bz2, .xz, .deflate, .zst). Build a source with :meth:`for_record_stream_format`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common.watermark_strategy import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "words.txt").write_text("to be\nor not\n")
    ...     source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()
    ...     lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    ...     sorted(lines.execute_and_collect(limit=9))
    ['or not', 'to be']
    >>> source.produced_type
    String
    """

    def __init__(
        self,
        file_format: StreamFormat[T_co],
        paths: Sequence[str],
        *,
        splittable: bool,
        interval_ms: int | None,
        keep: Callable[[str], bool] | None = None,
    ) -> None:
        self._format = file_format
        self._paths = paths
        self._splittable = splittable
        self._interval_ms = interval_ms
        self._keep = keep
        self.boundedness = Boundedness.BOUNDED if interval_ms is None else Boundedness.CONTINUOUS_UNBOUNDED

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat[T], *paths: str) -> FileSourceBuilder[T]:
        """Return a builder of a source that reads record by record.

        Args:
            stream_format: The format, such as ``StreamFormat.text_line_format()``.
            *paths: Files or directories, with or without ``file://``, relative to the working directory.

        Raises:
            PlanError: There is no path, or the file system of a path is unknown.
            MissingDependencyError: The client of a file system is not installed.
            TypeError: An argument is of a wrong type.
        """
        return FileSourceBuilder(stream_format, *paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat[T], *paths: str) -> FileSourceBuilder[T]:
        """Return a builder of a source that reads records in batches; else like :meth:`for_record_stream_format`.

        >>> from tempfile import gettempdir
        >>> from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat
        >>> from flintstream.table.types import DataTypes
        >>> row = DataTypes.ROW([DataTypes.FIELD("name", DataTypes.STRING()), DataTypes.FIELD("age", DataTypes.INT())])
        >>> people = ParquetColumnarRowInputFormat(row_type=row)
        >>> FileSource.for_bulk_file_format(people, gettempdir()).build().produced_type
        RowTypeInfo(name: String, age: Integer)
        """
        return FileSourceBuilder(bulk_format, *paths)

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records; None if there may be bad records among them.

        >>> from tempfile import gettempdir
        >>> FileSource.for_record_stream_format(StreamFormat.text_line_format(), gettempdir()).build().produced_type
        String
        """
        keeps = getattr(self._format, "bad_records", None) is BadRecords.KEEP
        return None if keeps else self._format.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator of the files that exist now or, when monitoring, of future ones as well."""
        if self._interval_ms is not None:
            every = self._interval_ms
            return FileMonitor(self._paths, parallelism, every, splittable=self._splittable, keep=self._keep)
        files = list(list_files(self._paths, self._keep))
        return StaticEnumerator(plan_splits(files, parallelism, splittable=self._splittable))

    def create_reader(self) -> SourceReader:
        """Return the format's reader."""
        return self._format.create_reader()


class FileSourceBuilder(Generic[T_co]):
    """Builds a :class:`FileSource`.

    >>> from tempfile import gettempdir
    >>> builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), gettempdir())
    >>> builder.process_static_file_set().build().get_boundedness().name
    'BOUNDED'
    >>> builder.monitor_continuously(Duration.of_seconds(10)).build().get_boundedness().name
    'CONTINUOUS_UNBOUNDED'
    >>> whole_files = FileEnumeratorProvider.default_non_splittable_file_enumerator()
    >>> assigner = FileSplitAssignerProvider.locality_aware_split_assigner()
    >>> source = builder.set_file_enumerator(whole_files).set_split_assigner(assigner).build()
    """

    def __init__(self, file_format: StreamFormat[T_co], *paths: str) -> None:
        if not isinstance(file_format, StreamFormat):
            raise TypeError(f"a FileSource needs a StreamFormat or BulkFormat, not {file_format!r}")
        if type(file_format).create_reader is StreamFormat.create_reader:
            file_format.create_reader()  # raises an error if reading is not available
        if not paths:
            raise PlanError("a FileSource needs at least one path")
        self._format = file_format
        self._paths = [reachable(path) for path in paths]
        self._enumerator = FileEnumeratorProvider.default_splittable_file_enumerator()
        self._interval_ms: int | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> Self:
        """Make the source unbounded: look for new files at this interval.

        Raises:
            PlanError: The interval is not positive.
        """
        interval_ms = Duration.of(discovery_interval).to_millis()
        if interval_ms <= 0:
            raise PlanError(f"the discovery interval of a FileSource must be positive, got {discovery_interval}")
        self._interval_ms = interval_ms
        return self

    def process_static_file_set(self) -> Self:
        """Make the source bounded, which is the default: read the files that exist when the job starts."""
        self._interval_ms = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> Self:
        """Set how files are cut into splits."""
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise TypeError(f"set_file_enumerator needs a FileEnumeratorProvider, not {file_enumerator!r}")
        self._enumerator = file_enumerator
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> Self:
        """Set which subtask reads which split."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeError(f"set_split_assigner needs a FileSplitAssignerProvider, not {split_assigner!r}")
        return self

    def build(self) -> FileSource[T_co]:
        """Return the source.

        Raises:
            FileNotFoundError: A path does not exist.
        """
        made = build_unchecked(self)
        check_paths(made)
        return made


def build_unchecked(builder: FileSourceBuilder[T_co]) -> FileSource[T_co]:
    """Return the source, whose paths may not exist yet."""
    splittable = builder._format.splittable and builder._enumerator.splittable
    keep = builder._enumerator.keep
    return FileSource(
        builder._format, builder._paths, splittable=splittable, interval_ms=builder._interval_ms, keep=keep
    )


def check_paths(source: FileSource[object]) -> None:
    """Warn of paths from which nothing is read.

    Raises:
        FileNotFoundError: A path does not exist.
    """
    for path in source._paths:
        if not exists(path):
            raise FileNotFoundError(f"the input path {shown_path(path)} does not exist")
        if is_hidden(path):
            warnings.warn(
                f"nothing is read from {shown_path(path)}: names that begin with '.' or '_' are skipped",
                stacklevel=3,
            )
