"""Every type in every format of files: files of other writers are read, and other readers read ours."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed: make setup")
pytest.importorskip("fastavro", reason="the extra 'avro' is not installed: make setup")

import fastavro
import pyarrow as pa
from pyarrow import orc, parquet

from flintstream.common import Row

DAY, TIME = dt.date(2020, 2, 29), dt.time(1, 2, 3)
MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 678_000)
MICROS = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)
UTC = MOMENT.replace(tzinfo=dt.timezone.utc)
PAIR = pa.struct([("x", pa.int32()), ("y", pa.string())])
DEEP = pa.struct(
    [("a", pa.list_(pa.int32())), ("m", pa.map_(pa.string(), pa.int32())), ("t", pa.timestamp("us", "UTC"))]
)

CELLS: dict[str, Any] = {
    "BOOLEAN": (pa.bool_(), [True, False, None], None),
    "TINYINT": (pa.int8(), [-128, 127, None], None),
    "SMALLINT": (pa.int16(), [-(2**15), 2**15 - 1, None], None),
    "INT": (pa.int32(), [-(2**31), 2**31 - 1, None], None),
    "BIGINT": (pa.int64(), [-(2**63), 2**63 - 1, None], None),
    "FLOAT": (pa.float32(), [1.5, -0.25, None], None),
    "DOUBLE": (pa.float64(), [1e300, -0.1, None], None),
    "DECIMAL(5, 2)": (pa.decimal128(5, 2), [Decimal("1.50"), Decimal("-999.99"), None], None),
    "DECIMAL(20, 4)": (pa.decimal128(20, 4), [Decimal("1234567890123456.5000"), Decimal("-0.0001"), None], None),
    "STRING": (pa.string(), ["", "h\xe9\U0001f600", None], None),
    "BYTES": (pa.binary(), [b"", b"\x00\xff", None], None),
    "DATE": (pa.date32(), [DAY, dt.date(1960, 1, 1), None], None),
    "TIME": (pa.time32("ms"), [TIME, dt.time(0), None], None),
    "TIMESTAMP(3)": (pa.timestamp("ms"), [MOMENT, dt.datetime(1969, 12, 31, 23, 59, 59, 999_000), None], None),
    "TIMESTAMP(6)": (pa.timestamp("us"), [MOMENT, MICROS, None], None),
    "TIMESTAMP_LTZ(3)": (pa.timestamp("ms", "UTC"), [UTC, None], None),
    "TIMESTAMP_LTZ(6)": (pa.timestamp("us", "UTC"), [UTC, None], None),
    "ARRAY<INT>": (pa.list_(pa.int32()), [[1, None, 3], [], None], None),
    "ARRAY<STRING>": (pa.list_(pa.string()), [["a", None], [None], None], None),
    "ARRAY<DECIMAL(5, 2)>": (pa.list_(pa.decimal128(5, 2)), [[Decimal("1.50"), None], None], None),
    "ARRAY<BYTES>": (pa.list_(pa.binary()), [[b"\x00", None], None], None),
    "ARRAY<DATE>": (pa.list_(pa.date32()), [[DAY, None], None], None),
    "ARRAY<TIMESTAMP_LTZ(3)>": (pa.list_(pa.timestamp("ms", "UTC")), [[UTC, None], None], None),
    "ARRAY<ARRAY<INT>>": (pa.list_(pa.list_(pa.int32())), [[[1, None], None, []], None], None),
    "ARRAY<ROW<x INT, y STRING>>": (
        pa.list_(PAIR),
        [[{"x": 1, "y": None}, None], None],
        [[Row(1, None), None], None],
    ),
    "MAP<STRING, INT>": (pa.map_(pa.string(), pa.int32()), [{"a": 1, "b": None}, {}, None], None),
    "MAP<STRING, TIMESTAMP_LTZ(3)>": (
        pa.map_(pa.string(), pa.timestamp("ms", "UTC")),
        [{"a": UTC, "b": None}, None],
        None,
    ),
    "MAP<STRING, ARRAY<INT>>": (pa.map_(pa.string(), pa.list_(pa.int32())), [{"a": [1, None]}, None], None),
    "ROW<x INT, y STRING>": (
        PAIR,
        [{"x": 1, "y": "a"}, {"x": None, "y": None}, None],
        [Row(1, "a"), Row(None, None), None],
    ),
    "ROW<a ARRAY<INT>, m MAP<STRING, INT>, t TIMESTAMP_LTZ(6)>": (
        DEEP,
        [{"a": [1, None], "m": {"k": None}, "t": UTC}, None],
        [Row([1, None], {"k": None}, UTC), None],
    ),
}
"""By SQL type: the type of Arrow, values of other libraries, and those of PyFlink if they differ."""


def values_of(kind):
    arrow, values, ours = CELLS[kind]
    return arrow, values, values if ours is None else ours


def avro_schema(kind: Any, name: str = "r") -> list[Any]:
    """Return a schema as other writers choose it: with a name and an order of union members of their own."""
    made: Any
    if pa.types.is_list(kind):
        made = {"type": "array", "items": avro_schema(kind.value_type, name + "i")}
    elif pa.types.is_map(kind):
        made = {"type": "map", "values": avro_schema(kind.item_type, name + "v")}
    elif pa.types.is_struct(kind):
        fields = [{"name": f.name, "type": avro_schema(f.type, name + f.name)} for f in kind]
        made = {"type": "record", "name": f"of.others.{name}", "fields": fields}
    elif pa.types.is_decimal(kind):
        made = {
            "type": "fixed",
            "name": f"d{name}",
            "size": 16,
            "logicalType": "decimal",
            "precision": kind.precision,
            "scale": kind.scale,
        }
    elif pa.types.is_timestamp(kind):
        made = {
            "type": "long",
            "logicalType": f"{'local-' if kind.tz is None else ''}timestamp-{'millis' if kind.unit == 'ms' else 'micros'}",
        }
    elif pa.types.is_date(kind):
        made = {"type": "int", "logicalType": "date"}
    elif pa.types.is_time(kind):
        made = {"type": "int", "logicalType": "time-millis"}
    else:
        names = {
            pa.bool_(): "boolean",
            pa.int64(): "long",
            pa.float32(): "float",
            pa.float64(): "double",
            pa.string(): "string",
            pa.binary(): "bytes",
        }
        made = names.get(kind, "int")
    return [made, "null"]


def write_elsewhere(format_, path, kind):
    arrow, values, _ = values_of(kind)
    listed = [list(v.items()) if isinstance(v, dict) and pa.types.is_map(arrow) else v for v in values]
    table = pa.table({"c": pa.array(listed, arrow)})
    if format_ == "parquet":
        parquet.write_table(table, path / "f.parquet")
    elif format_ == "orc":
        orc.write_table(table, str(path / "f.orc"))
    elif format_ == "avro":
        schema = {"type": "record", "name": "of.others.Rows", "fields": [{"name": "c", "type": avro_schema(arrow)}]}
        with (path / "f.avro").open("wb") as stream:
            fastavro.writer(stream, schema, [{"c": value} for value in values])


PAIRS = [
    (kind, format_) for kind in CELLS for format_ in ("parquet", "orc", "avro") if (kind, format_) != ("TIME", "orc")
]
"""ORC has no TIME."""


def table(t_env, format_, path, kind):
    t_env.execute_sql(
        f"CREATE TABLE t (c {kind}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}')"
    )


@pytest.mark.parametrize(("kind", "format_"), PAIRS)
def test_files_of_other_writers_are_read(t_env, tmp_path, format_, kind):
    write_elsewhere(format_, tmp_path, kind)
    table(t_env, format_, tmp_path, kind)
    with t_env.execute_sql("SELECT c FROM t").collect() as rows:
        assert [row[0] for row in rows] == values_of(kind)[2]


@pytest.mark.parametrize(("kind", "format_"), [*PAIRS, *((kind, "json") for kind in CELLS)])
def test_what_is_written_is_read_again(t_env, tmp_path, format_, kind):
    write_elsewhere("parquet", tmp_path, kind)
    table(t_env, "parquet", tmp_path, kind)
    (tmp_path / "out").mkdir()
    t_env.execute_sql(
        f"CREATE TABLE o (c {kind}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = '{format_}')"
    )
    t_env.execute_sql("INSERT INTO o SELECT c FROM t").wait()
    with t_env.execute_sql("SELECT c FROM o").collect() as rows:
        assert [row[0] for row in rows] == values_of(kind)[2]
    if format_ in {"parquet", "orc", "avro"}:
        assert read_elsewhere(format_, tmp_path / "out", kind) == values_of(kind)[1]


def read_elsewhere(format_, path, kind):
    # A job that takes its time has a file for each checkpoint
    files = sorted(item for item in path.iterdir() if not item.name.startswith("."))
    return [value for file in files for value in read_file_elsewhere(format_, file, values_of(kind)[0])]


def read_file_elsewhere(format_, file, arrow):
    if format_ == "avro":
        with file.open("rb") as stream:
            records: Any = fastavro.reader(stream)
            return [_plain(record["c"], arrow) for record in records]
    found = (parquet.read_table(file) if format_ == "parquet" else orc.read_table(str(file)))["c"]
    return [_plain(value, arrow) for value in found.to_pylist()]


def _plain(value, kind):
    """Return a value of another library in the form of the table above."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [_plain(item, kind.value_type) for item in value]
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, dict) else value
        return {key: _plain(item, kind.item_type) for key, item in pairs}
    if pa.types.is_struct(kind):
        return {field.name: _plain(value[field.name], field.type) for field in kind}
    if pa.types.is_timestamp(kind):
        return value.replace(tzinfo=None if kind.tz is None else dt.timezone.utc)
    return value


