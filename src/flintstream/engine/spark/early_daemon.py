"""A daemon for Spark's Python workers that starts before Spark asks for one, with all imports done.

Spark starts its daemon when a task needs it, and the task waits until the daemon has imported what workers need. A
driver that starts a local context also starts that process, which does so while Spark starts. Spark's daemon then finds
it, passes its streams and its environment to it, and stays behind: Spark knows that process, and ends it.

If anything differs that could matter to an import, it ends, and Spark's daemon does the work. The process itself is
:mod:`flintstream.engine.spark.early_daemon_process`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

__all__ = ["LENGTH", "PLACE", "YES", "begin", "hand_over", "here", "place"]

PLACE = "FLINTSTREAM_EARLY_DAEMON"
"""Environment variable of Spark's daemon: the path of the socket where a process waits for it."""

ANSWER_SECONDS = 10.0
"""How long Spark's daemon waits for an answer of the process, which may still be importing."""

SET = {"PYTHONUNBUFFERED": "YES"}
"""A variable that Spark sets for its daemon, and that matters to Python itself."""

YES = b"y"

LENGTH = struct.Struct("!I")

_waiting: dict[str, subprocess.Popen[bytes]] = {}
"""The process of each context, by its path. It ends if its standard input closes, as with the end of this one."""


def begin(python: str, variables: Mapping[str, str]) -> None:
    """Start the process if there is a private place for its socket.

    Args:
        python: The interpreter.
        variables: The environment variables of Spark's JVM, and those that it adds for its daemon as far as they matter
            to imports.
    """
    import subprocess

    from flintstream.engine.spark.sockets import private_directory

    directory = private_directory()
    if directory is None:
        return
    path = os.path.join(directory, "daemon")  # noqa: PTH118 - as sockets take it
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603 - the interpreter of the workers
            [python, "-m", f"{__name__}_process", "pyspark.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**variables, **SET, PLACE: path},
        )
        _waiting[path] = process


def place() -> dict[str, str]:
    """Return the variable that leads Spark's daemon to the process, if one was started."""
    if not _waiting:
        return {}
    latest = next(reversed(_waiting))
    for path, process in list(_waiting.items()):
        if process.poll() is not None and path != latest:
            del _waiting[path]
    return {PLACE: latest}


def hand_over() -> None:
    """Let the waiting process be Spark's daemon in place of this one; return if there is none that fits."""
    path = os.environ.get(PLACE)
    if not path:
        return
    server = socket.socket(socket.AF_UNIX)
    server.settimeout(ANSWER_SECONDS)
    try:
        server.connect(path)
        data = json.dumps(here(), ensure_ascii=True).encode()
        socket.send_fds(server, [LENGTH.pack(len(data))], [0, 1, 2])
        server.sendall(data)
        accepted = server.recv(1) == YES
        if accepted:
            server.sendall(YES)
    except (OSError, TypeError, ValueError):
        accepted = False
    if not accepted:
        server.close()
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    server.settimeout(None)
    with suppress(OSError):
        server.recv(1)  # ends with the daemon
    os._exit(0)


def here() -> dict[str, Any]:
    """Return what makes this process Spark's daemon."""
    packages = [PathFinder.find_spec(name) for name in ("flintstream", "pyspark")]
    return {
        "arguments": sys.argv[1:],
        "directory": os.getcwd(),  # noqa: PTH109
        "path": sys.path,
        "python": [sys.executable, sys.version, *map(int, sys.flags), *sys.warnoptions],
        "packages": [spec and spec.origin for spec in packages],
        "user": os.geteuid(),
        "variables": dict(os.environ),
    }
