"""Java discovery, and start of Spark's JVM."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common._text.secrets import hide_secrets
from flintstream.engine.spark.jvm.class_archive import ClassArchive
from flintstream.engine.spark.jvm.converters import avoid_numpy
from flintstream.engine.spark.jvm.java_release import diagnose, find_java
from flintstream.engine.spark.sockets import is_private
from flintstream.engine.spark.versions import scala, spark_home
from flintstream.engine.spark.worker_lines import drain_lines, pipe_of_lines
from flintstream.errors import FlintstreamError
from flintstream.options.command_line import get_defaults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "OPENED_PACKAGES",
    "begin",
    "give_up",
    "is_own",
    "leave_at_exit",
    "start_gateway",
    "variables_of_jvm",
]

_log = logging.getLogger(__name__)

START_SECONDS = 300
SECONDS_WITH_ARCHIVE = 30
"""How long a JVM with an archive of classes, which needs one or two, may take: a damaged archive can make it hang."""

OPENED_PACKAGES = (
    "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect", "java.base/java.io",
    "java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/sun.nio.cs",
    "java.base/sun.security.action", "java.base/sun.util.calendar", "java.security.jgss/sun.security.krb5",
)  # fmt: skip
"""Modules that Spark accesses on Java 17 and later. Unlike Spark's launcher, this omits ``jdk.incubator.vector``: Spark
works without it, and with it every JVM start prints a warning."""

_COMPILER = (
    "-XX:Tier4InvocationThreshold=500000", "-XX:Tier4MinInvocationThreshold=60000",
    "-XX:Tier4CompileThreshold=1500000", "-XX:Tier4BackEdgeThreshold=4000000",
)  # fmt: skip
"""A hundred times Java's own thresholds of its second compiler: it would take two fifths of the CPU of a short job, for
code that runs a few thousand times. What a long job or a query of Spark runs in a loop still reaches them."""

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).parent.parent / 'log4j2.properties'}"


def is_own(master: str) -> bool:
    """Tell whether this process starts the JVM for a master itself, and not by ``spark-submit``."""
    given = {"SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"} & os.environ.keys()
    return not given and master.startswith("local") and os.name == "posix"


def start_gateway(master: str, conf: Mapping[str, str], *, plain: bool = False) -> Any:
    """Start Spark's JVM and return the gateway to it.

    A local master gets its JVM directly, without Spark's shell scripts and launcher JVM, which halves the start time.
    Other masters, and installations with their own settings (``SPARK_HOME``, ``SPARK_CONF_DIR``), use ``spark-submit``.

    Args:
        master: The master, empty for that of a program given to ``spark-submit``.
        conf: The settings of the context.
        plain: Whether these are nothing but settings of a context. Others, such as jars, need Spark's own preparation
            of a program, which takes some tenths of a second.

    Raises:
        FlintstreamError: The JVM did not start.
    """
    from pyspark.java_gateway import launch_gateway

    # Otherwise, programs that log at INFO would log every connection to the JVM, even at exit.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    avoid_numpy()
    if not is_own(master):
        from pyspark import SparkConf
        from pyspark.errors import PySparkException

        give_up()
        # Secrets stay off the command line. The context gets them with all other settings, except options of this JVM.
        visible = [(k, v) for k, v in conf.items() if k == _JAVA_OPTIONS or hide_secrets({k: v})[k] == v]
        spark_conf = SparkConf(loadDefaults=False).setAll(visible)
        os.environ.setdefault("JAVA_HOME", str(Path(find_java()).parent.parent))
        try:
            with _quiet():
                return launch_gateway(spark_conf)  # type: ignore[no-untyped-call]
        except PySparkException as error:
            own = str(Path(os.environ["JAVA_HOME"], "bin", "java"))
            raise _NotStartedError(f"spark-submit did not start: {error}. {diagnose(own)}") from None
    java = find_java()
    try:
        port, secret, process = _start_jvm(java, conf, plain=plain)
    except _NotStartedError as error:
        raise _NotStartedError(f"{error} {diagnose(java)}") from None
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = process  # its standard input closes with this process, which ends the JVM
    _gateways.append(gateway)
    return gateway


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Make a JVM that ``spark-submit`` starts as quiet as one of ours, unless the user configures what it logs."""
    given = os.environ.get("SPARK_SUBMIT_OPTS")
    configured = any(
        Path(directory, "log4j2.properties").exists()
        for directory in (os.environ.get("SPARK_CONF_DIR"), os.path.join(os.environ.get("SPARK_HOME", ""), "conf"))  # noqa: PTH118
        if directory
    )
    if configured or "log4j" in (given or "") or "log4j" in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        yield
        return
    os.environ["SPARK_SUBMIT_OPTS"] = f"{given or ''} {_QUIET}".strip()
    try:
        yield
    finally:
        if given is None:
            del os.environ["SPARK_SUBMIT_OPTS"]
        else:
            os.environ["SPARK_SUBMIT_OPTS"] = given


