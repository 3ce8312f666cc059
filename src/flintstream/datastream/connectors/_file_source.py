"""The file source."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.common.time import Duration
from flintstream.connectors.byte_streams import is_line_safe
from flintstream.connectors.file_systems import absolute_path, existing_path, is_hidden, list_files
from flintstream.connectors.files import FileMonitor, plan_splits
from flintstream.connectors.source import Boundedness, StaticEnumerator
from flintstream.connectors.text import TextLineReader
from flintstream.datastream.connectors.base import Source
from flintstream.errors import FlintstreamError, PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader, SplitEnumerator


class NotAvailableError(FlintstreamError, NotImplementedError):
    """Part of PyFlink's API that this version does not have yet."""


class FileEnumeratorProvider:
    """How the files under the source's paths are cut into splits."""

    def __init__(self, *, splittable: bool) -> None:
        self.splittable = splittable

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Cut large files into several splits where the format allows it. Hidden files ('.' and '_') are left out."""
        return FileEnumeratorProvider(splittable=True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Make every file one split. Hidden files ('.' and '_') are left out."""
        return FileEnumeratorProvider(splittable=False)


class FileSplitAssignerProvider:
    """Which subtask reads which split. There is one way: Spark places the tasks."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the assigner."""
        return FileSplitAssignerProvider()


class StreamFormat:
    """Reads records from a file one by one; made by :meth:`text_line_format` or one of ``datastream.formats``."""

    splittable: bool = False
    """Whether several subtasks may read parts of one (uncompressed) file."""

    def create_reader(self) -> SourceReader:
        """Return a reader of :class:`~flintstream.connectors.text.FileSplit`; called in the tasks."""
        raise NotAvailableError(f"the format {type(self).__name__} is not available in this version of flintstream")

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        raise NotAvailableError(f"the format {type(self).__name__} is not available in this version of flintstream")

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        r"""Read lines of text as ``Types.STRING()``, without their line ends (``\n``, ``\r\n`` or ``\r``).

        Raises:
            PlanError: There is no such charset.
        """
        return _TextLines(charset_name)


class _TextLines(StreamFormat):
    def __init__(self, charset: str) -> None:
        try:
            self.splittable = is_line_safe(charset)
        except (LookupError, TypeError, UnicodeError):
            raise PlanError(f"there is no charset {charset!r}") from None
        self._charset = charset

    def create_reader(self) -> SourceReader:
        return TextLineReader(self._charset)

    @property
    def produced_type(self) -> TypeInformation:
        from flintstream.common.typeinfo import Types  # noqa: PLC0415

        return Types.STRING()


class BulkFormat(StreamFormat):
    """Reads whole batches of records, such as ORC or Parquet. Made by a class of ``datastream.formats``."""


class FileSource(Source):
    """Reads the files under one or several paths, directories recursively.

    Files and directories whose names begin with '.' or '_' are left out, compressed files (.gz, .gzip, .bz2, .xz,
    .deflate, .zst) are decompressed. Built by :meth:`for_record_stream_format`.
    """

    def __init__(
        self, file_format: StreamFormat, paths: Sequence[str], *, splittable: bool, interval_ms: int | None
    ) -> None:
        self._format = file_format
        self._paths = paths
        self._splittable = splittable
        self._interval_ms = interval_ms
        self.boundedness = Boundedness.BOUNDED if interval_ms is None else Boundedness.CONTINUOUS_UNBOUNDED

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Begin to build a source that reads record by record.

        Args:
            stream_format: Such as ``StreamFormat.text_line_format()``.
            *paths: Files or directories, with or without ``file://``; relative ones start from where the program runs.

        Raises:
            PlanError: A path is of a file system that is not available, or there is none.
            TypeError: An argument is of a wrong type.
            NotAvailableError: The format is not available in this version.
        """
        return FileSourceBuilder(stream_format, *paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Begin to build a source that reads batches of records; else like :meth:`for_record_stream_format`."""
        return FileSourceBuilder(bulk_format, *paths)

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return self._format.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the files that are there now or, when monitoring, of all that will ever be."""
        if self._interval_ms is not None:
            return FileMonitor(self._paths, parallelism, self._interval_ms, splittable=self._splittable)
        return StaticEnumerator(plan_splits(list(list_files(self._paths)), parallelism, splittable=self._splittable))

    def create_reader(self) -> SourceReader:
        """Return the format's reader."""
        return self._format.create_reader()


class FileSourceBuilder:
    """Builds a :class:`FileSource`."""

    def __init__(self, file_format: StreamFormat, *paths: str) -> None:
        if not isinstance(file_format, StreamFormat):
            raise TypeError(f"a FileSource needs a StreamFormat or BulkFormat, not {file_format!r}")
        if type(file_format).create_reader is StreamFormat.create_reader:
            file_format.create_reader()  # says that it is not available
        if not paths:
            raise PlanError("a FileSource needs at least one path")
        self._format = file_format
        self._paths = [absolute_path(path) for path in paths]
        self._enumerator = FileEnumeratorProvider.default_splittable_file_enumerator()
        self._interval_ms: int | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Make the source unbounded: look for new files again and again, with this pause in between.

        Raises:
            PlanError: The interval is not positive.
        """
        interval_ms = Duration.of(discovery_interval).to_millis()
        if interval_ms <= 0:
            raise PlanError(f"the discovery interval of a FileSource must be positive, not {discovery_interval}")
        self._interval_ms = interval_ms
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Make the source bounded: read the files that are there when the job starts. That is the default."""
        self._interval_ms = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Say how files are cut into splits."""
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise TypeError(f"set_file_enumerator needs a FileEnumeratorProvider, not {file_enumerator!r}")
        self._enumerator = file_enumerator
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Say which subtask reads which split."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeError(f"set_split_assigner needs a FileSplitAssignerProvider, not {split_assigner!r}")
        return self

    def build(self) -> FileSource:
        """Return the source.

        Raises:
            FileNotFoundError: A path does not exist.
        """
        for path in self._paths:
            existing_path(path)
            if is_hidden(path):
                warnings.warn(
                    f"nothing is read from {path}: names that begin with '.' or '_' are left out", stacklevel=2
                )
        splittable = self._format.splittable and self._enumerator.splittable
        return FileSource(self._format, self._paths, splittable=splittable, interval_ms=self._interval_ms)
