"""Sessions of Spark Connect: the program's own, or one that is made for its jobs and kept for later ones."""

from __future__ import annotations

import builtins
import hashlib
import importlib.metadata
import logging
import pickle
import re
import shutil
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

from flintstream.engine.connect.worker import SCHEMA
from flintstream.engine.spark.connect import address_of
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.provision.executors import NEEDED, SAME_MAJOR, misfit
from flintstream.engine.spark.provision.packing import package_archive, program_archive, shipping_directory
from flintstream.errors import ExecutorError, FlintstreamError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.connect.session import SparkSession

__all__ = ["ConnectSession", "connect_session", "prepare_session", "rows_of"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

SETTINGS = {
    # What it adapts takes longer than an epoch, and it would run each stage as a query of its own.
    "spark.sql.adaptive.enabled": "false",
    # A row may have a block of a MiB and more, and 10,000 of them would be one batch in memory.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}
"""Settings of the sessions that are made here. Those of a program's own session stay as they are."""

RETRIES = 6
"""How often a request is repeated that does not reach its server: for twelve seconds."""

_sessions: dict[str, ConnectSession] = {}
"""Id of a session -> what jobs use it through."""

_making = threading.Lock()


class ConnectSession:
    """A session that is ready for jobs: its workers find flintstream and the program's modules."""

    def __init__(self, spark: SparkSession) -> None:
        """Prepare a session.

        Raises:
            ExecutorError: A version on the server does not fit.
        """
        self.spark = spark
        self._programs: set[str] = set()
        self._archives: dict[str, str] = {}
        """Directory -> digest of the archive that is unpacked in it."""
        answers = self._look()
        self.parallelism = max(len(answers), 1)
        """The number of tasks that run at the same time, as Spark plans them."""
        self.has_direct_exchange = hasattr(type(spark.range(1)), "repartitionById") and _release(spark.version) >= (
            4,
            1,
        )
        """Whether an exchange can name its partitions; else :func:`keys_of_partitions` has keys that meet them."""
        lacking = self._lacking(answers)
        if lacking:
            spark.addArtifacts(str(package_archive({name: _version(name) for name in lacking})), pyfile=True)

    def is_alive(self) -> bool:
        """Tell whether the server still has the session."""
        with suppress(Exception):  # of gRPC or Spark; the next session shows whether it matters
            self.spark.conf.get("spark.sql.session.timeZone")
            return True
        return False

    def add_program(self) -> None:
        """Send the program's own modules, unless the session has them."""
        archive = program_archive()
        if archive is not None and archive.name not in self._programs:
            self.spark.addArtifacts(str(archive), pyfile=True)
            self._programs.add(archive.name)

    def add_file(self, path: str) -> None:
        """Send a Python file, an archive of some, or a directory of modules, unless the session has it."""
        if path in self._programs:
            return
        given = Path(path)
        if given.is_dir():
            directory = Path(tempfile.mkdtemp(dir=shipping_directory()))
            given = Path(shutil.make_archive(str(directory / f"{given.name}-{directory.name}"), "zip", given))
        self.spark.addArtifacts(str(given), pyfile=True)
        self._programs.add(path)

    def add_archive(self, path: str, target: str) -> None:
        """Let the workers of the session have an archive unpacked in a directory, unless they do.

        Raises:
            FlintstreamError: The directory has another archive.
        """
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        known = self._archives.get(target)
        if known == digest:
            return
        if known is not None:
            raise FlintstreamError(
                f"the Spark Connect session has another archive in the directory {target!r}, which stays for all of "
                "its jobs: use another directory, or a new session"
            )
        self.spark.addArtifacts(f"{Path(path).absolute().as_uri()}#{target}", archive=True)
        self._archives[target] = digest

    def add_data(self, data: bytes) -> str:
        """Bring bytes to the workers, however many they are; return the name of their file."""
        path = shipping_directory() / f"flintstream-{hashlib.sha256(data).hexdigest()}"
        path.write_bytes(data)
        try:
            self.spark.addArtifacts(str(path), file=True)  # in small messages
        finally:
            path.unlink()
        return path.name

    def run(
        self, tasks: int, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    ) -> list[tuple[int, bytes]]:
        """Run a function in so many tasks, each of which gets the row with its number; return their rows."""
        return rows_of(self.spark.range(0, tasks, 1, tasks).mapInArrow(function, SCHEMA))

    def _look(self) -> list[dict[str, str | None]]:
        """Return the versions of packages in the workers, once for each task of a query that Spark splits itself."""
        with plainly():
            found = rows_of(self.spark.range(0, 1 << 20).mapInArrow(_by_value(_look_around), SCHEMA))
        return [pickle.loads(payload) for _, payload in found]

    @staticmethod
    def _lacking(answers: list[dict[str, str | None]]) -> list[str]:
        here: dict[str, str | None] = {name: _version(name) for name in (*NEEDED, *SAME_MAJOR)}
        for there in answers:
            problem = misfit(here, there)
            if problem is not None:
                raise ExecutorError(f"the workers of the Spark Connect server {problem}", final=True)
        return [name for name in NEEDED if any(there[name] is None for there in answers)]


_TOO_LARGE = re.compile(r"message larger than max|message exceeds maximum size", re.IGNORECASE)


def rows_of(frame: DataFrame) -> list[tuple[int, bytes]]:
    """Run a query and return its rows of two columns.

    Raises:
        FlintstreamError: The query or a row is larger than a message may be.
    """
    try:
        table = frame.toArrow()
    except Exception as error:
        if _TOO_LARGE.search(str(error)) is None:
            raise
        raise FlintstreamError(
            "a message between the client and the server of Spark Connect is too large: keep large state keyed, which "
            "does not pass through the client, or raise spark.connect.grpc.maxInboundMessageSize on the server and "
            f"the limit of the client's channel: {str(error).splitlines()[0]}"
        ) from error
    return list(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))


def connect_session(configuration: Mapping[str, str]) -> ConnectSession:
    """Return the session for jobs: the program's, else one for the address in the settings; replace a dead one.

    Raises:
        MissingDependencyError: The client of Spark Connect is not complete.
        FlintstreamError: No setting names a server, or PySpark is too old.
        ExecutorError: A version on the server does not fit.
    """
    try:
        import pyspark
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        _log.debug("the client of Spark Connect does not load", exc_info=True)
        raise MissingDependencyError(error.name or "grpcio", extra="connect", purpose="Spark Connect") from None
    if _release(pyspark.__version__) < (4, 0):
        raise FlintstreamError(f"Spark Connect needs PySpark 4.0 or later, but this is PySpark {pyspark.__version__}")
    with _making:
        active = SparkSession.getActiveSession() or SparkSession._get_default_session()
        if active is not None:
            known = _sessions.get(active.session_id) or ConnectSession(active)
            if active.session_id in _sessions and not known.is_alive():
                del _sessions[active.session_id]
                known = _make(SparkSession, configuration)
        else:
            known = _make(SparkSession, configuration)
        return _sessions.setdefault(known.spark.session_id, known)


def prepare_session(spark: SparkSession) -> ConnectSession:
    """Return what tasks of a given session are run through.

    Raises:
        ExecutorError: A version on the server does not fit.
    """
    with _making:
        known = _sessions.get(spark.session_id) or ConnectSession(spark)
        return _sessions.setdefault(spark.session_id, known)


def _make(kind: type[SparkSession], configuration: Mapping[str, str]) -> ConnectSession:
    builder = kind.builder.remote(address_of(configuration))
    given = {key: value for key, value in configuration.items() if key.startswith("spark.sql.")}
    spark = builder.create()
    if hasattr(spark.client, "set_retry_policies"):
        # By default, a job whose server is gone would neither end nor restart for ten minutes.
        from pyspark.sql.connect.client.retries import DefaultPolicy

        spark.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES, max_backoff=4000)])
    for key, value in {**SETTINGS, **given}.items():
        with suppress(Exception):  # some services allow few settings; epochs are only slower then
            spark.conf.set(key, value)
    return ConnectSession(spark)


def _release(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "0.0.0+unknown"


def _by_value(function: Callable[[T], object]) -> FunctionType:
    """Return a function that is pickled with its code: the server may lack its module."""
    code = function.__code__
    return FunctionType(code, {"__builtins__": builtins, "__name__": "__main__"}, code.co_name)


def _look_around(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the versions of packages in a worker; None for those that are absent. Runs without flintstream."""
    import importlib.metadata
    import pickle

    import pyarrow as pa

    for _ in batches:
        pass
    found: dict[str, str | None] = {}
    for name in ("flintstream", "cloudpickle", "msgpack"):
        try:
            importlib.import_module(name)
            found[name] = importlib.metadata.version(name)
        except ModuleNotFoundError:
            found[name] = None
    yield pa.RecordBatch.from_arrays(
        [pa.array([0], pa.int32()), pa.array([pickle.dumps(found)], pa.binary())], ["key", "payload"]
    )
