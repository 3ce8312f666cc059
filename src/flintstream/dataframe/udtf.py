"""Functions that return rows; mirrors ``pyflink.dataframe.udtf``."""

from __future__ import annotations

import collections.abc
import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args, get_origin, overload

from flintstream.dataframe._functions.adapters import RowsFunction
from flintstream.dataframe._functions.rows import check_row_function
from flintstream.dataframe._functions.source import Source, check_constructor, source_of, type_of_argument
from flintstream.dataframe.datatype import DataType
from flintstream.table.types import RowType
from flintstream.table.udf import TableFunction, UserDefinedFunction
from flintstream.table.udf import udtf as table_udtf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.dataframe._functions.source import FunctionLike
    from flintstream.table.expression import Expression

__all__ = ["udtf"]

_MANY = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator, list)


@dataclass(frozen=True)
class _DataFrameUDTFCall:
    expression: Expression
    return_dtype: DataType
    has_named_fields: bool
    output_aliases: tuple[str, ...] | None = None

    def alias(self, name: str, *extra_names: str) -> _DataFrameUDTFCall:
        names = (name, *extra_names)
        if not all(isinstance(item, str) for item in names):
            raise TypeError("UDTF output aliases must be strings.")
        if len(names) != len(names_of(self.return_dtype)) or len(set(names)) != len(names) or not all(names):
            raise ValueError("UDTF output aliases must be non-empty, unique, and match output arity.")
        return replace(self, expression=self.expression.alias(*names), output_aliases=names)


def names_of(kind: DataType) -> list[str]:
    """Return the names of the columns that a function returns; ``f0`` for a value without one."""
    table_type = kind._to_table_data_type()
    return table_type.field_names() if isinstance(table_type, RowType) else ["f0"]


@dataclass(frozen=True)
class _DataFrameUDTFWrapper:
    source: Source
    return_dtype: DataType
    has_named_fields: bool
    deterministic: bool
    name: str | None

    @property
    def __name__(self) -> str:
        return self.name or self.source.name

    def __call__(self, *args: object) -> _DataFrameUDTFCall:
        return _DataFrameUDTFCall(self.wrapper()(*args), self.return_dtype, self.has_named_fields)

    def wrapper(
        self, columns: Sequence[str] | None = None, concurrency: int | None = None
    ) -> Callable[..., Expression]:
        """Return the function for the Table API; with columns, it gets a dict of them."""
        kind = self.return_dtype._to_table_data_type()
        made = RowsFunction(self.source, kind, deterministic=self.deterministic, concurrency=concurrency)
        made.names = None if columns is None else tuple(columns)
        wrapped: Callable[..., Expression] = table_udtf(
            made,
            result_types=kind if isinstance(kind, RowType) else [kind],
            deterministic=self.deterministic,
            name=self.__name__,
        )
        return wrapped

    _create_table_wrapper = wrapper


@overload
def udtf(
    func: FunctionLike,
    *,
    return_dtype: object = ...,
    deterministic: bool = ...,
    name: str | None = ...,
) -> _DataFrameUDTFWrapper: ...


@overload
def udtf(
    func: None = ...,
    *,
    return_dtype: object = ...,
    deterministic: bool = ...,
    name: str | None = ...,
) -> Callable[[FunctionLike], _DataFrameUDTFWrapper]: ...


def udtf(
    func: FunctionLike | None = None,
    *,
    return_dtype: object = None,
    deterministic: bool = True,
    name: str | None = None,
) -> _DataFrameUDTFWrapper | Callable[[FunctionLike], _DataFrameUDTFWrapper]:
    """Make a function that returns any number of rows, for ``flat_map``, ``join_lateral`` and SQL; also a decorator.

    It returns None for no row, a list or generator for several, and a value, tuple, ``Row`` or dict for one.

    Args:
        func: A function, an object or a class of one, or a ``TableFunction``.
        return_dtype: The type of a row; that of the annotation, such as ``Iterator[int]``, if it is not given.
        deterministic: Whether equal arguments give equal rows.
        name: The name in plans.

    Raises:
        TypeError: It cannot be called, is ``async``, or its type is unknown.
        ValueError: It has no columns.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
    >>> @pf.udtf(return_dtype="ROW<word STRING>")
    ... def words(text):
    ...     yield from text.split()
    >>> lines = pf.from_dict({"line": ["to be"]})
    >>> lines.join_lateral(words(pf.col("line"))).collect()
    [<Row('to be', 'to')>, <Row('to be', 'be')>]
    """

    def declare(function: FunctionLike) -> _DataFrameUDTFWrapper:
        source = _source(function)
        if not isinstance(deterministic, bool):
            raise TypeError("deterministic must be a bool.")
        if isinstance(source.declared, TableFunction) and source.declared.is_deterministic() != deterministic:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {source.declared.is_deterministic()}.")
        kind, named = _result(source, return_dtype)
        if not names_of(kind):
            raise ValueError("A UDTF must declare at least one output field.")
        return _DataFrameUDTFWrapper(source, kind, named, deterministic, name or None)

    return declare if func is None else declare(func)


def declaration_of(func: object, return_dtype: object) -> _DataFrameUDTFWrapper:
    """Return a function of ``flat_map`` as one of ``udtf``.

    Raises:
        TypeError: It cannot be called, or is one of the Table API.
        ValueError: It does not take a dict for a row, or its type is given twice.
    """
    if isinstance(func, _DataFrameUDTFWrapper):
        if return_dtype is not None:
            raise ValueError("return_dtype must not be specified for a DataFrame UDTF declaration.")
        declared = func
    else:
        of_table = isinstance(func, type) and issubclass(func, UserDefinedFunction)
        if func is None or of_table or isinstance(func, UserDefinedFunction):
            raise TypeError("flat_map accepts Python callables or a pf.udtf declaration.")
        if not callable(func):
            raise TypeError("flat_map requires a callable or a pf.udtf declaration.")
        check_row_function(_source(func))
        declared = udtf(func, return_dtype=return_dtype)
    check_row_function(declared.source)
    return declared


def _source(function: object) -> Source:
    if isinstance(function, type) and issubclass(function, TableFunction):
        check_constructor(function)
        function = function()
    if isinstance(function, TableFunction):
        is_method = inspect.ismethod(function.eval)
        source = Source(function, function.eval, "eval", False, owner=type(function), takes_self=is_method)
    elif isinstance(function, UserDefinedFunction) or (
        isinstance(function, type) and issubclass(function, UserDefinedFunction)
    ):
        raise TypeError("func must be a table UDF or a Python callable.")
    else:
        source = source_of(function)
    target = inspect.unwrap(source.target)
    if any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in (source.target, target)):
        raise TypeError("DataFrame UDTFs must be synchronous; async functions are not supported.")
    return source


def _result(source: Source, dtype: object) -> tuple[DataType, bool]:
    if dtype is not None:
        kind = type_of_argument(dtype)
        return kind, isinstance(kind._to_table_data_type(), RowType)
    hint = source.hints.get("return")
    if hint is None or (get_origin(hint) in _MANY and not get_args(hint)) or hint in _MANY:
        raise TypeError("Cannot infer UDTF return type; specify return_dtype explicitly.")
    if get_origin(hint) in _MANY:
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if not parts or Ellipsis in parts:
            raise TypeError("UDTF tuple outputs must have a fixed number of fields.")
        fields = [(f"f{i}", DataType._from_type_hint(part)) for i, part in enumerate(parts)]
        return DataType.struct(fields), False
    kind = DataType._from_type_hint(hint)
    return kind, isinstance(kind._to_table_data_type(), RowType)
