"""Random SELECT statements leave the rows that DuckDB returns; what the two do not share is not generated."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("duckdb", reason="DuckDB is not installed: make setup")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.table.random_selects.__main__ import environment
from tests.table.random_selects.expressions import table
from tests.table.random_selects.running import database, declare, difference, expected, found
from tests.table.random_selects.statements import statement


class Drawn:
    """Choices of hypothesis, which makes those smaller that lead to a failure."""

    def __init__(self, data):
        self.data = data

    def below(self, count):
        return self.data.draw(st.integers(0, count - 1))


def compared(data, mode):
    chance = Drawn(data)
    tables = [table(chance, name) for name in ("t", "u")]
    query = statement(chance, tables)
    with TemporaryDirectory() as directory, database(tables) as connection:
        theirs = expected(connection, query)
        t_env = environment(mode)
        declare(t_env, tables, Path(directory))
        assert not difference(query, theirs, found(t_env, query))


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(["STREAMING", "BATCH"]))
def test_a_random_select_returns_what_duckdb_does(data, mode):
    compared(data, mode)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@settings(max_examples=750, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_random_selects_return_what_duckdb_does(mode, data):
    compared(data, mode)
