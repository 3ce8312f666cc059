"""Tables of files: every format is read as it was written, and directories hold the values of columns."""

from __future__ import annotations

from datetime import timezone

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table._errors import SqlError

COLUMNS = "id BIGINT, name STRING, price DECIMAL(10, 2), day DATE, at_ TIMESTAMP(3), ok BOOLEAN, weight DOUBLE"
VALUES = (
    "(CAST(1 AS BIGINT), 'a', 1.50, DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05.678', TRUE, 0.5E0), "
    "(CAST(2 AS BIGINT), CAST(NULL AS STRING), 2.25, DATE '2020-01-03', TIMESTAMP '2020-01-03 00:00:00', FALSE, 1E0)"
)


def table(t_env, name, columns, path, kind, by="", **options):
    more = "".join(f", '{key.replace('__', '.').replace('_', '-')}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}) {by} WITH ('connector' = 'filesystem', 'path' = '{path}', "
        f"'format' = '{kind}'{more})"
    )


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return sorted(tuple(map(str, row)) for row in found)


@pytest.mark.parametrize("kind", ["avro", "json", "orc", "parquet"])
@pytest.mark.parametrize("by", ["", "PARTITIONED BY (day, name)"])
def test_what_is_written_is_read_back(t_env, tmp_path, kind, by):
    pytest.importorskip({"avro": "fastavro", "json": "json"}.get(kind, "pyarrow"))
    table(t_env, "f", COLUMNS, tmp_path, kind, by)
    t_env.execute_sql(f"INSERT INTO f VALUES {VALUES}").wait()
    assert rows(t_env, "SELECT * FROM f") == [
        ("1", "a", "1.50", "2020-01-02", "2020-01-02 03:04:05.678000", "True", "0.5"),
        ("2", "None", "2.25", "2020-01-03", "2020-01-03 00:00:00", "False", "1.0"),
    ]
    directories = {path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    partitioned = {"day=2020-01-02/name=a", "day=2020-01-03/name=__DEFAULT_PARTITION__"}
    assert directories == (partitioned if by else {"."})


def test_names_of_directories_are_escaped(t_env, tmp_path):
    table(t_env, "f", "id INT, name STRING", tmp_path, "csv", "PARTITIONED BY (name)")
    t_env.execute_sql("INSERT INTO f VALUES (1, 'a/b=c'), (2, 'ä ö')").wait()
    assert {path.name for path in tmp_path.iterdir()} == {"name=a%2Fb%3Dc", "name=ä ö"}
    assert rows(t_env, "SELECT * FROM f") == [("1", "a/b=c"), ("2", "ä ö")]


def test_a_file_outside_of_the_directories_fails_the_job(t_env, tmp_path):
    (tmp_path / "lost").write_text("1\n", "utf-8")
    table(t_env, "f", "id INT, name STRING", tmp_path, "csv", "PARTITIONED BY (name)")
    with pytest.raises(Exception, match="have no value for name"):
        rows(t_env, "SELECT * FROM f")


def test_lines_are_texts(t_env, tmp_path):
    (tmp_path / "in").write_text('a,b\n"c\n', "utf-8")
    table(t_env, "f", "line STRING", tmp_path / "in", "raw")
    assert rows(t_env, "SELECT * FROM f") == [('"c',), ("a,b",)]
    table(t_env, "g", "line STRING", tmp_path / "out", "raw")
    t_env.execute_sql("INSERT INTO g VALUES ('x y')").wait()
    assert rows(t_env, "SELECT * FROM g") == [("x y",)]


def test_fields_that_cannot_be_read_become_null(t_env, tmp_path):
    (tmp_path / "in").write_text("id,price\n1,1.5\n2\n3,x\n4,2.5,too many\n", "utf-8")
    table(t_env, "f", "id INT, price DOUBLE", tmp_path / "in", "csv", csv__ignore_parse_errors="true")
    assert rows(t_env, "SELECT * FROM f") == [("1", "1.5"), ("2", "None"), ("3", "None"), ("None", "None")]


def test_fields_of_json_that_a_query_does_not_read_may_be_wrong(t_env, tmp_path):
    (tmp_path / "wrong.json").write_text('{"id": 7, "at_": "2010-11-01T00:00:00"}\n', encoding="utf-8")
    table(t_env, "wrong", "id INT, at_ TIMESTAMP(3)", tmp_path, "json", json__fail_on_missing_field="true")
    assert rows(t_env, "SELECT id FROM wrong") == [("7",)]
    with pytest.raises(Exception, match="For input string: '2010-11-01T00:00:00'"):
        rows(t_env, "SELECT at_ FROM wrong")


def test_a_path_is_looked_for_when_a_query_starts(t_env, tmp_path):
    table(t_env, "later", "name STRING", tmp_path / "later", "raw")
    assert t_env.from_path("later").get_schema().get_field_names() == ["name"]
    with pytest.raises(FileNotFoundError, match="later does not exist"):
        rows(t_env, "SELECT * FROM later")
    (tmp_path / "later").write_text("a\n", encoding="utf-8")
    assert rows(t_env, "SELECT * FROM later") == [("a",)]


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        ("PARTITIONED BY (nam)", {}, "names the unknown column 'nam'; did you mean 'name'"),
        ("PARTITIONED BY (id, name)", {}, "leaves no column"),
        ("", {"source__monitor_intervall": "1 s"}, "did you mean 'source.monitor-interval'"),
    ],
)
def test_wrong_declarations_are_named(t_env, tmp_path, by, options, message):
    table(t_env, "f", "id INT, name STRING", tmp_path, "csv", by, **options)
    with pytest.raises(SqlError, match=f"table 'f': .*{message}"):
        t_env.execute_sql("SELECT * FROM f")


