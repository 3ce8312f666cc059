"""Several inserts in one job; mirrors ``pyflink.table.statement_set``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flintstream.common._text.leaving import write_text
from flintstream.table._errors import SqlError
from flintstream.table._session.explain import explain
from flintstream.table._session.inserts import Insert
from flintstream.table.compiled_plan import CompiledPlan

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.table._executor import Executor
    from flintstream.table.table import Table
    from flintstream.table.table_descriptor import TableDescriptor
    from flintstream.table.table_pipeline import TablePipeline
    from flintstream.table.table_result import TableResult

__all__ = ["StatementSet"]


class StatementSet:
    """Collects inserts, for one job.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
    >>> statements = t_env.create_statement_set()
    >>> _ = statements.add_insert_sql("INSERT INTO numbers SELECT 1")
    >>> statements.execute().wait()
    +I[1]

    >>> from flintstream.common import Configuration
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> t_env = TableEnvironment.create(settings)
    >>> for name in ("a", "b", "c"):
    ...     _ = t_env.execute_sql(f"CREATE TABLE {name} (n BIGINT) WITH ('connector' = 'blackhole')")
    >>> numbers = t_env.from_elements([(1,), (2,)], ["n"])
    >>> inserts = t_env.create_statement_set()
    >>> inserts = (
    ...     inserts.add_insert_sql("INSERT INTO a SELECT 1").add_insert("b", numbers).add(numbers.insert_into("c"))
    ... )
    >>> len(inserts.explain()) > 0
    True
    >>> inserts.execute().wait()
    """

    def __init__(self, executor: Executor) -> None:
        """Start empty; programs call ``create_statement_set``."""
        self._executor = executor
        self._inserts: list[Insert] = []

    @property
    def _t_env(self) -> object:
        """The table environment, which libraries ask for."""
        return self._executor.environment

    def add_insert_sql(self, stmt: str) -> Self:
        """Add an ``INSERT INTO`` statement."""
        found = self._executor.statements.run(stmt)
        if not isinstance(found, Insert):
            raise SqlError("a statement set takes only INSERT statements")
        self._inserts.append(found)
        return self

    def add_insert(
        self, target_path_or_descriptor: str | TableDescriptor, table: Table, overwrite: bool = False
    ) -> Self:
        """Add the rows of a table.

        Raises:
            SqlError: There is no such table.
        """
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def add(self, table_pipeline: TablePipeline) -> Self:
        """Add what ``insert_into`` returned."""
        self._inserts.append(table_pipeline._insert)
        return self

    def explain(self, *extra_details: object) -> str:
        """Return the plans as text, with the details of :class:`~flintstream.table.ExplainDetail`."""
        return explain(self._executor.session, self._inserts, extra_details)

    def print_explain(self, *extra_details: object) -> None:
        """Print the plans.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_statement_set().print_explain()
        == Abstract Syntax Tree ==
        <BLANKLINE>
        == Optimized Physical Plan ==
        <BLANKLINE>
        == Optimized Execution Plan ==
        """
        write_text(sys.stdout, f"{self.explain(*extra_details)}\n")

    def compile_plan(self) -> CompiledPlan:
        """Return the inserts as a plan that can be stored.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> statements = t_env.create_statement_set().add_insert_sql("INSERT INTO numbers SELECT 1")
        >>> statements.compile_plan().get_flink_version()
        '2.3'
        """
        inserts, self._inserts = self._inserts, []
        return CompiledPlan(self._executor, inserts)

    def execute(self) -> TableResult:
        """Run one job with all inserts."""
        inserts, self._inserts = self._inserts, []
        return self._executor.insert(inserts)

    def attach_as_datastream(self) -> None:
        """Add all inserts to the environment of streams, whose ``execute()`` runs them.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> from flintstream.table import StreamTableEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> t_env = StreamTableEnvironment.create(env)
        >>> _ = t_env.execute_sql("CREATE TABLE out (n INT) WITH ('connector' = 'print')")
        >>> inserts = t_env.create_statement_set().add_insert_sql("INSERT INTO out SELECT 1")
        >>> inserts.attach_as_datastream()
        >>> _ = env.set_parallelism(1).execute("one insert")
        +I[1]
        """
        inserts, self._inserts = self._inserts, []
        for insert in inserts:
            self._executor.session.insert(insert)
