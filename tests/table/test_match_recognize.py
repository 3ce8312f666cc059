"""MATCH_RECOGNIZE: what it refuses, late rows, the limit of WITHIN, and state that survives.

``conformance/programs/match_recognize.py`` compares its results with PyFlink's.
"""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.table.test_grouping import numbers
from tests.waiting import wait_for_numbers

from flintstream.common import Row, Types
from flintstream.table import DataTypes, Schema, StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.udf import AggregateFunction, udaf, udf
from flintstream.testing import CollectSink
from flintstream.testing.harness import OneInputHarness

TICKS = "CREATE TABLE ticks (id INT, k STRING, v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"


def match(
    pattern="A B C",
    define="C AS C.v > B.v",
    measures="A.v AS a, B.v AS b, C.v AS c",
    head="PARTITION BY k ORDER BY ts",
    rows="AFTER MATCH SKIP PAST LAST ROW",
    within="",
    source="ticks",
):
    clause = f"{head} MEASURES {measures} {rows} PATTERN ({pattern}) {within} DEFINE {define}"
    return f"SELECT * FROM {source} MATCH_RECOGNIZE ({clause}) AS t"


# -- what is refused -------------------------------------------------------------------------------------------------

PATTERNS = {
    "A | B": "'|' in PATTERN",
    "A (B | C)": "'|' in PATTERN",
    "PERMUTE(A, B)": "PERMUTE in PATTERN",
    "A {- B -} C": "'{-' in PATTERN",
    "(A B)+ C": "the repeated group (A B) in PATTERN",
    "(A+){2} C": "the repeated group (A) in PATTERN",
    "A B+": "the greedy variable 'B' at the end of PATTERN",
    "A B{1,2}": "the greedy variable 'B' at the end of PATTERN",
    "A+ B? C": "the optional variable 'B' after the greedy 'A' in PATTERN",
    "A?? B": "'A??' in PATTERN",
    "A* B*?": "the optional variable 'B' after the greedy 'A' in PATTERN",
    "A? B?": "a PATTERN that matches no rows",
    "A B A": "a second 'A' in PATTERN",
}


