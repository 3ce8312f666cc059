"""Recipes of the SQL cookbook: how they are bounded, and that all that PyFlink runs also run here."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("faker", reason="the extra 'faker' is not installed: make setup")

from tests.corpus import cookbook

from flintstream.compat import pyflink

RESULTS = json.loads(cookbook.RESULTS.read_text(encoding="utf-8"))
PAGE = """
A page explains its last query first:

```sql
SELECT kind, COUNT(*) FROM visits GROUP BY kind;
```

```sql
CREATE TABLE visits (kind STRING, at_time AS PROCTIME()) WITH (
  'connector' = 'faker', 'fields.kind.expression' = '#{regexify ''(a|b)''}', 'fields.at_time.expression' = 'x',
  'rows-per-second' = '1'
);
CREATE TABLE kept (kind STRING, n BIGINT NOT NULL) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'avro');
BEGIN STATEMENT SET;
INSERT INTO kept SELECT kind, 1 FROM visits; -- one; of two
INSERT INTO kept SELECT kind, 2 FROM visits;
END;
SELECT * FROM kept;
PARTITION BY kind
```
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "area" / "01_visits").mkdir(parents=True)
    (tmp_path / "area" / "01_visits" / "visits.md").write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_declarations_come_first_and_then_what_writes(checkout):
    (recipe,) = cookbook.recipes(checkout)
    assert recipe.name == "area/01_visits/visits"
    (script,) = recipe.scripts
    assert [statement.split()[0] for statement in script] == ["CREATE", "CREATE", "EXECUTE", "SELECT", "SELECT"]
    assert script[2].count("INSERT") == 2
    assert "one; of two" not in script[2]


def test_a_table_gives_forty_rows_and_kafka_is_a_file(checkout, tmp_path):
    (recipe,) = cookbook.recipes(checkout)
    visits, kept, *_ = recipe.scripts[0]
    assert "'number-of-rows' = '40'" in cookbook.bounded(visits, checkout, tmp_path, oracle=False)
    assert "'connector' = 'datagen'" in cookbook.bounded(visits, checkout, tmp_path, oracle=True)
    assert f"'path' = '{tmp_path}/kept'" in cookbook.bounded(kept, checkout, tmp_path, oracle=False)


@pytest.mark.filterwarnings("ignore:table 'visits'. the option:UserWarning")
def test_a_recipe_runs_statement_by_statement(checkout):
    was_installed = pyflink.is_installed()
    pyflink.install()
    try:
        (recipe,) = cookbook.recipes(checkout)
        assert cookbook.run(recipe, checkout, "inline", oracle=False) == (cookbook.RUNS, 5)
        recipe.scripts[0].append("SELECT nope FROM visits")
        verdict, ran = cookbook.run(recipe, checkout, "inline", oracle=False)
        assert ran == 5
        assert "nope" in verdict
    finally:
        if not was_installed:
            pyflink.uninstall()


def test_a_name_that_is_declared_again_begins_another_environment():
    again = ["CREATE TABLE t (a INT)", "SELECT a FROM t", "CREATE TABLE t (b INT)", "SELECT b FROM t"]
    assert cookbook.scripts(again) == [again[:2], again[2:]]


@pytest.mark.parametrize("entry", RESULTS, ids=lambda entry: entry["recipe"])
def test_what_pyflink_runs_of_a_recipe_runs_here(entry):
    assert entry["here_ran"] >= entry["pyflink_ran"]
    assert (entry["here"] == cookbook.RUNS) >= (entry["pyflink"] == cookbook.RUNS)
    assert bool(entry["remark"]) == (entry["here"] != cookbook.RUNS)
