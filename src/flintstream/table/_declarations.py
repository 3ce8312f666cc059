"""Methods of table environments that declare, list and drop tables, views and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._java_view import JavaView, behind
from flintstream.table._catalog.declared import DeclaredTable, MaterializedTable, View
from flintstream.table._catalog.function_names import LISTED
from flintstream.table._errors import unsupported
from flintstream.table._executor import path_of
from flintstream.table._sql.declarations.models import add_model, drop_model
from flintstream.table._stored.models import declare_model
from flintstream.table.table import Table
from flintstream.table.udf import AggregateFunction, TableAggregateFunction, udaf, udtaf

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.table._catalog.models import DeclaredModel
    from flintstream.table._errors import UnsupportedClauseError
    from flintstream.table._executor import Executor
    from flintstream.table._session.session import Session
    from flintstream.table._stored.descriptors import ModelDescriptor
    from flintstream.table.table_descriptor import TableDescriptor


class _JavaTables(JavaView):
    """A table environment with Java's names of the methods, one of which takes a database."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        return self._list_tables if name == "listTables" else super().__getattr__(name)

    def _list_tables(self, *database: str) -> list[str]:
        place = f" IN {'.'.join(f'`{part}`' for part in database)}" if database else ""
        return [str(row[0]) for row in behind(self).execute_sql(f"SHOW TABLES{place}").collect()]


