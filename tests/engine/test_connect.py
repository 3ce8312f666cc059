"""What needs a classic session is refused at once, in one sentence, where only Spark Connect can be reached."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import pytest

from flintstream.engine.spark.connect import address_of, refuse_connect
from flintstream.errors import FlintstreamError


@pytest.fixture(autouse=True)
def no_context(monkeypatch):
    """No session of another test counts."""
    monkeypatch.delitem(sys.modules, "pyspark.sql.connect.session", raising=False)
    for name in [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_"))]:
        monkeypatch.delenv(name)
    if "pyspark" in sys.modules:
        monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)


class SparkSession:
    active = None

    @classmethod
    def getActiveSession(cls):  # noqa: N802 - Spark's name
        return cls.active


SparkSession.__module__ = "pyspark.sql.connect.session"


def refused(configuration=(), session=None):
    with pytest.raises(FlintstreamError) as caught:
        refuse_connect(dict(configuration), session)
    message = str(caught.value)
    assert "it needs RDDs or the driver's JVM" in message
    assert "spark-submit" in message
    assert "\n" not in message
    return message.partition("(")[2].partition("),")[0]


@pytest.mark.parametrize(
    ("environment", "configuration", "found"),
    [
        ({"SPARK_REMOTE": "sc://host:15002"}, {}, "SPARK_REMOTE=sc://host:15002"),
        ({"SPARK_CONNECT_MODE_ENABLED": "1"}, {"flintstream.master": "local[2]"}, "SPARK_CONNECT_MODE_ENABLED is set"),
        ({"PYSPARK_SUBMIT_ARGS": "--remote sc://host pyspark-shell"}, {}, "--remote sc://host"),
        ({}, {"flintstream.master": "sc://host"}, "the master is sc://host"),
        ({}, {"spark.remote": "sc://host"}, "spark.remote=sc://host"),
    ],
)
def test_what_asks_for_spark_connect_is_named(environment, configuration, found, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert refused(configuration) == found


def test_an_active_session_is_refused_whatever_the_master_is(monkeypatch):
    module: Any = types.ModuleType("pyspark.sql.connect.session")
    module.SparkSession = SparkSession
    monkeypatch.setitem(sys.modules, module.__name__, module)
    refuse_connect({})
    monkeypatch.setattr(SparkSession, "active", SparkSession())
    assert refused({"flintstream.master": "local[2]"}) == "an active session"


def test_a_session_that_the_program_passes_is_refused():
    assert refused(session=SparkSession()) == "a Spark Connect session"
    refuse_connect({}, session=object())


def test_a_client_without_a_jvm_is_refused(monkeypatch):
    monkeypatch.setattr(
        "flintstream.engine.spark.connect.find_spec", lambda name: object() if name == "pyspark" else None
    )
    assert refused() == "only its client is installed"


def test_a_classic_master_or_context_comes_before_a_variable(monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    refuse_connect({"flintstream.master": "local[2]"})
    module: Any = types.ModuleType("pyspark")
    module.SparkContext = types.SimpleNamespace(_active_spark_context=object())
    monkeypatch.setitem(sys.modules, "pyspark", module)
    refuse_connect({})


def test_a_job_without_an_address_says_which_setting_is_missing(monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    with pytest.raises(FlintstreamError, match="sc://host:15002"):
        address_of({})
    assert address_of({"spark.remote": "sc://other"}) == "sc://other"