@pytest.fixture
def ticks(t_env):
    t_env.execute_sql(TICKS)
    return t_env


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_that_flink_does_not_have_is_refused_with_its_place_and_advice(ticks, pattern):
    with pytest.raises(UnsupportedClauseError) as error:
        ticks.sql_query(match(pattern, "B AS TRUE"))
    text = str(error.value)
    assert text.startswith(f"{PATTERNS[pattern]} at line 1, column ")
    assert " is not supported yet: " in text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (match("A B{2,1} C"), "'B' of PATTERN at line 1, column .* takes 2 to 1 rows"),
        (match("A B{0} C"), "'B' of PATTERN at line 1, column .* takes 0 to 0 rows"),
        (match("A B{,2} C"), "a quantifier begins with the least number of rows, .*found ','"),
        (match("A B{x} C"), "'x' is not a number of rows at line 1"),
        (match("A B{2 C"), "a '}' is missing in the pattern"),
        (match("()"), "a variable is missing in the pattern"),
        (match(""), "has no variable: write PATTERN"),
        (match("A 'B'", define="A AS TRUE").replace("'B'", "1"), "'1' cannot be in the pattern"),
        (match(head="PARTITION BY k"), "has no ORDER BY, but needs a time attribute"),
        (match(head="ORDER BY v"), "begins its ORDER BY with 'v', but needs a time attribute"),
        (match(head="ORDER BY ts DESC"), "ORDER BY ts DESC at line 1, column .*in ascending order of time"),
        (match(head="PARTITION BY MOD(id, 2) ORDER BY ts"), "PARTITION BY at line 1.* takes columns"),
        (match(head="PARTITION BY k, k ORDER BY ts"), "names the column 'k' twice"),
        (match(head="PARTITION BY kk ORDER BY ts"), "Column 'kk' not found at line 1, column .*did you mean 'k'"),
        (match(within="WITHIN INTERVAL '1' MONTH"), "WITHIN at line 1, column .* needs an interval of days or less"),
        (match(within="WITHIN 5"), "WITHIN at line 1, column .* needs an interval"),
        (match(rows="AFTER MATCH SKIP TO FIRST X"), "PATTERN has no variable 'X'"),
        (match(rows="AFTER MATCH SKIP TO A"), "leads to the first row of the match, which would be found again"),
        (match(measures="X.v AS x"), "Table 'X' not found at line 1, column .*available: A, B, C"),
        (match(measures="A.w AS x"), "Column 'w' not found at line 1"),
        (match(measures="A.v"), "the measure at line 1, column .* has no name"),
        (match(measures="A.v AS k"), "the result has two columns 'k'"),
        (match(measures="LAST(A.v, -1) AS x"), "LAST at line 1, column .* needs a number of rows"),
        (match(measures="LAST(A.v, id) AS x"), "LAST at line 1, column .* needs a number of rows"),
        (match(measures="LAST() AS x"), "LAST at line 1, column .* takes one or two arguments, but got 0"),
        (match(measures="FIRST(LAST(A.v)) AS x"), "FIRST at line 1, column .* reads one row"),
        (match(measures="LAST(A.v + B.v) AS x"), "reads a row of one variable, but names several"),
        (match(measures="SUM(A.v + B.v) AS x"), "SUM at line 1, column .* aggregates the rows of one variable"),
        (match(measures="SUM(SUM(A.v)) AS x"), "an aggregate at line 1, column .* within another one"),
        (match(measures="MATCH_ROWTIME(v) AS x"), r"MATCH_ROWTIME\(\) at line 1, column .* takes a rowtime column"),
        (match(define="C AS C.v"), "DEFINE C at line 1, column .* needs a BOOLEAN, but got INT"),
        (match(define="C AS C.v > 1, C AS C.v > 2"), "has a second condition of 'C': join both with AND"),
        (match(define=""), "takes conditions of variables"),
        (match().replace("MEASURES A.v AS a, B.v AS b, C.v AS c", ""), "has no MEASURES"),
        (match().replace("DEFINE C AS C.v > B.v", ""), r"expected DEFINE in MATCH_RECOGNIZE, but found '\)'"),
        (match(within="SUBSET U = A"), r"SUBSET at line 1, column .* takes names for several variables: SUBSET AB = "),
        (match(within="SUBSET U = (A B)"), "SUBSET at line 1, column .* takes names for several variables"),
        (match(within="SUBSET U = (A, Z)"), "Table 'Z' not found at line 1, column "),
        (match(within="SUBSET A = (B, C)"), "SUBSET at line 1, column .*: the variable 'A' exists already"),
        (match(within="SUBSET U = (A, B)", define="C AS U.v > 1"), "Table 'U' not found at line 1, column "),
        (match("A ^ B"), r"'\^' cannot be in the pattern"),
        (match(rows="AFTER MATCH SKIP"), "expected TO in MATCH_RECOGNIZE, but found 'PATTERN'"),
        (
            match(source="(SELECT k, MAX(v) AS v, PROCTIME() AS ts FROM ticks GROUP BY k)"),
            "needs a table of insertions only, but its input has changes",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(ticks, query, message):
    with pytest.raises(SqlError, match=message):
        ticks.sql_query(query)


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        (match(rows="ALL ROWS PER MATCH"), "ALL ROWS PER MATCH"),
        (match(measures="PREV(A.v) AS x"), "PREV in MATCH_RECOGNIZE"),
        (match(define="B AS B.v > NEXT(B.v)"), "NEXT in MATCH_RECOGNIZE"),
        (match(measures="CLASSIFIER() AS x"), "CLASSIFIER in MATCH_RECOGNIZE"),
        (match(measures="MATCH_NUMBER() AS x"), "MATCH_NUMBER in MATCH_RECOGNIZE"),
        (match(measures="SUM(DISTINCT A.v) AS x"), "SUM with DISTINCT in MATCH_RECOGNIZE"),
        (match(measures="SUM(A.v) FILTER (WHERE A.v > 1) AS x"), "SUM with FILTER in MATCH_RECOGNIZE"),
        (match(measures="JSON_ARRAYAGG(A.v) AS x"), "JSON_ARRAYAGG in MATCH_RECOGNIZE"),
        (match(measures="SUM(A.v) OVER (ORDER BY ts) AS x"), "OVER in MATCH_RECOGNIZE"),
    ],
)
def test_a_clause_that_flink_does_not_have_is_refused(ticks, query, clause):
    with pytest.raises(UnsupportedClauseError) as error:
        ticks.sql_query(query)
    assert str(error.value).startswith(f"{clause} at line 1, column ")