class _NotStartedError(FlintstreamError):
    """The JVM ended before it was ready, or was not ready in time."""


class _Starting(NamedTuple):
    """A JVM that is starting."""

    process: subprocess.Popen[bytes]
    directory: Path
    """Where it reads its options, and writes how to reach it."""
    made_for: tuple[Any, ...]
    """What it must have in common with the JVM that a job needs."""


_early: list[_Starting] = []
"""The JVM that is starting before a job asks for it."""


_gateways: list[Any] = []
"""The gateways of the JVMs that this process has started."""


def begin(conf: Mapping[str, str], variables: Mapping[str, str]) -> None:
    """Begin to start the JVM of a context with plain settings, for the job that this process will probably run.

    The job gets it if it wants a JVM like it, with the same environment variables. Otherwise it is ended.

    Args:
        conf: The settings.
        variables: Environment variables that this process will have when it starts a context.
    """
    archive = ClassArchive.of(java := find_java())
    if archive is None or not archive.ready:
        return  # this start is slow anyway, and the JVM must live until it has written the archive
    give_up()
    _early.append(_launch(java, conf, archive.to_read(), plain=True, variables=variables))
    leave_at_exit()


def give_up() -> None:
    """End the JVM that has started early, if no job has taken it."""
    while _early:
        _end(_early.pop())


@cache
def leave_at_exit() -> None:
    """Leave the JVM when this process ends, after all functions for its end that are registered from now on.

    A program's own functions may still use Spark, so call this before it runs.
    """
    atexit.register(_leave)
    os.register_at_fork(after_in_child=_leave_to_parent)


def _leave() -> None:
    """End the JVM if no job has taken it; else end the gateway, unless a job that nothing waits for still needs it.

    Otherwise, the JVM would wait 0.3 s at its end for the thread that accepts connections.
    """
    give_up()
    from flintstream.coordinator.client import some_run

    if some_run():
        return
    while _gateways:
        with contextlib.suppress(Exception):  # the JVM has died
            _gateways.pop().shutdown()


def _leave_to_parent() -> None:
    """Let the JVM end with the process that started it, even if one that it has forked outlives it."""
    _gateways.clear()
    while _early:
        starting = _early.pop()
        if starting.process.stdin is not None:
            starting.process.stdin.close()
        starting.process.returncode = 0  # not a child of this process


def _end(starting: _Starting) -> int | None:
    """End a JVM; return its exit code if it had ended before."""
    code = starting.process.poll()
    with contextlib.suppress(ProcessLookupError):
        starting.process.send_signal(signal.SIGKILL)
    starting.process.communicate()  # closes the pipe as well
    shutil.rmtree(starting.directory, ignore_errors=True)
    return code


def _start_jvm(java: str, conf: Mapping[str, str], *, plain: bool = False) -> tuple[int, str, subprocess.Popen[bytes]]:
    archive = ClassArchive.of(java)
    if archive is None:
        return _run_jvm(java, conf, ["-Xshare:auto"], plain=plain)
    if not archive.ready:
        return _run_jvm(java, conf, archive.to_write(), plain=plain)
    try:
        return _run_jvm(java, conf, archive.to_read(), SECONDS_WITH_ARCHIVE, plain=plain)
    except _NotStartedError as failed:
        started = _run_jvm(java, conf, archive.to_write(), plain=plain)
        archive.discard()
        _log.warning(
            "the archive of Spark's classes was damaged and has been deleted: with %s, %s. Spark started without it",
            archive.path, failed,
        )  # fmt: skip
        return started


def _run_jvm(
    java: str, conf: Mapping[str, str], options: Sequence[str], seconds: float = START_SECONDS, *, plain: bool
) -> tuple[int, str, subprocess.Popen[bytes]]:
    starting = _early.pop() if _early else None
    if starting is not None and starting.made_for != _needs(
        java, conf, options, plain=plain, environment=_variables(java, conf)
    ):
        _end(starting)
        starting = None
    starting = starting or _launch(java, conf, options, plain=plain)
    info = starting.directory / "gateway"
    deadline = time.monotonic() + seconds
    while not info.exists():
        if starting.process.poll() is not None or time.monotonic() > deadline:
            code = _end(starting)
            drain_lines()
            why = f"not ready after {seconds} s" if code is None else f"exit code {code}"
            raise _NotStartedError(f"Spark's JVM did not start ({why}); see above.")
        time.sleep(0.01)
    data = info.read_bytes()
    shutil.rmtree(starting.directory, ignore_errors=True)
    (port,) = struct.unpack(">i", data[:4])
    (length,) = struct.unpack(">i", data[4:8])
    return port, data[8 : 8 + length].decode(), starting.process


