from __future__ import annotations

import gzip
import random
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connectors.files.reading import read_file, read_with_interruptions, write_file, write_through_sink

from flintstream.common import Row, Types
from flintstream.connectors.files.csv import CsvReader
from flintstream.connectors.files.reader import FileSplit
from flintstream.datastream.connectors.file_system import BadRecord, BadRecordError, BadRecords, FileSource
from flintstream.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from flintstream.errors import PlanError
from flintstream.table.types import DataTypes


def schema(*columns, **kinds):
    made = CsvSchema.builder()
    for name in columns:
        made.add_string_column(name)
    for name, kind in kinds.items():
        made.add_number_column(name, kind)
    return made


ALL = (
    CsvSchema.builder()
    .add_number_column("i", DataTypes.INT())
    .add_number_column("l")
    .add_number_column("d", DataTypes.DOUBLE())
    .add_boolean_column("b")
    .add_string_column("s")
    .add_array_column("a", ";", DataTypes.INT())
)
TEXTS = schema("a", "b")
ONE = schema("a")
INT = schema(n=DataTypes.INT()).add_string_column("s")


def rows_of(builder, text, tmp_path, bad=BadRecords.FAIL):
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode())
    return read_file(CsvReaderFormat.for_schema(builder.build()).with_bad_records(bad), path)


# The records that PyFlink 2.3.0 reads from these files.
@pytest.mark.parametrize(
    ("builder", "text", "expected"),
    [
        (ALL, "1,2,3.5,true,x,1;2;3\n", [(1, 2, 3.5, True, "x", [1, 2, 3])]),
        (ALL, " 4 , 5 , 6.5 , TRUE , y , 1 ; 2 \n", [(4, 5, 6.5, True, " y ", [1, 2])]),
        (ALL, '+1,2,1e3,false,"a,""b",\n', [(1, 2, 1000.0, False, 'a,"b', [])]),
        (
            TEXTS,
            '"a\nb",c\nd"e,"f""g"\n "x" ,y\n"",z\r\np,q\rr,s',
            [("a\nb", "c"), ('d"e', 'f"g'), (' "x" ', "y"), ("", "z"), ("p", "q"), ("r", "s")],
        ),
        (TEXTS, '"a" ,b\n "a",b\n', [("a", "b"), (' "a"', "b")]),
        (TEXTS, "1,2,\n", [("1", "2")]),
        (ONE, "1\n\n2\n\n", [("1",), ("",), ("2",), ("",)]),
        (ONE, "\ufeffx\n", [("x",)]),
        (ONE, "", []),
        (
            schema("a", b=DataTypes.INT()).set_null_value("NULL"),
            'NULL,NULL\n"NULL",1\n,2\n',
            [(None, None), (None, 1), ("", 2)],
        ),
        (
            CsvSchema.builder().add_array_column("a").add_string_column("b").set_null_value("N"),
            "x;N,N\nN,1\n",
            [(["x", None], None), ([None], "1")],
        ),
        (
            CsvSchema.builder().add_array_column("a").add_array_column("b"),
            'x;y;;z,1;2\n a ; b ,\n;,q\n"p;q","r;""s"\n',
            [(["x", "y", "", "z"], ["1", "2"]), ([" a ", " b "], []), (["", ""], ["q"]), (["p", "q"], ["r", '"s'])],
        ),
        (schema("a", "b").set_use_header(), "a,b\nx,1\n", [("x", "1")]),
        (schema("a", "b").set_use_header(), "b,a\nx,1\n", [("x", "1")]),
        (schema("a", "b").set_skip_first_data_row(), "b,a\nx,1\n", [("x", "1")]),
        (schema("a", "b").set_use_header().set_skip_first_data_row(), "a,b\n1,2\n3,4\n", [("3", "4")]),
        (schema("a", "b").set_allow_comments(), '#b,"a\nx,1\n #y,2\n"#z",3\n', [("x", "1"), ("#z", "3")]),
        (
            schema("a", "b").set_escape_char("\\"),
            'a\\,b,c\n"x\\"y",z\n\\n,\\\\\n"p\nq",\\x\\t\n',
            [("a,b", "c"), ('x"y', "z"), ("\n", "\\"), ("p\nq", "x\t")],
        ),
        (schema("a", "b").disable_quote_char(), '"a,b"\n', [('"a', 'b"')]),
        (schema("a", "b").set_any_property_name("rest"), "1,2,3\n4,5\n", [("1", "2"), ("4", "5")]),
        (
            schema(f=DataTypes.FLOAT(), d=DataTypes.DECIMAL(6, 2)),
            "1.1,12.345\n1e3,7\n",
            [(1.100000023841858, Decimal("12.35")), (1000.0, Decimal("7.00"))],
        ),
        (schema(d=DataTypes.DECIMAL(4, 2)), "1234.5\n", [(None,)]),
        (schema(d=DataTypes.DOUBLE()), "Infinity\n1.5f\n0x1p3\n", [(float("inf"),), (1.5,), (8.0,)]),
        (CsvSchema.builder().add_boolean_column("b"), "yes\n1\nTrue\nfalse\n\n", [(b,) for b in (0, 0, 1, 0, 0)]),
    ],
)
def test_files_are_read_as_pyflink_reads_them(builder, text, expected, tmp_path):
    assert [tuple(row) for row in rows_of(builder, text, tmp_path)] == expected