# -- formats of text, and Spark's files --------------------------------------------------------------------------------

PLAIN = [kind for kind in CELLS if "<" not in kind]


@pytest.mark.parametrize("kind", PLAIN)
def test_csv_is_read_again(t_env, tmp_path, kind):
    write_elsewhere("parquet", tmp_path, kind)
    table(t_env, "parquet", tmp_path, kind)
    (tmp_path / "out").mkdir()
    t_env.execute_sql(
        f"CREATE TABLE o (c {kind}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'csv', "
        "'csv.null-literal' = 'NULL')"
    )
    t_env.execute_sql("INSERT INTO o SELECT c FROM t").wait()
    with t_env.execute_sql("SELECT c FROM o").collect() as rows:
        found = [row[0] for row in rows]
    blank = {"", b""}  # a line without anything is skipped, as in Flink
    assert [value for value in found if value not in blank] == [v for v in values_of(kind)[2] if v not in blank]


SPARKS = {
    "BOOLEAN": ("true", True),
    "INT": ("CAST(-5 AS INT)", -5),
    "BIGINT": ("CAST(9 AS BIGINT)", 9),
    "DOUBLE": ("CAST(0.1 AS DOUBLE)", 0.1),
    "DECIMAL(5, 2)": ("CAST(1.5 AS DECIMAL(5, 2))", Decimal("1.50")),
    "DECIMAL(20, 4)": ("CAST(1.5 AS DECIMAL(20, 4))", Decimal("1.5000")),
    "STRING": ("'h\xe9'", "h\xe9"),
    "BYTES": ("X'00FF'", b"\x00\xff"),
    "DATE": ("DATE '2020-02-29'", DAY),
    "TIMESTAMP_LTZ(6)": ("TIMESTAMP '2020-01-02 03:04:05.678 UTC'", UTC),
    "ARRAY<INT>": ("array(1, NULL, 3)", [1, None, 3]),
    "MAP<STRING, INT>": ("map('a', 1, 'b', NULL)", {"a": 1, "b": None}),
    "ROW<x INT, y STRING>": ("named_struct('x', 1, 'y', 'a')", Row(1, "a")),
    "ARRAY<ROW<x INT, y STRING>>": ("array(named_struct('x', 1, 'y', 'a'), NULL)", [Row(1, "a"), None]),
}
"""Expressions of Spark, and the values that they have here."""


