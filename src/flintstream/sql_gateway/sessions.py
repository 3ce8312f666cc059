"""Sessions: each has its own catalog and settings, and runs one statement after the other."""

from __future__ import annotations

import queue
import threading
import time
import uuid
from typing import TYPE_CHECKING

from flintstream.common.configuration import Configuration
from flintstream.options.sql_gateway import IDLE_TIMEOUT, MOST_SESSIONS
from flintstream.options.table import check_values
from flintstream.sql_gateway.errors import GatewayError
from flintstream.sql_gateway.operations import Operation, OperationStatus
from flintstream.table._submitting import SubmittingEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.table._submitting import Submitted

MOST_OPERATIONS = 1_000
"""How many operations a session keeps. One more forgets the oldest one whose result has been read."""
CHECK_SECONDS = 10.0
"""How often a gateway looks for idle sessions."""
_WORDS_TO_CONFIGURE = frozenset({"SET", "RESET", "CREATE", "DROP", "USE", "ALTER", "LOAD", "UNLOAD", "ADD", "REMOVE"})


class Session:
    """A client's catalog, settings and operations.

    >>> session = Session({"flintstream.engine": "inline"})
    >>> operation = session.execute("SHOW CURRENT DATABASE")
    >>> operation.wait(), [list(row) for row in operation.page(0).rows]
    (True, [['default_database']])
    >>> session.close()
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        name: str | None = None,
        owner: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin a session with these settings; ``owner`` is who may use it."""
        self.handle = str(uuid.uuid4())
        self.name = name
        self.owner = owner
        self.environment = SubmittingEnvironment(Configuration.from_dict(dict(properties)))
        self._clock = clock
        self._used = clock()
        self._operations: dict[str, Operation] = {}
        self._waiting: queue.SimpleQueue[Operation | None] = queue.SimpleQueue()
        """Statements run one after the other, in the order in which they came."""
        threading.Thread(target=self._run, name=f"sql-{self.handle[:8]}", daemon=True).start()

    def execute(self, statement: str, settings: Mapping[str, str] | None = None, timeout_ms: int = 0) -> Operation:
        """Run a statement in the background, with settings of its own.

        Args:
            statement: the statement.
            settings: options that apply to it alone.
            timeout_ms: how long it may take to run, or to start its job if it is a query; 0 for any time.

        Raises:
            GatewayError: The session has too many operations that run.
        """
        operation = Operation(lambda: self._submit(statement, settings or {}), timeout_ms)
        if len(self._operations) >= MOST_OPERATIONS:
            self._forget_one()
        self._operations[operation.handle] = operation
        self._waiting.put(operation)
        operation.limit_time()
        return operation

    def configure(self, statement: str, timeout_ms: int = 0) -> None:
        """Run a statement that changes the session, and wait for it.

        Raises:
            GatewayError: It is another kind of statement, or takes longer than ``timeout_ms`` milliseconds.
            SqlError: It is wrong.
        """
        word = (statement.split(None, 1) or [""])[0].upper()
        if word not in _WORDS_TO_CONFIGURE:
            raise GatewayError(
                f"{word or 'an empty statement'} does not configure a session: run it as a separate statement"
            )
        operation = self.execute(statement, timeout_ms=timeout_ms)
        try:
            operation.wait()
            operation.require_success()
        finally:
            self.close_operation(operation.handle)

    def operation(self, handle: str) -> Operation:
        """Return an operation.

        Raises:
            GatewayError: There is none of this handle.
        """
        self.touch()
        found = self._operations.get(handle)
        if found is None:
            raise GatewayError(f"Can not find the submitted operation in the session with the handle {handle}.")
        return found

    def close_operation(self, handle: str) -> None:
        """End an operation and forget it; nothing happens if there is none."""
        self.touch()
        found = self._operations.pop(handle, None)
        if found is not None:
            found.close()

    def properties(self) -> dict[str, str]:
        """Return the settings now."""
        return self.environment.get_config().to_map()

    def touch(self) -> None:
        """Note that a client uses the session."""
        self._used = self._clock()

    @property
    def idle_seconds(self) -> float:
        """For how long no client has used it."""
        return self._clock() - self._used

    def close(self) -> None:
        """End all operations. Jobs of ``INSERT`` continue."""
        operations, self._operations = self._operations, {}
        for operation in operations.values():
            operation.close()
        self._waiting.put(None)

    def _run(self) -> None:
        while (operation := self._waiting.get()) is not None:
            operation.run()

    def _submit(self, statement: str, settings: Mapping[str, str]) -> Submitted:
        with self.environment.use_settings(settings):
            return self.environment.submit(statement)

    def _forget_one(self) -> None:
        for handle, operation in list(self._operations.items()):
            if operation.ended or operation.status in {OperationStatus.ERROR, OperationStatus.CANCELED}:
                self._operations.pop(handle, None)
                return
        raise GatewayError(f"the session has {MOST_OPERATIONS} open operations: close some")


