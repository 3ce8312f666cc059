"""JSON functions beyond what was recorded from PyFlink: errors, pickling, documents at random."""

from __future__ import annotations

import contextlib
import json
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table._errors import SqlError
from flintstream.table._expressions.json.helpers import document, json_text, json_unquoted, written
from flintstream.table._expressions.json.paths import JsonPath
from flintstream.table.expression import JsonOnNull, JsonQueryWrapper, JsonValueOnEmptyOrError
from flintstream.table.expressions import col, json_array, json_object, json_string, lit

texts = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(documents)
def test_a_document_that_is_written_is_read_again(value):
    text = written(value)
    assert document(text) == value
    assert json.loads(text) == value


@given(texts)
def test_quoting_and_unquoting_give_a_text_back(text):
    assert json_unquoted(json_text(text)) == text


def test_numbers_keep_their_digits():
    text = "[0.1234567890123456789012345,12345678901234567890123,1.50]"
    assert written(document(text)) == text
    assert document("[1.50]")[0].as_tuple() == Decimal("1.50").as_tuple()


@given(
    documents, st.sampled_from(["$", "$.*", "$..*", "lax $.a.b", "lax $[0]", "$..a", "lax $[?(@.a > 1)]", "lax $[-1:]"])
)
def test_a_pickled_path_finds_the_same(value, text):
    path = JsonPath(text)
    again = pickle.loads(pickle.dumps(path))

    def found(reader):
        try:
            return reader.find(value)
        except LookupError:
            return LookupError

    assert found(path) == found(again)


@given(st.text(max_size=12))
def test_a_path_of_any_text_can_be_made(text):
    with contextlib.suppress(ValueError, LookupError):
        JsonPath(f"${text}").find({"a": [1]})


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return [list(item) for item in found]


def test_error_on_error_fails_the_job_and_names_the_path(t_env):
    with pytest.raises(Exception, match=r"\$\.a"):
        rows(t_env, "SELECT JSON_VALUE(j, '$.a' ERROR ON ERROR) FROM (VALUES ('{\"a\": {}}')) AS t (j)")


def test_a_path_may_differ_from_row_to_row(t_env):
    given = "(VALUES (1, '$.a'), (2, '$.b'), (3, '$.'), (4, CAST(NULL AS STRING))) AS t (id, p)"
    query = f"""SELECT id, JSON_VALUE('{{"a": 1, "b": [2]}}', p DEFAULT 'no' ON ERROR), JSON_QUERY('{{"b": [2]}}', p) FROM {given}"""
    with t_env.execute_sql(query).collect() as found:
        assert sorted(map(list, found)) == [[1, "1", None], [2, "no", "[2]"], [3, "no", None], [4, None, None]]
    with pytest.raises(SqlError, match=r"JSON_VALUE.*it takes \(STRING, path\)"):
        t_env.sql_query("SELECT JSON_VALUE('{}', 1)")


def test_expressions_have_the_functions_of_json(t_env):
    table = t_env.from_elements([(1, '{"a": [1, "x"]}'), (2, "no json")], ["id", "j"])
    selected = table.select(
        col("j").is_json(),
        col("j").json_exists("$.a"),
        col("j").json_value(
            "$.b",
            on_error=JsonValueOnEmptyOrError.DEFAULT,
            default_on_error="none",
        ),
        col("j").json_query("$.a[0]", JsonQueryWrapper.UNCONDITIONAL_ARRAY),
        json_object(JsonOnNull.NULL, "id", col("id"), "all", json_array(JsonOnNull.ABSENT, 1, lit("x"))),
        json_string(col("id")),
        col("j").json_quote(),
    )
    with selected.execute().collect() as found:
        assert [list(item) for item in found] == [
            [True, True, "none", "[1]", '{"all":[1,"x"],"id":1}', "1", '"{\\"a\\": [1, \\"x\\"]}"'],
            [False, False, "none", None, '{"all":[1,"x"],"id":2}', "2", '"no json"'],
        ]