@pytest.mark.parametrize(
    ("builder", "text", "line", "reason"),
    [
        (INT, "1,a\nx,b\n2,c\n", 2, "field 'n': 'x' is not a 32-bit integer"),
        (INT, "1,a\n,b\n", 2, "field 'n': '' is not a 32-bit integer"),
        (schema(n=DataTypes.INT()), "99999999999\n", 1, "is not a 32-bit integer"),
        (schema(n=DataTypes.TINYINT()), "1\n300\n", 2, "is not an 8-bit integer"),
        (schema(n=DataTypes.BIGINT()), "1\n1_0\n", 2, "is not a 64-bit integer"),
        (TEXTS, '"a\nb",c\n1\n', 3, "found 1 fields, but the schema has 2 columns"),
        (TEXTS, "1,2\n1,2,3\n", 2, "found 3 fields"),
        (TEXTS, "1,2\n\n", 2, "found 1 fields"),
        (TEXTS, '1,2\n"a"x,b\n', 2, "follows a closing quote"),
        (TEXTS, 'a,b\n"a,b\nc\n', 2, "closing quote"),
        (CsvSchema.builder().add_array_column("a", ";", DataTypes.INT()), "1;2\n1;;2\n", 2, "field 'a'"),
        (schema("a", "b").set_use_header().set_strict_headers(), "b,a\nx,1\n", 1, "the header .* must be a,b"),
    ],
)
def test_bad_records_are_named_by_file_and_line(builder, text, line, reason, tmp_path):
    with pytest.raises(BadRecordError, match=rf"(?s)f\.csv, line {line}: .*{reason}"):
        rows_of(builder, text, tmp_path)


@pytest.mark.parametrize("text", ["1,a\nx,b\n3,c\ny,d\n5,e\n", '1,a\n"x"z,b\n3,c\n,d\n5,e\n'])
def test_bad_records_are_passed_over_or_kept_if_the_program_says_so(text, tmp_path):
    assert [row.n for row in rows_of(INT, text, tmp_path, BadRecords.SKIP)] == [1, 3, 5]
    kept = rows_of(INT, text, tmp_path, BadRecords.KEEP)
    assert [value.line if isinstance(value, BadRecord) else value.n for value in kept] == [1, 2, 3, 4, 5]
    assert kept[3].text == text.split("\n")[3]


def test_a_source_that_keeps_bad_records_has_no_type(tmp_path):
    (tmp_path / "f").write_text("1,a\n")
    made = CsvReaderFormat.for_schema(INT.build())
    assert made.produced_type == Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])
    for what, typed in [(BadRecords.SKIP, True), (BadRecords.KEEP, False)]:
        source = FileSource.for_record_stream_format(made.with_bad_records(what), str(tmp_path)).build()
        assert (source.produced_type is not None) == typed
    assert made.bad_records is BadRecords.FAIL


FIELD = st.text(st.sampled_from('ab ,;"\n\r\\#é'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD), max_size=15),
    options=st.sets(st.sampled_from(["escape", "header", "tab", "crlf"])),
    chunk=st.integers(1, 20),
    seed=st.integers(0, 1000),
)
def test_what_is_written_is_read_wherever_reading_stops(rows, options, chunk, seed):
    builder = schema("a", "b")
    if "escape" in options:
        builder.set_escape_char("\\")
    if "header" in options:
        builder.set_use_header().set_strict_headers()
    if "tab" in options:
        builder.set_column_separator("\t")
    if "crlf" in options:
        builder.set_line_separator("\r\n")
    made = builder.build()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "f.csv")
        write_file(CsvBulkWriters.for_schema(made), path, [Row(*row) for row in rows])

        class Small(CsvReaderFormat):
            def create_reader(self):
                reader: Any = super().create_reader()
                return CsvReader(reader._layout, chunk=chunk)

        found = read_with_interruptions(Small(made), FileSplit("f", str(path)), random.Random(seed))
    assert [tuple(row) for row in found] == rows