class Gateway:
    """The sessions of a server.

    >>> gateway = Gateway({"flintstream.engine": "inline"})
    >>> session = gateway.open({}, name="report")
    >>> gateway.session(session.handle).name
    'report'
    >>> gateway.close(session.handle)
    >>> gateway.session("no such handle")
    Traceback (most recent call last):
    flintstream.sql_gateway.errors.GatewayError: Session 'no such handle' does not exist.
    """

    def __init__(self, settings: Mapping[str, str], clock: Callable[[], float] = time.monotonic) -> None:
        """Have no session yet. Each begins with ``settings``, which also has the options of the gateway."""
        configuration = Configuration.from_dict(dict(settings))
        self._settings = dict(settings)
        self._idle_seconds = configuration.get(IDLE_TIMEOUT) / 1000
        self._most = configuration.get(MOST_SESSIONS)
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._ended = threading.Event()

    def open(self, properties: Mapping[str, str], name: str | None = None, owner: str = "") -> Session:
        """Begin a session.

        Raises:
            GatewayError: There are too many.
            ValueError: One of the properties has a wrong value.
        """
        check_values(properties)
        if len(self._sessions) >= self._most:
            raise GatewayError(
                f"the number of sessions is limited to {self._most}: raise '{MOST_SESSIONS.key}' to allow more"
            )
        session = Session({**self._settings, **properties}, name, owner, self._clock)
        self._sessions[session.handle] = session
        return session

    def session(self, handle: str, owner: str = "") -> Session:
        """Return a session of an owner, and note that it is used.

        Raises:
            GatewayError: The owner has none of this handle.
        """
        found = self._sessions.get(handle)
        if found is None or found.owner != owner:
            raise GatewayError(f"Session '{handle}' does not exist.")
        found.touch()
        return found

    def close(self, handle: str, owner: str = "") -> None:
        """End a session.

        Raises:
            GatewayError: The owner has none of this handle.
        """
        session = self.session(handle, owner)
        self._sessions.pop(handle, None)
        session.close()

    def end_idle(self) -> None:
        """End the sessions that no client has used for the time of ``sql-gateway.session.idle-timeout``."""
        for session in list(self._sessions.values()):
            if 0 < self._idle_seconds < session.idle_seconds:
                self._sessions.pop(session.handle, None)
                session.close()

    def watch(self) -> None:
        """End idle sessions from now on, in a thread, until :meth:`close_all`."""
        threading.Thread(target=self._watch, name="sql-sessions", daemon=True).start()

    def close_all(self) -> None:
        """End all sessions."""
        self._ended.set()
        for handle in list(self._sessions):
            session = self._sessions.pop(handle, None)
            if session is not None:
                session.close()

    def _watch(self) -> None:
        while not self._ended.wait(min(CHECK_SECONDS, self._idle_seconds or CHECK_SECONDS)):
            self.end_idle()
