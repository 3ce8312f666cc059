"""The formats of the files that a file source reads."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_co
from flintstream.common.serialization import DeserializationSchema
from flintstream.common.typeinfo import Types
from flintstream.connectors.files.bad_records import BadRecord, BadRecords
from flintstream.connectors.files.byte_streams import is_line_safe
from flintstream.connectors.files.lines import RecordLineReader
from flintstream.connectors.files.text import TextLineReader
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader
    from flintstream.datastream.output_tag import OutputTag


class StreamFormat(Generic[T_co]):
    r"""Reads the records of a file one by one. See :meth:`text_line_format` and ``datastream.formats``.

    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common.watermark_strategy import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "words.txt").write_text("Zürich\n", encoding="latin-1")
    ...     latin = StreamFormat.text_line_format("latin-1")
    ...     source = FileSource.for_record_stream_format(latin, directory).build()
    ...     words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    ...     list(words.execute_and_collect(limit=9))
    ['Zürich']
    >>> latin.produced_type
    String
    """

    splittable: bool = False
    """Whether several subtasks may read parts of an uncompressed file."""

    def create_reader(self) -> SourceReader:
        r"""Return a reader of file splits; called in the tasks.

        >>> from flintstream.connectors.source import Fetch
        >>> from flintstream.datastream.connectors.file_system import FileSource
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> form = StreamFormat.text_line_format()
        >>> with TemporaryDirectory() as directory:
        ...     _ = Path(directory, "words.txt").write_text("to be\nor not\n")
        ...     source = FileSource.for_record_stream_format(form, directory).build()
        ...     (split,) = source.create_enumerator(1).discover()
        ...     list(form.create_reader().read(split, Fetch()))
        [['to be', 'or not']]
        """
        raise PlanError(f"{type(self).__name__} cannot read files: it does not override create_reader()")

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records; None for any Python object.

        >>> from flintstream.common import Types
        >>> from flintstream.datastream.formats.json import JsonRowDeserializationSchema
        >>> person = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        >>> schema = JsonRowDeserializationSchema.builder().type_info(person).build()
        >>> StreamFormat.message_line_format(schema).produced_type
        RowTypeInfo(name: String, age: Integer)
        """
        return None

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat[str]:
        r"""Read lines of text as ``Types.STRING()``, without their line ends (``\n``, ``\r\n`` or ``\r``).

        Raises:
            PlanError: The charset is unknown.
        """
        return _TextLines(charset_name)

    @staticmethod
    def message_line_format(
        deserialization_schema: DeserializationSchema[T], charset_name: str = "UTF-8"
    ) -> RecordFormat[T]:
        r"""Read a record from each line, such as JSON lines with a ``JsonRowDeserializationSchema``.

        PyFlink has no such method. Lines for which the schema returns None are skipped.

        >>> from flintstream.datastream.connectors.file_system import FileSource
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.common import Types
        >>> from flintstream.common.watermark_strategy import WatermarkStrategy
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.datastream.formats.json import JsonRowDeserializationSchema
        >>> person = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        >>> schema = JsonRowDeserializationSchema.builder().type_info(person).build()
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with TemporaryDirectory() as directory:
        ...     _ = Path(directory, "people.json").write_text('{"name": "ann", "age": 30}\n')
        ...     lines = StreamFormat.message_line_format(schema)
        ...     source = FileSource.for_record_stream_format(lines, directory).build()
        ...     people = env.from_source(source, WatermarkStrategy.no_watermarks(), "people")
        ...     list(people.execute_and_collect(limit=9))
        [Row(name='ann', age=30)]

        Raises:
            TypeError: ``schema`` is not a ``DeserializationSchema``.
            PlanError: The charset is unknown.
        """
        return _MessageLines(deserialization_schema, charset_name)


def _can_split(charset: str) -> bool:
    try:
        return is_line_safe(charset)
    except (LookupError, TypeError, UnicodeError):
        raise PlanError(f"unknown charset {charset!r}") from None


class RecordFormat(StreamFormat[T_co]):
    """A format in which single records can be malformed.

    >>> from flintstream.datastream.connectors.file_system import FileSource
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import WatermarkStrategy
    >>> from flintstream.connectors.files.bad_records import BadRecords
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.formats.csv import CsvReaderFormat, CsvSchema
    >>> numbers = CsvReaderFormat.for_schema(CsvSchema.builder().add_number_column("n").build())
    >>> lenient = numbers.with_bad_records(BadRecords.SKIP)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "numbers.csv").write_text("1 two 3".replace(" ", chr(10)))
    ...     source = FileSource.for_record_stream_format(lenient, directory).build()
    ...     rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    ...     sorted(row.n for row in rows.execute_and_collect(limit=9))
    [1, 3]
    """

    bad_records: BadRecords = BadRecords.FAIL

    def with_bad_records(self, what: BadRecords) -> Self:
        """Return this format with a different handling of malformed records than failing the job.

        Args:
            what: With ``BadRecords.KEEP`` the stream also contains
                :class:`~flintstream.connectors.files.bad_records.BadRecord` objects and has no type.
                :class:`DivertBadRecords` moves them to a side output.
        """
        if not isinstance(what, BadRecords):
            raise TypeError(f"with_bad_records needs one of BadRecords, not {what!r}")
        made = copy(self)
        made.bad_records = what
        return made


class DivertBadRecords(ProcessFunction):
    """Moves bad records that a source has kept to a side output, and forwards all others.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import OutputTag
    >>> divert = DivertBadRecords(OutputTag("bad", Types.STRING()))

    After ``stream = env.from_source(...).process(divert, output_type=Types.ROW([...]))``, the side output
    ``stream.get_side_output(tag)`` has the bad records as strings with file, line and reason.
    """

    def __init__(self, tag: OutputTag) -> None:
        self._tag = tag

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterator[Any]:
        """Send bad records to the side output and forward others."""
        yield (self._tag, str(value)) if isinstance(value, BadRecord) else value


class _MessageLines(RecordFormat[T_co]):
    def __init__(self, schema: DeserializationSchema[T_co], charset: str) -> None:
        if not isinstance(schema, DeserializationSchema):
            raise TypeError(f"message_line_format needs a DeserializationSchema, not {schema!r}")
        self.splittable = _can_split(charset)
        self._schema = schema
        self._charset = charset

    def create_reader(self) -> SourceReader:
        return RecordLineReader(self._schema, self._charset, self.bad_records)

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        return self._schema.get_produced_type()


class _TextLines(StreamFormat[str]):
    def __init__(self, charset: str) -> None:
        self.splittable = _can_split(charset)
        self._charset = charset

    def create_reader(self) -> SourceReader:
        return TextLineReader(self._charset)

    @property
    def produced_type(self) -> TypeInformation[str]:
        return Types.STRING()


class BulkFormat(StreamFormat[T_co]):
    """Reads records in batches, such as ORC or Parquet. Classes of ``datastream.formats`` create it.

    >>> from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat
    >>> from flintstream.table import DataTypes
    >>> words = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING())])
    >>> isinstance(ParquetColumnarRowInputFormat(words), BulkFormat)
    True
    """
