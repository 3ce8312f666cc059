# mypy: disable-error-code="import-not-found,import-untyped"
"""Files of separated values, and files that are merged."""

from __future__ import annotations

import re

from pyflink.common import Encoder, Row, Types, WatermarkStrategy
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)
from pyflink.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflink.table import DataTypes
from tests.conformance.registry import collected, program


def repr_of(row):
    return repr(row)


def rows(env, directory, schema, text):
    path = directory / "file.csv"
    path.write_text(text, encoding="utf-8", newline="")
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema.build()), str(path)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows")
    return stream.map(repr_of, output_type=Types.STRING())


@program(directory=True)
def csv_rows_of_every_type(env, directory):
    schema = (
        CsvSchema.builder()
        .add_number_column("t", DataTypes.TINYINT())
        .add_number_column("i", DataTypes.INT())
        .add_number_column("l")
        .add_number_column("f", DataTypes.FLOAT())
        .add_number_column("d", DataTypes.DOUBLE())
        .add_number_column("m", DataTypes.DECIMAL(6, 2))
        .add_boolean_column("b")
        .add_string_column("s")
        .add_array_column("a", ";", DataTypes.INT())
    )
    text = (
        "1,2,3,1.1,2.5,12.345,true,x,1;2;3\n"
        '-128, 4 , 5 ,1e3,Infinity,7,TRUE,"a,""b",\n'
        "127,+4,-5,0.5,0x1p3,123456.7,yes, y , 1 ; 2 \n"
    )
    return rows(env, directory, schema, text)


@program(directory=True)
def csv_quotes_line_ends_and_blank_lines(env, directory):
    schema = CsvSchema.builder().add_string_column("a").add_string_column("b")
    text = '"a\nb",c\nd"e,"f""g"\n "x" ,y\n"",z\r\np,q\r"r" ,s\n1,2,\n"long\nlong\n\nlong",t'
    return rows(env, directory, schema, text)


@program(directory=True)
def csv_with_header_comments_and_nulls(env, directory):
    schema = CsvSchema.builder().add_string_column("a").add_array_column("b").set_null_value("N")
    schema.set_use_header().set_skip_first_data_row().set_allow_comments()
    text = 'x,y\nskipped,1\n#b,"a\nx,1;N\n #y,2\n"#z",N\nN,\n,;\n'
    return rows(env, directory, schema, text)


@program(directory=True)
def csv_with_an_escape_character(env, directory):
    schema = CsvSchema.builder().add_string_column("a").add_string_column("b").set_escape_char("\\")
    return rows(env, directory, schema, 'a\\,b,c\n"x\\"y",z\n\\n,\\\\\n"p\nq",\\x\\t\n')


@program(directory=True)
def csv_with_other_characters(env, directory):
    schema = CsvSchema.builder().add_string_column("a").add_array_column("b", "|").set_column_separator(";")
    return rows(env, directory, schema.set_quote_char("'"), "x;1|2|\n'y;';\n\"z;5\n")


def written(env, directory, values, schema, types):
    target = directory / "out"
    sink = FileSink.for_bulk_format(str(target), CsvBulkWriters.for_schema(schema.build()))
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    env.from_collection(values, types).sink_to(sink)
    env.execute("write")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(target)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")


def schema_of_five():
    made = CsvSchema.builder().add_number_column("i", DataTypes.INT()).add_number_column("d", DataTypes.DOUBLE())
    return made.add_boolean_column("b").add_string_column("s").add_array_column("a", ";")


def five_types():
    types = [Types.INT(), Types.DOUBLE(), Types.BOOLEAN(), Types.STRING(), Types.OBJECT_ARRAY(Types.STRING())]
    return Types.ROW_NAMED(["i", "d", "b", "s", "a"], types)


VALUES = [
    Row(1, 1.5, True, "x", ["p", "q"]),
    Row(-2, 1e10, False, 'a,"b"', []),
    Row(3, float("nan"), True, "b\\c", ["a b"]),
    Row(4, 0.0001, True, " sp ", ["a,b", ""]),
    Row(5, 2.0, False, "#c", ["x;y"]),
    Row(6, 3.0, True, "", ["z"]),
    Row(7, 3.0, True, "x" * 30, ["z"]),
]


@program(("STREAMING", "BATCH"), directory=True)
def csv_files_are_written(env, directory):
    return written(env, directory, VALUES, schema_of_five(), five_types())


@program(directory=True)
def csv_files_are_written_with_header_and_other_characters(env, directory):
    schema = schema_of_five().set_use_header().set_column_separator("|").set_quote_char("'").set_escape_char("\\")
    return written(env, directory, [*VALUES, Row(8, 1.0, None, None, None)], schema.set_null_value("N"), five_types())


@program(("BATCH",), directory=True)
def files_are_merged(env, directory):
    """The name begins with another word, and the delimiter follows each file."""
    target = directory / "out"
    names = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".ext").build()
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2).set_size_threshold(1000).build()
    sink = FileSink.for_row_format(str(target), Encoder.simple_string_encoder())
    sink = sink.with_output_file_config(names).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    sink = sink.enable_compact(strategy, FileCompactor.concat_file_compactor(b"--")).build()
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink).uid("sink")
    env.execute("write")
    found = sorted((path.name, path.read_text()) for path in target.iterdir())
    uid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    return collected([(uid.sub("UID", name), text) for name, text in found])
