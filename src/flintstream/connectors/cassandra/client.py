"""Sessions of Cassandra."""

from __future__ import annotations

import logging
import time
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from flintstream.connectors.patience import Patience
from flintstream.errors import FlintstreamError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

START_SECONDS = 30.0
"""How long the first connection is tried."""

DRIVER_LOG = logging.getLogger("cassandra")
"""The driver writes lines about each attempt to connect; the connector warns once."""


class CassandraError(FlintstreamError):
    """Cassandra cannot be reached, or refuses a statement. The message has the reason."""


class AwayError(CassandraError):
    """Cassandra could not be reached for longer than the job may wait."""


class Statement(Protocol):
    """A prepared statement."""

    consistency_level: int | None
    column_metadata: list[object]


class Pending(Protocol):
    """A request that was sent."""

    def result(self) -> object:
        """Wait for the answer, and raise the error if it is one."""


class Session(Protocol):
    """A session, as far as the connector needs it."""

    def prepare(self, query: str) -> Statement:
        """Return a prepared statement."""

    def execute(self, query: str | Statement, parameters: object = None) -> list[tuple[object, ...]]:
        """Execute a statement, and return its rows."""

    def execute_async(self, query: Statement, parameters: object, *, trace: bool) -> Pending:
        """Send a statement."""


class Cluster(Protocol):
    """A cluster of the driver."""

    timestamp_generator: Callable[[], int]

    def connect(self) -> Session:
        """Connect."""

    def shutdown(self) -> None:
        """Disconnect."""


def library() -> ModuleType:
    """Return the module ``cassandra``.

    Raises:
        MissingDependencyError: The driver is not installed.
    """
    return optional_module(
        "cassandra", extra="cassandra", purpose="the Cassandra connector", package="cassandra-driver"
    )


def part(name: str) -> ModuleType:
    """Return a module of the driver."""
    library()
    return import_module(f"cassandra.{name}")


def usual_cluster(host: str, port: int) -> Cluster:
    """Return a cluster that is reached through a host, with the driver's defaults."""
    driver, policies = part("cluster"), part("policies")
    balancing = policies.TokenAwarePolicy(policies.DCAwareRoundRobinPolicy())
    cluster = driver.Cluster(
        [host],
        port=port,
        execution_profiles={driver.EXEC_PROFILE_DEFAULT: driver.ExecutionProfile(load_balancing_policy=balancing)},
        reconnection_policy=policies.ExponentialReconnectionPolicy(0.5, 10.0),
        application_name="flintstream",
    )
    return cast("Cluster", cluster)


def passing(error: BaseException) -> bool:
    """Return whether a statement may succeed later: nodes are overloaded, or cannot be reached."""
    driver, cluster, connection, protocol = library(), part("cluster"), part("connection"), part("protocol")
    if isinstance(error, cluster.NoHostAvailable):
        causes = error.errors.values() if isinstance(error.errors, dict) else error.errors
        return not any(isinstance(cause, driver.AuthenticationFailed) for cause in causes)
    kinds = (
        OSError,
        connection.ConnectionException,
        connection.ConnectionBusy,
        driver.OperationTimedOut,
        driver.Timeout,
        driver.Unavailable,
        protocol.IsBootstrappingErrorMessage,
        protocol.OverloadedErrorMessage,
    )
    return isinstance(error, kinds)


class Connection:
    """A session that is made when it is first needed, and prepared statements."""

    def __init__(self, make: Callable[[], Cluster], where: str) -> None:
        """Take the function that makes a cluster, and what messages call it."""
        self._make, self._where = make, where
        self._cluster: Cluster | None = None
        self._session: Session | None = None
        self._prepared: dict[str, Statement] = {}
        self.timestamp = 0
        """The time (microseconds since the epoch) of the statements that are sent next."""

    def session(self) -> Session:
        """Return the session.

        Raises:
            CassandraError: There is none within 30 seconds, or Cassandra refuses it.
        """
        if self._session is None:
            patience, until = Patience(f"could not connect to {self._where}"), time.monotonic() + START_SECONDS
            while self._session is None:
                try:
                    self._session = self._connect()
                except Exception as error:
                    if not passing(error) or time.monotonic() >= until:
                        kind = AwayError if passing(error) else CassandraError
                        raise kind(f"cannot connect to {self._where}: {error}") from None
                    time.sleep(patience.note_failure(str(error)))
            patience.note_success()
        return self._session

    def _connect(self) -> Session:
        if DRIVER_LOG.level == logging.NOTSET:
            DRIVER_LOG.setLevel(logging.CRITICAL)
        self.close()
        self._cluster = self._make()
        self._cluster.timestamp_generator = lambda: self.timestamp
        return self._cluster.connect()

    def prepare(self, query: str) -> Statement:
        """Return a prepared statement."""
        found = self._prepared.get(query)
        if found is None:
            found = self._prepared[query] = self.session().prepare(query)
        return found

    def close(self) -> None:
        """Disconnect."""
        cluster, self._cluster, self._session = self._cluster, None, None
        self._prepared.clear()
        if cluster is not None:
            cluster.shutdown()
