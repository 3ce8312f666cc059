"""Functions for tables, in Python; mirrors ``pyflink.table.udf``."""

from __future__ import annotations

import inspect
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flintstream.common._public import publish
from flintstream.table._errors import SqlError
from flintstream.table._functions.aggregate_functions import AggregateWrapper, TableAggregateWrapper
from flintstream.table._functions.kinds import by_rows
from flintstream.table._functions.user_defined import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from flintstream.table._functions.wrappers import FunctionWrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._functions.wrappers import FunctionKind

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]


def _wrap(
    f: Any,
    kind: FunctionKind,
    input_types: object,
    results: object,
    name: str | None,
    deterministic: bool | None,
    *,
    how: str = "general",
) -> Any:
    if results is None:
        raise TypeError(f"Invalid returnType: a {kind} function needs its result type, such as DataTypes.INT()")

    def wrap(function: object) -> FunctionWrapper:
        if inspect.isclass(function):
            raise TypeError(
                "Invalid function: not a function or callable (__call__ is not defined): "
                f"{type(function)}; create it first: {function.__name__}()"
            )
        made = FunctionWrapper(function, kind, input_types, results, name, deterministic)
        if kind == "scalar":
            made.implementation = by_rows(made.implementation, made.result_type, how)
        return made

    return wrap if f is None else wrap(f)


def _aggregate(
    f: Any, wrapper: Callable[..., FunctionWrapper], input_types: object, result_type: object, name: str | None
) -> Any:
    def wrap(function: object) -> FunctionWrapper:
        return wrapper(function() if inspect.isclass(function) else function, input_types, result_type, name)

    return wrap if f is None else wrap(f)


def _check_kind(*kinds: str) -> None:
    for kind in kinds:
        if kind not in {"general", "pandas"}:
            raise ValueError(f"The func_type must be one of 'general, pandas', got {kind}.")


def udf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
    udf_type: str | None = None,
) -> Any:
    """Make a scalar function of a Python function or a :class:`ScalarFunction`; also a decorator.

    A pandas function (``func_type="pandas"``) gets a ``Series`` for each argument, with the values of a batch of
    rows; one of Arrow (``func_type="arrow"``) gets arrays. ``async`` ones are awaited, for
    several rows at a time.

    Raises:
        TypeError: The result type is missing, or ``f`` is not a function.
        ValueError: ``func_type`` is unknown, or ``deterministic`` is not what the function says.

    >>> from flintstream.table import DataTypes
    >>> @udf(result_type=DataTypes.BIGINT())
    ... def twice(x):
    ...     return 2 * x
    >>> twice.name
    'twice'
    """
    kinds = {func_type, udf_type or func_type} - {"arrow"}
    _check_kind(*kinds)
    how = "arrow" if func_type == "arrow" else "pandas" if "pandas" in kinds else "general"
    return _wrap(f, "scalar", input_types, result_type, name, deterministic, how=how)


def udtf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_types: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Make a table function of a Python function or a :class:`TableFunction`; also a decorator.

    Raises:
        TypeError: The result types are missing.

    >>> from flintstream.table import DataTypes
    >>> @udtf(result_types=[DataTypes.STRING()])
    ... def words(line):
    ...     yield from line.split()
    >>> words.kind
    'table'
    """
    return _wrap(f, "table", input_types, result_types, name, deterministic)


def udaf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,  # noqa: ARG001 - states are pickled
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make an aggregate function of an :class:`AggregateFunction`, or of a function of series with ``"pandas"``.

    Raises:
        TypeError: It is neither.

    >>> from flintstream.table import DataTypes
    >>> @udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
    ... def mean(values):
    ...     return values.mean()
    >>> mean.kind
    'aggregate'
    """
    _check_kind(func_type)
    made = partial(AggregateWrapper, pandas=func_type == "pandas", deterministic=deterministic)
    return _aggregate(f, made, input_types, result_type, name)


def udtaf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,  # noqa: ARG001 - states are pickled
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make a function for ``flat_aggregate()`` of a :class:`TableAggregateFunction`.

    Raises:
        TypeError: It is none.
        ValueError: ``func_type`` is not ``"general"``.

    >>> from flintstream.table import DataTypes
    >>> class Both(TableAggregateFunction):
    ...     def create_accumulator(self):
    ...         return []
    ...
    ...     def accumulate(self, accumulator, value):
    ...         accumulator.append(value)
    ...
    ...     def emit_value(self, accumulator):
    ...         return [min(accumulator), max(accumulator)]
    >>> udtaf(Both(), result_type=DataTypes.INT()).kind
    'table aggregate'
    """
    if func_type != "general":
        raise ValueError(f"The func_type must be 'general', got {func_type}.")
    made = partial(TableAggregateWrapper, deterministic=deterministic)
    return _aggregate(f, made, input_types, result_type, name)


def function_at(path: str) -> FunctionWrapper:
    """Return the function that ``CREATE FUNCTION ... AS 'module.name' LANGUAGE PYTHON`` names.

    Raises:
        SqlError: There is none.
    """
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SqlError(f"cannot load the function {path}: {error}") from error
    if not isinstance(found, FunctionWrapper):
        raise SqlError(f"{path} is not a function of the Table API: decorate it with @udf, @udtf or @udaf")
    return found


publish("flintstream.table.udf", __all__, globals())
