"""A name that no query has is reported where it stands; only names of the outer query make a query correlated."""

from __future__ import annotations

import pytest

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import ColumnNotFoundError, SqlError, TableNotFoundError, UnsupportedClauseError

OUTER = "(VALUES (1, 10), (2, 20)) AS o(k, v)"
INNER = "(VALUES (1, 5), (1, 7), (2, 9)) AS i(k, w)"

FORMS = {
    "a value": "SELECT o.k, (SELECT MAX({name}) FROM {i}) AS m FROM {o}",
    "a value for each row": "SELECT o.k, (SELECT MAX({name}) FROM {i} WHERE i.k = o.k) AS m FROM {o}",
    "the condition of a value": "SELECT o.k, (SELECT MAX(w) FROM {i} WHERE {name} = o.k) AS m FROM {o}",
    "a value in WHERE": "SELECT o.k FROM {o} WHERE o.v > (SELECT MAX({name}) FROM {i})",
    "IN": "SELECT o.k FROM {o} WHERE o.k IN (SELECT {name} FROM {i})",
    "NOT IN": "SELECT o.k FROM {o} WHERE o.k NOT IN (SELECT {name} FROM {i})",
    "IN for each row": "SELECT o.k FROM {o} WHERE o.v IN (SELECT {name} FROM {i} WHERE i.k = o.k)",
    "EXISTS": "SELECT o.k FROM {o} WHERE EXISTS (SELECT 1 FROM {i} WHERE {name} > 6)",
    "EXISTS for each row": "SELECT o.k FROM {o} WHERE EXISTS (SELECT 1 FROM {i} WHERE i.k = o.k AND {name} > 6)",
    "NOT EXISTS": "SELECT o.k FROM {o} WHERE NOT EXISTS (SELECT 1 FROM {i} WHERE i.k = o.k AND {name} > 6)",
    "ANY": "SELECT o.k FROM {o} WHERE o.k >= ANY (SELECT {name} FROM {i})",
    "ALL": "SELECT o.k FROM {o} WHERE o.k >= ALL (SELECT {name} FROM {i})",
    "FROM": "SELECT k FROM (SELECT {name} AS k FROM {i})",
    "a common table": "WITH c AS (SELECT {name} AS k FROM {i}) SELECT k FROM c",
    "a query in a query": "SELECT o.k FROM {o} WHERE o.k IN (SELECT i.k FROM {i} WHERE i.w = (SELECT MAX({name}) FROM {i}))",
}


@pytest.fixture(scope="module")
def t_env():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def query(form, name):
    return FORMS[form].format(name=name, o=OUTER, i=INNER)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_runs_with_the_right_name(t_env, form):
    with t_env.execute_sql(query(form, "w")).collect() as rows:
        assert isinstance(list(rows), list)


@pytest.mark.parametrize("name", ["ww", "i.ww", "nothing.w"])
@pytest.mark.parametrize("form", FORMS)
def test_a_misspelt_column_is_named_with_its_place(t_env, form, name):
    text = query(form, name)
    column = text.index(name) + name.rfind(".") + 2  # of the last part
    with pytest.raises(ColumnNotFoundError, match=rf"^Column '{name}' not found at line 1, column {column}\b"):
        t_env.sql_query(text)


@pytest.mark.parametrize("form", FORMS)
def test_a_misspelt_table_is_named(t_env, form):
    with pytest.raises(TableNotFoundError, match="Object 'nowhere' not found at line 1"):
        t_env.sql_query(FORMS[form].format(name="w", o=OUTER, i="nowhere AS i"))


def test_a_name_that_is_ambiguous_within_a_query_is_not_taken_from_the_outer_one(t_env):
    text = f"SELECT k FROM {OUTER} WHERE EXISTS (SELECT 1 FROM {INNER}, {INNER.replace('AS i', 'AS j')} WHERE k = 1 AND v = 10)"
    with pytest.raises(SqlError, match=r"Column 'k' at line 1, column [0-9]+ is ambiguous"):
        t_env.sql_query(text)


def test_a_table_in_from_that_reads_the_outer_query_is_refused_with_a_remedy(t_env):
    text = f"SELECT k, (SELECT MAX(w) FROM (SELECT w FROM {INNER} WHERE i.k = o.k)) AS m FROM {OUTER}"
    with pytest.raises(UnsupportedClauseError, match=r"reads the column 'o.k' of the outer query, .* use a JOIN"):
        t_env.sql_query(text)
