"""Environments of the inline engine."""

from __future__ import annotations

import pytest

from flintstream.datastream import StreamExecutionEnvironment

collect_ignore = ["time_attributes.py"]  # runs where PyFlink is


@pytest.fixture
def env():
    found = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    return found.set_parallelism(1)


@pytest.fixture
def t_env(env):
    pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
    from flintstream.table import StreamTableEnvironment

    return StreamTableEnvironment.create(env)