DUCKS = {
    "BOOLEAN": ("true", True),
    "TINYINT": ("CAST(-5 AS TINYINT)", -5),
    "INT": ("CAST(-5 AS INT)", -5),
    "BIGINT": ("CAST(9 AS BIGINT)", 9),
    "FLOAT": ("CAST(0.5 AS FLOAT)", 0.5),
    "DOUBLE": ("CAST(0.1 AS DOUBLE)", 0.1),
    "DECIMAL(5, 2)": ("CAST(1.5 AS DECIMAL(5, 2))", Decimal("1.50")),
    "DECIMAL(30, 4)": ("CAST(1.5 AS DECIMAL(30, 4))", Decimal("1.5000")),
    "STRING": ("'h\xe9'", "h\xe9"),
    "BYTES": ("'\\x00\\xFF'::BLOB", b"\x00\xff"),
    "DATE": ("DATE '2020-02-29'", DAY),
    "TIME": ("TIME '01:02:03'", TIME),
    "TIMESTAMP(6)": ("TIMESTAMP '2020-01-02 03:04:05.678'", MOMENT),
    "TIMESTAMP_LTZ(6)": ("TIMESTAMPTZ '2020-01-02 03:04:05.678+00'", UTC),
    "ARRAY<INT>": ("[1, NULL, 3]", [1, None, 3]),
    "MAP<STRING, INT>": ("MAP {'a': 1, 'b': NULL}", {"a": 1, "b": None}),
    "ROW<x INT, y STRING>": ("{'x': 1, 'y': 'a'}", Row(1, "a")),
    "ARRAY<ROW<x INT, y STRING>>": ("[{'x': 1, 'y': 'a'}, NULL]", [Row(1, "a"), None]),
}
"""The same of DuckDB."""


