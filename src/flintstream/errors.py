"""The exceptions of flintstream.

All of them derive from :class:`FlintstreamError`, so that one ``except`` clause can distinguish them from errors of
user code. If PyFlink raises a built-in exception for the same mistake, the exception here also derives from it.
"""

from __future__ import annotations

import re
import sys
import threading
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "AbsentNameError",
    "CheckpointError",
    "CorruptCheckpointError",
    "CorruptDataError",
    "ExecutorError",
    "FlintstreamError",
    "JobCancelledError",
    "JobFailedError",
    "MissingDependencyError",
    "NotEnoughMemoryError",
    "PickleRefusedError",
    "PlanError",
    "StateMigrationError",
    "UnpicklableError",
    "UnsupportedByDesignError",
    "UserCodeError",
    "WorkerLostError",
    "add_note",
    "as_exception",
    "encodable",
    "expect_no_interrupt",
    "is_interrupt",
    "message_of",
    "notes",
    "optional_module",
    "shorten",
]


def shorten(value: object, limit: int = 120) -> str:
    """Return ``repr(value)`` cut to ``limit`` characters. Never raises, even if the value's ``__repr__`` does.

    >>> shorten("abc")
    "'abc'"
    >>> shorten("a" * 50, limit=12)
    "'aaaaaaaa..."
    """
    try:
        text = str.__str__(repr(value))
    except Exception as error:  # noqa: BLE001 - a broken __repr__ must not hide the error that is being reported
        text = f"<{type(value).__name__}, whose __repr__ raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def encodable(text: str) -> str:
    r"""Return a text that can be written as UTF-8: halves of surrogate pairs become U+FFFD.

    >>> encodable("a\ud800b") == "a\ufffdb"
    True
    """
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def message_of(error: BaseException) -> str:
    """Return ``str(error)``. Never raises, even if the exception's ``__str__`` does.

    >>> message_of(ValueError("no price")), message_of(ValueError())
    ('no price', '')
    """
    try:
        return str.__str__(str(error))
    except Exception as broken:  # noqa: BLE001 - as in shorten
        return f"<{type(error).__name__}, whose __str__ raises {type(broken).__name__}>"


def add_note(error: BaseException, note: str) -> None:
    """Add a note to an exception, also on Python 3.10, which keeps notes but does not print them."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:
        error.__notes__ = [*notes(error), note]  # type: ignore[attr-defined,unused-ignore]


def notes(error: BaseException) -> list[str]:
    """Return the notes of an exception.

    >>> error = ValueError("wrong")
    >>> add_note(error, "in line 3")
    >>> notes(error), notes(ValueError())
    (['in line 3'], [])
    """
    return list(getattr(error, "__notes__", ()))


def as_exception(error: BaseException) -> Exception:
    """Return an exception to raise for a failure of user code, with the original as its ``__cause__`` if it differs.

    An exception that is not an ``Exception`` would be misread where the job was started: as Ctrl-C, as the end of the
    program or of an iteration, or as a cancelled task.

    >>> as_exception(KeyboardInterrupt()), as_exception(ValueError("x"))
    (RuntimeError('the function raised KeyboardInterrupt'), ValueError('x'))
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    if isinstance(error, SystemExit):
        told = RuntimeError(f"the function called sys.exit({error.code!r})")
    else:
        message = f": {message_of(error)}" if message_of(error) else ""
        told = RuntimeError(f"the function raised {type(error).__name__}{message}")
    told.__cause__ = error
    for note in notes(error):
        add_note(told, note)
    return told.with_traceback(error.__traceback__)


_process = {"interruptible": True}


