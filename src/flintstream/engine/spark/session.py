"""Gets the Spark context: the one that is active, or a quiet new one."""

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
"""As on a cluster: a task whose Python worker died runs again. Errors of user code never get that far."""

DEFAULTS = {
    "spark.app.name": "flintstream",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    # 30 to 45 ms per Python stage: over TCP every stage waits for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.locality.wait": "0",
    # A stage that ran again could read other records than the stages behind it saw; the epoch as a whole is repeated
    # instead.
    "spark.stage.maxConsecutiveAttempts": "1",
}
"""What a new context is given unless the configuration says otherwise."""

LOCAL_DEFAULTS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""A local context talks to nobody outside this machine."""


_starting = threading.Lock()
"""Jobs that start at the same time share one context; while it is being made, it looks active but is of no use."""


def spark_context(configuration: Mapping[str, str]) -> SparkContext:
    """Return the active context, else start one; one whose JVM has died is given up.

    ``flintstream.master`` names the master (default: ``spark.master``, else all local cores); every key that begins
    with ``spark.`` is handed to Spark.

    Raises:
        MissingDependencyError: There is no Java.
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

    active: Any = SparkContext._active_spark_context  # noqa: SLF001 - there is no public way to look without creating one
    return active  # type: ignore[no-any-return]


def _start_context(configuration: Mapping[str, str]) -> SparkContext:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415

    given = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    master = configuration.get(MASTER.key) or given.get("spark.master") or MASTER.default
    conf = dict(DEFAULTS)
    if master.startswith("local"):
        conf.update(LOCAL_DEFAULTS)
    # Elsewhere than here, nobody knows whether the executors' Python finds our module before a task brings it along.
    sticky = STICKY_SUBTASKS.read(configuration)
    if master.startswith("local") if sticky is None else sticky:
        conf["spark.python.daemon.module"] = DAEMON
    conf.update(given)
    conf["spark.master"] = re.sub(r"^local\[(\d+|\*)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)
    # The driver's interpreter is the workers': both have the same packages, whatever comes first on PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    gateway = start_gateway(master, conf)
    spark_conf = SparkConf(_jvm=gateway.jvm).setAll(list(conf.items()))
    return SparkContext(conf=spark_conf, gateway=gateway)
