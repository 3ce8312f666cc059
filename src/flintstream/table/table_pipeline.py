"""A query and its sink; mirrors ``pyflink.table.table_pipeline``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flintstream.common._text.leaving import write_text
from flintstream.table._catalog.identifiers import ObjectIdentifier
from flintstream.table._session.explain import explain
from flintstream.table.compiled_plan import CompiledPlan

if TYPE_CHECKING:
    from flintstream.table._executor import Executor
    from flintstream.table._session.inserts import Insert
    from flintstream.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """The rows of a table on their way into another one: what ``insert_into`` returns.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> t_env = TableEnvironment.create(settings)
    >>> _ = t_env.execute_sql("CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole')")
    >>> pipeline = t_env.from_elements([(1,), (2,)], ["n"]).insert_into("nowhere")
    >>> str(pipeline.get_sink_identifier()), len(pipeline.explain()) > 0
    ('`default_catalog`.`default_database`.`nowhere`', True)
    >>> pipeline.execute().wait()
    """

    def __init__(self, executor: Executor, insert: Insert) -> None:
        """Hold the parts; programs call ``Table.insert_into``."""
        self._executor, self._insert = executor, insert

    def execute(self) -> TableResult:
        """Run a job that writes the rows."""
        return self._executor.insert([self._insert])

    def explain(self, *extra_details: object) -> str:
        """Return the plan as text, with the details of :class:`~flintstream.table.ExplainDetail`."""
        return explain(self._executor.session, [self._insert], extra_details)

    def print_explain(self, *extra_details: object) -> None:
        """Print the plan.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
        >>> t_env.sql_query("SELECT 1 AS n").insert_into("nowhere").print_explain()  # doctest: +ELLIPSIS
        == Abstract Syntax Tree ==
        LogicalSink(table=[default_catalog.default_database.nowhere], fields=[n])
        ...
        """
        write_text(sys.stdout, f"{self.explain(*extra_details)}\n")

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the names of the sink; None if it is only described."""
        path = self._executor.session.catalog.path(self._insert.name)
        return None if path[-1].startswith("*anonymous") else ObjectIdentifier(*path)

    def compile_plan(self) -> CompiledPlan:
        """Return a plan that can be stored.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole')")
        >>> plan = t_env.from_elements([(1,)], ["n"]).where(col("n") > 0).insert_into("nowhere").compile_plan()
        >>> plan.get_flink_version()
        '2.3'
        """
        return CompiledPlan(self._executor, [self._insert])
