"""Cells of notebooks run SQL."""

from __future__ import annotations

import pytest

from flintstream.table import EnvironmentSettings, TableEnvironment

pytest.importorskip("IPython")


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False  # it would write into the home directory
    shell = InteractiveShell(config=config)
    shell.run_line_magic("load_ext", "flintstream")
    yield shell
    shell.reset()


@pytest.fixture
def environment(shell):
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("flintstream.engine", "inline")
    shell.user_ns["t_env"] = environment
    return environment


def test_a_cell_runs_its_statements_and_has_the_result_of_the_last_one(shell, environment):
    result = shell.run_cell_magic("sql", "", "CREATE VIEW v AS SELECT 1 AS n; -- one\nSELECT n + 1 AS m FROM v;")
    assert [tuple(row) for row in result.collect()] == [(2,)]
    assert environment.list_views() == ["v"]


def test_a_line_runs_a_statement(shell, environment):
    assert "default_catalog" in shell.run_line_magic("sql", "SHOW CURRENT CATALOG")._repr_html_()
    assert "default_catalog" in shell.run_line_magic("flink_execute_sql", "SHOW CURRENT CATALOG")._repr_html_()


def test_a_result_goes_into_a_variable(shell, environment):
    assert shell.run_cell_magic("sql", "found <<", "SELECT 1 AS n") is None
    assert [tuple(row) for row in shell.user_ns["found"].collect()] == [(1,)]


def test_the_first_statement_makes_an_environment(shell):
    shell.run_line_magic("sql", "CREATE VIEW v AS SELECT 1 AS n")
    assert shell.user_ns["t_env"].list_views() == ["v"]
