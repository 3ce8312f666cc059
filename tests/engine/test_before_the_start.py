"""An engine whose job has not started, but which has committed output of an earlier process."""

from __future__ import annotations

from flintstream.engine.spark.engine import SparkEngine


def test_an_engine_that_only_ran_tasks_is_cancelled_and_stopped():
    engine = SparkEngine({})
    engine.context = object()  # run_tasks() has connected to Spark, and no epoch has run
    engine.cancel()
    engine.stop()
    assert engine.cancelled
