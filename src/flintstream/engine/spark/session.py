"""Spark context of the process: the active one, or a new one with quiet defaults."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from flintstream.common._secrets import shown
from flintstream.engine.spark.jvm import forget, is_alive, start_gateway
from flintstream.engine.spark.slots import DAEMON
from flintstream.engine.spark.sockets import private_directory
from flintstream.engine.spark.submitted import GATEWAY_PORT, defaults_file, flags
from flintstream.engine.spark.versions import has_unix_sockets
from flintstream.options.execution import MASTER, STICKY_SUBTASKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkContext

_log = logging.getLogger(__name__)

TASK_ATTEMPTS = 4
"""As on a cluster: a task whose Python worker died is retried. Errors in user code are not retried."""

UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"

SOCKET_DIRECTORY = "spark.python.unix.domain.socket.dir"

HOME_WAIT = "spark.locality.wait.process"
"""Setting with the longest time that a task waits for the executor that holds its state."""

DEFAULTS = {
    "spark.app.name": "flintstream",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    # Without a secret, their directory protects the sockets, and only the driver's machine surely has a private one.
    UNIX_SOCKETS: "false",
    "spark.locality.wait": "0",
    HOME_WAIT: "100ms",
    # A retried stage could read other records than later stages have seen. Instead, the whole epoch is repeated.
    "spark.stage.maxConsecutiveAttempts": "1",
}
"""Defaults of a new context, which the configuration can override."""

LOCAL_DEFAULTS = {
    # A local context only communicates within this machine.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Saves 30 to 45 ms per Python stage: over TCP, every stage waits for a delayed acknowledgement.
    UNIX_SOCKETS: "true",
}
"""Further defaults of a local context."""


EXECUTORS_SECONDS = 5.0
"""How long to wait for the executors of a new context when their cores determine the parallelism."""

LEAST_PARALLELISM = 2
"""The default parallelism of a cluster whose executors have not registered yet."""

_starting = threading.Lock()
"""Jobs that start concurrently share one context. While a context starts, it looks active but is not usable."""


def spark_context(configuration: Mapping[str, str]) -> SparkContext:
    """Return the active context, or start a new one; give up one whose JVM has died.

    ``flintstream.master`` or ``spark.master`` sets the master (default: all local cores). Keys that start with
    ``spark.`` are passed to Spark. Settings of ``spark-submit``, ``PYSPARK_SUBMIT_ARGS`` and ``spark-defaults.conf``
    override those of the job, which override our defaults.

    Raises:
        MissingDependencyError: Java is not installed.
        FlintstreamError: Spark does not start.
    """
    with _starting:
        active = _active_context()
        if active is not None and not is_alive(active):
            forget(active)
            active = None
        return active or _start_context(configuration)


def _active_context() -> SparkContext | None:
    from pyspark import SparkContext  # noqa: PLC0415 - slow to import

    active: Any = SparkContext._active_spark_context  # noqa: SLF001 - there is no public way to check without creating one
    return active  # type: ignore[no-any-return]


def default_parallelism(configuration: Mapping[str, str]) -> int | None:
    """Return how many subtasks fill the cluster, None for as many as this machine has processors.

    Starts the context unless the master is local: only a cluster knows how many cores it gives.
    """
    active = _active_context()
    if active is None and GATEWAY_PORT not in os.environ:
        conf = _settings(configuration, _outside(configuration))
        if "spark.default.parallelism" in conf:
            return int(conf["spark.default.parallelism"])
        local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", conf["spark.master"])
        if local is not None:
            return None if local[1] == "*" else int(local[1] or 1)
    context = spark_context(configuration)
    until = time.monotonic() + EXECUTORS_SECONDS
    known = context.defaultParallelism
    while not str(context.master).startswith("local") and time.monotonic() < until:
        time.sleep(EXECUTORS_SECONDS / 10)  # executors of a new context register one after the other
        before, known = known, context.defaultParallelism
        if known == before > LEAST_PARALLELISM:
            break
    return known


def _start_context(configuration: Mapping[str, str]) -> SparkContext:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415

    gateway = None
    if GATEWAY_PORT in os.environ:
        gateway = start_gateway("", {})
        outside = dict(SparkConf(_jvm=gateway.jvm).getAll())
        if outside.get("spark.master") == MASTER.default and {MASTER.key, "spark.master"} & configuration.keys():
            del outside["spark.master"]  # what spark-submit sets if it is given no master
    else:
        outside = _outside(configuration)
    conf = with_private_sockets(_settings(configuration, outside))
    python = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable
    os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    gateway = gateway or start_gateway(conf["spark.master"], conf)
    spark_conf = SparkConf(_jvm=gateway.jvm).setAll(list(conf.items()))
    return SparkContext(conf=spark_conf, gateway=gateway)


def _outside(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return the settings from the environment of a program that was not given to ``spark-submit``."""
    outside = {**defaults_file(), **flags()}
    if MASTER.key in configuration and "spark.master" not in flags():
        outside.pop("spark.master", None)  # a master chosen for this job overrides the one in a file
    return outside


def _settings(configuration: Mapping[str, str], outside: Mapping[str, str]) -> dict[str, str]:
    own = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    if MASTER.key in configuration:
        own["spark.master"] = configuration[MASTER.key]
    return resolved(own, outside, sticky=STICKY_SUBTASKS.read(configuration))


def with_private_sockets(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a new context whose Unix domain sockets are private, or off."""
    if not has_unix_sockets() or conf[UNIX_SOCKETS] != "true" or SOCKET_DIRECTORY in conf:
        return dict(conf)
    directory = private_directory()
    return {**conf, **({UNIX_SOCKETS: "false"} if directory is None else {SOCKET_DIRECTORY: directory})}


def resolved(own: Mapping[str, str], outside: Mapping[str, str], sticky: bool | None = None) -> dict[str, str]:
    """Return the settings of a new context.

    Args:
        own: Settings of the job.
        outside: Settings from outside of the program. They win, so that an operator can run an unchanged job on another
            cluster. The log names each setting of the job that they override.
        sticky: Whether subtasks stay in their process; by default on a local master.
    """
    for key in own.keys() & outside.keys():
        if own[key] != outside[key]:
            _log.warning(
                "%s=%s of the job is not used: Spark was started with %s",
                key, shown(own)[key], shown(outside)[key],
            )  # fmt: skip
    said = {**own, **outside}
    master = said.get("spark.master") or MASTER.default
    local = master.startswith("local")
    conf = {**DEFAULTS, **(LOCAL_DEFAULTS if local else {})}
    # On a cluster, the executors' Python may not find our module until a task ships it.
    if local if sticky is None else sticky:
        conf["spark.python.daemon.module"] = DAEMON
    if "spark.locality.wait" in said:
        del conf[HOME_WAIT]
    conf.update(said)
    conf["spark.master"] = re.sub(r"^local\[(\d+|\*)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)
    return conf
