"""The options of tables act as those of PyFlink 2.3, from which the results come."""

from __future__ import annotations

import re

import pytest

from flintstream.common import Configuration
from flintstream.connectors.collection import CollectionSource
from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.contract import CHANGES, SourceConnector, TableSource
from flintstream.table._connectors.registry import register
from flintstream.table._errors import SqlError, UnsupportedClauseError

ROWS = [
    ("a", "2020-01-01 00:00:01", 1),
    ("a", "2020-01-01 00:00:03", 2),
    ("b", "2020-01-01 00:00:05", 3),
    ("a", "2020-01-01 00:00:12", 4),
    ("a", "2020-01-01 00:00:02", 5),
    ("a", "2020-01-01 00:00:25", 6),
]
EARLY = {"table.exec.emit.early-fire.enabled": "true", "table.exec.emit.early-fire.delay": "0 ms"}
LATE = {
    "table.exec.emit.late-fire.enabled": "true",
    "table.exec.emit.late-fire.delay": "0 ms",
    "table.exec.emit.allow-lateness": "1 h",
}


def environment(options=None, *, batch=False):
    configuration = Configuration.from_dict(
        {"flintstream.engine": "inline", "parallelism.default": "1", **(options or {})}
    )
    settings = EnvironmentSettings.new_instance().with_configuration(configuration)
    settings = settings.in_batch_mode() if batch else settings
    return TableEnvironment.create(settings.build())


@pytest.fixture
def table(tmp_path):
    """Return the environment with a table ``s`` of the rows."""

    def make(options=None, *, batch=False):
        (tmp_path / "rows.csv").write_text("".join(f"{k},{ts},{v}\n" for k, ts, v in ROWS))
        t_env = environment(options, batch=batch)
        t_env.execute_sql(
            "CREATE TABLE s (k STRING, ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
        )
        return t_env

    return make


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [f"{row.get_row_kind()} {' '.join(map(str, row))}" for row in found]


def of_key(found, key):
    return [line for line in found if line.split()[1] == key]


# -- results before and after the end of windows -----------------------------------------------------------------------

TUMBLE = (
    "SELECT k, EXTRACT(SECOND FROM TUMBLE_START(ts, INTERVAL '10' SECOND)), SUM(v) FROM s "
    "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
)
HOP = (
    "SELECT k, EXTRACT(SECOND FROM HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)), SUM(v) FROM s "
    "GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
)


def test_windows_emit_early_after_each_row(table):
    found = rows(table(EARLY), TUMBLE)
    assert of_key(found, "a") == ["+I a 0 1", "-U a 0 1", "+U a 0 3", "+I a 10 4", "+I a 20 6"]
    assert of_key(found, "b") == ["+I b 0 3"]


def test_windows_that_overlap_emit_early_too(table):
    found = rows(table(EARLY), HOP)
    window = [line for line in of_key(found, "a") if line.split()[2] == "55"]
    assert window == ["+I a 55 1", "-U a 55 1", "+U a 55 3"]
    assert len(found) == 12


def test_an_early_result_waits_for_its_delay(table):
    later = {**EARLY, "table.exec.emit.early-fire.delay": "1 h"}
    assert rows(table(later), TUMBLE) == ["+I a 0 3", "+I b 0 3", "+I a 10 4", "+I a 20 6"]


def test_windows_emit_changes_for_late_rows(table):
    found = rows(table(LATE), TUMBLE)
    assert found == ["+I a 0 3", "+I b 0 3", "-U a 0 3", "+U a 0 8", "+I a 10 4", "+I a 20 6"]


def test_windows_emit_early_and_late(table):
    found = rows(table({**EARLY, **LATE}), TUMBLE)
    first = [line for line in of_key(found, "a") if line.split()[2] == "0"]
    assert first == ["+I a 0 1", "-U a 0 1", "+U a 0 3", "-U a 0 3", "+U a 0 8"]


def test_lateness_without_late_results_changes_nothing(table):
    assert rows(table({"table.exec.emit.allow-lateness": "1 h"}), TUMBLE) == rows(table(), TUMBLE)


def test_batches_only_have_final_results(table):
    assert sorted(rows(table(EARLY, batch=True), TUMBLE)) == ["+I a 0 8", "+I a 10 4", "+I a 20 6", "+I b 0 3"]


