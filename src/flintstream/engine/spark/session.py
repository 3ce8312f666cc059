"""Spark context of the process: the active one, or a new one with quiet defaults."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from flintstream.common._text.secrets import SECRET_KEYS, SECRETS_OF_URLS, hide_secrets
from flintstream.engine.spark import early_daemon
from flintstream.engine.spark.connect import find_connect, refuse_connect
from flintstream.engine.spark.jvm.context import executor_count, forget, hide, is_alive, setting, show
from flintstream.engine.spark.jvm.start import begin, give_up, is_own, start_gateway, variables_of_jvm
from flintstream.engine.spark.slots import DAEMON
from flintstream.engine.spark.sockets import private_directory
from flintstream.engine.spark.submitted import GATEWAY_PORT, defaults_file, flags
from flintstream.engine.spark.versions import has_unix_sockets
from flintstream.errors import FlintstreamError
from flintstream.options.execution import JOB_NAME, MASTER, STICKY_SUBTASKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkContext

_log = logging.getLogger(__name__)

TASK_ATTEMPTS = 4
"""As on a cluster: a task whose Python worker died is retried. Errors in user code are not retried."""

UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"

SOCKET_DIRECTORY = "spark.python.unix.domain.socket.dir"

LOCAL_DIRECTORY = "spark.local.dir"

HOME_WAIT = "spark.locality.wait.process"
"""Setting with the longest time that a task waits for the executor that holds its state."""

DEFAULTS = {
    "spark.app.name": "flintstream",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    # Keys and values that Spark hides in its logs and in the event log. Its own pattern lacks the keys of Azure, Kafka
    # and Flink, and passwords in URLs.
    "spark.redaction.regex": f"{SECRET_KEYS}|{SECRETS_OF_URLS}",
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

AUTHENTICATE = "spark.authenticate"
"""Without it, Spark's JVM deserializes what any user of the machine sends to its ports. In a context of one process,
Spark makes the secret itself."""


EXECUTORS_SECONDS = 30.0
"""How long to wait for the executors of a new context when their cores determine the parallelism."""

SETTLED_SECONDS = 1.0
"""Executors are complete if none has registered for this long."""

_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\d+)?\])?")
"""A master whose only executor is the driver; ``local-cluster`` has others."""

_unsettled: list[Any] = []
"""The context that was started here, while its executors may not have registered yet."""

_starting = threading.Lock()
"""Jobs that start concurrently share one context. While a context starts, it looks active but is not usable."""

_prepared: list[tuple[Any, Any, dict[str, str]]] = []
"""A context that no job has used yet, its gateway, and the settings for which it was made."""

_directories: list[str] = []
"""The private directory of the JVM that has started early."""

_inherited: list[Any] = []
"""The context that was active when this process was forked."""


def _note_inherited() -> None:
    kind = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    active = getattr(kind, "_active_spark_context", None)
    _inherited[:] = [] if active is None else [active]


os.register_at_fork(after_in_child=_note_inherited)


def spark_context(configuration: Mapping[str, str]) -> SparkContext:
    """Return the active context, or start a new one; give up one whose JVM has died.

    ``flintstream.master`` or ``spark.master`` sets the master (default: all local cores). Keys that start with
    ``spark.`` are passed to Spark. Settings of ``spark-submit``, ``PYSPARK_SUBMIT_ARGS`` and ``spark-defaults.conf``
    override those of the job, which override our defaults.

    Raises:
        MissingDependencyError: Java is not installed.
        FlintstreamError: Spark does not start, the program is set to use Spark Connect, or the active context belongs
            to the process from which this one was forked.
    """
    with _starting:
        active = _active_context()
        if active is not None and active in _inherited:
            raise FlintstreamError(
                "this process was forked from one with a Spark context, which the two cannot share: start processes "
                "that run jobs with multiprocessing.get_context('spawn')"
            )
        if active is not None and not is_alive(active):
            forget(active)
            active = None
        if active is not None:
            give_up()
        return active or _take_prepared(configuration) or _start_context(configuration)


def set_aside(configuration: Mapping[str, str]) -> None:
    """Keep the active context, which a job with these settings started, for the next one that would start one like it.

    Until then, this process has none.
    """
    with _starting:
        context = _active_context()
        _prepared[:] = [(context, hide(context), _wanted_settings(configuration))]


def _take_prepared(configuration: Mapping[str, str]) -> SparkContext | None:
    """Return the context that was set aside if it is as this job wants it; end one that is not."""
    if not _prepared:
        return None
    context, gateway, made_for = _prepared.pop()
    show(context, gateway)
    if _wanted_settings(configuration) != made_for or not is_alive(context):
        forget(context)
        return None
    give_up()  # the command may have asked for another one than the job
    os.environ.update(_pythons(made_for))
    return context  # type: ignore[no-any-return]


def _wanted_settings(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the context that a job would start. The name does not matter where nothing shows it."""
    conf = resolve_settings(*_settings(configuration, _outside(configuration)))
    if "true" not in {conf["spark.ui.enabled"], conf.get("spark.eventLog.enabled")}:
        del conf["spark.app.name"]
    return conf


