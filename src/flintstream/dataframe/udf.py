"""Functions of values and batches; mirrors ``pyflink.dataframe.udf``."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import TYPE_CHECKING, overload

from flintstream.dataframe._checks import require_int
from flintstream.dataframe._functions.adapters import AsyncFunction, BatchFunction, ValueFunction
from flintstream.dataframe._functions.results import _normalize_user_value
from flintstream.dataframe._functions.source import kind_of, result_of, source_of, unwrap
from flintstream.table.expression import Expression
from flintstream.table.udf import AsyncScalarFunction, ScalarFunction
from flintstream.table.udf import udf as table_udf

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.dataframe._functions.source import FunctionLike, Source
    from flintstream.dataframe.datatype import DataType

__all__ = ["udf"]
_ = _normalize_user_value  # a name that programs import from here


_SIGNATURE = inspect.Signature(
    [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL, annotation=vars(typing)["Any"])],
    return_annotation=Expression,
)


class _DataFrameUDFWrapper:
    """A function that expressions call; :func:`udf` makes it.

    >>> import flintstream.dataframe as pf
    >>> @pf.udf
    ... def add_one(n: int) -> int:
    ...     return n + 1
    >>> add_one.return_dtype == pf.DataType.int64().not_null(), pf.range(3).select(n=add_one(pf.col("id"))).columns
    (True, ['n'])
    """

    __signature__ = _SIGNATURE

    def __init__(
        self,
        source: Source,
        return_dtype: DataType,
        deterministic: bool,
        name: str,
        func_type: str,
        concurrency: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        """Hold the declaration."""
        self._runtime_source = source
        self._return_dtype = return_dtype
        self._deterministic = deterministic
        self._func_type = func_type
        self._concurrency = concurrency
        self._batch_size = batch_size
        declared = unwrap(source.declared)
        for shown in ("__module__", "__qualname__", "__doc__"):
            vars(self)[shown] = getattr(declared, shown, getattr(type(declared), shown, None))
        self.__name__ = name
        self._frozen = True

    def __setattr__(self, name: str, value: object) -> None:
        if "_frozen" in vars(self):
            raise AttributeError("DataFrame UDF declarations are immutable.")
        object.__setattr__(self, name, value)

    @property
    def return_dtype(self) -> DataType:
        """The type of what the function returns."""
        return self._return_dtype

    @functools.cached_property
    def _table_udf_wrapper(self) -> Callable[..., Expression]:
        adapter = ValueFunction if self._func_type == "general" else BatchFunction
        made = (AsyncFunction if self._runtime_source.is_async else adapter)(
            self._runtime_source,
            self._return_dtype._to_table_data_type(),
            deterministic=self._deterministic,
            concurrency=self._concurrency,
            batch_size=self._batch_size,
        )
        wrapped: Callable[..., Expression] = table_udf(
            made,
            result_type=self._return_dtype._to_table_data_type(),
            deterministic=self._deterministic,
            name=self.__name__,
            func_type=self._func_type,
        )
        return wrapped

    def __call__(self, *args: object) -> Expression:
        """Return the expression of a call, whose arguments are expressions and values."""
        return self._table_udf_wrapper(*args)


@overload
def udf(
    func: FunctionLike,
    *,
    return_dtype: object = ...,
    deterministic: bool = ...,
    name: str | None = ...,
    func_type: str | None = ...,
    concurrency: int | None = ...,
    batch_size: int | None = ...,
) -> _DataFrameUDFWrapper: ...


@overload
def udf(
    func: None = ...,
    *,
    return_dtype: object = ...,
    deterministic: bool = ...,
    name: str | None = ...,
    func_type: str | None = ...,
    concurrency: int | None = ...,
    batch_size: int | None = ...,
) -> Callable[[FunctionLike], _DataFrameUDFWrapper]: ...


def udf(
    func: FunctionLike | None = None,
    *,
    return_dtype: object = None,
    deterministic: bool = True,
    name: str | None = None,
    func_type: str | None = None,
    concurrency: int | None = None,
    batch_size: int | None = None,
) -> _DataFrameUDFWrapper | Callable[[FunctionLike], _DataFrameUDFWrapper]:
    """Make a function for expressions of a Python function, an object or a class; also a decorator.

    Each subtask makes one object of a class, opens and closes it (``open(context)`` and ``close()``, if it has them).
    Functions may be ``async``. Annotations with containers of pandas or Arrow choose these kinds.

    Args:
        func: The function.
        return_dtype: The type of what it returns: a :class:`DataType`, a class of Python, or SQL; that of its
            annotation if it is not given.
        deterministic: Whether equal arguments give equal results.
        name: The name in plans.
        func_type: ``general``, ``pandas`` (arguments are ``Series``) or ``arrow`` (they are arrays).
        concurrency: How many subtasks run it.
        batch_size: The rows that a function of pandas or Arrow gets at once.

    Raises:
        TypeError: It cannot be called, or its type is unknown.
        ValueError: An argument does not fit the function.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> @pf.udf(return_dtype=float, func_type="pandas", batch_size=2)
    ... def half(numbers):
    ...     return numbers / 2
    >>> pf.range(3).select(half=half(pf.col("id"))).collect()
    [<Row(0.0)>, <Row(0.5)>, <Row(1.0)>]
    """

    def declare(function: FunctionLike) -> _DataFrameUDFWrapper:
        source = source_of(function)
        kind = kind_of(source) if func_type is None else func_type
        if kind not in {"general", "pandas", "arrow"}:
            raise ValueError(f"The func_type must be one of 'general, pandas, arrow', got {kind}.")
        if return_dtype is None and kind != "general":
            raise TypeError(
                f"return_dtype is required for {kind} UDFs, because annotations of containers do not define it."
            )
        if source.is_async and kind != "general":
            raise ValueError(f"Async scalar functions do not support {kind} func_type. Use func_type='general'.")
        if not isinstance(deterministic, bool):
            raise TypeError("deterministic must be a bool.")
        if isinstance(function, (ScalarFunction, AsyncScalarFunction)) and function.is_deterministic() != deterministic:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {function.is_deterministic()}.")
        check_limits(concurrency, batch_size, kind)
        result = result_of(source, return_dtype)
        return _DataFrameUDFWrapper(source, result, deterministic, name_of(source, name), kind, concurrency, batch_size)

    return declare if func is None else declare(func)


def check_limits(concurrency: object, batch_size: object, kind: str) -> None:
    """Check how many subtasks and rows a function wants.

    Raises:
        TypeError: One is not a whole number.
        ValueError: One is less than 1, or the function takes no batches.
    """
    if concurrency is not None:
        require_int(concurrency, "concurrency", 1)
    if batch_size is not None:
        require_int(batch_size, "batch_size", 1)
        if kind == "general":
            raise ValueError("batch_size requires a pandas or Arrow function")


def name_of(source: Source, name: object) -> str:
    """Return the name of a function.

    Raises:
        TypeError: It is not a text.
        ValueError: It is empty.
    """
    found = source.name if name is None else name
    if not isinstance(found, str):
        raise TypeError("name must be a str or None.")
    if not found:
        raise ValueError("name must not be empty.")
    return found
