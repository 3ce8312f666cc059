"""Statements that start and are not waited for, for sessions that other processes use."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.options.tables import SYNC
from flintstream.table._errors import SqlError
from flintstream.table._session.inserts import Insert, InsertSet, PlanFile
from flintstream.table._sql.answers import DONE, Answer
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.jobs.statements import StopJob, stop_job
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.result_kind import ResultKind
from flintstream.table.table_environment import TableEnvironment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flintstream.common.configuration import Configuration
    from flintstream.common.job_client import JobClient
    from flintstream.common.types import Row
    from flintstream.table._expressions.expr import Column
    from flintstream.table._sql.statements import Statement
    from flintstream.table.table_result import TableResult


@dataclass(frozen=True)
class Submitted:
    """What a statement has started, or told."""

    columns: tuple[Column, ...]
    rows: Iterable[Row]
    """Those of a query come as its job delivers them; ``close()`` of this iterator cancels the job."""
    client: JobClient | None = None
    is_query: bool = False
    has_content: bool = True
    """False for a statement that only says OK."""
    waits: bool = False
    """Whether the session wants to wait for the end of the job."""
    zone: str = "UTC"
    """The time zone of the clocks that a query's instants are shown by."""


class SubmittingEnvironment(TableEnvironment):
    """A table environment whose statements start, and are not waited for.

    It also takes the statements of a session: ``BEGIN STATEMENT SET``, and ``END``, which runs what came between.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Have an environment with these settings."""
        settings = EnvironmentSettings.new_instance().with_configuration(configuration).build()
        super().__init__(StreamExecutionEnvironment.get_execution_environment(configuration), settings)
        self._inserts: list[Insert] | None = None

    def submit(self, statement: str) -> Submitted:
        """Run a statement.

        Raises:
            SqlError: It is wrong; the message names the place.
            UnsupportedClauseError: It has a clause that is not supported yet.
        """
        tokens = Tokens(statement)
        words = tuple(tokens.peek(i) for i in range(3))
        if words == ("BEGIN", "STATEMENT", "SET"):
            return self._begin_set()
        if words[:2] == ("END", "") or words == ("END", "STATEMENT", "SET"):
            return self._end_set()
        found = self._executor.statements.run(statement)
        if self._inserts is None:
            return self._start(found)
        if not isinstance(found, Insert):
            raise SqlError("a statement set takes only INSERT: run the set with END first")
        self._inserts.append(found)
        return _tell(self._show(DONE))

    @contextmanager
    def use_settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Use these settings, which are for one statement, while the block runs."""
        configuration = self._env._configuration
        before = {key: configuration.to_dict().get(key) for key in settings}
        for key, value in settings.items():
            configuration.set_string(key, value)
        try:
            yield
        finally:
            for key, earlier in before.items():
                if earlier is None:
                    configuration.remove_config(key)
                else:
                    configuration.set_string(key, earlier)

    def _begin_set(self) -> Submitted:
        if self._inserts is not None:
            raise SqlError("a statement set has begun already: run it with END first")
        self._inserts = []
        return _tell(self._show(DONE))

    def _end_set(self) -> Submitted:
        inserts, self._inserts = self._inserts, None
        if inserts is None:
            raise SqlError("no statement set has begun: END comes after BEGIN STATEMENT SET")
        if not inserts:
            raise SqlError("the statement set is empty: put INSERT statements before END")
        return self._start(InsertSet(tuple(inserts)))

    def _start(self, found: Statement) -> Submitted:
        if isinstance(found, Insert | InsertSet):
            inserts = found.inserts if isinstance(found, InsertSet) else [found]
            return self._job(self._executor.insert(inserts, waits=False))
        if isinstance(found, PlanFile):
            made = self._use(found)
            return _tell(self._show(DONE)) if made is None else self._job(made)
        if isinstance(found, StopJob):
            return _tell(self._show(stop_job(self._session, found)))
        if isinstance(found, Answer):
            return _tell(self._show(found))
        made = self._executor.execute(found)
        made._rows.hold_job_back()
        return Submitted(made._columns, made._rows, made._client, is_query=True, zone=made._zone)

    def _job(self, made: TableResult) -> Submitted:
        return Submitted(made._columns, made._rows, made._client, waits=self._env._configuration.get(SYNC))


def _tell(made: TableResult) -> Submitted:
    return Submitted(made._columns, made._rows, has_content=made._kind is not ResultKind.SUCCESS)