# The output of PyFlink 2.3.0.
ROWS = [
    (1, 1.5, True, "x", ["p", "q"]),
    (-2, 1e10, False, 'a,"b"', []),
    (3, float("nan"), True, "new\nline", ["a b"]),
    (4, 0.0001, True, " sp ", ["a,b", ""]),
    (5, 2.0, False, "#c", ["x;y"]),
    (6, 3.0, True, "", ["z"]),
    (7, 3.0, True, "x" * 30, ["z"]),
]
WRITTEN = (
    '1,1.5,true,x,p;q\n-2,1.0E10,false,"a,""b""",\n3,NaN,true,"new\nline","a b"\n4,1.0E-4,true," sp ","a,b;"\n'
    f'5,2.0,false,"#c",x;y\n6,3.0,true,,z\n7,3.0,true,"{"x" * 30}",z\n'
)
IN_QUOTES = (
    "1|1.5|true|'x'|'p;q'\r\n-2|1.0E10|false|'a,\"b\"'|\r\n3|NaN|true|'new\nline'|'a b'\r\n"
    "4|1.0E-4|true|' sp '|'a,b;'\r\n5|2.0|false|'#c'|'x;y'\r\n6|3.0|true||'z'\r\n"
    f"7|3.0|true|'{'x' * 30}'|'z'\r\n"
)


def wide():
    made = CsvSchema.builder().add_number_column("i", DataTypes.INT()).add_number_column("d", DataTypes.DOUBLE())
    return made.add_boolean_column("b").add_string_column("s").add_array_column("a", ";")


@pytest.mark.parametrize(
    ("builder", "rows", "expected"),
    [
        (wide(), ROWS, WRITTEN),
        (wide().set_column_separator("|").set_line_separator("\r\n").set_quote_char("'"), ROWS, IN_QUOTES),
        (wide(), [(None,) * 5], ",,,,\n"),
        (wide().set_null_value("NULL"), [(None,) * 5], "NULL,NULL,NULL,NULL,NULL\n"),
        (wide().set_use_header(), ROWS[:1], "i,d,b,s,a\n1,1.5,true,x,p;q\n"),
        (wide().set_escape_char("\\"), [(8, 1.0, True, 'b\\c"d', ["e"])], '8,1.0,true,"b\\\\c""d",e\n'),
        (wide().disable_quote_char(), ROWS[1:2], '-2,1.0E10,false,a,"b",\n'),
        # Here PyFlink writes 1E+2.
        (schema(f=DataTypes.FLOAT(), d=DataTypes.DECIMAL(10, 3)), [(1.1, Decimal(100))], "1.1,100\n"),
    ],
)
def test_files_are_written_as_pyflink_writes_them(builder, rows, expected, tmp_path):
    write_file(CsvBulkWriters.for_schema(builder.build()), tmp_path / "f", [Row(*row) for row in rows])
    assert (tmp_path / "f").read_bytes().decode() == expected


def test_the_sink_writes_what_the_source_reads(tmp_path):
    made = wide().build()
    write_through_sink(CsvBulkWriters.for_schema(made), tmp_path, ROWS[:1], ROWS[5:6])
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(made), str(tmp_path)).build()
    splits: Any = source.create_enumerator(2).discover()
    found = [tuple(row) for split in splits for row in read_file(CsvReaderFormat.for_schema(made), split.path)]
    assert sorted(found) == [ROWS[0], ROWS[5]]


def test_compressed_files_are_read_and_their_lines_counted(tmp_path):
    path = tmp_path / "f.csv.gz"
    path.write_bytes(gzip.compress(b'1,"a\nb"\nx,c\n'))
    with pytest.raises(BadRecordError, match=r"f\.csv\.gz, line 3: .*'x'"):
        read_file(CsvReaderFormat.for_schema(INT.build()), path)


def test_long_fields_are_read(tmp_path):
    assert len(rows_of(TEXTS, f'"{"x" * 500_000}",y\n', tmp_path)[0].a) == 500_000


def test_wrong_arguments_are_refused_when_the_program_is_built():
    with pytest.raises(TypeError, match="needs a CsvSchema"):
        CsvReaderFormat.for_schema("a,b")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="at least one column"):
        CsvBulkWriters.for_schema(CsvSchema.builder().build())
    with pytest.raises(TypeError, match="one of BadRecords"):
        CsvReaderFormat.for_schema(TEXTS.build()).with_bad_records("skip")  # type: ignore[arg-type]
