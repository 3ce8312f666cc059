"""A Spark context: whether it lives, its executors, and its end."""

from __future__ import annotations

import contextlib
import logging
import re
import tempfile
import time
from typing import Any

from flintstream.engine.spark.failures.spark_errors import java_message
from flintstream.engine.spark.placement import Executor
from flintstream.errors import FlintstreamError

__all__ = ["Executors", "executor_count", "forget", "hide", "is_alive", "setting", "show", "try_to_unpack"]

_log = logging.getLogger(__name__)

EXECUTORS_SECONDS = 1.0
"""How often to look for new and lost executors."""


def is_alive(context: Any) -> bool:
    """Tell whether a Spark context can still run jobs. Its JVM may have died or stopped it."""
    try:
        return not context._jsc.sc().isStopped()
    except Exception:  # noqa: BLE001 - a broken connection may raise anything
        return False


def setting(context: Any, key: str) -> str | None:
    """Return a setting of a Spark context; ``getConf`` would copy all of them with a hundred calls into the JVM."""
    return context._conf.get(key)  # type: ignore[no-any-return]


def executor_count(context: Any) -> int:
    """Return how many executors have registered with a context, without the driver."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1


def try_to_unpack(context: Any, archive: str, name: str) -> None:
    """Unpack an archive as Spark does, and forget what was in it.

    Spark registers an archive before it unpacks it. One that it cannot unpack fails all later tasks of the session.

    Raises:
        FlintstreamError: Spark cannot unpack it. The message calls it ``name``.
    """
    jvm = context._jvm
    with tempfile.TemporaryDirectory(prefix="flintstream-") as directory:
        try:
            jvm.org.apache.spark.util.Utils.unpack(jvm.java.io.File(archive), jvm.java.io.File(directory, "here"))
        except Exception as error:
            reason = java_message(error)
            if reason is None:
                raise
            raise FlintstreamError(f"Spark cannot unpack {name}: {reason}") from None


def forget(context: Any) -> None:
    """Discard a Spark context whose JVM has died or stopped it, so that a new one can start."""
    process = getattr(context._gateway, "proc", None)
    with contextlib.suppress(Exception):
        context.stop()
    with contextlib.suppress(Exception):
        context._gateway.shutdown()
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
    kind = type(context)
    kind._active_spark_context = kind._gateway = kind._jvm = None


def hide(context: Any) -> Any:
    """Let this process start another Spark context, as if it had none; return what :func:`show` needs."""
    kind = type(context)
    gateway = kind._gateway
    kind._active_spark_context = kind._gateway = kind._jvm = None
    return gateway


def show(context: Any, gateway: Any) -> None:
    """Make a hidden context the active one."""
    kind = type(context)
    kind._active_spark_context, kind._gateway, kind._jvm = context, gateway, gateway.jvm


class Executors:
    """The executors of a Spark context that run tasks; without those of a local master."""

    def __init__(self, context: Any) -> None:
        """Look at ``context``."""
        self._spark = context._jsc.sc()
        self._local = re.match(r"local(\[|$)", context.master) is not None
        self._known: dict[str, Executor] = {}
        self._registered = ""
        self._looked = float("-inf")

    def by_name(self) -> dict[str, Executor]:
        """Return them by name; asks Spark once a second at most."""
        if self._local or time.monotonic() - self._looked < EXECUTORS_SECONDS:
            return self._known
        self._looked = time.monotonic()
        try:
            self._look()
        except Exception:  # noqa: BLE001 - whatever a variant of Spark may raise
            _log.info("Spark does not list its executors", exc_info=True)
            self._local, self._known = True, {}
        return self._known

    def _look(self) -> None:
        addresses = self._spark.getExecutorMemoryStatus().keySet()
        registered = addresses.mkString(",")
        if registered == self._registered:
            return
        found = self._spark.statusStore().executorList(True)
        summaries = [found.apply(place) for place in range(found.size())]
        self._known = {
            summary.id(): Executor(summary.id(), summary.hostPort().rpartition(":")[0], summary.maxTasks())
            for summary in summaries
            if summary.maxTasks() > 0
        }
        # The two answers come from different threads of Spark. If they differ, look again.
        self._registered = registered if len(summaries) == addresses.size() else ""
