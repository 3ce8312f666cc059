"""Spark context of the process: the active one, or a new one with quiet defaults."""

from __future__ import annotations

import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.jvm import forget, is_alive, start_gateway
from flintstream.engine.spark.slots import DAEMON
from flintstream.options.execution import MASTER, STICKY_SUBTASKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkContext

TASK_ATTEMPTS = 4
"""As on a cluster: a task whose Python worker died is retried. Errors in user code are not retried."""

DEFAULTS = {
    "spark.app.name": "flintstream",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    # Saves 30 to 45 ms per Python stage: over TCP, every stage waits for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.locality.wait": "0",
    # A retried stage could read other records than later stages have seen. Instead, the whole epoch is repeated.
    "spark.stage.maxConsecutiveAttempts": "1",
}
"""Defaults of a new context, which the configuration can override."""

LOCAL_DEFAULTS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""A local context only communicates within this machine."""


_starting = threading.Lock()
"""Jobs that start concurrently share one context. While a context starts, it looks active but is not usable."""


def spark_context(configuration: Mapping[str, str]) -> SparkContext:
    """Return the active context, or start a new one; give up one whose JVM has died.

    ``flintstream.master`` sets the master (default: ``spark.master``, or all local cores). Keys that start with
    ``spark.`` are passed to Spark.

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


def _start_context(configuration: Mapping[str, str]) -> SparkContext:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415

    given = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    master = configuration.get(MASTER.key) or given.get("spark.master") or MASTER.default
    conf = dict(DEFAULTS)
    if master.startswith("local"):
        conf.update(LOCAL_DEFAULTS)
    # On a cluster, the executors' Python may not find our module until a task ships it.
    sticky = STICKY_SUBTASKS.read(configuration)
    if master.startswith("local") if sticky is None else sticky:
        conf["spark.python.daemon.module"] = DAEMON
    conf.update(given)
    conf["spark.master"] = re.sub(r"^local\[(\d+|\*)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)
    # Workers use the driver's interpreter, regardless of PATH, so that both have the same packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    gateway = start_gateway(master, conf)
    spark_conf = SparkConf(_jvm=gateway.jvm).setAll(list(conf.items()))
    return SparkContext(conf=spark_conf, gateway=gateway)
