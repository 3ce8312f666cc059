# mypy: disable-error-code="import-not-found,import-untyped"
"""Declared types, rows, and sources."""

import datetime as dt
import decimal
import gzip

from pyflink.common import Encoder, Instant, Row, RowKind, Types, WatermarkStrategy
from pyflink.datastream.connectors.file_system import FileSink, FileSource, OutputFileConfig, StreamFormat
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from tests.conformance.registry import program


@program(("STREAMING", "BATCH"))
def untyped_collection(env):
    return env.from_collection([1, "a", None, (1, "b"), {"k": [1, 2]}, [True], 2.5, b"raw", {3}])


@program(("STREAMING", "BATCH"))
def typed_tuples(env):
    return env.from_collection(
        [(1, "a", 0.5, True), (-2, "b c", 1e10, False)],
        Types.TUPLE([Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN()]),
    )


@program()
def typed_rows(env):
    rows = env.from_collection([Row(1, "a"), Row(2, "b")], Types.ROW([Types.INT(), Types.STRING()]))
    return [rows, rows.map(lambda row: (row[1], row[0], len(row)))]


@program()
def named_rows_have_three_ways_to_a_field(env):
    people = env.from_collection(
        [(1, "Ann"), (2, "Bob")], type_info=Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    )
    return [
        people.map(lambda p: (p.id, p["name"], p[1])),
        people.map(lambda p: (repr(p), str(p), p.as_dict(), "name" in p)),
        people,
    ]


@program()
def rows_from_dicts_and_keyword_rows(env):
    row_type = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    rows = env.from_collection([Row(id=1, name="Ann"), {"id": 2, "name": "Bob"}], row_type)
    return [rows, rows.map(lambda row: Row(key=row.id, text=row.name.upper()))]


@program()
def row_kinds(env):
    row_type = Types.ROW([Types.STRING(), Types.INT()])
    deletion = Row("b", 2)
    deletion.set_row_kind(RowKind.DELETE)
    rows = env.from_collection([Row("a", 1), deletion, Row.of_kind(RowKind.UPDATE_AFTER, "c", 3)], row_type)
    return [rows, rows.map(lambda row: (row.get_row_kind().name, row[0]))]


@program()
def nested_rows_and_tuples(env):
    nested = Types.ROW_NAMED(
        ["id", "place"], [Types.INT(), Types.ROW_NAMED(["city", "zip"], [Types.STRING(), Types.INT()])]
    )
    pairs = Types.TUPLE([Types.TUPLE([Types.INT(), Types.INT()]), Types.STRING()])
    rows = env.from_collection([Row(1, Row("Berlin", 10115)), Row(2, Row(None, 0))], nested)
    tuples = env.from_collection([((1, 2), "x")], pairs)
    return [
        rows,
        rows.map(lambda row: (row.place.city, row["place"]["zip"])),
        tuples,
        tuples.map(lambda t: (t[1], t[0][1], t[0])),
    ]


@program()
def floats_have_32_bits(env):
    floats = env.from_collection([(110.1,), (0.1,), (1e30,)], Types.TUPLE([Types.FLOAT()]))
    return [floats, floats.map(lambda t: t[0])]


@program()
def a_float_result_is_narrowed_at_the_next_exchange(env):
    narrowed = env.from_collection([1.1, 2.2]).map(lambda x: x, Types.FLOAT())
    return [narrowed, narrowed.key_by(lambda x: x > 2).map(lambda x: x)]


@program()
def doubles_as_text(env):
    values = [0.1, 1.0, 100.0, 1e7, 1.5e-5, 123456789.125, float("inf"), float("nan"), -0.0]
    return env.from_collection(values, Types.DOUBLE())


@program()
def integers_of_all_widths(env):
    kinds = Types.TUPLE([Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG()])
    records = [(1, 2, 3, 4), (-128, -32768, -(2**31), -(2**63)), (127, 32767, 2**31 - 1, 2**63 - 1)]
    numbers = env.from_collection(records, kinds)
    return [numbers, numbers.map(lambda t: t)]


@program()
def integers_out_of_range(env):
    """They wrap around when they come from a collection; from a function they are an OverflowError."""
    return [
        env.from_collection([128, 300, -129], Types.BYTE()),
        env.from_collection([32768, 70000], Types.SHORT()),
        env.from_collection([2**31, 2**32 + 5], Types.INT()),
    ]


@program()
def booleans_and_strings(env):
    flags = env.from_collection([True, False], Types.BOOLEAN())
    texts = env.from_collection(["", "ä€😀", "a b", "x,y"], Types.STRING())
    return [flags, flags.map(lambda f: not f, Types.BOOLEAN()), texts, texts.map(lambda s: (s, len(s)))]


@program()
def big_integers(env):
    """They can be printed; functions that use them fail, and so does a collection with one that fits a long."""
    return env.from_collection([(2**80, "a"), (-(2**70), "b")], Types.TUPLE([Types.BIG_INT(), Types.STRING()]))


@program()
def big_decimals(env):
    kind = Types.TUPLE([Types.BIG_DEC()])
    numbers = env.from_collection([(decimal.Decimal("123.450"),), (decimal.Decimal("-0.00001"),)], kind)
    return [numbers, numbers.map(lambda t: t[0] * 2)]


@program()
def big_decimals_in_a_function(env):
    words = env.from_collection(["123.450", "-0.5"])
    decimals = words.map(decimal.Decimal, Types.BIG_DEC())
    return [decimals, decimals.key_by(lambda d: 1).map(lambda d: d * 2)]


