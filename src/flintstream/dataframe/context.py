"""The environment in which DataFrames run; mirrors ``pyflink.dataframe.context``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe._buffered import BUFFER
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.table_environment import StreamTableEnvironment, TableEnvironment

if TYPE_CHECKING:
    from flintstream.table.statement_set import StatementSet

__all__ = [
    "create_statement_set",
    "get_or_create_table_environment",
    "get_table_environment",
    "set_table_environment",
]


def set_table_environment(t_env: TableEnvironment | None) -> None:
    """Choose the environment of the DataFrames that are created from now on; None forgets it.

    Raises:
        TypeError: It is not a table environment.
        RuntimeError: ``config`` has settings, which are for an environment that DataFrames create.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.get_table_environment() is None
    True
    """
    if t_env is not None and not isinstance(t_env, TableEnvironment):
        raise TypeError("t_env must be a TableEnvironment or None")
    if t_env is not None and BUFFER.values:
        raise RuntimeError(
            f"config has buffered values for an environment that DataFrames create: {sorted(BUFFER.values)}; give them "
            "to get_config() of this environment instead"
        )
    BUFFER.environment = t_env


def get_table_environment() -> TableEnvironment | None:
    """Return the environment of DataFrames; None if none was chosen or needed yet.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.get_table_environment() is None
    True
    """
    found = BUFFER.environment
    return found if isinstance(found, TableEnvironment) else None


def get_or_create_table_environment() -> TableEnvironment:
    """Return the environment of DataFrames. If there is none, create one, with what ``config`` has.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.get_or_create_table_environment() is pf.get_table_environment()
    True
    """
    found = get_table_environment()
    if found is None:
        configuration = BUFFER.configuration()
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        settings = EnvironmentSettings.new_instance().with_configuration(configuration).build()
        found = BUFFER.environment = StreamTableEnvironment.create(env, settings)
    return found


def create_statement_set() -> StatementSet:
    """Return an empty statement set of the environment: pass it to writers, which then run as one job.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> statements = pf.create_statement_set()
    >>> numbers = pf.range(3)
    >>> numbers.write_generic("blackhole", options={}, statement_set=statements)
    >>> numbers.filter("id > 1").write_generic("blackhole", options={}, statement_set=statements)
    >>> statements.execute().wait()
    """
    return get_or_create_table_environment().create_statement_set()


publish(__name__, __all__, globals())
