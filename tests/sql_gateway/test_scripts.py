"""Scripts are cut into statements at the semicolons between them."""

from __future__ import annotations

import pytest

from flintstream.sql_gateway.scripts import split_script

SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END"


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ;; \n", []),
        ("-- nothing\n/* here; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 'a;''b'; SELECT 2", ["SELECT 'a;''b'", "SELECT 2"]),
        ("SELECT `a;b` FROM t", ["SELECT `a;b` FROM t"]),
        ("SELECT 1 -- one; two\n; SELECT /* a; */ 2", ["SELECT 1 -- one; two", "SELECT /* a; */ 2"]),
        (f"{SET}; SHOW TABLES", [SET, "SHOW TABLES"]),
        (f"EXPLAIN {SET[8:]}; SHOW TABLES", [f"EXPLAIN {SET[8:]}", "SHOW TABLES"]),
        (f"COMPILE PLAN 'x' FOR {SET[8:]}; SHOW TABLES", [f"COMPILE PLAN 'x' FOR {SET[8:]}", "SHOW TABLES"]),
        (SET.replace("1", "CASE WHEN a THEN 1 END"), [SET.replace("1", "CASE WHEN a THEN 1 END")]),
        ("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;", ["BEGIN STATEMENT SET", "INSERT INTO a SELECT 1", "END"]),
        ("SELECT 'no end", ["SELECT 'no end"]),
    ],
)
def test_a_script_has_its_statements(script, statements):
    assert [statement.text for statement in split_script(script)] == statements


def test_a_statement_knows_where_it_begins_and_whether_it_has_ended():
    first, second = split_script("\n\n-- one\nSELECT\n 1;\nSHOW TABLES")
    assert (first.line, first.ended) == (4, True)
    assert (second.line, second.ended) == (6, False)
