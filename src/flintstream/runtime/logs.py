"""Logging in the processes of a job: workers log with the level and the format of the driver.

Every line names its job, operator, subtask and epoch. Nothing here runs per record: a subtask notes once
per epoch what runs, and the operator is looked up when something is logged.
"""

from __future__ import annotations

import fcntl
import io
import logging
import os
import pickle
import stat
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common._user_code import by_value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LINE", "LogSetup", "Place", "WholeLines", "enter_place", "line_formatter"]

LINE = "%(asctime)s %(levelname)-7s %(name)s %(place)s%(message)s"
"""The format of lines if the program has none of its own."""

FIELDS = ("job", "job_id", "operator", "subtask", "epoch", "place")
"""What the records of a worker have in addition to Python's fields. They are empty in the driver."""

_QUIET = (("flintstream", logging.WARNING),)
"""Levels of loggers if the program does not configure logging."""


class Place(NamedTuple):
    """What runs in this process."""

    job: str = ""
    job_id: str = ""
    chain: str = ""
    subtask: int = 0
    parallelism: int = 0
    epoch: int = 0
    operator: Callable[[Any], str | None] = lambda _: None
    """Returns the name of the operator that a stack frame, or one of its callers, belongs to."""


_place: list[Place] = [Place()]


def enter_place(place: Place) -> None:
    """Note what this process runs from now on."""
    _place[0] = place


def line_formatter() -> logging.Formatter:
    """Return the formatter of lines if the program has none of its own."""
    return logging.Formatter(LINE, defaults=dict.fromkeys(FIELDS, ""))


class LogSetup(NamedTuple):
    """The driver's way of logging."""

    level: int = logging.INFO
    """By default, as in PyFlink, a function's ``logging.info`` arrives."""
    levels: tuple[tuple[str, int], ...] = _QUIET
    """Loggers with a level of their own."""
    disabled: int = 0
    """The level of ``logging.disable``."""
    format: tuple[str | None, str | None, str] | None = None
    """Format of a line, format of the time, and style; None for ours."""
    formatter: bytes = b""
    """A pickled formatter of another class, which counts instead."""
    console: bool = True
    """Whether lines go to standard error."""
    file: str | None = None
    """The file that the driver logs to, if workers can append to it."""
    output: str | None = None
    """A named pipe to the driver's standard error, if the driver is on this machine."""

    @classmethod
    def here(cls) -> LogSetup:
        """Return the way in which this process logs."""
        root = logging.getLogger()
        levels = {
            name: logger.level
            for name, logger in list(root.manager.loggerDict.items())
            if isinstance(logger, logging.Logger) and logger.level
        }
        disabled = root.manager.disable
        if not root.handlers:
            level = logging.INFO if root.level == logging.WARNING else root.level
            return cls(level, tuple({**dict(_QUIET), **levels}.items()), disabled)
        level = max(root.level, min(handler.level for handler in root.handlers))
        file = next((found for handler in root.handlers if (found := _append_mode(handler)) is not None), None)
        console = any(type(handler) is not logging.FileHandler for handler in root.handlers)
        formatter = next((item.formatter for item in root.handlers if item.formatter is not None), None)
        plain, pickled = _portable(formatter)
        return cls(level, tuple(levels.items()), disabled, plain, pickled, console or file is None, file)

    def enter(self) -> None:
        """Log in this process, a worker, as in the driver."""
        root = logging.getLogger()
        for handler in [item for item in root.handlers if isinstance(item, _WorkerHandler)]:
            root.removeHandler(handler)
            handler.close()
        formatter = self._formatter()
        if self.console:
            root.addHandler(_WorkerHandler(2, formatter))
        if self.file is not None:
            with suppress(OSError):
                root.addHandler(_WorkerHandler(_open_to_append(self.file), formatter))
        root.setLevel(self.level)
        logging.disable(self.disabled)
        for name, level in self.levels:
            logging.getLogger(name).setLevel(level)

    def _formatter(self) -> logging.Formatter:
        if self.formatter:
            with suppress(Exception):  # its module may be missing here
                found: logging.Formatter = pickle.loads(self.formatter)
                return found
        if self.format is None:
            return line_formatter()
        text, time, style = self.format
        names_place = text is not None and any(f"{begin}{name}" in text for name in FIELDS for begin in ("(", "{", "$"))
        kind = logging.Formatter if names_place else _Placed
        return kind(text, time, style, defaults=dict.fromkeys(FIELDS, ""))  # type: ignore[arg-type]