def variables_of_jvm(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the JVM that this process has started."""
    return _variables(find_java(), conf)


def _variables(java: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the JVM, which are also those of the Python workers that it starts."""
    variables = {
        **os.environ,
        "SPARK_HOME": str(spark_home()),
        "SPARK_SCALA_VERSION": scala(),
        "SPARK_CONNECT_MODE": "0",
        "JAVA_HOME": str(Path(java).resolve().parent.parent),
        "PYTHONPATH": os.pathsep.join(_import_roots()),
    }
    # Otherwise, Spark's web interface listens on all addresses of the machine.
    variables.setdefault("SPARK_LOCAL_IP", conf.get("spark.driver.bindAddress", "127.0.0.1"))
    return variables


def _needs(
    java: str, conf: Mapping[str, str], options: Sequence[str], *, plain: bool, environment: Mapping[str, str]
) -> tuple[Any, ...]:
    """Return what two JVMs must have in common for one to do the work of the other."""
    files = [os.fstat(number) for number in (1, 2)]
    return (
        java, conf.get("spark.driver.memory"), conf.get(_JAVA_OPTIONS), conf.get("spark.local.dir"), tuple(options),
        plain, dict(environment), Path.cwd(), bool(get_defaults().progress),
        [(file.st_dev, file.st_ino) for file in files],
    )  # fmt: skip


def _launch(
    java: str,
    conf: Mapping[str, str],
    options: Sequence[str],
    *,
    plain: bool,
    variables: Mapping[str, str] | None = None,
) -> _Starting:
    environment = {**_variables(java, conf), **(variables or {})}
    made_for = _needs(java, conf, options, plain=plain, environment=environment)
    command = [
        java,
        "-cp", f"{spark_home() / 'jars'}{os.sep}*",
        *_heap(conf.get("spark.driver.memory")),
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UseParallelGC",
        *_COMPILER,
        *options,
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        "-Djdk.reflect.useDirectMethodHandle=false",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED",
        _QUIET,
    ]  # fmt: skip
    directory = Path(tempfile.mkdtemp(prefix="flintstream-"))
    # Every user of this machine can read command lines, and settings may be passwords.
    arguments = directory / "arguments"
    given = conf.get(_JAVA_OPTIONS, "").split()
    if is_private(local := conf.get("spark.local.dir", "")):
        given.insert(0, f"-Djava.io.tmpdir={local}")  # Spark also unpacks native libraries there
    arguments.write_text("".join(f"{_argument(option)}\n" for option in given), errors="surrogateescape")
    command.append(f"@{arguments}")
    if plain:
        command.append("org.apache.spark.api.python.PythonGatewayServer")
    else:
        settings = directory / "settings"
        settings.write_text("".join(f"{_property(key)}={_property(value)}\n" for key, value in conf.items()), "latin-1")
        command += ["org.apache.spark.deploy.SparkSubmit", "--properties-file", str(settings), "pyspark-shell"]
    environment["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(directory / "gateway")
    process = subprocess.Popen(  # noqa: S603 - java was found above
        command,
        stdin=subprocess.PIPE,
        stderr=pipe_of_lines() if get_defaults().progress else None,  # above the line of progress
        env=environment,
        # Ctrl-C is for the driver, which stops the job gracefully. A JVM in its own session does not receive it.
        start_new_session=True,
    )
    return _Starting(process, directory, made_for)


def _heap(size: str | None) -> list[str]:
    """Return the options for a heap of this size, as Spark writes it. The default one needs no collection at first."""
    return ["-Xmx1g", "-XX:NewSize=224m"] if size is None else [f"-Xmx{size}"]


def _property(text: str) -> str:
    r"""Return a text as keys and values are written in a file of Java properties.

    >>> _property("a=b \\ c\nd\u20ac")
    'a\\=b\\ \\\\\\ c\\u000ad\\u20ac'
    """
    units = text.encode("utf-16-be", "surrogatepass")
    characters = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(
        f"\\u{c:04x}" if not 32 <= c < 127 else f"\\{chr(c)}" if chr(c) in " =:#!\\" else chr(c) for c in characters
    )


def _argument(option: str) -> str:
    r"""Return an option as files of arguments for ``java`` contain it.

    >>> print(_argument(r'-Dpath="C:\dir"'))
    "-Dpath=\"C:\\dir\""
    """
    escaped = option.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _import_roots() -> list[str]:
    """Return the driver's ``PYTHONPATH`` and this package's parent, which workers of a checkout would not find."""
    import flintstream

    package = str(Path(flintstream.__file__).parent.parent)
    given = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return given if package in given else [*given, package]