def test_parquet_files_of_duckdb_are_read(t_env, tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: make setup")
    columns = [f"{expression} AS c{i}" for i, (expression, _) in enumerate(DUCKS.values())]
    duckdb.sql(f"COPY (SELECT {', '.join(columns)}) TO '{tmp_path / 'f.parquet'}' (FORMAT parquet)")
    assert _only_row(t_env, tmp_path, DUCKS) == {kind: value for kind, (_, value) in DUCKS.items()}


def _only_row(t_env, path, kinds):
    """Return the values of the only row of Parquet files, by type."""
    declared = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
    t_env.execute_sql(
        f"CREATE TABLE t ({declared}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'parquet')"
    )
    with t_env.execute_sql("SELECT * FROM t").collect() as rows:
        (row,) = rows
    return dict(zip(kinds, row, strict=True))


@pytest.mark.spark
@pytest.mark.parametrize("timestamps", ["INT96", "TIMESTAMP_MICROS"])
def test_parquet_files_of_spark_are_read(t_env, tmp_path, timestamps):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").getOrCreate()
    spark.conf.set("spark.sql.parquet.outputTimestampType", timestamps)
    columns = [f"{expression} AS c{i}" for i, (expression, _) in enumerate(SPARKS.values())]
    spark.sql(f"SELECT {', '.join(columns)}").coalesce(1).write.parquet(str(tmp_path / "files"))
    assert _only_row(t_env, tmp_path / "files", SPARKS) == {kind: value for kind, (_, value) in SPARKS.items()}
