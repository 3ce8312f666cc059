"""What a table environment does with compiled plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.storage.location import Location
from flintstream.table._compiled.contents import PlanFileError, read_plan
from flintstream.table._session.inserts import Insert
from flintstream.table.compiled_plan import CompiledPlan
from flintstream.table.plan_reference import PlanReference

if TYPE_CHECKING:
    from flintstream.table._executor import Executor
    from flintstream.table._session.inserts import PlanFile
    from flintstream.table.table_result import TableResult


class Plans:
    """The part of a table environment that compiles, loads and runs plans."""

    _executor: Executor

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Return an ``INSERT`` as a plan that can be stored.

        Raises:
            SqlError: The statement is wrong.
            PlanFileError: It is another one.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").get_flink_version()
        '2.3'
        """
        found = self._executor.statements.run(stmt)
        if isinstance(found, Insert):
            return CompiledPlan(self._executor, [found])
        raise PlanFileError(
            "Unsupported SQL query! compilePlanSql() only accepts a single SQL statement of type INSERT: several are "
            "a plan with StatementSet.compile_plan(), or with COMPILE PLAN ... FOR STATEMENT SET"
        )

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Return a plan that was stored.

        Raises:
            PlanFileError: It cannot be read, or is a plan of Flink.

        >>> from flintstream.table import EnvironmentSettings, PlanReference, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> text = t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").as_json_string()
        >>> t_env.load_plan(PlanReference.from_json_string(text)).as_json_string() == text
        True
        """
        return CompiledPlan(self._executor, (), read_plan(plan_reference.read_json()))

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Run a plan that was stored.

        Raises:
            PlanFileError: It cannot be read, or the session lacks something of which it has only the name.

        >>> from flintstream.table import EnvironmentSettings, PlanReference, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> text = t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").as_json_string()
        >>> t_env.execute_plan(PlanReference.from_json_string(text)).wait()
        +I[1]
        """
        return self.load_plan(plan_reference).execute()

    def _use(self, file: PlanFile) -> TableResult | None:
        """Compile a plan into a file, unless it is there and may be, and run it if it runs."""
        what = "the file of a compiled plan"
        path = Path(Location.parse(file.path, what).local_path(what))
        if not file.inserts or ((file.lenient or file.runs) and path.exists()):
            plan = self.load_plan(PlanReference.from_file(path))
        else:
            plan = CompiledPlan(self._executor, file.inserts)
            plan.write_to_file(path)
        return plan.execute() if file.runs else None
