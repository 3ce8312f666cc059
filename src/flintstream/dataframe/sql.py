"""SQL over DataFrames; mirrors ``pyflink.dataframe.sql``."""

from __future__ import annotations

import inspect
import logging
import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe.context import get_or_create_table_environment
from flintstream.dataframe.dataframe import DataFrame
from flintstream.dataframe.udaf import _DataFrameUDAFWrapper
from flintstream.dataframe.udf import _DataFrameUDFWrapper
from flintstream.dataframe.udtf import _DataFrameUDTFWrapper
from flintstream.table._owners import environment_of, has_temporary_function, is_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flintstream.table.table_environment import TableEnvironment

__all__ = ["sql"]

FUNCTIONS = (_DataFrameUDFWrapper, _DataFrameUDTFWrapper, _DataFrameUDAFWrapper)


def sql(query: str, *, auto_bind: bool = True, **bindings: object) -> DataFrame:
    """Return the rows of a query, which finds DataFrames and functions by the names of variables.

    Variables of the caller with names that are taken are left out, with a warning. ``bindings`` come first; they
    hide tables and functions of catalogs, but not temporary ones.

    Args:
        query: A query: SELECT or VALUES.
        auto_bind: Whether it sees the variables of the caller.
        bindings: DataFrames and functions by further names.

    Raises:
        TypeError: The query is not a text, or a binding is neither.
        ValueError: The statement is not a query, a name is taken, or DataFrames belong to several environments.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> numbers = pf.range(5)
    >>> pf.sql("SELECT id FROM numbers WHERE id > 2").collect()
    [<Row(3)>, <Row(4)>]
    >>> pf.sql("SELECT id + 1 FROM source WHERE id > 3", auto_bind=False, source=numbers).collect()
    [<Row(5)>]
    """
    if not isinstance(query, str):
        raise TypeError("query must be a string")
    seen: dict[str, object] = {}
    if auto_bind:
        frame = inspect.currentframe()
        caller = None if frame is None else frame.f_back
        if caller is not None:
            seen = {**caller.f_globals, **caller.f_locals}
        del frame, caller
    for name, value in bindings.items():
        if not isinstance(value, (DataFrame, *FUNCTIONS)):
            raise TypeError(
                f"sql() binding '{name}' must be a DataFrame or a UDF created with pyflink.dataframe.udf, "
                f"pyflink.dataframe.udtf or pyflink.dataframe.udaf, got {type(value).__name__}"
            )
    found = {name: value for name, value in seen.items() if isinstance(value, (DataFrame, *FUNCTIONS))}
    environment = _environment(_frames(bindings).values(), _frames(found))
    if not is_query(query):
        raise ValueError(
            "sql() only supports queries that return a result, such as SELECT queries (no INSERT / DDL); use "
            "TableEnvironment.execute_sql() for other statements."
        )
    with ExitStack() as bound:
        names = _Names(environment, bound)
        for name, value in bindings.items():
            names.bind(name, value)
        explicit = {name.lower() for name in bindings}
        for name, value in found.items():
            if name.lower() not in explicit:
                names.offer(name, value)
        return DataFrame(environment.sql_query(query))


def _frames(values: Mapping[str, object]) -> dict[str, DataFrame]:
    return {name: value for name, value in values.items() if isinstance(value, DataFrame)}


def _environment(explicit: Iterable[DataFrame], seen: Mapping[str, DataFrame]) -> TableEnvironment:
    chosen = list({id(t_env): t_env for t_env in (environment_of(item.to_table()) for item in explicit)}.values())
    if len(chosen) > 1:
        raise ValueError(
            "sql() explicit bindings belong to different TableEnvironments; bind DataFrames from a single environment"
        )
    if chosen:
        return chosen[0]
    valid = [environment_of(item.to_table()) for name, item in seen.items() if name.isidentifier()]
    others = list({id(t_env): t_env for t_env in valid}.values())
    if len(others) > 1:
        raise ValueError(
            "sql() auto-bound DataFrames belong to different TableEnvironments; set auto_bind=False and pass explicit "
            "bindings from a single TableEnvironment"
        )
    return others[0] if others else get_or_create_table_environment()


class _Names:
    """The names of a query, which end with it."""

    def __init__(self, t_env: TableEnvironment, bound: ExitStack) -> None:
        self.t_env, self.bound = t_env, bound

    def bind(self, name: str, value: object) -> None:
        """Give a DataFrame or function a name.

        Raises:
            ValueError: The name is wrong, or a temporary one is there.
        """
        if not name.isidentifier():
            raise ValueError(f"cannot bind '{name}': it is not a valid SQL identifier")
        if isinstance(value, DataFrame):
            if name in self.t_env.list_temporary_tables():
                raise ValueError(f"cannot bind '{name}': a temporary table or view with this name already exists")
        elif has_temporary_function(self.t_env, name):
            raise ValueError(f"cannot bind '{name}': a temporary function with this name already exists")
        self._add(name, value)

    def offer(self, name: str, value: object) -> None:
        """Give a DataFrame or function a name, unless it is taken."""
        reason = self._reason(name, value)
        if reason:
            warnings.warn(f"sql() auto-bind skipped '{name}': {reason}.", UserWarning, stacklevel=3)
        else:
            self._add(name, value)

    def _reason(self, name: str, value: object) -> str:
        if not name.isidentifier():
            return "it is not a valid SQL identifier"
        if not isinstance(value, DataFrame):
            known = name.lower() in {item.lower() for item in self.t_env.list_functions()}
            return "a function with this name already exists" if known else ""
        if environment_of(value.to_table()) is not self.t_env:
            return "it belongs to a different TableEnvironment"
        return "a table or view with this name already exists" if name in self.t_env.list_tables() else ""

    def _add(self, name: str, value: object) -> None:
        if isinstance(value, DataFrame):
            self.t_env.create_temporary_view(name, value.to_table())
            self.bound.callback(self._drop, self.t_env.drop_temporary_view, name)
        else:
            made = value.wrapper() if isinstance(value, _DataFrameUDTFWrapper) else _function(value)
            self.t_env.create_temporary_system_function(name, made)
            self.bound.callback(self._drop, self.t_env.drop_temporary_system_function, name)

    @staticmethod
    def _drop(drop: Callable[[str], object], name: str) -> None:
        try:
            drop(name)
        except Exception:
            logging.getLogger(__name__).warning("sql() failed to drop '%s'", name, exc_info=True)


def _function(value: object) -> object:
    if isinstance(value, (_DataFrameUDFWrapper, _DataFrameUDAFWrapper)):
        return value._table_udf_wrapper
    raise TypeError(f"{value!r} is not a function")


publish(__name__, __all__, globals())