@pytest.mark.parametrize(
    ("options", "statement", "message"),
    [
        (
            EARLY,
            (
                "SELECT k, SUM(v) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
                "GROUP BY k, window_start, window_end"
            ),
            "do not apply to a window table function",
        ),
        (EARLY, "SELECT k, SUM(v) FROM s GROUP BY k, SESSION(ts, INTERVAL '4' SECOND)", "do not apply to SESSION"),
        ({"table.exec.emit.early-fire.enabled": "true"}, TUMBLE, "'table.exec.emit.early-fire.delay' is missing"),
        (
            {"table.exec.emit.late-fire.enabled": "true", "table.exec.emit.late-fire.delay": "0 s"},
            TUMBLE,
            "needs 'table.exec.emit.allow-lateness'",
        ),
    ],
)
def test_what_cannot_emit_early_or_late_is_refused(table, options, statement, message):
    with pytest.raises(SqlError, match=message):
        rows(table(options), statement)


# -- sinks -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def long_texts(tmp_path):
    """Return what writes values that are longer or shorter than their columns."""

    def write(mode, kind, format_="csv"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "rows.csv").write_text("ab\nabcd\nabc\n")
        t_env = environment({"table.exec.sink.type-length-enforcer": mode})
        for name, folder in (("given", "in"), ("wanted", f"out-{mode}")):
            t_env.execute_sql(
                f"CREATE TABLE {name} (c {kind}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / folder}', "
                f"'format' = '{format_}')"
            )
        t_env.execute_sql("INSERT INTO wanted SELECT c FROM given").wait()
        return "".join(file.read_text() for file in sorted((tmp_path / f"out-{mode}").iterdir())).splitlines()

    return write


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        ("IGNORE", "VARCHAR(3)", ["ab", "abcd", "abc"]),
        ("TRIM_PAD", "VARCHAR(3)", ["ab", "abc", "abc"]),
        ("TRIM_PAD", "CHAR(3)", ['"ab "', "abc", "abc"]),
    ],
)
def test_values_get_the_lengths_of_their_columns(long_texts, mode, kind, expected):
    assert long_texts(mode, kind) == expected


def test_a_value_that_is_too_long_can_be_an_error():
    t_env = environment({"table.exec.sink.type-length-enforcer": "ERROR"})
    t_env.execute_sql("CREATE TABLE c (k VARCHAR(3), n INT) WITH ('connector' = 'repeats')")
    t_env.execute_sql("CREATE TABLE o (c VARCHAR(3)) WITH ('connector' = 'blackhole')")
    with pytest.raises(Exception, match=r"the column 'c' is VARCHAR\(3\), but a row has a value of length 4: 'long'"):
        t_env.execute_sql("INSERT INTO o SELECT k FROM c").wait()


@pytest.mark.parametrize(
    ("within", "kind", "place"),
    [
        ("ROWS", "ROW<x STRING NOT NULL>", "r.x"),
        ("ROWS_AND_COLLECTIONS", "ARRAY<ROW<x STRING NOT NULL>>", "r[0].x"),
        ("ROWS_AND_COLLECTIONS", "MAP<STRING, STRING NOT NULL>", "r[value]"),
    ],
)
def test_null_within_a_row_can_be_an_error(within, kind, place):
    t_env = environment({"table.exec.sink.nested-constraint-enforcer": within})
    t_env.execute_sql(f"CREATE TABLE o (r {kind}) WITH ('connector' = 'blackhole')")
    value = {"r.x": "ROW(s)", "r[0].x": "ARRAY[ROW(s)]", "r[value]": "MAP['k', s]"}[place]
    with pytest.raises(Exception, match=re.escape(f"the column '{place}' is NOT NULL, but a row has NULL in it")):
        t_env.execute_sql(f"INSERT INTO o SELECT {value} FROM (VALUES (CAST(NULL AS STRING))) AS v (s)").wait()