def _open_to_append(path: str) -> int:
    """Open a log file; do not wait if there is a pipe in its place, which only a reader would end.

    Raises:
        OSError: It cannot be opened.
    """
    opened = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    os.set_blocking(opened, True)
    return opened


def _is_own_pipe(number: int) -> bool:
    """Return whether an open file is a pipe that no other user can open."""
    status = os.fstat(number)
    return stat.S_ISFIFO(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _append_mode(handler: logging.Handler) -> str | None:
    """Return the file of a handler, to which others may append from now on."""
    if type(handler) is not logging.FileHandler or handler.stream is None:
        return None
    with suppress(OSError, ValueError):
        number = handler.stream.fileno()
        fcntl.fcntl(number, fcntl.F_SETFL, fcntl.fcntl(number, fcntl.F_GETFL) | os.O_APPEND)
        return handler.baseFilename
    return None


def _portable(formatter: logging.Formatter | None) -> tuple[tuple[str | None, str | None, str] | None, bytes]:
    """Return a formatter as its format, or pickled if its class is not Python's own."""
    if type(formatter) is logging.Formatter:
        styles: dict[Any, str] = {kind: style for style, (kind, _) in logging._STYLES.items()}
        style = formatter._style
        text = None if formatter._fmt == LINE else formatter._fmt
        return None if text is None else (text, formatter.datefmt, styles.get(type(style), "%")), b""
    if formatter is not None:
        with suppress(Exception):  # whatever the formatter holds
            return None, by_value.dumps(formatter)
    return None, b""


class _Placed(logging.Formatter):
    """Puts the place before the message, in a format of the program that does not have it."""

    def format(self, record: logging.LogRecord) -> str:
        message, arguments = record.msg, record.args
        record.msg, record.args = f"{vars(record)['place']}{record.getMessage()}", None
        try:
            return super().format(record)
        finally:
            record.msg, record.args = message, arguments


class _WorkerHandler(logging.Handler):
    """Writes each record in one piece."""

    def __init__(self, number: int, formatter: logging.Formatter) -> None:
        """Write to an open file."""
        super().__init__()
        self.setFormatter(formatter)
        self.number = number
        self.lines = WholeLines(number)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._place(record)
            self.lines.write(f"{self.format(record)}\n".encode(errors="backslashreplace"))
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)

    @staticmethod
    def _place(record: logging.LogRecord) -> None:
        here = _place[0]
        operator = here.operator(sys._getframe(1)) or here.chain
        subtask = f"{here.subtask + 1}/{here.parallelism}" if here.parallelism else ""
        parts = [here.job, f"{operator} {subtask}".strip(), f"epoch {here.epoch}" if here.parallelism else ""]
        told = ", ".join(part for part in parts if part)
        vars(record).update(
            job=here.job,
            job_id=here.job_id,
            operator=operator,
            subtask=subtask,
            epoch=here.epoch,
            place=f"[{told}] " if told else "",
        )

    def close(self) -> None:
        self.lines.close()
        if self.number > 2:
            with suppress(OSError):
                os.close(self.number)
        super().close()


class WholeLines(io.RawIOBase):
    """Writes what it is given in one piece, although other processes write to the same pipe or file.

    A file that is opened to append takes a write as a whole (on NFS, lines of different machines may still overwrite
    each other). A pipe does so up to 4 KiB, so writers to a pipe take turns by a lock. Only processes of this user can
    open that pipe: any other user who could open a file might hold its lock forever.
    """

    def __init__(self, number: int) -> None:
        """Write to an open file, and leave it open."""
        super().__init__()
        self.number = number
        self._mine = threading.Lock()
        self._lock: int | None = None
        with suppress(OSError):  # opened again, because a lock belongs to what was opened, which processes share
            if _is_own_pipe(number):
                self._lock = os.open(f"/proc/self/fd/{number}", os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the number of the file."""
        return self.number

    def write(self, data: Any) -> int:
        """Write all of ``data``; nothing if the reader of a pipe has gone."""
        view = memoryview(data).cast("B")
        with self._mine:
            if self._lock is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            try:
                rest = view
                with suppress(BrokenPipeError):
                    while rest:
                        rest = rest[os.write(self.number, rest) :]
            finally:
                if self._lock is not None:
                    fcntl.flock(self._lock, fcntl.LOCK_UN)
        return len(view)

    def close(self) -> None:
        """Release the lock; the file stays open."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        super().close()
