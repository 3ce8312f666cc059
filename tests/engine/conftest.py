"""Every test of this folder runs on both engines; Spark's session is shared by all of them."""

from __future__ import annotations

import pytest

from flintstream.datastream import StreamExecutionEnvironment


def maker(engine: str):
    def make(parallelism: int = 1, settings: dict[str, str] | None = None) -> StreamExecutionEnvironment:
        configuration = {"flintstream.engine": engine, "flintstream.master": "local[2]", **(settings or {})}
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        return env.set_parallelism(parallelism)

    return make


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