def test_the_plan_shows_the_pattern(ticks):
    text = ticks.explain_sql(match("A B{2,3}? C+?", "C AS C.v > 1", "A.v AS a"))
    assert "Match(partitionBy=[k], orderBy=[ts ASC], measures=[a], rowsPerMatch=[ONE ROW PER MATCH], " in text
    assert "pattern=[A B{2,3}? C+?])" in text


# -- rows ------------------------------------------------------------------------------------------------------------

TYPE = Types.ROW_NAMED(["k", "v", "ms"], [Types.STRING(), Types.INT(), Types.LONG()])


def answer(query, stream, **settings):
    t_env = StreamTableEnvironment.create(stream.get_execution_environment())
    for key, value in settings.items():
        t_env.get_config().set(key, value)
    schema = Schema.new_builder().column("k", "STRING").column("v", "INT").column("ms", "BIGINT")
    schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(ms, 3)").column_by_expression("p", "PROCTIME()")
    schema.watermark("ts", "SOURCE_WATERMARK()")
    t_env.create_temporary_view("ticks", t_env.from_data_stream(stream, schema.build()))
    return t_env.to_data_stream(t_env.sql_query(query))


def harness(query, **settings):
    return OneInputHarness(lambda stream: answer(query, stream, **settings), type_info=TYPE)


def rows_of(found):
    return [tuple(row) for row in found.extract_output_values()]


def send(found, *values, key="a"):
    for ms, value in values:
        found.process_element(Row(key, value, ms), ms)


RISES = match(
    "A B+ C", "B AS B.v > LAST(A.v), C AS C.v < LAST(B.v) AND C.v <= A.v", "A.v AS a, LAST(B.v) AS b, C.v AS c"
)
PAIRS = match("A B", "B AS B.v > A.v", "A.v AS a, B.v AS b")


def test_subsets_have_no_rows_as_in_flink_with_a_warning():
    query = match(
        "A B", "B AS B.v > A.v", "U.v AS a, COUNT(U.v) AS b, COALESCE(U.v, 0) + A.v AS c", within="SUBSET U = (A, B)"
    )
    with pytest.warns(UserWarning, match="the subset 'U' at line 1, column .* has no rows, as in Flink"):
        found = harness(query)
    with found:
        send(found, (1000, 1), (2000, 9))
        found.process_watermark(2500)
        assert rows_of(found) == [("a", None, 0, 1)]


def test_anchors_have_no_effect_as_in_flink_with_warnings():
    with pytest.warns(UserWarning, match="in PATTERN") as warned:
        found = harness(match("^ A B $", "B AS B.v > A.v", "A.v AS a, B.v AS b"))
    with found:
        send(found, (500, 5), (1000, 1), (2000, 9), (2200, 4))
        found.process_watermark(2500)
        assert rows_of(found) == [("a", 1, 9)]
    texts = [str(warning.message) for warning in warned]
    assert [text.partition(" at line 1")[0] for text in texts] == ["'^' in PATTERN", "'$' in PATTERN"]


