"""``flintstream run`` with a server: the program goes to a process that is ready for it (see ``serve``).

The steps make sure that a program never runs twice, even if a process is killed or stopped between them:

1. The command sends a request. The server confirms it, which shows that the server works.
2. The server passes the request and the connection to the supervisor of a ready process, which offers to run it.
3. The command accepts. Before, it may close the connection and run the program itself; afterwards, it only waits.
4. The supervisor starts the program and sends its exit code, even if the server is gone.

This module is imported before all others, so it imports little itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

__all__ = [
    "ANSWER_SECONDS",
    "Message",
    "ProgramReady",
    "close_all",
    "fits",
    "hand_over",
    "here",
    "receive",
    "send",
    "server_path",
]

OWN = {"-d", "--detached"}
"""Options of programs that start a process themselves."""

INCIDENTAL = {"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM"}
"""Variables that differ from terminal to terminal and do not matter to a program before it starts."""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

PROTOCOL = 2
"""The number of these steps. Servers of earlier releases, which have fewer, take another number for another Python."""

ANSWER_SECONDS = 5.0
"""How long a server may take to confirm a request, and a command to send one."""

READY_SECONDS = 60.0
"""How long an offer may take: the server may still be preparing the process."""

LONGEST = 1 << 26
"""Most bytes of a message."""

_LENGTH = struct.Struct("!I")


Message = dict[str, Any]
"""What the processes send each other, as JSON."""


class _NoAnswerError(Exception):
    """The server has not taken the program."""


def server_path() -> Path:
    """Return the path of the server's socket: beside the entries of jobs, where only this user may enter."""
    given = os.environ.get("FLINTSTREAM_JOBS_DIR")
    if given:
        return Path(given, "server")
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "flintstream" / "jobs" / "server"


def here() -> Message:
    """Return what a process must have in common with the one that runs its program."""
    variables = {name: value for name, value in os.environ.items() if name not in INCIDENTAL}
    return {
        "directory": str(Path.cwd()),
        "python": [PROTOCOL, sys.executable, sys.version, *map(int, sys.flags), *sys.warnoptions],
        "user": os.geteuid(),
        "variables": variables,
    }


def fits(theirs: Message, ours: Message) -> str | None:
    """Return what differs between a command and the server, None if nothing does."""
    for what in ("user", "python", "directory"):
        if theirs[what] != ours[what]:
            return f"its {what.capitalize() if what == 'python' else what} differs"
    given, own = theirs["variables"], ours["variables"]
    differing = sorted(name for name in given.keys() | own.keys() if given.get(name) != own.get(name))
    return f"these environment variables differ: {', '.join(differing)}" if differing else None


def hand_over(arguments: list[str]) -> int | None:
    """Let a waiting process run ``flintstream run``; return its exit code, or None if this process must run it."""
    path = server_path()
    if OWN & set(arguments) or not _is_safe(path):
        return None
    with socket.socket(socket.AF_UNIX) as server:
        try:
            process = _agree(server, path, arguments)
        except _NoAnswerError as error:
            _say(f"{error}, so the program starts Spark itself")
            return None
        return None if process is None else _wait(server, process)


def _is_safe(path: Path) -> bool:
    """Tell whether there is a socket that only this user can have made: it gets the environment of this process."""
    try:
        place, status = path.parent.stat(), path.lstat()
    except OSError:
        return False
    own = place.st_uid == status.st_uid == os.geteuid() and not stat.S_IMODE(place.st_mode) & 0o022
    return own and stat.S_ISSOCK(status.st_mode)


