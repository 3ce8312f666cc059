"""Statements that are planned, and can be stored; mirrors ``pyflink.table.compiled_plan``."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.common._text.leaving import write_text
from flintstream.options.tables import RECOMPILES
from flintstream.table._compiled.compiling import compile_plan
from flintstream.table._compiled.contents import FLINK_VERSION, PlanFileError
from flintstream.table._compiled.files import write_plan
from flintstream.table._compiled.restoring import restore
from flintstream.table._session.explain import explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.table._compiled.contents import StoredPlan
    from flintstream.table._executor import Executor
    from flintstream.table._session.inserts import Insert
    from flintstream.table.table_result import TableResult

__all__ = ["CompiledPlan"]


class CompiledPlan:
    """Inserts of one job with all that they need: an environment without their tables can run them as well.

    As JSON, it has the statements, the calls of the Table API, the tables and views that they read and write, and the
    options that plans depend on. The options of tables are among them, with their passwords, and the rows of
    ``from_elements``. Functions in Python are stored by the names under which they are registered. It is read by
    flintstream alone: plans of Flink consist of operators in Java.

    >>> from flintstream.table import EnvironmentSettings, PlanReference, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
    >>> plan = t_env.compile_plan_sql("INSERT INTO numbers SELECT 1")
    >>> text = plan.as_json_string()

    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    >>> t_env.load_plan(PlanReference.from_json_string(text)).execute().wait()
    +I[1]
    """

    def __init__(self, executor: Executor, inserts: Sequence[Insert], plan: StoredPlan | None = None) -> None:
        """Hold what is inserted, or a plan that was loaded; programs call ``compile_plan_sql`` or ``load_plan``."""
        if not inserts and plan is None:
            raise PlanFileError("a compiled plan needs a statement: add an INSERT")
        self._executor, self._inserts, self._reason = executor, tuple(inserts), ""
        if plan is None:
            try:
                plan = compile_plan(executor.session, inserts, executor.make_table)
            except PlanFileError as error:  # the plan can run, but not be stored
                self._reason = str(error)
        self._plan = plan

    def __str__(self) -> str:
        """Return the plan as ``explain`` shows it."""
        return self.explain()

    @contextmanager
    def _ready(self) -> Iterator[Sequence[Insert]]:
        """Return what to insert, in the session as the plan needs it."""
        if self._plan is None:
            yield self._inserts
            return
        executor = self._executor
        with restore(executor.session, self._plan, executor.make_table, executor.statements.run) as inserts:
            yield inserts

    def as_json_string(self) -> str:
        """Return the plan as JSON.

        Raises:
            PlanFileError: A table comes from a stream, or a function is not registered.
        """
        return self._storable().json()

    def _storable(self) -> StoredPlan:
        if self._plan is None:
            raise PlanFileError(self._reason)
        return self._plan

    def as_smile_bytes(self) -> bytes:
        """Return the plan as bytes, for ``PlanReference.from_smile_bytes``.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> type(t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").as_smile_bytes()).__name__
        'bytes'
        """
        return self.as_json_string().encode()

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Write the plan into a new file, which only this user can read if the plan has passwords.

        Args:
            file: The path on this machine.
            ignore_if_exists: Whether to keep a file that is there. With ``table.plan.force-recompile``, it is replaced.

        Raises:
            PlanFileError: There is such a file, or it cannot be written.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> with TemporaryDirectory() as folder:
        ...     t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").write_to_file(f"{folder}/plan.json")
        ...     Path(folder, "plan.json").exists()
        True
        """
        replaces = self._executor.env._configuration.get(RECOMPILES)
        write_plan(Path(file), self._storable(), lenient=ignore_if_exists, replaces=replaces)

    def get_flink_version(self) -> str:
        """Return the release of Flink whose statements the plan has.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").get_flink_version()
        '2.3'
        """
        return FLINK_VERSION

    def print_json_string(self) -> None:
        """Print the plan as JSON.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> t_env.compile_plan_sql("INSERT INTO numbers SELECT 1").print_json_string()  # doctest: +ELLIPSIS
        {
          "format": "flintstream compiled plan",
        ...
        """
        write_text(sys.stdout, f"{self.as_json_string()}\n")

    def execute(self) -> TableResult:
        """Run the plan as a job.

        Raises:
            PlanFileError: The session lacks a table or function of which the plan has only the name.
        """
        with self._ready() as inserts:
            return self._executor.insert(inserts)

    def explain(self, *extra_details: object) -> str:
        """Return the plan as text, with the section ``JSON_EXECUTION_PLAN`` of ``ExplainDetail`` if it is asked for.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> print(t_env.compile_plan_sql("INSERT INTO numbers SELECT 1 AS n").explain())
        == Optimized Execution Plan ==
        Sink(table=[default_catalog.default_database.numbers], fields=[n])
        +- Calc(select=[1 AS n])
           +- Values(tuples=[1], fields=[])
        <BLANKLINE>
        """
        with self._ready() as inserts:
            text = explain(self._executor.session, inserts, extra_details)
        return text[text.index("== Optimized Execution Plan ==") :]

    def print_explain(self, *extra_details: object) -> None:
        """Print what ``explain`` returns.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'print')")
        >>> t_env.compile_plan_sql("INSERT INTO numbers SELECT 1 AS n").print_explain()  # doctest: +ELLIPSIS
        == Optimized Execution Plan ==
        Sink(table=[default_catalog.default_database.numbers], fields=[n])
        ...
        """
        write_text(sys.stdout, f"{self.explain(*extra_details)}\n")