def test_an_unknown_format_is_refused(t_env, tmp_path):
    table(t_env, "f", "id INT", tmp_path, "parkuet")
    with pytest.raises(SqlError, match="'parkuet' is not supported for files; did you mean 'parquet'"):
        t_env.execute_sql("SELECT * FROM f")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "avro"])
@pytest.mark.parametrize("by", ["", "PARTITIONED BY (day)"])
def test_columns_tell_the_file_of_a_row(t_env, tmp_path, kind, by):
    pytest.importorskip({"avro": "fastavro", "parquet": "pyarrow"}.get(kind, "json"))
    table(t_env, "f", "id INT, day STRING", tmp_path, kind, by)
    t_env.execute_sql("INSERT INTO f VALUES (1, 'a')").wait()
    file = next(path for path in tmp_path.rglob("part-*"))
    table(
        t_env,
        "g",
        "`file.name` STRING NOT NULL METADATA VIRTUAL, id INT, `at` TIMESTAMP_LTZ(3) METADATA FROM "
        "'file.modification-time' VIRTUAL, size BIGINT METADATA FROM 'file.size' VIRTUAL, day STRING, "
        "place STRING METADATA FROM 'file.path' VIRTUAL",
        tmp_path,
        kind,
        by,
    )
    status = file.stat()
    with t_env.execute_sql("SELECT * FROM g").collect() as found:
        row = next(found)
    assert list(row)[:2] == [file.name, 1]
    assert list(row)[3:] == [status.st_size, "a", str(file)]
    assert abs(row[2].replace(tzinfo=timezone.utc).timestamp() - status.st_mtime) < 0.002
    assert rows(t_env, "SELECT size FROM g WHERE id = 1") == [(str(status.st_size),)]
    t_env.execute_sql("INSERT INTO g VALUES (2, 'b')").wait()
    assert len(rows(t_env, "SELECT * FROM g")) == 2


def test_metadata_that_files_do_not_have_is_refused(t_env, tmp_path):
    table(t_env, "f", "id INT, x STRING METADATA FROM 'file.nam'", tmp_path, "csv")
    with pytest.raises(SqlError, match=r"Invalid metadata key 'file.nam' in column 'x' .*; did you mean 'file.name'"):
        t_env.execute_sql("SELECT * FROM f")
    table(t_env, "g", "id INT, x BYTES METADATA FROM 'file.size'", tmp_path, "csv")
    with pytest.raises(SqlError, match="Invalid data type for metadata column 'x'"):
        t_env.execute_sql("SELECT * FROM g")
    table(t_env, "h", "id INT, x BIGINT METADATA FROM 'file.size'", tmp_path, "csv")
    with pytest.raises(SqlError, match="declare the column VIRTUAL"):
        t_env.execute_sql("INSERT INTO h VALUES (1, 2)")


