"""``table.exec.state.ttl``: state that nothing has written for so long is forgotten, and the next row starts afresh."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, Types
from flintstream.table import Schema, StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.testing.harness import OneInputHarness, TwoInputHarness

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
NUMBERED = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS n FROM a) WHERE n = 1"
CASES = {
    "groups": (
        "SELECT k, SUM(v) AS s FROM a GROUP BY k",
        [
            (0, 5, ["+I a 5"]),
            (700, 3, ["-U a 5", "+U a 8"]),
            (1600, 1, ["-U a 8", "+U a 9"]),  # what wrote the state last counts
            (2600, 2, ["+I a 2"]),
        ],
    ),
    "distinct rows": ("SELECT DISTINCT k FROM a", [(0, 1, ["+I a"]), (700, 1, []), (2000, 1, ["+I a"])]),
    "the greatest row": (
        NUMBERED.format("v DESC"),
        [(0, 5, ["+I a 5"]), (700, 3, []), (900, 7, ["-U a 5", "+U a 7"]), (2000, 1, ["+I a 1"])],
    ),
    "the first row": (NUMBERED.format("p"), [(0, 5, ["+I a 5"]), (700, 3, []), (2000, 1, ["+I a 1"])]),
    "the last row": (
        NUMBERED.format("p DESC"),
        [(0, 5, ["+I a 5"]), (700, 3, ["-U a 5", "+U a 3"]), (2000, 1, ["+I a 1"])],
    ),
    "OVER": (
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY p) AS s FROM a",
        [(0, 5, ["+I a 5"]), (700, 3, ["+I a 8"]), (1600, 1, ["+I a 9"]), (2700, 2, ["+I a 2"])],
    ),
    "OVER in another order": (
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v DESC) AS s FROM a",
        [(0, 5, ["+I a 5"]), (700, 3, ["+I a 8"]), (2000, 2, ["+I a 2"])],
    ),
}
JOINS = {
    "INNER JOIN": ("SELECT a.v, b.v FROM a JOIN b ON a.k = b.k", ["+I 1 10", "+I 2 20"]),
    "LEFT JOIN": (
        "SELECT a.v, b.v FROM a LEFT JOIN b ON a.k = b.k",
        ["+I 1 None", "-D 1 None", "+I 1 10", "+I 2 None", "-D 2 None", "+I 2 20"],
    ),
    "INTERSECT": ("SELECT k FROM a INTERSECT SELECT k FROM b", ["+I x", "+I x"]),
}


def declare(stream, name, t_env):
    schema = (
        Schema.new_builder().column("k", "STRING").column("v", "INT").column_by_expression("p", "PROCTIME()").build()
    )
    t_env.create_temporary_view(name, t_env.from_data_stream(stream, schema))


def texts(rows):
    return [" ".join(map(str, (row.get_row_kind(), *row))) for row in rows]


def answer(query, *streams):
    t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
    t_env.get_config().set("table.exec.state.ttl", "1 s")
    for name, stream in zip("ab", streams, strict=False):
        declare(stream, name, t_env)
    return t_env.to_changelog_stream(t_env.sql_query(query))


@pytest.mark.parametrize("name", CASES)
def test_state_is_forgotten_when_nothing_has_written_it(name):
    query, steps = CASES[name]
    with OneInputHarness(lambda a: answer(query, a), type_info=ROWS) as harness:
        seen = 0
        for now, value, expected in steps:
            harness.set_processing_time(now)
            harness.process_element(Row("a", value))
            found = harness.extract_output_values()
            assert texts(found[seen:]) == expected, f"at {now} ms"
            seen = len(found)


@pytest.mark.parametrize("name", JOINS)
def test_rows_that_are_forgotten_have_no_partners(name):
    query, expected = JOINS[name]
    with TwoInputHarness(lambda a, b: answer(query, a, b), type_info1=ROWS, type_info2=ROWS) as harness:
        harness.process_element1(Row("x", 1))
        harness.set_processing_time(700)
        harness.process_element2(Row("x", 10))
        harness.set_processing_time(2000)
        harness.process_element1(Row("x", 2))
        harness.set_processing_time(2100)
        harness.process_element2(Row("x", 20))
        assert texts(harness.extract_output_values()) == expected


HINTED = {
    "the left rows of a join": (
        "SELECT /*+ STATE_TTL('a' = '1 s') */ a.v, b.v FROM a JOIN b ON a.k = b.k",
        ["+I 1 10", "+I 2 10", "+I 2 20"],
    ),
    "the right rows of a join, by the alias": (
        "SELECT /*+ STATE_TTL(z = '1 s') */ a.v, z.v FROM a JOIN b AS z ON a.k = z.k",
        ["+I 1 10", "+I 1 20", "+I 2 20"],
    ),
    "both, where the first of two hints counts": (
        "SELECT /*+ STATE_TTL('a' = '1 s'), STATE_TTL('a' = '1 d', 'b' = '1 s') */ a.v, b.v FROM a JOIN b ON a.k = b.k",
        ["+I 1 10", "+I 2 20"],
    ),
    "rows of other tables than those of the hint": (
        "SELECT s.v, b.v FROM (SELECT /*+ STATE_TTL('a' = '1 s') */ k, v FROM a) AS s JOIN b ON s.k = b.k",
        ["+I 1 10", "+I 2 10", "+I 1 20", "+I 2 20"],
    ),
}


def unlimited(query, *streams):
    t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
    for name, stream in zip("ab", streams, strict=False):
        declare(stream, name, t_env)
    return t_env.to_changelog_stream(t_env.sql_query(query))


@pytest.mark.parametrize("name", HINTED)
def test_a_hint_says_how_long_each_side_of_a_join_is_kept(name):
    query, expected = HINTED[name]
    with TwoInputHarness(lambda a, b: unlimited(query, a, b), type_info1=ROWS, type_info2=ROWS) as harness:
        harness.process_element1(Row("x", 1))
        harness.process_element2(Row("x", 10))
        harness.set_processing_time(2000)
        harness.process_element1(Row("x", 2))
        harness.process_element2(Row("x", 20))
        assert sorted(texts(harness.extract_output_values())) == sorted(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT /*+ STATE_TTL('a' = '1 s') */ k, SUM(v) AS s FROM a GROUP BY k", ["+I a 1", "+I a 2"]),
        ("SELECT /*+ STATE_TTL('a' = '0 s') */ k, SUM(v) AS s FROM a GROUP BY k", ["+I a 1", "-U a 1", "+U a 3"]),
        (
            "SELECT k, s FROM (SELECT /*+ STATE_TTL('x.y.a' = '1 s') */ k, SUM(v) AS s FROM a GROUP BY k) AS t",
            ["+I a 1", "+I a 2"],
        ),
        ("SELECT /*+ STATE_TTL('a' = '1 s') */ DISTINCT k FROM a", ["+I a", "+I a"]),
    ],
)
def test_a_hint_says_how_long_groups_are_kept(query, expected):
    with OneInputHarness(lambda a: unlimited(query, a), type_info=ROWS) as harness:
        harness.process_element(Row("a", 1))
        harness.set_processing_time(2000)
        harness.process_element(Row("a", 2))
        assert texts(harness.extract_output_values()) == expected


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("STATE_TTL('c' = '1 s')", r"STATE_TTL at line 1, column 8: FROM has no table or view named 'c'"),
        ("STATE_TTL('A' = '1 s')", r"FROM has no table or view named 'A'; did you mean 'a'"),
        ("STATE_TTL('a' = '1 x')", r"'a' must be a duration, such as .*, but is '1 x'"),
        ("STATE_TTL('a' = '-1 d')", r"'a' must be a duration, such as .*, but is '-1 d'"),
        ("STATE_TTL('a')", r"the hint STATE_TTL at line 1, column 8 takes pairs of strings"),
        ("STATE_TTL", r"the hint STATE_TTL at line 1, column 8 needs a pair of strings"),
        ("BROADCAST(c)", r"BROADCAST at line 1, column 8: FROM has no table or view named 'c'"),
        ("BROADCAST", r"the hint BROADCAST at line 1, column 8 needs a table"),
    ],
)
def test_a_hint_that_cannot_be_is_refused_when_the_query_is_planned(hint, message):
    with (
        pytest.raises(SqlError, match=message),
        OneInputHarness(lambda a: unlimited(f"SELECT /*+ {hint} */ k, SUM(v) FROM a GROUP BY k", a), type_info=ROWS),
    ):
        pass