@program()
def dates_and_times(env):
    kinds = Types.ROW([Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()])
    moments = env.from_collection(
        [
            Row(
                dt.date(2024, 2, 29),
                dt.time(12, 30, 15),
                dt.datetime(2024, 2, 29, 12, 30, 15, 123000),
            ),
            Row(dt.date(1969, 12, 31), dt.time(0, 0), dt.datetime(1970, 1, 1)),
        ],
        kinds,
    )
    return moments.map(lambda row: (row[0].isoformat(), row[1].isoformat(), row[2].isoformat()))


@program()
def instants(env):
    moments = env.from_collection([Instant.of_epoch_milli(1500), Instant(2, 5_000_000)], Types.INSTANT())
    return [moments, moments.map(lambda moment: moment.to_epoch_milli(), Types.LONG())]


@program()
def instants_finer_than_milliseconds(env):
    """Fractions of a millisecond are lost when they come from a collection."""
    return env.from_collection([Instant(2, 5_006_007)], Types.INSTANT())


@program()
def maps(env):
    kind = Types.MAP(Types.STRING(), Types.INT())
    tables = env.from_collection([{"a": 1}, {}, {"b": 2}], kind)
    return [
        tables,
        tables.map(lambda table: sorted(table.items())),
        tables.map(lambda table: {**table, "z": 26}.get("z")),
    ]


@program()
def lists(env):
    """A collection with a LIST type cannot be made (ClassCastException); the result of a function can."""
    numbers = env.from_collection([[1, 2, 3], []]).map(list, Types.LIST(Types.INT()))
    return [numbers, numbers.map(lambda items: [*items, sum(items)], Types.LIST(Types.INT()))]


@program()
def basic_arrays(env):
    kind = Types.ROW([Types.BASIC_ARRAY(Types.STRING()), Types.BASIC_ARRAY(Types.INT())])
    rows = env.from_collection([Row(["a", "b"], [1, 2, 3])], kind)
    return rows.map(lambda row: (list(row[0]), list(row[1])))


@program()
def primitive_arrays(env):
    kind = Types.TUPLE([Types.PRIMITIVE_ARRAY(Types.LONG()), Types.PRIMITIVE_ARRAY(Types.BYTE())])
    arrays = env.from_collection([([1, 2, 3], b"ab")], kind)
    return arrays.map(lambda t: (list(t[0]), bytes(t[1])))


@program()
def object_arrays(env):
    kind = Types.OBJECT_ARRAY(Types.TUPLE([Types.STRING(), Types.INT()]))
    arrays = env.from_collection([[("a", 1), ("b", 2)]], kind)
    return arrays.map(lambda items: [tuple(item) for item in items])


@program()
def none_in_nullable_fields(env):
    row_type = Types.ROW_NAMED(["id", "name", "price"], [Types.INT(), Types.STRING(), Types.BIG_DEC()])
    rows = env.from_collection([Row(1, None, decimal.Decimal("1.5")), Row(2, "b", None)], row_type)
    return [rows, rows.map(lambda row: (row.name is None, row.price))]


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


@program()
def objects_of_a_class_of_the_program(env):
    points = env.from_collection([Point(1, 2), Point(3, 4)])
    return points.map(lambda p: Point(p.y, p.x)).key_by(lambda p: p.x).map(lambda p: (p, p.x + p.y))


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def number_sequence(env):
    """Both ends belong to the sequence."""
    source = NumberSequenceSource(3, 9)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


@program(parallelism=(2,), ordering="multiset")
def number_sequence_mapped(env):
    source = NumberSequenceSource(-2, 2)
    numbers = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "numbers", Types.LONG())
    return numbers.map(lambda n: (n, n * n))


@program()
def from_source_collection_of_one_number(env):
    return env.from_source(NumberSequenceSource(7, 7), WatermarkStrategy.no_watermarks(), "one", Types.LONG())


@program(("STREAMING", "BATCH"), directory=True)
def text_file(env, directory):
    path = directory / "lines.txt"
    path.write_text("first line\n\nthird, with ä\nno newline at the end", encoding="utf-8")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path))
    source = source.process_static_file_set().build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")


@program(parallelism=(1, 2), ordering="multiset", directory=True)
def text_files_in_folders(env, directory):
    """Directories are read recursively; hidden files are skipped, and compressed ones are decompressed."""
    (directory / "deeper").mkdir()
    (directory / "a.txt").write_text("a1\na2\n")
    (directory / "deeper" / "b.txt").write_text("b1\r\nb2\r\n")
    (directory / ".hidden").write_text("hidden\n")
    (directory / "_SUCCESS").write_text("underscore\n")
    with gzip.open(directory / "c.gz", "wt") as compressed:
        compressed.write("c1\nc2\n")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    return lines.map(lambda line: (line, len(line)))


@program(directory=True)
def text_file_in_another_charset(env, directory):
    path = directory / "latin.txt"
    path.write_bytes("grün\nrot\n".encode("latin-1"))
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format("ISO-8859-1"), str(path)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").map(lambda line: (line, len(line)))


@program(("STREAMING", "BATCH"), directory=True, ordering="multiset")
def written_by_one_job_and_read_by_the_next(env, directory):
    target = directory / "out"
    sink = (
        FileSink.for_row_format(str(target), Encoder.simple_string_encoder())
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("p").with_part_suffix(".txt").build())
        .build()
    )
    pairs = env.from_collection([(1, "a"), (2, "b")], Types.TUPLE([Types.INT(), Types.STRING()]))
    pairs.sink_to(sink)
    rows = env.from_collection([Row(3, "c")], Types.ROW([Types.INT(), Types.STRING()]))
    rows.sink_to(sink)
    env.execute("write")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(target)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
