"""Keeps a process for one program (``python -m flintstream.cli.supervisor``); ``serve`` starts it.

It is the parent of the process and knows how the program ends, so a command learns that even if the server is killed.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from flintstream.cli.handing_over import FORWARDED, close_all, receive, send

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["END_SECONDS", "keep", "start_module"]

END_SECONDS = 20
"""How long the process may take to end without a program. It may still be starting Spark."""


def start_module(name: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Run a module in a process with a session of its own; return it and the other end of its socket.

    Ctrl-C and other signals to the group of this process are not for it. It gets its settings through the socket, as
    every user of the machine can read command lines.
    """
    channel, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        command = [sys.executable, "-m", name, str(number)]
        process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
            command, pass_fds=[number], stdin=subprocess.DEVNULL, start_new_session=True
        )
    return process, channel


def keep(server: socket.socket) -> None:
    """Start a process, say when it is ready, and give it the program that the server sends."""
    settings, _ = receive(server)
    if settings is None:
        return
    process, channel = start_module("flintstream.cli.warm_process")
    try:
        with channel:
            send(channel, settings)
            connection = _offer(server, channel, process)
        if connection is not None:
            _report(process, connection)
    except (OSError, ValueError):  # one of the other processes has ended
        pass
    finally:
        _end(process)


def _offer(server: socket.socket, channel: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket | None:
    """Give the process a program if a command accepts that; return the connection to the command."""
    if not _hears(channel, server) or receive(channel)[0] is None:
        return None
    send(server, {"ready": True, "process": process.pid})
    if not _hears(server, channel):
        return None
    with server:
        request, descriptors = receive(server, 4)
    if request is None:
        return None
    connection = socket.socket(fileno=descriptors.pop())
    connection.setblocking(True)  # it shares this with the end of the server, which has a timeout
    send(connection, {"process": process.pid})
    accepted = _hears(connection, channel) and receive(connection)[0] is not None
    if accepted:
        with suppress(OSError):  # the process was killed just now, which is how its program has ended
            send(channel, request, descriptors)
    close_all(descriptors)
    return connection if accepted else None


def _hears(source: socket.socket, other: socket.socket) -> bool:
    """Wait until there is something to read; return False if it is from ``other``, which can only be its end."""
    ready, _, _ = select.select([source, other], [], [])
    return other not in ready


def _report(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    """Send the exit code of the program to its command, and end a program whose command was killed."""
    threading.Thread(target=_watch, args=(process, connection), daemon=True).start()
    code = process.wait()
    send(connection, {"code": code if code >= 0 else 128 - code})
    connection.shutdown(socket.SHUT_RDWR)


def _watch(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    with suppress(OSError):
        connection.recv(1)
    process.terminate()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process without a program: it notices that the channel has ended."""
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ignore(number: int, frame: FrameType | None) -> None:
    """Outlive signals to all processes of a service: the program ends by them, and its command learns how."""


if __name__ == "__main__":
    for signal_number in FORWARDED:
        signal.signal(signal_number, _ignore)
    keep(socket.socket(fileno=int(sys.argv[1])))
    os._exit(0)
