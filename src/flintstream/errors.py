"""The exceptions of flintstream.

All of them derive from :class:`FlintstreamError`, so that one ``except`` clause can tell the project's own complaints
from the errors of user code. Where PyFlink raises a built-in exception for the same mistake, ours is of that built-in
type too.
"""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "AbsentNameError",
    "CheckpointError",
    "CorruptCheckpointError",
    "CorruptDataError",
    "FlintstreamError",
    "JobCancelledError",
    "JobFailedError",
    "MissingDependencyError",
    "PlanError",
    "StateMigrationError",
    "UnpicklableError",
    "UnsupportedByDesignError",
    "UserCodeError",
    "as_exception",
    "expect_no_interrupt",
    "is_interrupt",
    "optional_module",
    "shorten",
]


def shorten(value: object, limit: int = 120) -> str:
    """Return ``repr(value)`` cut to at most ``limit`` characters; never raises, whatever the value's ``__repr__`` does.

    >>> shorten("abc")
    "'abc'"
    >>> shorten("a" * 50, limit=12)
    "'aaaaaaaa..."
    """
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a broken __repr__ must not hide the error that is being reported
        text = f"<{type(value).__name__}, whose __repr__ raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def as_exception(error: BaseException) -> Exception:
    """Return what a failure of user code is raised as, with the original as its ``__cause__`` if that is another.

    An exception that is no ``Exception`` would pass for something else where the job was started: for Ctrl-C, for the
    end of the program or of an iteration, for a cancelled task.

    >>> as_exception(KeyboardInterrupt()), as_exception(ValueError("x"))
    (RuntimeError('the function raised KeyboardInterrupt'), ValueError('x'))
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    if isinstance(error, SystemExit):
        told = RuntimeError(f"the function called sys.exit({error.code!r})")
    else:
        message = f": {error}" if str(error) else ""
        told = RuntimeError(f"the function raised {type(error).__name__}{message}")
    told.__cause__ = error
    for note in getattr(error, "__notes__", ()):
        told.add_note(note)
    return told.with_traceback(error.__traceback__)


_process = {"interruptible": True}


def expect_no_interrupt() -> None:
    """Say that no Ctrl-C ever reaches this process, as it is a worker: what looks like one comes from user code."""
    _process["interruptible"] = False


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an exception is Ctrl-C, which comes to the main thread, rather than a failure of user code."""
    main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and main and _process["interruptible"]


class FlintstreamError(Exception):
    """Base of everything flintstream raises on its own account."""


class PlanError(FlintstreamError, ValueError):
    """The program asks for something that cannot be built; raised while the program is built, before anything runs."""


class UnpicklableError(PlanError, TypeError):
    """A function holds something that cannot be sent to the tasks; PyFlink raises a TypeError, too."""


class UnsupportedByDesignError(FlintstreamError, NotImplementedError):
    """The feature needs what flintstream deliberately does without (a JVM class, a Flink cluster).

    Says what to use instead.
    """


class AbsentNameError(UnsupportedByDesignError, AttributeError):
    """A name that PyFlink or Java has was used, and nothing here stands behind it."""


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


def optional_module(name: str, *, extra: str, purpose: str, package: str | None = None) -> ModuleType:
    """Return a module that an extra of flintstream installs, as ``package`` if that is not its name.

    Raises:
        MissingDependencyError: It is not installed.

    >>> optional_module("json", extra="none", purpose="this example").dumps([1])
    '[1]'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(package or name, extra=extra, purpose=purpose) from error


class StateMigrationError(FlintstreamError):
    """Saved state is not what the program declares now; raised when the state is first used."""


class CheckpointError(FlintstreamError):
    """A checkpoint or savepoint could not be taken, or cannot be started from."""


class CorruptCheckpointError(CheckpointError):
    """A file of a checkpoint or savepoint is damaged, incomplete, or none at all. Nothing has been deleted."""

    def __init__(self, path: str, what: str) -> None:
        """Name the file and say what is wrong with it."""
        super().__init__(f"{path}: {what}")
        self.path = path
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Pickle what it was made of."""
        return type(self), (self.path, self.what)


class CorruptDataError(CheckpointError, ValueError):
    """Bytes that are not what the codec of state writes, or that need a class which cannot be imported."""


class CommitError(FlintstreamError):
    """A sink's output could not be made visible. The checkpoint keeps what is to be committed."""


class UserCodeError(FlintstreamError):
    """A user function raised; the original exception is the ``__cause__`` where it could be brought along.

    Attributes:
        operator: name of the operator whose function raised.
        record: the record it was given, shortened; None where no record was involved (``open``, a timer).
    """

    def __init__(self, operator: str, message: str, record: str | None = None) -> None:
        self.operator = operator
        self.message = message
        self.record = record
        where = f" for record {record}" if record is not None else ""
        super().__init__(f"operator '{operator}' failed{where}: {message}")

    def __reduce__(self) -> tuple[type[UserCodeError], tuple[str, str, str | None]]:
        # the default would call the constructor with the finished text alone
        return UserCodeError, (self.operator, self.message, self.record)

    @classmethod
    def of(cls, operator: str, error: BaseException, record: object = None) -> UserCodeError:
        """Wrap ``error``, raised by the function of ``operator``.

        Use it as ``raise UserCodeError.of(...) from error``.
        """
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return cls(operator, text, None if record is None else shorten(record))


class JobFailedError(FlintstreamError):
    """The job failed for good: its restart strategy gave up, or the failure is of a kind that no restart mends."""


class JobCancelledError(FlintstreamError):
    """The job was cancelled before it finished; also what waiting for its result raises."""
