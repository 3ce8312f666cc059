"""The page on tables says what planning shows; what is not there names the clause, its place, and what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.table import page
from tests.table.support import EXAMPLES, MODES, TABLES, planned
from tests.table.support_of_pyflink import RESULTS
from tests.table.test_over import environment

from flintstream.errors import UnsupportedByDesignError
from flintstream.table._errors import SqlError, UnsupportedClauseError

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "table.md"
PLACE = r" at line \d+, column \d+ is not supported yet: \w.+\. For bounded data, Spark SQL can run the query"
UNSUPPORTED = {
    "CREATE FUNCTION in Java": "LANGUAGE JAVA",
    "NTILE, CUME_DIST, PERCENT_RANK": "NTILE() on a stream",
    "CREATE CATALOG of another type": "the catalog c with type 'hive'",
    "UPDATE, DELETE": "DELETE",
    "TRUNCATE": "TRUNCATE",
    "ML_PREDICT": "ML_PREDICT",
    "VECTOR_SEARCH": "VECTOR_SEARCH",
    "CALL": "CALL",
    "LOAD MODULE": "the module 'hive'",
    "PIVOT": "PIVOT",
    "DISTINCT ON": "DISTINCT ON",
    "MATCH_RECOGNIZE with groups": "the repeated group (A B) in PATTERN",
    "ALL ROWS PER MATCH": "ALL ROWS PER MATCH",
    "GROUP BY ALL": "GROUP BY ALL",
    "frames in another order": "a frame of OVER with a first row that is not ordered by a time attribute, ascending,",
    "EXCLUDE": "EXCLUDE",
    "LEAD": "LEAD() on a stream",
}
IN_BATCHES = (
    "INSERT OVERWRITE",
    "frames in another order",
    "NTILE, CUME_DIST, PERCENT_RANK",
    "LEAD",
    "ANALYZE",
    "ORDER BY other columns",
)
"""What is there in BATCH mode only; the last one is refused by Flink, too."""
IN_STREAMS = ("TO_CHANGELOG", "FROM_CHANGELOG")
"""What is there in STREAMING mode only, as in Flink."""
BEYOND = ("CREATE FUNCTION in Java",)
"""What PyFlink plans and flintstream does not."""
ALL = {name: statement for examples in EXAMPLES.values() for name, statement in examples.items()}


def test_the_page_is_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    assert "<!-- support -->" in text
    assert page.filled(text) == text, "run make options"


@pytest.mark.parametrize("name", ALL)
def test_a_clause_is_there_or_refused_with_its_name_its_place_and_advice(name):
    errors = {mode: planned(ALL[name], mode) for mode in MODES}
    there = "BATCH" if name in IN_BATCHES else "STREAMING" if name in IN_STREAMS else ""
    if name not in UNSUPPORTED and not there:
        assert errors == dict.fromkeys(MODES)
        return
    if there:
        assert errors.pop(there) is None
    for error in errors.values():
        if name in UNSUPPORTED:
            assert isinstance(error, UnsupportedClauseError)
            assert isinstance(error, UnsupportedByDesignError)
            assert re.match(re.escape(UNSUPPORTED[name]) + PLACE, str(error))
            assert "env.to_dataframe() and env.from_dataframe() are the bridge" in str(error)
        else:
            assert isinstance(error, SqlError)


def test_pyflink_plans_nothing_else_that_is_refused_here():
    answers = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert set(answers) == set(ALL), "run tests.table.support_of_pyflink"
    beyond = {
        name for name in ALL for mode in MODES if answers[name][mode] == "yes" and planned(ALL[name], mode) is not None
    }
    assert beyond == set(BEYOND)


def test_the_place_of_a_clause_is_that_in_the_statement():
    t_env = environment()
    for item in TABLES:
        t_env.execute_sql(item)
    statement = "SELECT id\nFROM orders\n  PIVOT (SUM(n) FOR k IN ('a'))"
    with pytest.raises(UnsupportedClauseError, match="PIVOT at line 3, column 10 is not supported yet"):
        t_env.sql_query(statement)
    with pytest.raises(SqlError, match="unknown hint OPTION at line 1, column 16; did you mean 'OPTIONS'"):
        t_env.sql_query("SELECT id FROM orders /*+ OPTION('a' = 'b') */")
    with pytest.raises(
        UnsupportedClauseError, match=r"OPTIONS here at line 1, column \d+ is not supported yet: write it"
    ):
        t_env.sql_query("SELECT id FROM orders AS t /*+ OPTIONS('a' = 'b') */")
    with pytest.raises(UnsupportedClauseError, match=r"STATE_TTL after a table at line 1, column \d+ is not"):
        t_env.sql_query("SELECT id FROM orders /*+ STATE_TTL('orders' = '1 d') */")
    hinted = "SELECT /*+ STATE_TTL('orders' = '1 d') */ * FROM orders /*+ OPTIONS('number-of-rows' = '3') */"
    window = f"TUMBLE(({hinted}), DESCRIPTOR(ts), INTERVAL '1' HOUR)"
    for table in (window, f"TABLE({window})"):
        with t_env.execute_sql(f"SELECT id FROM {table}").collect() as rows:
            assert len(list(rows)) == 3
    with pytest.warns(UserWarning, match="OPTIONS at line 1, column 8 have no effect after SELECT"):
        t_env.sql_query("SELECT /*+ OPTIONS('a' = 'b') */ id FROM orders")


def test_options_of_a_hint_are_those_of_the_table_in_one_statement():
    t_env = environment()
    for item in TABLES:
        t_env.execute_sql(item)
    for hint, count in (("", 1), ("/*+ OPTIONS('number-of-rows' = '3') */", 3), ("/* OPTIONS('x' = '3') */", 1)):
        with t_env.execute_sql(f"SELECT 1 FROM orders {hint}").collect() as rows:
            assert len(list(rows)) == count
    with pytest.raises(SqlError, match="has no option 'number-of-row'; did you mean 'number-of-rows'"):
        t_env.sql_query("SELECT 1 FROM orders /*+ OPTIONS('number-of-row' = '3') */")
