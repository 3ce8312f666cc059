"""Errors of Spark that say that a process of the cluster was lost, in one sentence: the cause, and what to do.

A restart may help against these, unlike against what :mod:`flintstream.engine.spark.failures.spark_errors` recognizes.
"""

from __future__ import annotations

import re
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from flintstream.engine.spark.failures.ends import CRASHES, words_for
from flintstream.errors import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.engine.spark.failures.ends import End

__all__ = ["FailedTask", "explain_loss", "failed_task"]

_LESS_STATE = "more subtasks (parallelism) or 'state.backend.type: rocksdb' also lower what each of them needs"
_MEMORY_OF_WORKERS = f"raise 'spark.executor.memoryOverhead' or the limit of the container; {_LESS_STATE}"
_HEAP = "raise 'spark.driver.memory' on a local master and 'spark.executor.memory' on a cluster"
_FAULTHANDLER = "to find where it crashed, set 'spark.python.worker.faulthandler.enabled' to true"
_WORD = re.compile(r"Fatal Python error: ([^\n]+)")
_EXIT = re.compile(r"(?:[Ee]xit(?:ed with)? (?:code|status)|exited with code)(?: is)?:? (\d+)")


def _killed_container(found: re.Match[str]) -> str:
    return (
        f"the cluster killed an executor because it used too much memory ({_one_line(found[0])}): {_MEMORY_OF_WORKERS}"
    )


def _lost_executor(found: re.Match[str]) -> str:
    said = _one_line(found[1])
    code = _EXIT.search(said)
    if code is not None and int(code[1]) in (52, 56):  # Spark's own codes
        return f"an executor ended because its JVM ran out of memory ({said}): {_HEAP}"
    how = "" if code is None else _how_it_ended(int(code[1]))
    return (
        f"an executor was lost ({said}{how}): if it was killed for its memory, {_MEMORY_OF_WORKERS}; otherwise look "
        "for the reason in its log and in that of its machine"
    )


def _how_it_ended(code: int) -> str:
    """Return what an exit code of a shell says about a signal.

    >>> _how_it_ended(137), _how_it_ended(1)
    (', which is SIGKILL, usually because memory ran out', '')
    """
    with suppress(ValueError):
        name = signal.Signals(code - 128).name
        return f", which is {name}" + (", usually because memory ran out" if name == "SIGKILL" else "")
    return ""


def _crashed_worker(found: re.Match[str]) -> str:
    fault = _WORD.search(found.string, found.start())
    if fault is not None:
        return (
            f"a Python worker crashed ({fault[1].strip()}): a native library that the functions use is probably to "
            "blame, and the log shows where it was"
        )
    return (
        "a Python worker ended without an error message: it was killed for lack of memory (SIGKILL), a native library "
        "crashed, or a function called os._exit. The log of the executor may say which. If memory ran out, "
        f"{_MEMORY_OF_WORKERS}; {_FAULTHANDLER}"
    )


def _ended_worker(code: int, process: int) -> str:
    """Return why a Python worker ended, given its exit code, or its signal as a negative number."""
    how = f"a Python worker (process {process}) {words_for(code)}"
    if code >= 0:
        return f"{how}: a function, or a library that it uses, called os._exit or ended the process in another way"
    if -code in CRASHES:
        return f"{how} in native code: a library that the functions use is probably to blame; {_FAULTHANDLER}"
    if -code == signal.SIGKILL:
        return (
            f"{how}, most likely by the kernel because memory ran out, or at the limit of a container: "
            f"{_MEMORY_OF_WORKERS}"
        )
    return f"{how}, which another process or a limit of the machine sent"


def _unconnected_worker(found: re.Match[str]) -> str:  # noqa: ARG001 - as all of these are called
    return (
        "a Python worker did not connect to its executor in time: the machine is overloaded, or Python cannot start or "
        "reach 127.0.0.1 there. Run fewer tasks on it ('spark.executor.cores'), and look at the log of the executor"
    )


def _failed_fetch(found: re.Match[str]) -> str:
    said = _one_line(found[1])
    return (
        f"a task could not fetch the records of another executor ({said}): that executor was lost, or the network "
        f"between them fails. Look at its log; if it was killed for its memory, {_MEMORY_OF_WORKERS}"
    )


def _full_heap(found: re.Match[str]) -> str:
    return f"Spark's JVM ran out of memory ({_one_line(found[1])}): {_HEAP}"


def _one_line(text: str) -> str:
    words = " ".join(text.split()).rstrip(".: ")
    return words if len(words) <= 200 else f"{words[:200]} ..."


_CAUSES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (
        re.compile(r"Container (?:killed by YARN for|\[[^\]\n]*\] is running|marked as failed for) [^\n]*memory[^\n]*"),
        _killed_container,
    ),
    (re.compile(r"(?:killed|terminated) [^\n]*OOM[^\n]*|OOMKilled[^\n]*"), _killed_container),
    (re.compile(r"ExecutorLostFailure \(executor ([^\n]*)"), _lost_executor),
    (re.compile(r"java\.lang\.(OutOfMemoryError[^\n]*)"), _full_heap),
    (re.compile(r"Python worker exited unexpectedly"), _crashed_worker),
    (re.compile(r"Python worker (?:failed|to connect back)[^\n]*"), _unconnected_worker),
    (re.compile(r"(?:Metadata)?FetchFailed(?:Exception)?[:(] ?([^\n]*)"), _failed_fetch),
    (re.compile(r"EOFException(?:\n\tat [^\n]*)*?Python"), _crashed_worker),
]


class FailedTask(NamedTuple):
    """The task that an error of Spark names."""

    stage: int
    number: int
    """That of its last attempt (TID)."""
    partition: int
    """The subtask that it ran, from 0."""


_FAILED = re.compile(r"Lost task (\d+)\.\S+ in stage (\d+)\.\d+ \(TID (\d+)\)")


def failed_task(error: BaseException) -> FailedTask | None:
    """Return the task whose failure made a Spark job fail; None if the error names none.

    >>> failed_task(RuntimeError("most recent failure: Lost task 0.3 in stage 5.0 (TID 7) (host executor 1): ..."))
    FailedTask(stage=5, number=7, partition=0)
    """
    found = _FAILED.search(str(error))
    return None if found is None else FailedTask(int(found[2]), int(found[3]), int(found[1]))


def explain_loss(
    error: BaseException, end_of: Callable[[FailedTask], End | None] | None = None, begin: str = ""
) -> WorkerLostError | None:
    r"""Return what an error of Spark says about a process that was lost; None if it is of another kind.

    Args:
        error: The error.
        end_of: Returns how the Python worker of a task ended; None if that is not known.
        begin: The beginning of the message.

    >>> print(explain_loss(RuntimeError("Lost task 0.3: java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c()")))
    Spark's JVM ran out of memory (OutOfMemoryError: Java heap space): raise 'spark.driver.memory' on a local master and
    'spark.executor.memory' on a cluster
    >>> explain_loss(RuntimeError("a table of that name exists"))
    """
    text = str(error)
    for pattern, sentence in _CAUSES:
        found = pattern.search(text)
        if found is not None:
            task = failed_task(error)
            subtask = None if task is None else task.partition
            if sentence is _crashed_worker and not _WORD.search(text) and task and end_of:
                end = end_of(task)
                if end is not None:
                    told = f"{begin}{_ended_worker(*end)}"
                    return WorkerLostError(told, words_for(end.code), end.process, subtask)
            reason = sentence(found)
            return WorkerLostError(f"{begin}{reason}", f"ended ({reason.partition(': ')[0]})", None, subtask)
    return None