def expect_no_interrupt() -> None:
    """Declare that this process is a worker, which Ctrl-C never reaches: any KeyboardInterrupt is from user code."""
    _process["interruptible"] = False


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an exception is Ctrl-C, which reaches the main thread, and not a failure of user code."""
    main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and main and _process["interruptible"]


class FlintstreamError(Exception):
    """Base class of all errors that flintstream raises itself.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> try:
    ...     StreamExecutionEnvironment.get_execution_environment().set_parallelism(0)
    ... except (FlintstreamError, ValueError) as error:
    ...     print(error)
    The parallelism of the environment must be at least 1, but got 0
    """


class PlanError(FlintstreamError, ValueError):
    """The program cannot be built as requested. Raised before anything runs.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> env.execute("nothing to do")
    Traceback (most recent call last):
    flintstream.errors.PlanError: No operators defined in streaming topology. Cannot execute. Add at least one
    operator or sink, such as ds.print(), before calling execute().
    """


class UnpicklableError(PlanError, TypeError):
    """A function refers to something that cannot be sent to the tasks. PyFlink also raises a TypeError.

    >>> from threading import Lock
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> lock = Lock()
    >>> try:
    ...     env.from_collection([1, 2]).map(lambda n: (lock, n))
    ... except UnpicklableError as error:
    ...     print(str(error).partition(":")[0])
    the function of operator 'Map' cannot be pickled (its attribute 'map' of type function)
    """


class UnsupportedByDesignError(FlintstreamError, NotImplementedError):
    """The feature needs something that flintstream deliberately lacks (a JVM class, a Flink cluster).

    The message names an alternative.

    >>> from flintstream.common import Types
    >>> Types.INT().get_java_type_info()
    Traceback (most recent call last):
    flintstream.errors.UnsupportedByDesignError: Integer has no Java counterpart: types are pure Python in
    flintstream
    """


class AbsentNameError(UnsupportedByDesignError, AttributeError):
    """The program uses a PyFlink or Java name that flintstream does not implement.

    >>> from flintstream.compat import pyflink
    >>> before = pyflink.is_installed()
    >>> pyflink.install()
    >>> import pyflink.datastream.connectors as connectors
    >>> try:
    ...     connectors.SubscriptionType.Shared
    ... except AbsentNameError as error:
    ...     print(str(error).partition(":")[0])
    pyflink.datastream.connectors.SubscriptionType.Shared
    >>> if not before:
    ...     pyflink.uninstall()
    """


class MissingDependencyError(FlintstreamError, ImportError):
    """An optional package is not installed.

    >>> raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend")
    Traceback (most recent call last):
    flintstream.errors.MissingDependencyError: EmbeddedRocksDBStateBackend needs the package rocksdict: pip install
    'flintstream[rocksdb]'
    """

    def __init__(self, package: str, *, purpose: str, extra: str | None = None) -> None:
        command = f"pip install 'flintstream[{extra}]'" if extra else f"pip install {package}"
        super().__init__(f"{purpose} needs the package {package}: {command}", name=package)
        self._given: dict[str, Any] = {"package": package, "purpose": purpose, "extra": extra}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by keyword arguments: workers send this error to the driver."""
        return partial(type(self), **self._given), ()


def optional_module(name: str, *, extra: str, purpose: str, package: str | None = None) -> ModuleType:
    """Return a module that an extra of flintstream installs; ``package`` is its distribution name if different.

    Raises:
        MissingDependencyError: The module is not installed.

    >>> optional_module("json", extra="none", purpose="this example").dumps([1])
    '[1]'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(package or name, extra=extra, purpose=purpose) from error


class StateMigrationError(FlintstreamError):
    """Saved state does not match the program's declaration. Raised on first use of the state.

    >>> issubclass(StateMigrationError, FlintstreamError)
    True
    """


class CheckpointError(FlintstreamError):
    """A checkpoint or savepoint could not be taken or restored.

    >>> issubclass(CorruptCheckpointError, CheckpointError)
    True
    """


class CorruptCheckpointError(CheckpointError):
    """A checkpoint or savepoint file is damaged, incomplete, or not such a file. Nothing has been deleted.

    >>> print(CorruptCheckpointError("/backup/chk-17/_metadata", "it ends after 512 bytes"))
    /backup/chk-17/_metadata: it ends after 512 bytes
    """

    def __init__(self, path: str, what: str) -> None:
        """Name the file and what is wrong with it."""
        super().__init__(f"{path}: {what}")
        self.path = path
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Pickle by constructor arguments."""
        return type(self), (self.path, self.what)


class CorruptDataError(CheckpointError, ValueError):
    """Bytes that the state codec did not write, or that need a class which cannot be imported.

    >>> issubclass(CorruptDataError, ValueError)
    True
    """


class NotEnoughMemoryError(CheckpointError, MemoryError):
    """The state of a subtask does not fit into the memory that its process may use. The checkpoint is in order.

    >>> from flintstream.errors import NotEnoughMemoryError
    >>> "spark.executor.pyspark.memory" in str(NotEnoughMemoryError())
    True
    """

    def __init__(self) -> None:
        super().__init__(
            "there is not enough memory for the state of a subtask: raise 'spark.executor.pyspark.memory' or the limit "
            "of the container, spread the state over more subtasks (parallelism), or set 'state.backend.type' to "
            "'rocksdb'"
        )

    def __reduce__(self) -> tuple[type[NotEnoughMemoryError], tuple[()]]:
        # The default would call the constructor with the text.
        return type(self), ()


