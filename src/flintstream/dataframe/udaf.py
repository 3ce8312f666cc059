"""Functions that aggregate rows; mirrors ``pyflink.dataframe.udaf``."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

from flintstream.dataframe._functions.results import _normalize_user_value
from flintstream.dataframe._functions.source import (
    Opened,
    Source,
    check_constructor,
    result_of,
    source_of,
    type_of_argument,
    with_none,
)
from flintstream.dataframe.datatype import DataType
from flintstream.table.types import DataType as TableType
from flintstream.table.types import MapType
from flintstream.table.udf import AggregateFunction, UserDefinedFunction
from flintstream.table.udf import udaf as table_udaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.dataframe._functions.source import FunctionLike
    from flintstream.table.expression import Expression
    from flintstream.table.udf import FunctionContext

__all__ = ["udaf"]

_METHODS = ("create_accumulator", "accumulate", "get_value", "retract", "merge", "open", "close")


def _refuse() -> RuntimeError:
    return RuntimeError("UDAF was invoked before open().")


class _General(AggregateFunction):
    """Brings what an aggregate function returns to its type."""

    def __init__(self, inner: AggregateFunction, result: TableType, deterministic: bool) -> None:
        self.inner, self.result, self.deterministic = inner, result, deterministic
        self.is_open = False
        self.__name__ = type(inner).__name__

    def is_deterministic(self) -> bool:
        return self.deterministic

    def open(self, function_context: FunctionContext) -> None:
        self.inner.open(function_context)
        self.is_open = True

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.inner.close()

    def create_accumulator(self) -> object:
        return self.inner.create_accumulator()

    def accumulate(self, accumulator: object, *args: object) -> None:
        self.inner.accumulate(accumulator, *args)

    def merge(self, accumulator: object, accumulators: Iterable[object]) -> None:
        self.inner.merge(accumulator, accumulators)

    def get_value(self, accumulator: object) -> object:
        if not self.is_open:
            raise _refuse()
        return _normalize_user_value(self.inner.get_value(accumulator), self.result)


class _Retracting(_General):
    def retract(self, accumulator: object, *args: object) -> None:
        self.inner.retract(accumulator, *args)


class _Columns(AggregateFunction):
    """A function of series, as an aggregate function of whole groups."""

    def __init__(self, source: Source, result: TableType, deterministic: bool) -> None:
        self.opened, self.result, self.deterministic = Opened(source), result, deterministic
        self.call: Callable[..., object] | None = None
        self.__name__ = source.name

    def is_deterministic(self) -> bool:
        return self.deterministic

    def open(self, function_context: FunctionContext) -> None:
        self.call = self.opened.open(function_context)

    def close(self) -> None:
        self.call = None
        self.opened.close()

    def create_accumulator(self) -> list[object]:
        return []

    def accumulate(self, accumulator: list[object], *args: object) -> None:
        accumulator[:] = args

    def get_value(self, accumulator: list[object]) -> object:
        if self.call is None:
            raise _refuse()
        return _normalize_user_value(self.call(*accumulator), self.result)


@dataclass(frozen=True)
class _DataFrameUDAFWrapper:
    source: Source
    return_dtype: DataType
    accumulator_type: DataType | None
    func_type: str
    deterministic: bool
    name: str | None

    @property
    def __name__(self) -> str:
        return self.name or self.source.name

    def __call__(self, *args: object) -> Expression:
        return self._table_udf_wrapper(*args)

    @cached_property
    def _table_udf_wrapper(self) -> Callable[..., Expression]:
        kind = self.return_dtype._to_table_data_type()
        inner = self.source.declared
        made: AggregateFunction
        if isinstance(inner, AggregateFunction):
            own = type(inner).retract is not AggregateFunction.retract
            made = (_Retracting if own else _General)(inner, kind, self.deterministic)
        else:
            made = _Columns(self.source, kind, self.deterministic)
        found: Callable[..., Expression] = table_udaf(
            made, result_type=kind, deterministic=self.deterministic, name=self.__name__, func_type=self.func_type
        )
        return found


@overload
def udaf(
    func: FunctionLike,
    *,
    return_dtype: object = ...,
    accumulator_type: object = ...,
    func_type: str = ...,
    deterministic: bool = ...,
    name: str | None = ...,
) -> _DataFrameUDAFWrapper: ...


@overload
def udaf(
    func: None = ...,
    *,
    return_dtype: object = ...,
    accumulator_type: object = ...,
    func_type: str = ...,
    deterministic: bool = ...,
    name: str | None = ...,
) -> Callable[[FunctionLike], _DataFrameUDAFWrapper]: ...


def udaf(
    func: FunctionLike | None = None,
    *,
    return_dtype: object = None,
    accumulator_type: object = None,
    func_type: str = "general",
    deterministic: bool = True,
    name: str | None = None,
) -> _DataFrameUDAFWrapper | Callable[[FunctionLike], _DataFrameUDAFWrapper]:
    """Make an aggregate function for ``agg()`` and SQL; also a decorator.

    Args:
        func: An ``AggregateFunction`` or a class of one; with ``pandas``, also a function of ``Series``.
        return_dtype: The type of the aggregate; that of the annotation of ``get_value`` if it is not given.
        accumulator_type: The type of accumulators; required for ``general`` unless ``get_accumulator_type`` tells it.
        func_type: ``general`` or ``pandas``.
        deterministic: Whether equal rows give equal aggregates.
        name: The name in plans.

    Raises:
        TypeError: It is none of these, or a type is unknown.
        ValueError: ``func_type`` is unknown.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
    >>> @pf.udaf(return_dtype=float, func_type="pandas")
    ... def mean(values):
    ...     return values.mean()
    >>> pf.range(5).agg(mean=mean(pf.col("id"))).collect()
    [<Row(2.0)>]
    """
    if func_type not in {"general", "pandas"}:
        raise ValueError("func_type must be 'general' or 'pandas'.")
    if not isinstance(deterministic, bool):
        raise TypeError("deterministic must be a bool.")

    def declare(function: FunctionLike) -> _DataFrameUDAFWrapper:
        source = _source(function, func_type)
        inner = source.declared if isinstance(source.declared, AggregateFunction) else None
        result = _declared_type(inner, return_dtype, "get_result_type") or with_none(result_of(source, None))
        if func_type == "pandas" and isinstance(result._to_table_data_type(), MapType):
            raise TypeError("Pandas UDAFs do not support MAP results.")
        accumulator = None
        if func_type == "general" or accumulator_type is not None:
            accumulator = _declared_type(inner, accumulator_type, "get_accumulator_type")
        if func_type == "general" and accumulator is None:
            raise TypeError("Specify accumulator_type or implement get_accumulator_type().")
        if inner is not None and inner.is_deterministic() != deterministic:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {inner.is_deterministic()}.")
        return _DataFrameUDAFWrapper(source, result, accumulator, func_type, deterministic, name or None)

    return declare if func is None else declare(func)


def _source(function: object, func_type: str) -> Source:
    if isinstance(function, type) and issubclass(function, AggregateFunction):
        check_constructor(function)
        function = function()
    if isinstance(function, AggregateFunction):
        for method in _METHODS:
            _check_synchronous(getattr(function, method))
        return Source(function, function.get_value, "get_value", is_async=False)
    if func_type == "general":
        raise TypeError("General UDAFs require an AggregateFunction instance or class.")
    if isinstance(function, UserDefinedFunction) or (
        isinstance(function, type) and issubclass(function, UserDefinedFunction)
    ):
        raise TypeError("Pandas UDAFs require an AggregateFunction or a Python callable.")
    source = source_of(function)
    _check_synchronous(source.target)
    return source


def _check_synchronous(method: Callable[..., object]) -> None:
    for found in (method, inspect.unwrap(method)):
        if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
            raise TypeError("UDAFs must be synchronous; async functions are not supported.")


def _declared_type(inner: AggregateFunction | None, given: object, method: str) -> DataType | None:
    if given is not None:
        return type_of_argument(given) if isinstance(given, (DataType, str)) else with_none(type_of_argument(given))
    if inner is None or getattr(type(inner), method) is getattr(AggregateFunction, method):
        return None
    found = getattr(inner, method)()
    if isinstance(found, TableType):
        return DataType(found)
    if isinstance(found, str):
        return type_of_argument(found)
    raise TypeError(f"{method}() must return a Table DataType or SQL type string.")
