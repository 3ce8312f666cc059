"""Types and values have the forms that a real SQL gateway of Flink 2.3 gives them; ``record.py`` has recorded those."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.sql_gateway.record import EXPRESSIONS, STATEMENTS

from flintstream.sql_gateway.logical_types import logical_type
from flintstream.sql_gateway.row_formats import RowFormat, row_writer
from flintstream.sql_gateway.sessions import Session

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text())
QUERIES = [f"SELECT {expression} AS c" for expression in EXPRESSIONS]


@pytest.fixture(scope="module")
def session():
    session = Session({"flintstream.engine": "inline", "execution.runtime-mode": "BATCH"})
    yield session
    session.close()


def run(session, statement, form):
    operation = session.execute(statement)
    assert operation.wait(30)
    result = operation.require_success()
    write, rows, token = row_writer(result.columns, RowFormat(form)), [], 0
    while token is not None:
        page = result.page(token)
        rows += [json.loads(write(row), parse_float=str) for row in page.rows]
        token = page.next_token
    columns = [
        {"name": column.name, "logicalType": logical_type(column.type), "comment": None} for column in result.columns
    ]
    kind = "SUCCESS_WITH_CONTENT" if result.has_content else "SUCCESS"
    return {"columns": columns, "rows": rows, "resultKind": kind, "isQueryResult": result.is_query}


def test_the_goldens_are_those_of_the_recorder():
    assert list(GOLDENS) == [*QUERIES, *STATEMENTS]


@pytest.mark.parametrize("form", ["JSON", "PLAIN_TEXT"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_value_has_flinks_type_and_form(session, query, form):
    golden = GOLDENS[query][form]
    if golden is None:
        assert run(session, query, form)["rows"] == [{"kind": "INSERT", "fields": [None]}]
        return
    assert run(session, query, form) == golden


def test_a_statement_has_flinks_columns_and_rows():
    session = Session({"flintstream.engine": "inline"})
    found = {statement: {"JSON": run(session, statement, "JSON")} for statement in STATEMENTS}
    session.close()
    assert found == {statement: GOLDENS[statement] for statement in STATEMENTS}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("MAP[DATE '2026-01-01', 1]", {"2026-01-01": 1}),
        ("MAP[1, ARRAY[ROW(1, DATE '2026-01-01')]]", {"1": [{"EXPR$0": 1, "EXPR$1": "2026-01-01"}]}),
    ],
)
def test_a_map_with_keys_that_flink_cannot_write_has_their_texts(session, expression, value):
    assert run(session, f"SELECT {expression} AS c", "JSON")["rows"][0]["fields"] == [value]
