"""Processes of Spark that are lost end in one sentence, with the cause first and what to do."""

from __future__ import annotations

import os
import signal

import pytest

from flintstream.engine.spark.failures import plainly
from flintstream.errors import ExecutorError, FlintstreamError

LOST = (
    "An error occurred while calling o1.collectAndServe.\n: org.apache.spark.SparkException: Job aborted due to stage "
    "failure: Task 0 in stage 3.0 failed 4 times, most recent failure: Lost task 0.3 in stage 3.0 (TID 7): "
)
JAVA = "\n\tat org.apache.spark.api.python.PythonRunner.read(PythonRunner.scala:1)\nDriver stacktrace:\n"
SPARK = "org.apache.spark.SparkException: "
EXECUTOR = "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: "
END = "Python worker exited unexpectedly (crashed)"
OVER = "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used."

CASES = {
    "worker": (
        f"{SPARK}{END}{JAVA}Caused by: java.io.EOFException{JAVA}",
        "a Python worker ended without a word",
        "raise 'spark.executor.memoryOverhead'",
    ),
    "segmentation fault": (
        f"{SPARK}{END}: Fatal Python error: Segmentation fault\n{JAVA}",
        "a Python worker crashed (Segmentation fault)",
        "native library",
    ),
    "end of file": (
        f"java.io.EOFException\n\tat java.base/java.io.DataInputStream.readInt(X.java){JAVA}",
        "a Python worker ended without a word",
        "'state.backend.type: rocksdb'",
    ),
    "killed executor": (
        f"{EXECUTOR}Command exited with code 137",
        "an executor was lost",
        "which is SIGKILL, usually for lack of memory",
    ),
    "heap of an executor": (
        f"{EXECUTOR}Command exited with code 52",
        "an executor ended because its JVM ran out of memory",
        "'spark.executor.memory'",
    ),
    "container": (
        f"{EXECUTOR}{OVER} Consider boosting spark.executor.memoryOverhead.",
        f"the cluster killed an executor because it used too much memory ({OVER} Consider",
        "raise 'spark.executor.memoryOverhead'",
    ),
    "disconnected executor": (
        f"{EXECUTOR}Remote RPC client disassociated.",
        "an executor was lost (1 exited caused by one of the running tasks) Reason: Remote RPC client disassociated",
        "its log and that of its machine say why",
    ),
    "no connection": (
        f"{SPARK}Python worker failed to connect back.{JAVA}",
        "a Python worker did not connect to its executor in time",
        "'spark.executor.cores'",
    ),
    "fetch": (
        f"FetchFailed(BlockManagerId(2, host, 1, None), shuffleId=0)\n{JAVA}",
        "a task could not fetch the records of another executor",
        "Look at its log",
    ),
    "missing output": (
        f"org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 0{JAVA}",
        "a task could not fetch the records of another executor (Missing an output location for shuffle 0)",
        "Look at its log",
    ),
    "heap": (
        f"java.lang.OutOfMemoryError: Java heap space{JAVA}",
        "Spark's JVM ran out of memory (OutOfMemoryError: Java heap space)",
        "'spark.driver.memory'",
    ),
}


@pytest.mark.parametrize(("said", "cause", "remedy"), CASES.values(), ids=CASES)
def test_a_lost_process_is_explained_in_one_line(said, cause, remedy):
    with pytest.raises(FlintstreamError) as caught, plainly(lambda: "epoch 3 failed: "):
        raise RuntimeError(LOST + said)
    text = str(caught.value)
    assert text.startswith(f"epoch 3 failed: {cause}")
    assert remedy in text
    assert "\n" not in text
    assert not isinstance(caught.value, ExecutorError)  # which would end the job after a few restarts
    assert caught.value.__suppress_context__


def test_other_errors_of_spark_remain_as_they_are():
    error = RuntimeError(f"{LOST}org.apache.spark.SparkException: a table of that name exists{JAVA}")
    with pytest.raises(RuntimeError) as caught, plainly():
        raise error
    assert caught.value is error


def kill(_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.spark
@pytest.mark.kills
@pytest.mark.parametrize("end", [lambda _: os._exit(7), kill], ids=["exit", "kill"])
def test_a_worker_that_dies_each_time_ends_the_job_with_the_cause_and_the_operators(make_spark_env, end):
    env = make_spark_env(1)
    env.from_collection([1]).map(end).name("deadly").print()
    with pytest.raises(FlintstreamError) as caught:
        env.execute("short-lived")
    text = str(caught.value)
    assert text.startswith("epoch ")
    assert " of 'short-lived' (" in text
    assert "deadly" in text
    assert "a Python worker ended without a word" in text
    assert "\tat " not in text
