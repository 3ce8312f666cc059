"""The process of :mod:`flintstream.engine.spark.early_daemon` (``python -m``): imports what workers need, and waits."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.engine.spark.early_daemon import LENGTH, PLACE, YES, here

if TYPE_CHECKING:
    from collections.abc import Mapping

WAITING_SECONDS = 60.0
"""The process ends if no daemon has come after this long."""

SPARK_OWN = ("SPARK_", "PYSPARK_", "_PYSPARK_", "PYTHON_", "OMP_NUM_THREADS", "FLINTSTREAM_WORKERS", PLACE)
"""Beginnings of the variables that are there for Spark's daemon only, and that no module reads while it is imported.

Only native libraries such as numpy's read the one of OpenMP, and the process has not imported any.
"""


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
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, 3)
    data = b""
    while len(head) == LENGTH.size and len(data) < LENGTH.unpack(head)[0]:
        more = connection.recv(LENGTH.unpack(head)[0] - len(data))
        if not more:
            return None
        data += more
    given = json.loads(data) if data else {}
    if len(streams) != 3 or not fits(given, here()):
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
        # Slow, so the listener is there first
        import pyspark.worker  # noqa: F401

        from flintstream.engine.spark import daemon, shipping, worker  # noqa: F401

        connection = _wait(listener)
    if connection is None:
        os._exit(0)
    connection.sendall(YES)
    if connection.recv(1) != YES:  # Spark's daemon has stopped waiting
        os._exit(0)
    os.register_at_fork(after_in_child=connection.close)  # it ends with the daemon, whatever workers leave behind
    daemon.main()
    raise SystemExit


if __name__ == "__main__":
    _main()
