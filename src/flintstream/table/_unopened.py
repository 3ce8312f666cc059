"""Tables that are planned and never read, for ``flintstream check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.configuration import Configuration
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.options.tables import STRICT
from flintstream.table._catalog.types import TYPES
from flintstream.table._executor import Executor, path_of
from flintstream.table._session.inserts import Insert, InsertSet, PlanFile
from flintstream.table._session.session import UnopenedSession
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.table_environment import StreamTableEnvironment

if TYPE_CHECKING:
    from flintstream.table.table import Table


class UnopenedEnvironment(StreamTableEnvironment):
    """A table environment that plans what it gets, up to the sinks, and starts no job."""

    def __init__(self, *, batch: bool) -> None:
        """Have an environment of streams that nothing else uses."""
        env = StreamExecutionEnvironment.get_execution_environment()
        if batch:
            env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        self._begin(Executor(env, UnopenedSession(env)), EnvironmentSettings())
        self._session.catalog.asks = False

    @property
    def has_foreign_catalogs(self) -> bool:
        """Whether there are catalogs whose tables only another system knows."""
        return any(store.options.get("type") in TYPES for store in self._session.catalog.catalogs.values())

    def plan(self, sql: str) -> None:
        """Plan a statement.

        Raises:
            SqlError: It is wrong, or not supported.
        """
        made = self._executor.statements.run(sql)
        for insert in made.inserts if isinstance(made, InsertSet | PlanFile) else [made]:
            if isinstance(insert, Insert):
                self._session.insert(insert)

    def plan_insert(self, table: Table, name: str) -> None:
        """Plan the insertion of a table into another one.

        Raises:
            SqlError: The table does not exist, or its columns do not fit.
        """
        self._session.insert(Insert(table._node, path_of(name)))

    def set_strict(self, *, strict: bool) -> None:
        """Set whether what only works here is refused."""
        self._env.configure(Configuration.from_dict({STRICT.key: str(strict).lower()}))