def _agree(server: socket.socket, path: Path, arguments: list[str]) -> int | None:
    """Return the process that runs the program from now on; None if the server refuses, or there is none.

    Raises:
        _NoAnswerError: The server is stopped, ends, or answers something else.
    """
    server.settimeout(ANSWER_SECONDS)
    try:
        server.connect(str(path))
    except (BlockingIOError, TimeoutError):  # it does not accept connections
        raise _NoAnswerError("'flintstream serve' does not answer") from None
    except OSError:  # a killed server has left the socket
        return None
    request = {**here(), "arguments": arguments, "umask": _umask(), "environment": dict(os.environ)}
    try:
        send(server, request, [0, 1, 2])
        answer = _answer(server)
        if "received" in answer:
            server.settimeout(READY_SECONDS)
            answer = _answer(server)
        if "no" in answer:  # the server has said why
            return None
        process = int(answer["process"])
        server.settimeout(None)
        send(server, {"start": True})  # if this fails, the supervisor has not received all of it
    except TimeoutError:
        raise _NoAnswerError(f"'flintstream serve' does not answer within {server.gettimeout():g} s") from None
    except OSError:
        raise _NoAnswerError("'flintstream serve' has ended") from None
    except (KeyError, TypeError, ValueError):
        raise _NoAnswerError("'flintstream serve' sent an answer that this version does not understand") from None
    return process


def _answer(server: socket.socket) -> Message:
    answer, descriptors = receive(server)
    close_all(descriptors)
    if answer is None:
        raise ConnectionError("closed")
    return answer


def _wait(server: socket.socket, process: int) -> int:
    """Pass on signals until the program ends; return its exit code."""

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
        with suppress(ProcessLookupError):
            os.kill(process, number)

    before = {number: signal.signal(number, forward) for number in FORWARDED}
    try:
        try:
            return int(_answer(server)["code"])
        except (OSError, KeyError, TypeError, ValueError):
            return _wait_without_code(process)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_without_code(process: int) -> int:
    """Wait for a program that has lost its supervisor. It must not run again, because it has done some of its work."""
    _say(f"the process that reports the end of the program was killed; waiting for the program, process {process}")
    with suppress(ProcessLookupError):
        while True:
            os.kill(process, 0)
            time.sleep(0.1)
    _say("the program has ended; its exit code is unknown")
    return 1


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(2, f"note: {text}\n".encode())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def send(to: socket.socket, message: Message, descriptors: list[int] | None = None) -> None:
    """Send a message, and open files with it."""
    data = json.dumps(message).encode("utf-8", "surrogateescape")
    data = _LENGTH.pack(len(data)) + data
    sent = socket.send_fds(to, [data], descriptors or [])
    if sent < len(data):  # to a receiver that has closed, sending nothing is an error as well
        to.sendall(data[sent:])


def receive(source: socket.socket, most: int = 3) -> tuple[Message | None, list[int]]:
    """Return the next message and up to ``most`` open files that came with it; None if the other end has closed.

    Raises:
        OSError: The connection is broken, or the message takes longer than the timeout of the socket.
        ValueError: The message is truncated or something else than a message.
    """
    head, descriptors, _, _ = socket.recv_fds(source, _LENGTH.size, most)
    try:
        return (_message(source, head), descriptors) if head else (None, [])
    except BaseException:
        close_all(descriptors)
        raise


def _message(source: socket.socket, head: bytes) -> Message:
    (length,) = _LENGTH.unpack(_read(source, head, _LENGTH.size))
    if length > LONGEST:
        raise ValueError(f"a message of {length} bytes")
    try:
        message = json.loads(_read(source, b"", length).decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise ValueError("a message that is nested too deeply") from error
    if type(message) is not dict:
        raise ValueError("an unexpected message")
    return message


def _read(source: socket.socket, data: bytes, length: int) -> bytes:
    while len(data) < length:
        more = source.recv(min(length - len(data), 1 << 20))
        if not more:
            raise ValueError("a truncated message")
        data += more
    return data


def close_all(descriptors: list[int]) -> None:
    """Close open files."""
    for descriptor in descriptors:
        os.close(descriptor)


class ProgramReady(BaseException):
    """The command line is parsed; run the program outside click, so that it does not see click's context."""

    def __init__(self, start: Callable[[], NoReturn]) -> None:
        """Hold a function that runs the program and exits with its result."""
        super().__init__()
        self.start = start
