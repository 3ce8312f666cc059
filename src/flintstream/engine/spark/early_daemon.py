"""A daemon for Spark's Python workers that starts before Spark asks for one (``python -m``), with all imports done.

Spark starts its daemon when a task needs it, and the task waits until the daemon has imported what workers need. A
driver that starts a local context also starts this process, which does so while Spark starts. Spark's daemon then finds
it, passes its streams and its environment to it, and stays behind: Spark knows that process, and ends it.

If anything differs that could matter to an import, this process ends, and Spark's daemon does the work.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

__all__ = ["PLACE", "begin", "hand_over", "place"]

PLACE = "FLINTSTREAM_EARLY_DAEMON"
"""Environment variable of Spark's daemon: the path of the socket where a process waits for it."""

WAITING_SECONDS = 60.0
"""The process ends if no daemon has come after this long."""

ANSWER_SECONDS = 10.0
"""How long Spark's daemon waits for an answer of the process, which may still be importing."""

SPARK_OWN = ("SPARK_", "PYSPARK_", "_PYSPARK_", "PYTHON_", "OMP_NUM_THREADS", "FLINTSTREAM_WORKERS", PLACE)
"""Beginnings of the variables that are there for Spark's daemon only, and that no module reads while it is imported.

Only native libraries such as numpy's read the one of OpenMP, and the process has not imported any.
"""

SET = {"PYTHONUNBUFFERED": "YES"}
"""A variable that Spark sets for its daemon, and that matters to Python itself."""

_YES = b"y"

_LENGTH = struct.Struct("!I")

_waiting: dict[str, subprocess.Popen[bytes]] = {}
"""The process of each context, by its path. It ends if its standard input closes, as with the end of this one."""


def begin(python: str, variables: Mapping[str, str]) -> None:
    """Start the process if there is a private place for its socket.

    Args:
        python: The interpreter.
        variables: The environment variables of Spark's JVM, and those that it adds for its daemon as far as they matter
            to imports.
    """
    import subprocess  # noqa: PLC0415 - Spark's daemon imports this module first, and does not need it

    from flintstream.engine.spark.sockets import private_directory  # noqa: PLC0415

    directory = private_directory()
    if directory is None:
        return
    path = os.path.join(directory, "daemon")  # noqa: PTH118 - as sockets take it
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603 - the interpreter of the workers
            [python, "-m", __name__, "pyspark.worker"],
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
        data = json.dumps(_here(), ensure_ascii=True).encode()
        socket.send_fds(server, [_LENGTH.pack(len(data))], [0, 1, 2])
        server.sendall(data)
        accepted = server.recv(1) == _YES
        if accepted:
            server.sendall(_YES)
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


def _here() -> dict[str, Any]:
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


def fits(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Tell whether a process can go on as the other one, given what both are.

    >>> ours = {"user": 0, "variables": {"HOME": "/", "PYTHONHASHSEED": "0"}}
    >>> fits({"user": 0, "variables": {**ours["variables"], "SPARK_REUSE_WORKER": "1"}}, ours)
    True
    >>> fits({"user": 0, "variables": {**ours["variables"], "TZ": "UTC"}}, ours)
    False
    """
    for what in ("user", "python", "packages", "arguments", "directory"):
        if theirs.get(what) != ours.get(what):
            return False
    given, own = theirs["variables"], ours["variables"]
    differing = {name for name in given.keys() | own.keys() if given.get(name) != own.get(name)}
    # The search path is taken over: Spark adds archives of packages that are imported already.
    return all(name == "PYTHONPATH" or name.startswith(SPARK_OWN) for name in differing)


def _wait(listener: socket.socket) -> socket.socket | None:
    """Wait for Spark's daemon; return its connection once this process has become like it."""
    ready, _, _ = select.select([listener.fileno(), 0], [], [], WAITING_SECONDS)
    if listener.fileno() not in ready:
        return None  # no daemon has come, or the driver has ended
    connection, _ = listener.accept()
    head, streams, _, _ = socket.recv_fds(connection, _LENGTH.size, 3)
    data = b""
    while len(head) == _LENGTH.size and len(data) < _LENGTH.unpack(head)[0]:
        more = connection.recv(_LENGTH.unpack(head)[0] - len(data))
        if not more:
            return None
        data += more
    given = json.loads(data) if data else {}
    if len(streams) != 3 or not fits(given, _here()):
        return None
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(given["variables"])
    sys.path[:] = given["path"]
    return connection


def _main() -> NoReturn:
    os.setpgid(0, 0)  # Ctrl-C is for the driver, which stops the job gracefully
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.environ[PLACE])
        listener.listen()
        import pyspark.worker  # noqa: F401, PLC0415 - slow, like the imports below

        from flintstream.engine.spark import daemon, shipping, worker  # noqa: F401, PLC0415

        connection = _wait(listener)
    if connection is None:
        os._exit(0)
    connection.sendall(_YES)
    if connection.recv(1) != _YES:  # Spark's daemon has stopped waiting
        os._exit(0)
    os.register_at_fork(after_in_child=connection.close)  # it ends with the daemon, whatever workers leave behind
    daemon.main()
    raise SystemExit


if __name__ == "__main__":
    _main()
