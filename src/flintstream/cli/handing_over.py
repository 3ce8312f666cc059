"""``flintstream run`` with a server: the program goes to a process that is ready for it (see ``serve``).

This module is imported before all others, so it imports little itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["fits", "hand_over", "here", "receive", "send", "server_path"]

OWN = {"-d", "--detached"}
"""Options of programs that start a process themselves."""

INCIDENTAL = {"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM"}
"""Variables that differ from terminal to terminal and do not matter to a program before it starts."""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

_LENGTH = struct.Struct("!I")


def server_path() -> Path:
    """Return the path of the server's socket: beside the entries of jobs, where only this user may enter."""
    given = os.environ.get("FLINTSTREAM_JOBS_DIR")
    if given:
        return Path(given, "server")
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "flintstream" / "jobs" / "server"


def here() -> dict[str, Any]:
    """Return what a process must have in common with the one that it goes on for."""
    variables = {name: value for name, value in os.environ.items() if name not in INCIDENTAL}
    return {
        "directory": str(Path.cwd()),
        "python": [sys.executable, sys.version, *map(int, sys.flags), *sys.warnoptions],
        "user": os.geteuid(),
        "variables": variables,
    }


def fits(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """Return what differs between two processes, None if nothing does."""
    for what in ("user", "python", "directory"):
        if theirs[what] != ours[what]:
            return f"another {what}"
    given, own = theirs["variables"], ours["variables"]
    differing = sorted(name for name in given.keys() | own.keys() if given.get(name) != own.get(name))
    return f"another value of {', '.join(differing)}" if differing else None


def hand_over(arguments: list[str]) -> int | None:
    """Let a waiting process run ``flintstream run``; return its exit code, or None if there is none that fits."""
    path = server_path()
    if OWN & set(arguments) or not path.exists():
        return None
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(str(path))
            request = {**here(), "arguments": arguments, "umask": _umask(), "environment": dict(os.environ)}
            send(server, request, [0, 1, 2])
            answer, _ = receive(server)
        except (OSError, ValueError):  # it has ended, or does not speak as this version does
            return None
        if answer is None or "process" not in answer:
            return None
        return _wait(server, int(answer["process"]))


def _wait(server: socket.socket, process: int) -> int:
    """Pass on signals until the program ends; return its exit code."""

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
        with suppress(ProcessLookupError):
            os.kill(process, number)

    before = {number: signal.signal(number, forward) for number in FORWARDED}
    try:
        ended, _ = receive(server)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 1 if ended is None else int(ended["code"])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def send(to: socket.socket, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
    """Send a message, and open files with it."""
    data = json.dumps(message).encode("utf-8", "surrogateescape")
    socket.send_fds(to, [_LENGTH.pack(len(data))], descriptors or [])
    to.sendall(data)


def receive(source: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the next message and the open files that came with it; None for the message if there are no more."""
    head, descriptors, _, _ = socket.recv_fds(source, _LENGTH.size, 3)
    data = b""
    while len(head) == _LENGTH.size and len(data) < _LENGTH.unpack(head)[0]:
        more = source.recv(_LENGTH.unpack(head)[0] - len(data))
        if not more:
            return None, descriptors
        data += more
    return (json.loads(data.decode("utf-8", "surrogateescape")) if data else None), descriptors