def test_rows_wait_for_the_watermark_and_late_ones_are_dropped():
    with harness(PAIRS) as found:
        send(found, (3000, 4), (1000, 1), (2000, 9))
        assert rows_of(found) == []
        found.process_watermark(2500)
        assert rows_of(found) == [("a", 1, 9)]
        send(found, (2500, 100), (2501, 2))
        found.process_watermark(5000)
        assert rows_of(found) == [("a", 1, 9), ("a", 2, 4)]


def test_each_key_has_matches_of_its_own():
    with harness(PAIRS) as found:
        send(found, (1000, 1), (2000, 0))
        send(found, (1500, 5), (2500, 6), key="b")
        found.process_watermark(3000)
        assert rows_of(found) == [("b", 5, 6)]


def test_null_is_no_match():
    with harness(PAIRS) as found:
        send(found, (1000, 1), (2000, None), (3000, 0), (4000, 2))
        found.process_watermark(5000)
        assert rows_of(found) == [("a", 0, 2)]


@pytest.mark.parametrize(("within", "expected"), [(2001, [("a", 1, 5, 0)]), (2000, [])])
def test_a_match_takes_less_time_than_within_says(within, expected):
    text = f"WITHIN INTERVAL '{within / 1000}' SECOND"
    query = RISES.replace(" DEFINE", f" {text} DEFINE")
    with harness(query) as found:
        send(found, (1000, 1), (2000, 5), (3000, 0))
        found.process_watermark(9000)
        assert rows_of(found) == expected


def test_matches_that_wait_for_an_earlier_row_come_when_its_time_has_run_out():
    query = match(
        "A B+? C",
        "B AS B.v > A.v, C AS C.v = 7 AND A.v > 1",
        "A.v AS a, C.v AS c",
        within="WITHIN INTERVAL '10' SECOND",
    )
    with harness(query) as found:
        send(found, (1000, 1), (2000, 3), (3000, 5), (4000, 7))
        found.process_watermark(10_999)
        assert rows_of(found) == []
        found.process_watermark(11_000)
        assert rows_of(found) == [("a", 3, 7)]


def test_in_processing_time_a_row_counts_at_once_and_within_is_a_timer():
    query = RISES.replace("ORDER BY ts", "ORDER BY p").replace(" DEFINE", " WITHIN INTERVAL '10' SECOND DEFINE")
    with harness(query) as found:
        found.set_processing_time(1000)
        send(found, (0, 1), (0, 5), (0, 0))
        assert rows_of(found) == [("a", 1, 5, 0)]
        send(found, (0, 1), (0, 5))
        found.set_processing_time(11_000)
        send(found, (0, 0))
        assert len(rows_of(found)) == 1


def test_rows_of_one_time_are_in_the_order_of_the_other_columns():
    query = PAIRS.replace("ORDER BY ts", "ORDER BY ts, v DESC")
    with harness(query) as found:
        send(found, (1000, 3), (1000, 5), (2000, 4), (1000, 4))
        found.process_watermark(3000)
        assert rows_of(found) == [("a", 3, 4)]


def test_state_ttl_does_not_cut_matches():
    with harness(RISES, **{"table.exec.state.ttl": "1 s"}) as found:
        found.set_processing_time(0)
        send(found, (1000, 1), (2000, 5))
        found.process_watermark(2000)
        found.set_processing_time(60_000)
        send(found, (3000, 0))
        found.process_watermark(3000)
        assert rows_of(found) == [("a", 1, 5, 0)]


def test_skipping_to_a_variable_without_rows_fails_with_what_to_do():
    query = match("A B? C", "B AS B.v > 100", "A.v AS a", rows="AFTER MATCH SKIP TO B")
    with harness(query) as found:
        send(found, (1000, 1), (2000, 2))
        with pytest.raises(Exception, match="leads to a variable that has no row in the match"):
            found.process_watermark(3000)