class Declarations:
    """What a program declares without SQL."""

    _env: StreamExecutionEnvironment
    _session: Session
    _executor: Executor

    # -- tables --------------------------------------------------------------------------------------------------------

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,
        *,
        ignore_if_exists: bool | None = None,
    ) -> bool:
        """Declare a table, and return whether there was none of this name.

        ``ignore_if_exists`` is the name of ``ignoreIfExists`` after PyFlink 2.3.

        Raises:
            SqlError: There is one of this name, unless ``ignoreIfExists``.
        """
        lenient = bool(ignoreIfExists if ignore_if_exists is None else ignore_if_exists)
        return self._session.catalog.add(path_of(path), descriptor._declare(), lenient=lenient)

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,
        *,
        ignore_if_exists: bool | None = None,
    ) -> None:
        """Declare a table that hides those of its name in the catalog.

        Raises:
            SqlError: There is a temporary one of this name, unless ``ignoreIfExists``, or ``ignore_if_exists``.
        """
        lenient = bool(ignoreIfExists if ignore_if_exists is None else ignore_if_exists)
        self._session.catalog.add(path_of(path), descriptor._declare(), lenient=lenient, temporary=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a table, and return whether there was one.

        Raises:
            SqlError: There is none of this name, unless ``ignore_if_not_exists``.
        """
        return self._session.catalog.drop(path_of(table_path), DeclaredTable, lenient=bool(ignore_if_not_exists))

    def drop_temporary_table(self, table_path: str) -> bool:
        """Remove a temporary table, and return whether there was one."""
        return self._session.catalog.drop(path_of(table_path), DeclaredTable, lenient=True, temporary=True)

    def list_tables(self) -> list[str]:
        """Return the names of tables and views."""
        return self._session.catalog.names()

    @property
    def _j_tenv(self) -> JavaView:
        """A view with Java's names of the methods, which libraries call."""
        return _JavaTables(self)

    def list_temporary_tables(self) -> list[str]:
        """Return the names of temporary tables and views."""
        return self._session.catalog.names(only_temporary=True)

    def list_materialized_tables(self) -> list[str]:
        """Return the names of materialized tables."""
        return self._session.catalog.names(MaterializedTable)

    # -- views ---------------------------------------------------------------------------------------------------------

    def create_temporary_view(self, view_path: str, table_or_data_stream: object, *fields_or_schema: object) -> None:
        """Give a name to a table, or to a stream with fields or a schema."""
        table = table_or_data_stream
        if not isinstance(table, Table):
            table = self._from_stream(table, *fields_or_schema)
        self._session.catalog.add(path_of(view_path), View(table._source, origin=table._origin), temporary=True)

    def _from_stream(self, stream: Any, *fields: object) -> Table:
        raise NotImplementedError

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Give a name to a table, and return whether it was free.

        Raises:
            SqlError: There is one of this name, unless ``ignore_if_exists``.
        """
        return self._session.catalog.add(
            path_of(view_path), View(table._source, origin=table._origin), lenient=ignore_if_exists
        )

    def register_table(self, table_path: str, table: Table) -> None:
        """Give a name to a table, as programs for older releases do."""
        self.create_temporary_view(table_path, table)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a view, and return whether there was one.

        Raises:
            SqlError: There is none of this name, unless ``ignore_if_not_exists``.
        """
        return self._session.catalog.drop(path_of(view_path), View, lenient=bool(ignore_if_not_exists))

    def drop_temporary_view(self, view_path: str) -> bool:
        """Remove a temporary view, and return whether there was one."""
        return self._session.catalog.drop(path_of(view_path), View, lenient=True, temporary=True)

    def list_views(self) -> list[str]:
        """Return the names of views."""
        return self._session.catalog.names(View)

    def list_temporary_views(self) -> list[str]:
        """Return the names of temporary views."""
        return self._session.catalog.names(View, only_temporary=True)

    # -- functions -----------------------------------------------------------------------------------------------------

    def create_temporary_function(self, path: str, function: object) -> None:
        """Give a name to a function: to what ``udf`` or another decorator made, or to an ``AggregateFunction``.

        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.udf import udf
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.register_function(
        ...     "up", udf(str.upper, result_type=DataTypes.STRING())
        ... )  # an older name of this method
        >>> t_env.list_user_defined_functions()
        ['up']
        """
        made = function
        if isinstance(function, AggregateFunction):
            made = udtaf(function) if isinstance(function, TableAggregateFunction) else udaf(function)
        self._session.catalog.functions[path_of(path)[-1].lower()] = made

    register_function = create_temporary_function

    def create_temporary_system_function(self, name: str, function: object) -> None:
        """Give a name to a function, as :meth:`create_temporary_function` does."""
        self.create_temporary_function(name, function)

    def drop_temporary_function(self, path: str) -> bool:
        """Remove a function, and return whether there was one.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.drop_function("up")  # an older name of this method
        False
        """
        return self._session.catalog.functions.pop(path_of(path)[-1].lower(), None) is not None

    def drop_temporary_system_function(self, name: str) -> bool:
        """Remove a function, and return whether there was one."""
        return self.drop_temporary_function(name)

    drop_function = drop_temporary_function

    def create_java_temporary_function(self, path: str, function_class_name: str) -> NoReturn:
        """Raise an error: there is no JVM for the function.

        Raises:
            UnsupportedClauseError: Always.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_java_temporary_function("up", "com.shop.Upper")
        Traceback (most recent call last):
        flintstream.table._errors.UnsupportedClauseError: the Java function com.shop.Upper ('up') is not supported
        yet: write it in Python, with @udf. For bounded data, Spark SQL can run the query: env.to_dataframe() and
        env.from_dataframe() are the bridge
        """
        raise _refuse_java(path, function_class_name)

    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool | None = None
    ) -> NoReturn:
        """Raise an error, as :meth:`create_java_temporary_function` does.

        Raises:
            UnsupportedClauseError: Always.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_java_function("up", "com.shop.Upper")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        flintstream.table._errors.UnsupportedClauseError: the Java function com.shop.Upper ('up') is not supported ...
        """
        raise _refuse_java(path, function_class_name)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> NoReturn:
        """Raise an error, as :meth:`create_java_temporary_function` does.

        Raises:
            UnsupportedClauseError: Always.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_java_temporary_system_function("up", "com.shop.Upper")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        flintstream.table._errors.UnsupportedClauseError: the Java function com.shop.Upper ('up') is not supported ...
        """
        raise _refuse_java(name, function_class_name)

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of functions that the program declared."""
        return sorted(self._session.catalog.functions)

    def list_functions(self) -> list[str]:
        """Return the names of all functions; those of built-in ones are Flink's, such as ``regexpExtract``."""
        return sorted({*LISTED, *self._session.catalog.functions})

    # -- dependencies of the tasks -------------------------------------------------------------------------------------

    def add_python_file(self, file_path: str) -> None:
        """Ship a Python file, package or zip archive to the tasks.

        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> with TemporaryDirectory() as directory:
        ...     t_env.add_python_file(directory)
        """
        self._env.add_python_file(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Name the packages that tasks need.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> with TemporaryDirectory() as directory:
        ...     _ = Path(directory, "requirements.txt").write_text("numpy>=2")
        ...     t_env.set_python_requirements(f"{directory}/requirements.txt")
        """
        self._env.set_python_requirements(requirements_file_path, requirements_cache_dir)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Ship an archive to the tasks.

        >>> from tempfile import TemporaryDirectory
        >>> import zipfile
        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> with TemporaryDirectory() as directory:
        ...     with zipfile.ZipFile(f"{directory}/model.zip", "w") as archive:
        ...         archive.writestr("weights.txt", "0.5 0.25")
        ...     t_env.add_python_archive(f"{directory}/model.zip", "model")
        """
        self._env.add_python_archive(archive_path, target_dir)

    # -- models --------------------------------------------------------------------------------------------------------

    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Declare a model in the catalog. Its provider is a class of Java, so that nothing runs it.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.list_models()
        ['m']

        Raises:
            ModelAlreadyExistException: There is one of this name, unless ``ignore_if_exists``.
        """
        catalog, lenient = self._session.catalog, bool(ignore_if_exists)
        path = catalog.path(path_of(model_path))
        add_model(catalog, path, _model_of(model_descriptor), lenient=lenient, temporary=False)

    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Declare a model that hides that of its name in the catalog.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_temporary_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.list_temporary_models()
        ['m']

        Raises:
            SqlError: There is a temporary one of this name, unless ``ignore_if_exists``.
        """
        catalog, lenient = self._session.catalog, bool(ignore_if_exists)
        path = catalog.path(path_of(model_path))
        add_model(catalog, path, _model_of(model_descriptor), lenient=lenient, temporary=True)

    def list_models(self) -> list[str]:
        """Return the names of the models of the catalog.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.list_models()
        ['m']
        """
        return self._session.catalog.models()

    def list_temporary_models(self) -> list[str]:
        """Return the names of temporary models.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_temporary_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.list_temporary_models()
        ['m']
        """
        catalog = self._session.catalog
        here = catalog.catalog, catalog.database
        return sorted(path[2] for path in catalog.temporary_models if path[:2] == here)

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model of the catalog, and return whether there was one.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.drop_model("m"), t_env.drop_model("m")
        (True, False)

        Raises:
            SqlError: There is none, unless ``ignore_if_not_exists``.
        """
        catalog = self._session.catalog
        path = catalog.path(path_of(model_path))
        return drop_model(catalog, path, lenient=bool(ignore_if_not_exists), temporary=False)

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model, and return whether there was one.

        >>> from flintstream.table import EnvironmentSettings, ModelDescriptor, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.create_temporary_model("m", ModelDescriptor.for_provider("openai").build())
        >>> t_env.drop_temporary_model("m"), t_env.list_temporary_models()
        (True, [])
        """
        catalog = self._session.catalog
        return drop_model(catalog, catalog.path(path_of(model_path)), lenient=True, temporary=True)


def _refuse_java(name: str, class_name: str) -> UnsupportedClauseError:
    return unsupported(f"the Java function {class_name} ('{name}')", None, "write it in Python, with @udf")


def _model_of(descriptor: ModelDescriptor) -> DeclaredModel:
    inputs, outputs = descriptor.get_input_schema(), descriptor.get_output_schema()
    return declare_model(inputs, outputs, descriptor.get_options(), descriptor.get_comment())