def _active_context() -> SparkContext | None:
    from pyspark import SparkContext

    active: Any = SparkContext._active_spark_context
    return active  # type: ignore[no-any-return]


def master_of(configuration: Mapping[str, str]) -> str:
    """Return the master that a job will run on, if possible without starting a context."""
    active = _active_context()
    if active is None and GATEWAY_PORT not in os.environ:
        return resolve_settings(*_settings(configuration, _outside(configuration)))["spark.master"]
    return str(spark_context(configuration).master)


def default_parallelism(configuration: Mapping[str, str], *, start: bool = True) -> int | None:
    """Return how many subtasks fill the cluster, None for as many as this machine has processors.

    Only a cluster knows how many cores it gives. So unless the master is local, this starts the context, and waits for
    the executors of a context that has just started. If ``start`` is False, a cluster without a context counts as None.
    """
    active = _active_context()
    if active is None and GATEWAY_PORT not in os.environ:
        conf = resolve_settings(*_settings(configuration, _outside(configuration)))
        if "spark.default.parallelism" in conf:
            return int(conf["spark.default.parallelism"])
        local = _LOCAL.fullmatch(conf["spark.master"])
        if local is not None:
            return None if local[1] == "*" else int(local[1] or 1)
    if active is None and not start:
        return None
    context = spark_context(configuration)
    with _starting:
        if context in _unsettled:
            _wait_for_executors(context)
        _unsettled.clear()
    return context.defaultParallelism


def _wait_for_executors(context: SparkContext) -> None:
    """Wait until the executors of a new context have registered, which they do one after the other."""
    expected = int(setting(context, "spark.executor.instances") or 0)
    known, since = 0, time.monotonic()
    until = since + EXECUTORS_SECONDS
    while time.monotonic() < until:
        count = executor_count(context)
        if count >= expected > 0 or (count and count == known and time.monotonic() - since > SETTLED_SECONDS):
            return
        if count != known:
            known, since = count, time.monotonic()
        time.sleep(0.05)


def _start_context(configuration: Mapping[str, str]) -> SparkContext:
    refuse_connect(configuration)
    from pyspark import SparkConf, SparkContext

    gateway = None
    if GATEWAY_PORT in os.environ:
        gateway = start_gateway("", {})
        outside = dict(SparkConf(_jvm=gateway.jvm).getAll())
        if outside.get("spark.master") == MASTER.default and {MASTER.key, "spark.master"} & configuration.keys():
            del outside["spark.master"]  # what spark-submit sets if it is given no master
    else:
        outside = _outside(configuration)
    own, outside, sticky, name = _settings(configuration, outside)
    warn_of_unused(own, outside)
    conf = with_private_files(with_private_sockets(resolve_settings(own, outside, sticky, name)))
    os.environ.update(_pythons(conf))
    if is_own(conf["spark.master"]) and conf.get("spark.python.daemon.module") == DAEMON:
        # Now, because the processor has less to do while the JVM starts than while it makes the context.
        seed = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")}  # as pyspark sets it for all workers
        early_daemon.begin(os.environ["PYSPARK_PYTHON"], {**variables_of_jvm(conf), **seed})
    gateway = gateway or start_gateway(conf["spark.master"], conf, plain=_is_plain(own, outside))
    spark_conf = SparkConf(_jvm=gateway.jvm).setAll(list(conf.items()))
    context = SparkContext(conf=spark_conf, gateway=gateway)
    if not _LOCAL.fullmatch(conf["spark.master"]):
        _unsettled[:] = [context]
    return context


