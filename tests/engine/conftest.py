"""Tests of this folder run on both engines; Spark's session is shared by all of them.

On Spark, ``make test`` runs those that are marked with ``on_spark``: what the coordinator decides, the inline engine
shows as well. ``make test-deep`` runs the rest.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flintstream.datastream import StreamExecutionEnvironment


def maker(engine: str):
    def make(parallelism: int = 1, settings: dict[str, str] | None = None) -> StreamExecutionEnvironment:
        configuration = {"flintstream.engine": engine, "flintstream.master": "local[2]", **(settings or {})}
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        return env.set_parallelism(parallelism)

    return make


def pytest_collection_modifyitems(items):
    for item in items:
        of_spark = "callspec" in vars(item) and item.callspec.params.get("make_env") == "spark"
        if of_spark and Path(__file__).parent == item.path.parent:
            mark = item.get_closest_marker("on_spark")
            if mark is None or (mark.args and not {*mark.args} & {*map(str, item.callspec._idlist)}):
                item.add_marker(pytest.mark.deep)


@pytest.fixture(params=["inline", pytest.param("spark", marks=pytest.mark.spark)])
def make_env(request):
    """Return a function that creates environments on one of the engines."""
    return maker(request.param)


@pytest.fixture
def make_inline_env():
    """Return a function that creates environments without Spark, for tests that do not depend on the engine."""
    return maker("inline")


@pytest.fixture
def make_spark_env():
    """Return a function that creates environments on Spark."""
    return maker("spark")