class PickleRefusedError(CheckpointError):
    """State needs pickle, which the option ``flintstream.security.pickle`` refuses.

    >>> raise PickleRefusedError("a value of type shop.Cart", "state 'cart'", "the operator 'count'")
    Traceback (most recent call last):
    flintstream.errors.PickleRefusedError: state 'cart' of the operator 'count' holds a value of type shop.Cart, which
    needs pickle, but 'flintstream.security.pickle' is 'refuse': use plain data, such as tuples, dicts and rows, or set
    it to 'allow' if you trust everyone who can write the state

    >>> print(PickleRefusedError("set").within("seen", "Count"))
    seen of Count holds set, which needs pickle, but 'flintstream.security.pickle' is 'refuse': use plain data,
    such as tuples, dicts and rows, or set it to 'allow' if you trust everyone who can write the state
    """

    def __init__(self, what: str, state: str = "the state", operator: str = "") -> None:
        """Describe the value, the state that holds it, and the operator of the state."""
        super().__init__(what, state, operator)
        self.what, self.state, self.operator = what, state, operator

    def within(self, state: str, operator: str = "") -> PickleRefusedError:
        """Return the error with the names of state and operator."""
        return PickleRefusedError(self.what, state, operator)

    def __str__(self) -> str:
        operator = f" of {self.operator}" if self.operator else ""
        return (
            f"{self.state}{operator} holds {self.what}, which needs pickle, but 'flintstream.security.pickle' is "
            "'refuse': use plain data, such as tuples, dicts and rows, or set it to 'allow' if you trust everyone who "
            "can write the state"
        )


class CommitError(FlintstreamError):
    """A sink's output could not be committed. The checkpoint keeps the pending output."""


class UserCodeError(FlintstreamError):
    """A user function raised an exception, which is the ``__cause__`` if it could be transferred.

    Attributes:
        operator: Name of the operator whose function raised.
        record: The record being processed, shortened; None outside records (``open``, a timer).

    >>> error = UserCodeError.of("Map", ZeroDivisionError("division by zero"), record=(1, 0))
    >>> error.operator, error.record
    ('Map', '(1, 0)')
    """

    def __init__(self, operator: str, message: str, record: str | None = None) -> None:
        self.operator = operator
        self.message = message
        self.record = record
        where = f" for record {record}" if record is not None else ""
        super().__init__(f"operator '{operator}' failed{where}: {message}")

    def __reduce__(self) -> tuple[type[UserCodeError], tuple[str, str, str | None]]:
        # The default would call the constructor with only the final text.
        return UserCodeError, (self.operator, self.message, self.record)

    @classmethod
    def of(cls, operator: str, error: BaseException, record: object = None) -> UserCodeError:
        """Wrap ``error``, raised by the function of ``operator``.

        Use it as ``raise UserCodeError.of(...) from error``.
        """
        message = message_of(error)
        text = f"{type(error).__name__}: {message}" if message else type(error).__name__
        return cls(operator, text, None if record is None else shorten(record))


class ExecutorError(FlintstreamError):
    """The executors cannot run the job: they lack an interpreter or a package, or have a version that does not fit.

    A job that meets it again and again gives up after a few restarts, whatever its restart strategy says.

    Attributes:
        final: Whether it is certain that a restart does not help.

    >>> ExecutorError("the executors have Python 3.9", final=True).final
    True
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class WorkerLostError(FlintstreamError):
    """A process of the engine ended in the middle of its work.

    >>> WorkerLostError("a worker was killed", "was killed by signal 9 (SIGKILL)", process=17, subtask=2).process
    17
    """

    def __init__(self, message: str, how: str, process: int | None = None, subtask: int | None = None) -> None:
        """Say how a process has ended, which one it is, and which subtask it ran (from 0), if that is known."""
        super().__init__(message)
        self.how = how
        self.process = process
        self.subtask = subtask


class JobFailedError(FlintstreamError):
    """The job failed permanently: its restart strategy gave up, or a restart cannot fix the failure.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection([4, 0]).map(lambda n: 4 // n).filter(lambda n: n > 9).print()
    >>> try:
    ...     env.execute()
    ... except Exception as error:
    ...     print(type(error).__name__, "from", type(error.__cause__).__name__)
    ZeroDivisionError from UserCodeError
    """


class JobCancelledError(FlintstreamError):
    """The job was cancelled before it finished. Also raised when waiting for its result.

    >>> import time
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection([0.001] * 1_000).map(time.sleep).filter(lambda nothing: False).print()
    >>> client = env.execute_async("slow")
    >>> client.cancel().result()
    >>> try:
    ...     client.get_job_execution_result().result()
    ... except JobCancelledError as error:
    ...     print(error)
    the job 'slow' was cancelled
    """