def start_early(configuration: Mapping[str, str]) -> None:
    """Begin to start Spark's JVM for the job that a program will probably run with these settings.

    It starts while the program imports its modules and builds the job. If the job has settings that need another JVM,
    or runs elsewhere, this one ends. None starts if a context like that was set aside.
    """
    if GATEWAY_PORT in os.environ or find_connect(configuration) is not None:
        return
    if _prepared and _prepared[0][-1] == _wanted_settings(configuration):
        return
    own, outside, sticky, name = _settings(configuration, _outside(configuration))
    conf = resolve_settings(own, outside, sticky, name)
    if not (is_own(conf["spark.master"]) and _LOCAL.fullmatch(conf["spark.master"]) and _is_plain(own, outside)):
        return
    conf = with_private_files(conf)
    if LOCAL_DIRECTORY in conf:
        _directories[:] = [conf[LOCAL_DIRECTORY]]
    begin(conf, _pythons(conf))


def _is_plain(own: Mapping[str, str], outside: Mapping[str, str]) -> bool:
    """Tell whether the settings that were given matter to the context alone, and not to how its JVM starts."""
    known = {
        *DEFAULTS,
        *LOCAL_DEFAULTS,
        AUTHENTICATE,
        "spark.master",
        "spark.driver.memory",
        "spark.driver.extraJavaOptions",
    }
    return {*own, *outside} <= known


def _pythons(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that tell Spark the interpreters of the workers and of the driver, unless they are set."""
    python = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable
    driver = os.environ.get("PYSPARK_DRIVER_PYTHON", sys.executable)
    return {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": driver}


def _outside(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return the settings from the environment of a program that was not given to ``spark-submit``."""
    outside = {**defaults_file(), **flags()}
    if MASTER.key in configuration and "spark.master" not in flags():
        outside.pop("spark.master", None)  # a master chosen for this job overrides the one in a file
    return outside


def _settings(
    configuration: Mapping[str, str], outside: dict[str, str]
) -> tuple[dict[str, str], dict[str, str], bool | None, str | None]:
    """Return the arguments of :func:`resolve_settings`."""
    own = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    if MASTER.key in configuration:
        own["spark.master"] = configuration[MASTER.key]
    return own, outside, STICKY_SUBTASKS.read(configuration), configuration.get(JOB_NAME.key)


def with_private_sockets(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a new context whose Unix domain sockets are private, or off."""
    if not has_unix_sockets() or conf[UNIX_SOCKETS] != "true" or SOCKET_DIRECTORY in conf:
        return dict(conf)
    directory = private_directory()
    return {**conf, **({UNIX_SOCKETS: "false"} if directory is None else {SOCKET_DIRECTORY: directory})}


def with_private_files(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a new context whose local files are private, if it runs on this machine alone.

    Spark lets other users read what tasks exchange, and write it if the umask does. It is pickled.
    """
    given = LOCAL_DIRECTORY in conf or {"SPARK_LOCAL_DIRS", "LOCAL_DIRS"} & os.environ.keys()
    local = not given and _LOCAL.fullmatch(conf["spark.master"])
    directory = (_directories.pop() if _directories else private_directory()) if local else None
    return dict(conf) if directory is None else {**conf, LOCAL_DIRECTORY: directory}


def warn_of_unused(own: Mapping[str, str], outside: Mapping[str, str]) -> None:
    """Log each setting of the job that settings from outside the program override."""
    for key in own.keys() & outside.keys():
        if own[key] != outside[key]:
            _log.warning(
                "%s=%s of the job is not used: Spark was started with %s",
                key, hide_secrets(own)[key], hide_secrets(outside)[key],
            )  # fmt: skip


def resolve_settings(
    own: Mapping[str, str], outside: Mapping[str, str], sticky: bool | None = None, name: str | None = None
) -> dict[str, str]:
    """Return the settings of a new context.

    Args:
        own: Settings of the job.
        outside: Settings from outside the program. They win, so that an operator can run an unchanged job on another
            cluster.
        sticky: Whether subtasks stay in their process; by default on a local master.
        name: The name of the job, which is that of the application unless a setting has another one.
    """
    said = {**own, **outside}
    master = said.get("spark.master") or MASTER.default
    local = master.startswith("local")
    conf = {**DEFAULTS, **(LOCAL_DEFAULTS if local else {})}
    if _LOCAL.fullmatch(master):
        conf[AUTHENTICATE] = "true"
    if name:
        conf["spark.app.name"] = name
    # On a cluster, the executors' Python may not find our module until a task ships it.
    if local if sticky is None else sticky:
        conf["spark.python.daemon.module"] = DAEMON
        # Sticky workers do not have the broadcast variables of a connection, so large functions must not become one.
        conf["spark.broadcast.UDFCompressionThreshold"] = "1g"
    if "spark.locality.wait" in said:
        del conf[HOME_WAIT]
    conf.update(said)
    conf["spark.master"] = re.sub(r"^local\[(\d+|\*)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)
    return conf