def test_functions_of_python_compute_conditions_measures_and_aggregates(env):
    class Span(AggregateFunction):
        def create_accumulator(self):
            return []

        def accumulate(self, accumulator, value):
            accumulator.append(value)

        def get_value(self, accumulator):
            return max(accumulator) - min(accumulator)

    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_function("twice", udf(lambda v: v * 2, result_type=DataTypes.INT()))
    t_env.create_temporary_function("span", udaf(Span(), result_type=DataTypes.INT(), accumulator_type="ARRAY<INT>"))
    t_env.execute_sql(
        "CREATE TABLE n (v INT, ts AS TO_TIMESTAMP_LTZ(v * 1000, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', "
        "'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '9')"
    )
    query = match(
        "A+ B",
        "A AS twice(A.v) < 7 OR span(A.v) < 1, B AS TRUE",
        "span(A.v) AS s, twice(B.v) AS t",
        "ORDER BY ts",
        source="n",
    )
    with t_env.execute_sql(query).collect() as found:
        assert [tuple(row) for row in found] == [(2, 8), (0, 12), (0, 16)]


# -- state -----------------------------------------------------------------------------------------------------------

STAIRS = match(
    "A B{3} C",
    "B AS B.n > A.n, C AS MOD(C.n, 7) = A.k",
    "A.n AS a, LAST(B.n) AS b, C.n AS c, COUNT(B.n) AS d",
    source="numbers",
)


def run(values, restarts):
    """The matches among rows of two keys, with a new operator from a snapshot before some rows."""
    current, found = harness(STEPS), []
    for i, value in enumerate(values):
        if i in restarts:
            snapshot = current.snapshot()
            found += rows_of(current)
            current.close()
            current = harness(STEPS)
            current.initialize_state(snapshot)
        send(current, (1000 * i, value), key="ab"[i % 2])
        if i % 3 == 2:
            current.process_watermark(1000 * i - 500)
    current.process_watermark(10**6)
    with current:
        return found + rows_of(current)


STEPS = match(
    "A B+ C",
    "B AS B.v >= A.v, C AS C.v < A.v",
    "A.v AS a, COUNT(B.v) AS n, C.v AS c",
    within="WITHIN INTERVAL '9' SECOND",
)


@given(st.lists(st.integers(0, 4), max_size=20), st.sets(st.integers(0, 19), max_size=3))
@settings(max_examples=15)
def test_a_restart_between_any_rows_changes_nothing(values, restarts):
    assert run(values, restarts) == run(values, set())


# At parallelism 1, a subtask has two splits, each with its own watermark: no row of the one is late after the other.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "parallelism"),
    [("inline", 1), ("inline", 3), pytest.param("spark", 3, marks=pytest.mark.spark)],
)
def test_a_savepoint_in_the_middle_of_matches_restores_them_at_another_parallelism(engine, tmp_path, parallelism):
    def start(parallelism, **more):
        configuration = {
            "flintstream.engine": engine,
            "parallelism.default": str(parallelism),
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        }
        env, t_env = numbers(configuration | more)
        t_env.to_data_stream(t_env.sql_query(STAIRS)).sink_to(sink).uid("sink")
        return env.execute_async("numbers")

    sink = CollectSink()
    job = start(2)
    wait_for_numbers(job, numCheckpoints=2)
    savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    start(parallelism, **{"execution.savepoint.path": savepoint}).get_job_execution_result().result()
    found = sorted(tuple(row) for row in sink.get_results(True, False))
    keys = [list(range(k, 2000, 7)) for k in range(7)]
    assert found == sorted(
        (k, ns[i], ns[i + 3], ns[i + 4], 3) for k, ns in enumerate(keys) for i in range(0, len(ns) - 4, 5)
    )
