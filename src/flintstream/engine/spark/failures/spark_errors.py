"""Errors of Spark that say why executors cannot run a job, in one sentence."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flintstream.engine.spark.failures.losses import explain_loss, failed_task
from flintstream.errors import ExecutorError, FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.engine.spark.failures.ends import End
    from flintstream.engine.spark.failures.losses import FailedTask

__all__ = ["explain", "failing_files", "java_message", "plainly"]

_log = logging.getLogger(__name__)

_CHOOSE = "set PYSPARK_PYTHON, spark.pyspark.python or 'python.executable'"


def _no_interpreter(found: re.Match[str]) -> str:
    return f"the executors cannot run the Python interpreter '{found[1]}' ({found[2]}): {_CHOOSE} to one that they have"


def _other_python(found: re.Match[str]) -> str:
    return f"the executors have Python {found[1]} and the driver has {found[2]}: {_CHOOSE} to a Python {found[2]}"


def _no_module(found: re.Match[str]) -> str:
    name = found[1]
    package = name.partition(".")[0]
    if package == "pyspark":
        return f"the executors' Python does not find pyspark: {_CHOOSE} to one that has it, or set SPARK_HOME there"
    if name.startswith("flintstream.engine.spark.daemon") or package == "flintstream":
        return (
            "the executors' Python does not have flintstream: run 'pip install flintstream' there; without "
            "'flintstream.sticky-subtasks', jobs send it to executors that lack it"
        )
    return (
        f"the executors do not have the module '{name}': install it there, or send it with --pyFiles, "
        "'python.requirements' or 'python.archives'"
    )


def _no_start(found: re.Match[str]) -> str:
    lines = [line.strip() for line in (found[1] or "").splitlines() if line.strip()]
    said = "it ended without an error message"
    if lines:
        said = lines[-1] if lines[0].startswith("Traceback") else " ".join(lines)
    return f"the executors' Python does not start ({said}): {_CHOOSE} to one that works"


_CAUSES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (re.compile(r'Cannot run program "([^"]+)"[^\n]*?: (?:error=\d+, )?([^\n]+)'), _no_interpreter),
    (
        re.compile(
            r"\[PYTHON_VERSION_MISMATCH\] Python in worker has different version: \(?([\d., ]+?)\)? than that in "
            r"driver: \(?([\d.]+)"
        ),
        _other_python,
    ),
    (re.compile(r"No module named '?([\w.]+)"), _no_module),
    (re.compile(r"Error from python worker:\s*\n(.*?)\n\s*PYTHONPATH was", re.DOTALL), _no_start),
    # After an interpreter that ended at once, another task may find no socket.
    (
        re.compile(r"(?:reading the port number|NullPointerException(?:\n\tat [^\n]*)*?PythonWorkerFactory)()"),
        _no_start,
    ),
]


def explain(error: BaseException) -> ExecutorError | None:
    """Return what an error of Spark says about the executors; None if it may be of another kind.

    Errors of user code do not reach Spark (:mod:`flintstream.runtime.failure`), so none is mistaken for one of these.

    >>> print(explain(RuntimeError('java.io.IOException: Cannot run program "/x": error=2, No such file or directory')))
    the executors cannot run the Python interpreter '/x' (No such file or directory): set PYSPARK_PYTHON,
    spark.pyspark.python or 'python.executable' to one that they have
    >>> explain(RuntimeError("ExecutorLostFailure"))
    """
    text = str(error)
    for pattern, sentence in _CAUSES:
        found = pattern.search(text)
        if found is not None:
            return ExecutorError(sentence(found), final=sentence is _other_python)
    return None


_FILES = re.compile(r"^(?:\w+\.)*\w*Error: (\[Errno \d+\] [^\n]+)$", re.MULTILINE)
"""What the traceback of a task says in the end if it cannot read or write files. Spark has tried it several times."""


def failing_files(error: BaseException) -> str | None:
    r"""Return what an error of Spark says about files that tasks cannot read or write, such as a full disk.

    >>> failing_files(RuntimeError("Job aborted: PythonException: Traceback...\nOSError: [Errno 28] No space: '/x'\n"))
    "[Errno 28] No space: '/x'"
    """
    found = _FILES.search(str(error)) if "PythonException" in str(error) else None
    return None if found is None else found[1]


_JAVA = re.compile(
    r"^: (?:[a-z]\w*\.)*[\w$]+(?:Exception|Error)(?: exitCode=\d+)?: (.+?)\s*(?:^\tat |\Z)", re.MULTILINE | re.DOTALL
)


def java_message(error: BaseException) -> str | None:
    r"""Return the message of an exception in the JVM, in one line; None for other errors.

    >>> java_message(
    ...     RuntimeError("An error occurred while calling o1.f.\n: java.io.IOException: no\n  disk\n\tat a.B.c()")
    ... )
    'no disk'
    """
    found = _JAVA.search(str(error))
    return None if found is None else " ".join(found[1].split())


@contextmanager
def plainly(
    where: Callable[[FailedTask | None], str] = lambda _: "",
    end_of: Callable[[FailedTask], End | None] | None = None,
) -> Iterator[None]:
    """Replace errors of Spark by one sentence if they say that executors cannot run jobs, are lost, or lack files.

    Spark's own words, with the stack traces of Java, are logged at the level DEBUG.

    Args:
        where: What ran, for errors of lost processes: the beginning of a sentence, or nothing. It gets the task that
            failed, if Spark names it.
        end_of: Returns how the Python worker of a task ended; see :func:`explain_loss`.

    Raises:
        ExecutorError: No job can run.
        WorkerLostError: A process was lost.
        FlintstreamError: Tasks cannot reach their files, which may change.
    """
    try:
        yield
    except ExecutorError:
        raise
    except Exception as error:
        explained = explain(error)
        if explained is not None:
            raise explained from None
        begin = where(failed_task(error))
        loss = None if isinstance(error, FlintstreamError) else explain_loss(error, end_of, begin)
        if loss is not None:
            _log.debug("Spark's error", exc_info=True)
            raise loss from None
        files = failing_files(error)
        if files is not None:
            raise FlintstreamError(f"tasks cannot read or write the job's files: {files}") from None
        raise
