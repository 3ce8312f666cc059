"""Processes of Spark that are lost end in one sentence, with the cause first and what to do."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import re
import signal

import pytest

from flintstream.common._user_code.tracebacks import shorten_tracebacks, steps_of
from flintstream.engine.spark.failures.ends import End
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.tasks import _collect
from flintstream.errors import ExecutorError, FlintstreamError, WorkerLostError

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
        "a Python worker ended without an error message",
        "raise 'spark.executor.memoryOverhead'",
    ),
    "segmentation fault": (
        f"{SPARK}{END}: Fatal Python error: Segmentation fault\n{JAVA}",
        "a Python worker crashed (Segmentation fault)",
        "native library",
    ),
    "end of file": (
        f"java.io.EOFException\n\tat java.base/java.io.DataInputStream.readInt(X.java){JAVA}",
        "a Python worker ended without an error message",
        "'state.backend.type: rocksdb'",
    ),
    "killed executor": (
        f"{EXECUTOR}Command exited with code 137",
        "an executor was lost",
        "which is SIGKILL, usually because memory ran out",
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
        "look for the reason in its log and in that of its machine",
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
    with pytest.raises(FlintstreamError) as caught, plainly(lambda _: "epoch 3 failed: "):
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


ENDED = {
    "exit": (3, "exited with code 3: a function, or a library that it uses, called os._exit"),
    "kill": (-9, "was killed by signal 9 (SIGKILL), most likely by the kernel because memory ran out"),
    "crash": (-11, "crashed with signal 11 (SIGSEGV) in native code"),
    "end": (-15, "was killed by signal 15 (SIGTERM), which another process or a limit of the machine sent"),
}


@pytest.mark.parametrize(("code", "how"), ENDED.values(), ids=ENDED)
def test_the_sentence_says_how_a_worker_ended_if_its_daemon_has_reported_it(code, how):
    with (
        pytest.raises(FlintstreamError) as caught,
        plainly(lambda task: f"{task}: ", lambda task: {7: End(code, 4321)}[task.number]),
    ):
        raise RuntimeError(f"{LOST}{SPARK}{END}{JAVA}")
    assert str(caught.value).startswith(
        f"FailedTask(stage=3, number=7, partition=0): a Python worker (process 4321) {how}"
    )
    assert isinstance(caught.value, WorkerLostError)
    assert (caught.value.process, caught.value.subtask) == (4321, 0)
    assert how.startswith(caught.value.how)


def test_no_worker_is_asked_about_if_an_executor_was_lost():
    with pytest.raises(FlintstreamError, match=r"^an executor was lost"), plainly(end_of=lambda _: End(-9, 1)):
        raise RuntimeError(f"{LOST}{EXECUTOR}Command exited with code 137")


class LostData:
    """An RDD whose worker dies."""

    def collect(self):
        raise RuntimeError(f"{LOST}{SPARK}{END}{JAVA}")


def test_the_traceback_of_a_lost_worker_has_lines_of_the_program_only():
    with pytest.raises(FlintstreamError) as caught:
        _collect(LostData())
    shorten_tracebacks(caught.value)
    assert [step.tb_frame.f_code.co_filename for step in steps_of(caught.value.__traceback__)] == [__file__]


def leave(_):
    os._exit(3)


def kill(_):
    os.kill(os.getpid(), signal.SIGKILL)


def crash(_):
    faulthandler.disable()
    ctypes.string_at(0)


@pytest.mark.spark
@pytest.mark.kills
@pytest.mark.parametrize(
    ("end", "how"),
    [
        (leave, "exited with code 3: "),
        (kill, "was killed by signal 9 (SIGKILL), most likely by the kernel"),
        (crash, "crashed with signal 11 (SIGSEGV) in native code"),
    ],
    ids=["exit", "kill", "crash"],
)
def test_a_worker_that_dies_each_time_ends_the_job_with_its_signal_and_the_operators_of_its_task(
    make_spark_env, end, how
):
    env = make_spark_env(1)
    numbers = env.from_collection([1]).map(lambda number: number).name("lively")
    numbers.key_by(lambda number: number).map(end).name("deadly").print()
    with pytest.raises(FlintstreamError) as caught:
        env.execute("short-lived")
    text = str(caught.value)
    assert re.match(r"epoch \d+ of 'short-lived' \(deadly -> [^;]*\) failed: a Python worker ", text)
    assert how in text
    assert "lively" not in text
    assert "\tat " not in text
    shorten_tracebacks(caught.value)
    frames = [step.tb_frame.f_code.co_filename for step in steps_of(caught.value.__traceback__)]
    assert frames == [__file__]