@pytest.mark.parametrize("by", ["", "PARTITIONED BY (k)"])
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "orc", "avro"])
def test_files_of_a_checkpoint_are_merged(t_env, tmp_path, kind, by):
    """With auto-compaction; as in Flink, the names of merged files tell it."""
    pytest.importorskip({"avro": "fastavro", "orc": "pyarrow", "parquet": "pyarrow"}.get(kind, "json"))
    options = {"auto-compaction": "true", "compaction.file-size": "1mb", "sink.rolling-policy.file-size": "200"}
    table(t_env, "t", "n INT, s STRING, k INT", tmp_path, kind, by, **options)
    values = ", ".join(f"({n}, 'text {n}', {n % 2})" for n in range(100))
    t_env.execute_sql(f"INSERT INTO t VALUES {values}").wait()
    names = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert len(names) == (2 if by else 1)
    assert all(name.startswith("compacted-") for name in names)
    assert sorted(rows(t_env, "SELECT * FROM t")) == sorted((str(n), f"text {n}", str(n % 2)) for n in range(100))


def test_merged_files_are_no_larger_than_they_may_be(t_env, tmp_path):
    options = {"auto-compaction": "true", "compaction.file-size": "500", "sink.rolling-policy.file-size": "200"}
    table(t_env, "t", "n INT, s STRING", tmp_path, "json", **options)
    values = ", ".join(f"({n}, '{n}')" for n in range(100))
    t_env.execute_sql(f"INSERT INTO t VALUES {values}").wait()
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) > 3
    assert max(sizes) <= 500
    assert sorted(sizes)[1] > 300  # of files that hold 200 bytes each


def test_numbers_of_json_are_texts_as_they_stand(t_env, tmp_path):
    """As PyFlink reads them, with its parser or without; what comes after an object does not count."""
    lines = ['{"s": 1.50, "xs": [1e5, 2]}', '{"s": 12, "d": 2.50} or so', '{"s": {"k": 1.50}}{"s": "b"}']
    (tmp_path / "a.json").write_text("\n".join(lines), "utf-8")
    table(t_env, "f", "s STRING, xs ARRAY<STRING>, d DOUBLE", tmp_path, "json")
    assert rows(t_env, "SELECT s, xs[1], d FROM f") == [
        *(("1.50", "1e5", "None"), ("12", "None", "2.5"), ('{"k":1.5}', "None", "None")),
    ]
    table(t_env, "g", "s STRING", tmp_path, "json", **{"json.decode.json-parser.enabled": "false"})
    assert rows(t_env, "SELECT s FROM g") == [("1.5",), ("12",), ('{"k":1.5}',)]


@pytest.mark.parametrize("lenient", ["true", "false"])
def test_a_day_beyond_the_end_of_its_month_is_in_the_next_one_in_csv(t_env, tmp_path, lenient):
    (tmp_path / "a.csv").write_text("2024-02-30\n2024-1-2\n", "utf-8")
    table(t_env, "f", "d DATE", tmp_path, "csv", **{"csv.ignore-parse-errors": lenient})
    assert rows(t_env, "SELECT d FROM f") == [("2024-01-02",), ("2024-03-01",)]


def test_other_options_of_a_format_have_no_effect_with_a_warning(t_env, tmp_path):
    table(t_env, "f", "id INT", tmp_path, "csv", csv__field_delimeter="|")
    with pytest.warns(
        UserWarning, match=r"'csv.field-delimeter' is unknown and has no effect; did you mean 'csv.field-d"
    ):
        t_env.execute_sql("INSERT INTO f VALUES (1)").wait()
    table(t_env, "g", "id INT", tmp_path, "csv", json__ignore_parse_errors="true")
    with pytest.raises(SqlError, match=r"has no option 'json.ignore-parse-errors'"):
        rows(t_env, "SELECT * FROM g")


@pytest.mark.parametrize(("kind", "key", "value"), [("parquet", "compression", "GZIP"), ("orc", "compress", "SNAPPY")])
def test_a_format_passes_its_compression_on(t_env, tmp_path, kind, key, value):
    pyarrow = pytest.importorskip(f"pyarrow.{kind}")
    table(t_env, "f", "id INT", tmp_path, kind, **{f"{kind}__{key}": value})
    t_env.execute_sql("INSERT INTO f VALUES (1), (2)").wait()
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    if kind == "parquet":
        assert pyarrow.ParquetFile(path).metadata.row_group(0).column(0).compression == value
    else:
        assert pyarrow.ORCFile(path).compression == value
    assert rows(t_env, "SELECT * FROM f") == [("1",), ("2",)]