def test_an_insert_can_wait_for_its_end(tmp_path):
    t_env = environment({"table.dml-sync": "true"})
    t_env.execute_sql(
        f"CREATE TABLE o (n INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    t_env.execute_sql("INSERT INTO o VALUES (1)")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["1\n"]


# -- queries -----------------------------------------------------------------------------------------------------------


def test_a_batch_that_is_sorted_can_have_a_limit_by_default(table):
    statement = "SELECT v FROM s ORDER BY v DESC"
    assert rows(table({"table.exec.sort.default-limit": "2"}, batch=True), statement) == ["+I 6", "+I 5"]
    assert len(rows(table(batch=True), statement)) == 6


def test_texts_are_printed_in_a_width(capsys):
    environment({"table.display.max-column-width": "10"}).execute_sql("SELECT 'a long text that goes on' AS c").print()
    assert capsys.readouterr().out.splitlines()[1:4] == [
        "| op |          c |",
        "+----+------------+",
        "| +I | a long ... |",
    ]


def test_the_hint_with_options_can_be_forbidden(table):
    t_env = table({"table.dynamic-table-options.enabled": "false"})
    with pytest.raises(SqlError, match=r"'table.dynamic-table-options.enabled' is false"):
        rows(t_env, "SELECT k FROM s /*+ OPTIONS('csv.field-delimiter' = ',') */")


def test_a_table_has_a_parallelism_of_its_own(table):
    t_env = table({"table.exec.resource.default-parallelism": "2"})
    table_ = t_env.sql_query("SELECT k, SUM(v) FROM s GROUP BY k")
    stream = table_._executor.stream_of(table_._node)
    assert stream._transformation.parallelism == 2


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ("", ["a", "p", "offset", "c"]),
        ("EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS", ["a", "offset", "c"]),
        ("EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS", ["a", "p", "c"]),
        ("EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS;EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS", ["a", "c"]),
    ],
)
@pytest.mark.parametrize(
    "statement",
    ["SELECT * FROM m", "SELECT * FROM (SELECT * FROM m)", "SELECT m.* FROM m JOIN m AS n ON m.a = n.a", "TABLE m"],
)
def test_a_star_leaves_metadata_out(left_out, expected, statement):
    t_env = environment({"table.column-expansion-strategy": left_out} if left_out else {})
    t_env.execute_sql(
        "CREATE TABLE m (a STRING, p INT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA VIRTUAL, "
        "c AS a || 'x') WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'x:1', "
        "'format' = 'raw', 'scan.startup.mode' = 'earliest-offset')"
    )
    assert t_env.sql_query(statement).get_schema().get_field_names() == expected


@pytest.mark.parametrize(("repeated", "expected"), [("false", 4), ("true", 3)])
def test_changes_that_a_source_repeats_are_dropped(repeated, expected):
    t_env = environment({"table.exec.source.cdc-events-duplicate": repeated})
    t_env.execute_sql("CREATE TABLE c (k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'repeats')")
    found = rows(t_env, "SELECT * FROM c")
    assert len(found) == expected
    assert found[-2:] == (["-U long 1", "+U long 2"])


def test_repeated_changes_need_a_key():
    t_env = environment({"table.exec.source.cdc-events-duplicate": "true"})
    t_env.execute_sql("CREATE TABLE c (k STRING, n INT) WITH ('connector' = 'repeats')")
    with pytest.raises(SqlError, match=r"'table.exec.source.cdc-events-duplicate' needs a PRIMARY KEY"):
        rows(t_env, "SELECT * FROM c")


class Repeats(SourceConnector):
    """Changes of a database, of which one is there twice."""

    def source(self, table):
        changes = [("long", 1, 0), ("long", 1, 0), ("long", 1, 1), ("long", 2, 2)]
        return TableSource(CollectionSource(changes), changes=CHANGES)


register("repeats", Repeats)


def test_catalog_and_database_have_names():
    t_env = environment({"table.builtin-catalog-name": "shop", "table.builtin-database-name": "sales"})
    assert (t_env.get_current_catalog(), t_env.get_current_database()) == ("shop", "sales")


def test_statements_in_the_dialect_of_hive_are_refused():
    with pytest.raises(UnsupportedClauseError, match=r"set table\.sql-dialect to default"):
        rows(environment({"table.sql-dialect": "hive"}), "SELECT 1")


# -- the mode ----------------------------------------------------------------------------------------------------------


def test_the_last_setting_of_the_mode_counts():
    batch = Configuration.from_dict({"execution.runtime-mode": "BATCH"})
    builder = EnvironmentSettings.new_instance
    assert not builder().with_configuration(batch).build().is_streaming_mode()
    assert builder().with_configuration(batch).in_streaming_mode().build().is_streaming_mode()
    assert not builder().in_streaming_mode().with_configuration(batch).build().is_streaming_mode()


def test_tables_choose_no_mode():
    automatic = Configuration.from_dict({"execution.runtime-mode": "AUTOMATIC"})
    with pytest.raises(ValueError, match=r"tables need the 'execution.runtime-mode' BATCH or STREAMING"):
        EnvironmentSettings.new_instance().with_configuration(automatic).build()


# -- values that are refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.sql-dialect", "oracle"),
        ("table.exec.legacy-cast-behaviour", "ENABLED"),
        ("table.exec.sink.nested-constraint-enforcer", "COLLECTIONS"),
        ("table.exec.sink.rowtime-inserter", "DISABLED"),
        ("table.catalog-store.kind", "file"),
        ("table.exec.sink.keyed-shuffle", "sometimes"),
        ("table.exec.state.ttl", "soon"),
        ("table.display.max-column-width", "wide"),
    ],
)
def test_a_value_without_a_meaning_here_is_refused(table, key, value):
    with pytest.raises(ValueError, match=rf"'{key}' must be .*, got '{value}'"):
        rows(table({key: value}), "SELECT k FROM s")
