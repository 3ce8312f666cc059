"""The entry to tables; mirrors ``pyflink.table.table_environment``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common.configuration import Configuration
from flintstream.common.typeinfo import RowTypeInfo, TupleTypeInfo, Types
from flintstream.common.types import _make_row
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream._streams.steps import rows_with_keys, transformation_of
from flintstream.table._catalog.catalog import CatalogManager
from flintstream.table._catalog.declared import DeclaredTable
from flintstream.table._catalogs import Catalogs
from flintstream.table._declarations import Declarations
from flintstream.table._errors import SqlError
from flintstream.table._executor import Executor, path_of
from flintstream.table._plan import edges
from flintstream.table._plan.build import row_type
from flintstream.table._plan.stream_types import column_types
from flintstream.table._plan.streams import by_fields, of_stream, physical
from flintstream.table._plans import Plans
from flintstream.table._session.elements import rows_of_elements, table_of_elements
from flintstream.table._session.explain import explain
from flintstream.table._session.frames import rows_of_frame, schema_of_frame
from flintstream.table._session.inserts import Insert, InsertSet, PlanFile
from flintstream.table._session.targets import as_declared, first, in_mode, rename, retraction
from flintstream.table._sql.answers import DONE, Answer
from flintstream.table._sql.inserts import whole_table
from flintstream.table._sql.jobs.statements import StopJob, stop_job
from flintstream.table._sql.statements import planned_query
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.expression import syntax_of
from flintstream.table.result_kind import ResultKind
from flintstream.table.schema import Schema
from flintstream.table.statement_set import StatementSet
from flintstream.table.table import Table
from flintstream.table.table_config import TableConfig
from flintstream.table.table_result import TableResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.datastream import DataStream
    from flintstream.table._logical.nodes import Node
    from flintstream.table.changelog_mode import ChangelogMode
    from flintstream.table.table_descriptor import TableDescriptor

__all__ = ["StreamTableEnvironment", "TableEnvironment"]


class TableEnvironment(Declarations, Catalogs, Plans):
    """Runs SQL, and makes tables.

    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.sql_query("SELECT 1 AS n").get_schema()
    root
     |-- n: INT NOT NULL

    >>> from flintstream.table import DataTypes, TableDescriptor
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> t_env = TableEnvironment.create(settings)
    >>> t_env.get_config().get("flintstream.engine", "spark")
    'inline'
    >>> _ = t_env.execute_sql("CREATE VIEW fruit AS SELECT * FROM (VALUES (1, 'pear'), (2, 'apple')) AS T(id, name)")
    >>> list(t_env.execute_sql("SELECT COUNT(*) AS n FROM fruit").collect())
    [<Row(2)>]
    >>> t_env.from_path("fruit").get_schema().get_field_names()
    ['id', 'name']
    >>> list(t_env.from_elements([(1, "pear")], ["id", "name"]).execute().collect())
    [<Row(1, 'pear')>]
    >>> generated = TableDescriptor.for_connector("datagen").option("number-of-rows", "3")
    >>> generated = generated.schema(Schema.new_builder().column("n", DataTypes.INT()).build()).build()
    >>> len(list(t_env.from_descriptor(generated).execute().collect()))
    3
    >>> len(t_env.explain_sql("SELECT id FROM fruit")) > 0, type(t_env.create_statement_set()).__name__
    (True, 'StatementSet')

    Tables and views, declared and dropped:

    >>> from flintstream.table.udf import udf
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> schema = Schema.new_builder().column("n", DataTypes.INT()).build()
    >>> nowhere = TableDescriptor.for_connector("blackhole").schema(schema).build()
    >>> t_env.create_table("sink", nowhere), t_env.create_table("sink", nowhere, ignore_if_exists=True)
    (True, False)
    >>> _ = t_env.create_temporary_table("other", nowhere)
    >>> one = t_env.sql_query("SELECT 1 AS n")
    >>> t_env.create_temporary_view("one", one)
    >>> t_env.create_view("uno", one), t_env.register_table("eins", one)
    (True, None)
    >>> t_env.list_tables(), t_env.list_temporary_tables(), t_env.list_views(), t_env.list_temporary_views()
    (['eins', 'one', 'other', 'sink', 'uno'], ['eins', 'one', 'other'], ['eins', 'one', 'uno'], ['eins', 'one'])
    >>> t_env.drop_table("sink"), t_env.drop_temporary_table("other"), t_env.list_materialized_tables()
    (True, True, [])
    >>> t_env.drop_view("uno"), t_env.drop_temporary_view("one"), t_env.list_views()
    (True, True, ['eins'])

    Functions:

    >>> @udf(result_type=DataTypes.STRING())
    ... def upper(text):
    ...     return text.upper()
    >>> t_env.create_temporary_function("up", upper)
    >>> t_env.create_temporary_system_function("loud", upper)
    >>> t_env.list_user_defined_functions(), "up" in t_env.list_functions()
    (['loud', 'up'], True)
    >>> t_env.drop_temporary_function("up"), t_env.drop_temporary_system_function("loud")
    (True, True)

    Catalogs and databases:

    >>> _ = t_env.execute_sql("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    >>> t_env.use_catalog("shop")
    >>> t_env.use_database("default")
    >>> t_env.get_current_catalog(), t_env.get_current_database()
    ('shop', 'default')
    >>> t_env.list_catalogs(), t_env.list_databases(), t_env.list_modules()
    (['default_catalog', 'shop'], ['default'], ['core'])
    >>> t_env.get_catalog("shop").list_databases(), t_env.get_catalog("other") is None
    (['default'], True)
    >>> from flintstream.common import Configuration
    >>> from flintstream.table.catalog import CatalogDescriptor
    >>> in_memory = Configuration.from_dict({"type": "generic_in_memory"})
    >>> t_env.create_catalog("more", CatalogDescriptor.of("more", in_memory))
    >>> t_env.register_catalog("again", t_env.get_catalog("more"))
    >>> t_env.list_catalogs()
    ['again', 'default_catalog', 'more', 'shop']

    Modules: there is that of the built-in functions.

    >>> t_env.use_modules("core")
    >>> t_env.unload_module("core")
    >>> t_env.load_module("core", None)
    >>> [(module.name(), module.used()) for module in t_env.list_full_modules()]
    [('core', True)]
    >>> t_env.unload_module("hive")
    Traceback (most recent call last):
    flintstream.table._errors.SqlError: UNLOAD MODULE: No module with name 'hive' exists
    """

    def __init__(self, env: StreamExecutionEnvironment, settings: EnvironmentSettings | None = None) -> None:
        """Use an environment of streams; programs call :meth:`create`."""
        self._begin(Executor(env), settings or EnvironmentSettings())

    def _begin(self, executor: Executor, settings: EnvironmentSettings) -> None:
        """Use what runs plans, with an empty catalog."""
        self._env, self._executor, self._session = executor.env, executor, executor.session
        executor.environment, executor.make_table = self, lambda source: Table(source, executor)
        names = settings.get_built_in_catalog_name(), settings.get_built_in_database_name()
        self._session.catalog = CatalogManager(*names)
        self._session.query = lambda sql: planned_query(self._session, sql).node()

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Return a new environment."""
        if isinstance(environment_settings, Configuration):
            environment_settings = EnvironmentSettings.new_instance().with_configuration(environment_settings).build()
        env = StreamExecutionEnvironment.get_execution_environment(environment_settings.get_configuration())
        return TableEnvironment(_in_mode(env, environment_settings), environment_settings)

    def get_config(self) -> TableConfig:
        """Return the configuration, which streams share."""
        return TableConfig(self._env._configuration)

    # -- statements --------------------------------------------------------------------------------------------------

    def execute_sql(self, stmt: str) -> TableResult:
        """Run a statement. An ``INSERT`` or query starts a job, and does not wait for its end.

        Raises:
            SqlError: The statement is wrong; the message names the place.
            UnsupportedClauseError: The statement has a clause that is not supported yet.
        """
        found = self._executor.statements.run(stmt)
        if isinstance(found, Insert | InsertSet):
            return self._executor.insert(found.inserts if isinstance(found, InsertSet) else [found])
        if isinstance(found, PlanFile):
            return self._use(found) or self._show(DONE)
        if isinstance(found, StopJob):
            return self._show(stop_job(self._session, found))
        return self._show(found) if isinstance(found, Answer) else self._executor.execute(found)

    def _show(self, answer: Answer) -> TableResult:
        """Return the result of a statement that runs no job."""
        names = tuple(column.name for column in answer.columns)
        rows = [_make_row(names, list(row)) for row in answer.rows]
        kind = ResultKind.SUCCESS if answer is DONE else ResultKind.SUCCESS_WITH_CONTENT
        return TableResult(answer.columns, rows, kind=kind, zone=self._session.zone)

    def sql_query(self, query: str) -> Table:
        """Return the table of a query."""
        return Table(planned_query(self._session, query), self._executor)

    def explain_sql(self, stmt: str, *extra_details: object) -> str:
        """Return the plan of a query, ``INSERT`` or statement set as text, with the details of ``ExplainDetail``."""
        found = self._executor.statements.run(stmt)
        if isinstance(found, Answer | PlanFile | StopJob):
            raise SqlError("explain_sql() needs a query or an INSERT")
        return explain(self._session, found.inserts if isinstance(found, InsertSet) else [found], extra_details)

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of inserts.

        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> type(t_env.create_stream_statement_set()).__name__
        'StatementSet'
        """
        return StatementSet(self._executor)

    create_stream_statement_set = create_statement_set

    # -- tables, views and functions -----------------------------------------------------------------------------------

    def from_path(self, path: str) -> Table:
        """Return a declared table or view.

        Raises:
            SqlError: There is none of this name.
        """
        return self._declared_table(path_of(path))

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a descriptor describes.

        Raises:
            SqlError: It has no schema, or a wrong option.
        """
        return self._declared_table(self._executor.target(descriptor))

    def _declared_table(self, path: tuple[str, ...]) -> Table:
        known = self._session.catalog.find(path)
        declared = known if isinstance(known, DeclaredTable) else None
        return Table(whole_table(self._session, path), self._executor, declared)

    def from_pandas(
        self,
        pdf: Any,
        schema: t.RowType | Sequence[str] | Sequence[t.DataType] | None = None,
        splits_num: int = 1,
    ) -> Table:
        """Return a table with the rows of a pandas DataFrame; a schema may also be names or types of its columns.

        >>> import pandas as pd
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.from_pandas(pd.DataFrame({"id": [1, 2], "name": ["pear", "apple"]})).get_schema().get_field_names()
        ['id', 'name']
        """
        kind = schema if isinstance(schema, t.RowType) else schema_of_frame(pdf, schema)
        return self.from_elements(rows_of_frame(pdf, kind), kind, verify_schema=False)

    def from_elements(self, elements: Iterable[Any], schema: Any = None, verify_schema: bool = True) -> Table:
        """Return a table of tuples, lists, Rows, dicts, objects with attributes, or expressions ``row(...)``.

        A schema is a ``DataTypes.ROW`` or names of columns. Missing types are inferred, as in PyFlink. A value that is
        not of the declared type is an error; without ``verify_schema``, it is converted if possible.
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.from_elements([{"name": "pear", "id": 1}]).get_resolved_schema().get_column_names()
        ['id', 'name']
        """
        found = rows_of_elements(elements, schema, verify=verify_schema)
        return Table(table_of_elements(*found, self._session.zone), self._executor)

    def _from_stream(self, stream: DataStream, *fields: Any) -> Table:
        if len(fields) == 1 and isinstance(fields[0], Schema):
            return self._with_schema(stream, fields[0])
        if not fields:
            return Table(of_stream(stream, column_types(stream.get_type(), [])), self._executor)
        return Table(by_fields(stream, [syntax_of(field) for field in fields]), self._executor)

    def _with_schema(self, stream: DataStream, schema: Schema, kind: str = "", *, upserts: bool = False) -> Table:
        declared = schema._declare()
        node, order = physical(stream, declared, self._session.zone, kind, upserts=upserts)
        return Table(self._session.completed("stream", declared, node, order), self._executor, declared)


class StreamTableEnvironment(TableEnvironment):
    """Runs SQL, and converts between tables and streams.

    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> t_env = StreamTableEnvironment.create(env)
    >>> table = t_env.sql_query("SELECT 1 AS n")
    >>> with t_env.to_data_stream(table).map(lambda row: row.n + 1).execute_and_collect() as results:
    ...     list(results)
    [2]

    Tables of streams, and streams of tables:

    >>> from flintstream.common import Row, RowKind
    >>> words = env.from_collection([("to", 1), ("be", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
    >>> table = t_env.from_data_stream(words).alias("word", "n")
    >>> rows = t_env.to_append_stream(table, Types.ROW([Types.STRING(), Types.INT()]))
    >>> sorted(tuple(row) for row in rows.execute_and_collect(limit=9))
    [('be', 2), ('to', 1)]
    >>> changes = env.from_collection(
    ...     [Row("be", 2), Row.of_kind(RowKind.DELETE, "be", 2)], Types.ROW([Types.STRING(), Types.INT()])
    ... )
    >>> counted = t_env.from_changelog_stream(changes)
    >>> [str(row.get_row_kind()) for row in t_env.to_changelog_stream(counted).execute_and_collect(limit=9)]
    ['+I', '-D']
    >>> pairs = t_env.to_retract_stream(counted, Types.ROW([Types.STRING(), Types.INT()]))
    >>> [added for added, row in pairs.execute_and_collect(limit=9)]
    [True, False]
    """

    @staticmethod
    def create(  # type: ignore[override]  # as in PyFlink
        stream_execution_environment: StreamExecutionEnvironment | EnvironmentSettings | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Return a table environment on top of an environment of streams."""
        env = stream_execution_environment
        if isinstance(env, EnvironmentSettings):
            env, environment_settings = None, env
        if env is None:
            env = StreamExecutionEnvironment.get_execution_environment()
        if environment_settings is not None:
            env = _in_mode(env, environment_settings)
        return StreamTableEnvironment(env, environment_settings)

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: object) -> Table:
        """Return the table of a stream, whose type gives the columns."""
        return self._from_stream(rows_with_keys(data_stream), *fields_or_schema)

    def from_changelog_stream(
        self,
        data_stream: DataStream,
        schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> Table:
        """Return the table of a stream of rows with kinds of changes.

        In the mode ``ChangelogMode.upsert()``, updates come without the row that they replace, and the schema has a
        primary key.

        Raises:
            SqlError: The mode needs a primary key, or the schema does not fit the stream.
        """
        upserts = changelog_mode is not None and changelog_mode._upserts
        if upserts and (schema is None or not schema._declare().primary_key):
            raise SqlError(f"{changelog_mode!r} has updates without the old row: the schema needs a primary key")
        if schema is not None:
            return self._with_schema(data_stream, schema, edges.KIND, upserts=upserts)
        return Table(of_stream(data_stream, column_types(data_stream.get_type(), []), edges.KIND), self._executor)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table of insertions.

        Raises:
            SqlError: The table has changes.
        """
        if table._node.changelog:
            raise SqlError("Table sink doesn't support consuming update and delete changes: use to_changelog_stream()")
        return self._type(table._node)

    def to_append_stream(self, table: Table, type_info: Any) -> DataStream:
        """Return the rows of a table of insertions, in a type."""
        stream = self.to_data_stream(table)
        if isinstance(type_info, TupleTypeInfo):
            return stream.map(tuple, type_info)
        if isinstance(type_info, RowTypeInfo):
            return stream.map(partial(rename, tuple(type_info.get_field_names())), type_info)
        return stream.map(first, type_info)

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> DataStream:
        """Return the rows of a table with their kinds of changes, in the columns of a schema, by position.

        The mode says which kinds there are, and counts together with a schema, as in PyFlink.

        Raises:
            SqlError: The table does not fit the schema, or has changes that the mode does not have.
        """
        if target_schema is None:
            return self._type(table._node)
        node, kept = as_declared(table._node, target_schema._declare(), self._session.zone, changelog_mode)
        return in_mode(self._type(node), node, kept, changelog_mode)

    def to_retract_stream(self, table: Table, type_info: Any) -> DataStream:
        """Return pairs: whether a row is added, and the row."""
        names = tuple(type_info.get_field_names()) if isinstance(type_info, RowTypeInfo) else ()
        pairs = Types.TUPLE([Types.BOOLEAN(), type_info])
        return self._type(table._node).map(partial(retraction, names), pairs)

    def _type(self, node: Node) -> DataStream:
        stream = self._executor.stream_of(node, timed=True)
        transformation_of(stream).output_type = t.to_type_info(row_type(node.columns))
        return stream


def _in_mode(env: StreamExecutionEnvironment, settings: EnvironmentSettings) -> StreamExecutionEnvironment:
    env.configure(settings.get_configuration())
    streaming = settings.is_streaming_mode()
    return env.set_runtime_mode(RuntimeExecutionMode.STREAMING if streaming else RuntimeExecutionMode.BATCH)
