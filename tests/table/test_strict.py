"""``flintstream.table.strict`` refuses what works here but not in Flink, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.conformance import ours
from tests.table.conformance import harness
from tests.table.conformance.registry import Script

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._deep_stack import deep
from flintstream.table._errors import SqlError, StrictError
from flintstream.table._sql.clauses import refuse_what_flink_refuses
from flintstream.table._sql.dialect import Parsed, Tokens
from flintstream.table._sql.inserts import QUERIES

SCHEMA = "id INT, `value` STRING, `user` STRING, ts TIMESTAMP(3)"


def environment(strict):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(f"CREATE TABLE t ({SCHEMA}) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    t_env.get_config().set("flintstream.table.strict", strict)
    return t_env


REFUSED = {
    "SELECT value FROM t": "Flink reserves the word 'value' at line 1, column 8: write it as a name in backquotes, `value`",
    "SELECT t.user FROM t": "Flink reserves the word 'user' at line 1, column 10",
    "SELECT id AS sum FROM t": "Flink reserves the word 'sum' at line 1, column 14",
    "SELECT id FROM t AS language": "Flink reserves the word 'language'",
    "SELECT o.id FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' DAY)) AS day, t AS o": "reserves the word 'day'",
    "SELECT id + NULL FROM t": r"\+ at line 1, column 8: Flink requires a type for NULL",
    "SELECT IF(id > 1, id, NULL) FROM t": "IF at line 1, column 16: Flink requires a type for NULL",
    "SELECT id = '2' FROM t": "= at line 1, column 13: Flink does not compare numbers with strings: write CAST to INT",
    "CREATE TABLE n (value INT) WITH ('connector' = 'blackhole')": "Flink reserves the word 'VALUE' at line 1, column 17",
    "CREATE VIEW result AS SELECT 1 AS one": "Flink reserves the word 'RESULT' at line 1, column 13",
    "SET 'parallelism.default' = '2'": r"SET at line 1, column 1: execute_sql\(\) of Flink refuses it",
    "RESET": r"RESET at line 1, column 1: execute_sql\(\) of Flink refuses it",
}
ACCEPTED = [
    "SELECT `value`, t.`user`, CURRENT_DATE, LOCALTIMESTAMP, COUNT(*) OVER (ORDER BY PROCTIME()) FROM t",
    "SELECT TIMESTAMPADD(DAY, 1, ts), FLOOR(ts TO HOUR), EXTRACT(YEAR FROM ts), TIMESTAMPDIFF(MINUTE, ts, ts) FROM t",
    "SELECT CAST(NULL AS INT) + 1, CASE WHEN id > 1 THEN id END, NULLIF(id, 2), 9223372036854775807 FROM t",
    "SELECT id AS name, id AS type, id AS data, id AS key FROM t",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_what_only_works_here_is_refused_if_a_program_asks_for_it(statement):
    with pytest.raises(StrictError, match=REFUSED[statement]):
        environment("true")._executor.statements.run(statement)


@pytest.mark.parametrize("statement", [statement for statement in REFUSED if "TUMBLE" not in statement])
def test_it_is_accepted_by_default(statement):
    environment("false")._executor.statements.run(statement)


@pytest.mark.parametrize("statement", ACCEPTED)
def test_what_flink_takes_is_accepted(statement):
    environment("true")._executor.statements.run(statement)


@deep
def test_no_query_that_ran_on_pyflink_is_refused():
    with ours.alias():
        cases = [case for case in harness.load_cases().values() if isinstance(case, Script)]
    checked = 0
    for case in cases:
        for mode in case.modes:
            if not harness.is_recorded(case.name, mode):
                continue
            for statement, result in zip(case.statements, harness.load_golden(case.name, mode), strict=False):
                if "error" in result:
                    continue
                tokens = Tokens(statement)
                if tokens.peek() not in QUERIES:
                    continue
                with suppress(SqlError):  # of the few that only PyFlink reads
                    parsed = Parsed(tokens.sql, tokens.rest())
                    checked += 1
                refuse_what_flink_refuses(parsed)
    assert checked > 1000
