"""Numbered rows, top-N, deduplication and OVER windows."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from tests.table.test_grouping import numbers
from tests.waiting import wait_for_numbers

from flintstream.common import Row, RowKind, Types
from flintstream.common._java_exceptions import TableException
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import EnvironmentSettings, Schema, StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

ROWS = "(VALUES (1, 'a', 10), (2, 'a', 30), (3, 'b', 20), (4, 'a', 20), (5, 'b', CAST(NULL AS INT))) AS t (id, k, v)"


def changes(table):
    with table.execute().collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def left(found):
    rows: Counter[tuple[object, ...]] = Counter()
    for kind, *values in found:
        rows[tuple(values)] += 1 if kind in {"+I", "+U"} else -1
        assert rows[tuple(values)] >= 0, f"{values} was taken back before it came"
    return sorted(rows.elements(), key=repr)


def environment(mode="streaming"):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    batch = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    return StreamTableEnvironment.create(env, batch)


def top(last, columns="id", order="v DESC"):
    numbered = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS rn FROM {ROWS}"
    return f"SELECT {columns} FROM ({numbered}) WHERE rn <= {last}"


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_the_first_rows_of_each_key_stay(mode):
    found = changes(environment(mode).sql_query(top(2)))
    assert left(found) == [(2,), (3,), (4,), (5,)]
    assert mode == "streaming" or {kind for kind, *_ in found} == {"+I"}
    found = changes(environment(mode).sql_query(top(2, "id, rn", "v")))
    assert left(found) == [(1, 1), (3, 2), (4, 2), (5, 1)]


def test_rows_that_fall_out_are_taken_back_and_others_are_not_sent_again(t_env):
    found = changes(t_env.sql_query(top(1)))
    assert found == [("+I", 1), ("-U", 1), ("+U", 2), ("+I", 3)]


LIMITS = {
    "rn <= 2": (1, 2),
    "rn < 3": (1, 2),
    "3 > rn": (1, 2),
    "rn = 2": (2, 2),
    "rn >= 2 AND rn <= 3": (2, 3),
    "rn > 1 AND rn < 4": (2, 3),
}


@pytest.mark.parametrize("limit", LIMITS)
@settings(max_examples=15)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=8))
def test_top_n_of_changes_leaves_the_first_of_what_is_left(limit, history):
    there: list[tuple[int, int]] = []
    rows: list[tuple[RowKind, int, int]] = []
    for i, (added, value) in enumerate(history):
        if added or not there:
            there.append((value, i))
            rows.append((RowKind.INSERT, value, i))
        else:
            gone = there.pop(value % len(there))
            rows.append((RowKind.DELETE, *gone))
    if not rows:
        return
    t_env = environment()
    stream = t_env._env.from_collection(
        [Row.of_kind(kind, *values) for kind, *values in rows], Types.ROW_NAMED(["v", "i"], [Types.INT(), Types.INT()])
    )
    t_env.create_temporary_view("c", t_env.from_changelog_stream(stream))
    first, last = LIMITS[limit]
    expected = sorted(there)[first - 1 : last]
    numbered = f"(SELECT *, ROW_NUMBER() OVER (ORDER BY v, i) AS rn FROM c) WHERE {limit}"
    assert left(changes(t_env.sql_query(f"SELECT v, i FROM {numbered}"))) == sorted(expected, key=repr)
    with_numbers = [(*row, n) for n, row in enumerate(sorted(there), 1) if row in expected]
    assert left(changes(t_env.sql_query(f"SELECT * FROM {numbered}"))) == sorted(with_numbers, key=repr)


def test_batch_mode_has_ranks_and_frames_on_both_sides():
    functions = "RANK() OVER w, DENSE_RANK() OVER w, LEAD(id) OVER w, SUM(id) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), SUM(id) OVER ()"
    query = f"SELECT id, {functions} FROM (VALUES (1, 5), (2, 5), (3, 6)) AS t (id, g) WINDOW w AS (ORDER BY g)"
    found = changes(environment("batch").sql_query(query))
    assert sorted(row[1:] for row in found) == [(1, 1, 1, 2, 3, 6), (2, 1, 1, 3, 6, 6), (3, 3, 2, None, 5, 6)]


def test_an_order_of_values_sends_new_results_of_rows_that_come_after(t_env):
    query = "SELECT id, SUM(v) OVER (ORDER BY v) AS s FROM (VALUES (1, 10), (2, 5)) AS t (id, v)"
    assert changes(t_env.sql_query(query)) == [("+I", 1, 10), ("+I", 2, 5), ("-U", 1, 10), ("+U", 1, 15)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            f"SELECT SUM(v) OVER (PARTITION BY k) AS s FROM {ROWS}",
            "OVER without ORDER BY on a stream at line 1, column 8",
        ),
        (f"SELECT SUM(v) OVER w AS s FROM {ROWS}", "Window 'w' at line 1, column 8 not found"),
        (f"SELECT UPPER(k) OVER (ORDER BY v) AS s FROM {ROWS}", "OVER at line 1, column .* needs one of ROW_NUMBER"),
        (f"SELECT SUM(v) OVER (ORDER BY v ROWS 1 PRECEDING) AS s FROM {ROWS}", "not ordered by a time attribute"),
    ],
)
def test_a_window_that_cannot_be_is_refused_with_its_place(t_env, query, message):
    with pytest.raises((SqlError, UnsupportedClauseError), match=message):
        t_env.sql_query(query)


def test_frames_that_flink_lacks_raise_its_table_exception_and_wrong_ones_py4js_error(t_env):
    with pytest.raises(TableException, match="not ordered by a time attribute"):
        t_env.sql_query(f"SELECT SUM(v) OVER (ORDER BY v ROWS 1 PRECEDING) AS s FROM {ROWS}")
    with pytest.raises(Py4JJavaError, match="ROWS takes a number, RANGE an INTERVAL"):
        t_env.sql_query(f"SELECT SUM(v) OVER (ORDER BY v RANGE 1 PRECEDING) AS s FROM {ROWS}")


QUERIES = {
    "join": "SELECT a.k, a.n FROM numbers a JOIN numbers b ON a.n = b.n + 7 LEFT JOIN (VALUES (1)) AS o (i) ON a.k = o.i",
    "top": "SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS rn FROM numbers) WHERE rn <= 2",
    "over": "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS c FROM numbers",
}


# At parallelism 1, a subtask has two splits, each with its own watermark: no row of the one is late after the other.
@pytest.mark.parametrize(
    ("engine", "query", "parallelism"),
    [
        *(("inline", query, parallelism) for query in QUERIES for parallelism in (1, 3)),
        *(pytest.param("spark", query, 3, marks=pytest.mark.spark) for query in QUERIES),
    ],
)
def test_a_savepoint_restores_joins_and_ranks_at_another_parallelism(engine, tmp_path, query, parallelism):
    def start(parallelism, **more):
        settings = {
            "flintstream.engine": engine,
            "parallelism.default": str(parallelism),
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        }
        env, t_env = numbers(settings | more)
        t_env.to_changelog_stream(t_env.sql_query(QUERIES[query])).sink_to(sink).uid("sink")
        return env.execute_async("numbers")

    sink = CollectSink()
    job = start(2)
    wait_for_numbers(job, numCheckpoints=2)
    savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    start(parallelism, **{"execution.savepoint.path": savepoint}).get_job_execution_result().result()
    rows: Counter[tuple[object, ...]] = Counter()  # changes of different keys come in any order
    for row in sink.get_results(True, False):
        rows[tuple(row)] += 1 if str(row.get_row_kind()) in {"+I", "+U"} else -1
    found = sorted(rows.elements())
    if query == "join":
        assert found == sorted((n % 7, n) for n in range(7, 2000))
    elif query == "top":
        assert found == sorted((k, n) for k in range(7) for n in range(k, 2000, 7)[-2:])
    else:
        assert found == sorted((k, c) for k in range(7) for c in range(1, len(range(k, 2000, 7)) + 1))


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "rows between 2 preceding and current row"),
        ("ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING", "rows between unbounded preceding and 1 following"),
        ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "rows between 1 Preceding and 1 Following"),
        ("ROWS 1 PRECEDING", "rows 1 preceding"),
    ],
)
def test_a_frame_in_lower_case_is_the_same_frame(upper, lower):
    t_env = environment("batch")
    values = "(VALUES (1, 1), (2, 3), (3, 8), (4, 2)) AS v(id, d)"

    def sums(frame):
        with t_env.execute_sql(f"SELECT id, SUM(d) OVER (ORDER BY id {frame}) FROM {values}").collect() as rows:
            return sorted(tuple(row) for row in rows)

    assert sums(lower) == sums(upper)
    assert all(total is not None for _, total in sums(lower))


@settings(max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=10))
def test_ranks_on_a_stream_are_those_of_all_rows_in_the_end(values):
    t_env = environment()
    stream = t_env._env.from_collection(
        list(enumerate(values)), Types.ROW_NAMED(["i", "v"], [Types.INT(), Types.INT()])
    )
    t_env.create_temporary_view("c", t_env.from_data_stream(stream))
    found = changes(
        t_env.sql_query("SELECT i, RANK() OVER (ORDER BY v) AS r, DENSE_RANK() OVER (ORDER BY v) AS d FROM c")
    )
    expected = [
        (i, 1 + sum(x < v for x in values), 1 + len({x for x in values if x < v})) for i, v in enumerate(values)
    ]
    assert left(found) == sorted(expected, key=repr)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=10))
def test_rows_of_one_time_have_the_same_rank(seconds):
    t_env = environment()
    schema = (
        Schema.new_builder()
        .column("v", "INT")
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(v * 1000, 3)")
        .watermark("ts", "ts - INTERVAL '9' SECOND")
        .build()
    )
    stream = t_env._env.from_collection([(v,) for v in seconds], Types.ROW_NAMED(["v"], [Types.INT()]))
    t_env.create_temporary_view("c", t_env.from_data_stream(stream, schema))
    query = "SELECT v, RANK() OVER (ORDER BY ts) AS r, DENSE_RANK() OVER (ORDER BY ts) AS d, ROW_NUMBER() OVER (ORDER BY ts) AS n FROM c"
    found = [row[1:] for row in changes(t_env.sql_query(query))]
    ranks = [(v, 1 + sum(x < v for x in seconds), 1 + len({x for x in seconds if x < v})) for v in sorted(seconds)]
    assert [row[:3] for row in found] == ranks
    assert [row[3] for row in found] == list(range(1, len(seconds) + 1))


@pytest.mark.parametrize(
    "frame", ["ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"]
)
def test_rows_that_follow_are_refused_on_streams(frame):
    t_env = environment()
    query = f"SELECT SUM(d) OVER (ORDER BY p {frame}) FROM (SELECT 1 AS d, PROCTIME() AS p)"
    with pytest.raises(TableException, match="FOLLOWING windows are not supported yet"):
        t_env.sql_query(query)
