"""What a program declares as a function: a callable, an object or a class of one."""

from __future__ import annotations

import functools
import inspect
import typing
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, get_type_hints

from flintstream.dataframe.datatype import DataType
from flintstream.table import types as t
from flintstream.table.udf import AsyncScalarFunction, ScalarFunction, UserDefinedFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table.udf import FunctionContext

FunctionLike: TypeAlias = "Callable[..., object] | UserDefinedFunction"
"""What a program may declare: a function, an object that is called, a class of one, or one of the Table API."""

_CONTAINERS = (("pandas", ("pandas", ("Series", "DataFrame"))), ("arrow", ("pyarrow", ("Array", "ChunkedArray"))))


@dataclass(frozen=True)
class Source:
    """A function as a program declares it. Classes are made in the tasks, where they are opened and closed."""

    declared: object
    target: Callable[..., object]
    """What is called, for its hints."""
    method: str
    """``eval`` of functions of the Table API, ``__call__`` of objects; empty for plain functions."""
    is_async: bool
    bound: frozenset[str] = frozenset()
    """Parameters that calls do not give."""

    @property
    def name(self) -> str:
        """What the program calls it."""
        target = unwrap(self.declared)
        found = getattr(target, "__name__", None)
        return found if isinstance(found, str) else type(target).__name__

    @property
    def hints(self) -> dict[str, object]:
        """Its annotations; none if they cannot be resolved."""
        return hints_of(self.target)

    def make(self) -> object:
        """Return the function, of whose class there is one object for each subtask.

        Raises:
            TypeError: The class makes something that cannot be called.
        """
        made = self.declared() if isinstance(self.declared, type) else self.declared
        if not callable(getattr(made, self.method, None) if self.method else made):
            raise TypeError(f"class '{self.name}' constructed an object that cannot be called: {type(made).__name__}")
        return made

    def invocation(self, made: object) -> Callable[..., object]:
        """Return what calls the function that :meth:`make` has returned."""
        found: Callable[..., object] = getattr(made, self.method or "__call__")
        return found


def unwrap(function: object) -> object:
    """Return a function without the arguments that are bound to it."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def hints_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function; none if they cannot be resolved."""
    target = getattr(function, "__func__", function)
    known: dict[str, object] = {}
    for name, alias in (("pandas", "pd"), ("pyarrow", "pa")):
        try:
            known[name] = known[alias] = import_module(name)
        except ImportError:
            continue
    try:
        return get_type_hints(target, {**vars(typing), **known, **getattr(target, "__globals__", {})})
    except (NameError, TypeError, AttributeError):
        own: dict[str, object] = getattr(target, "__annotations__", {})
        return {name: hint for name, hint in own.items() if not isinstance(hint, str)}


def source_of(function: object) -> Source:
    """Return what a program declares.

    Raises:
        TypeError: It cannot be called, or is another kind of function of the Table API.
    """
    if isinstance(function, functools.partial) or inspect.isroutine(function):
        target = unwrap(function)
        if not inspect.isroutine(target):
            target = type(target).__call__
        return Source(function, target, "", inspect.iscoroutinefunction(target), _bound_names(function, target))
    kinds = (ScalarFunction, AsyncScalarFunction)
    if isinstance(function, type):
        if issubclass(function, UserDefinedFunction) and not issubclass(function, kinds):
            raise TypeError(f"func must be a scalar UDF, got {function.__name__}.")
        method = "eval" if issubclass(function, kinds) else "__call__"
        if method == "__call__" and not any("__call__" in vars(base) for base in function.__mro__[:-1]):
            raise TypeError(f"func must be callable, got {function.__name__}.")
        check_constructor(function)
        found = inspect.getattr_static(function, method, None)
        plain = getattr(found, "__func__", found)
        if not inspect.isroutine(plain):
            raise TypeError(f"class '{function.__name__}': {method} must be defined as a method.")
        first = () if isinstance(found, staticmethod) else tuple(inspect.signature(plain).parameters)[:1]
        is_async = issubclass(function, AsyncScalarFunction) or inspect.iscoroutinefunction(plain)
        return Source(function, plain, method, is_async, frozenset(first))
    if isinstance(function, UserDefinedFunction) and not isinstance(function, kinds):
        raise TypeError(f"func must be a scalar UDF, got {type(function).__name__}.")
    if not callable(function) and not isinstance(function, kinds):
        raise TypeError(f"func must be callable, got {type(function).__name__}.")
    method = "eval" if isinstance(function, kinds) else "__call__"
    target = getattr(function, method)
    is_async = isinstance(function, AsyncScalarFunction) or inspect.iscoroutinefunction(target)
    return Source(function, target, method, is_async)


def _bound_names(function: object, target: Callable[..., object]) -> frozenset[str]:
    if not isinstance(function, functools.partial):
        return frozenset()
    try:
        bound = inspect.signature(target).bind_partial(*function.args, **function.keywords)
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(bound.arguments)


def check_constructor(made: type) -> None:
    """Check that a class can be made without arguments.

    Raises:
        TypeError: It needs some, or is abstract.
    """
    if inspect.isabstract(made):
        raise TypeError(f"UDF class '{made.__name__}' must not be abstract.")
    try:
        inspect.signature(made).bind()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"UDF class '{made.__name__}' must have a zero-argument constructor; pass a configured instance instead."
        ) from error


def kind_of(source: Source) -> str:
    """Return the kind of function that its annotations tell: ``pandas``, ``arrow`` or ``general``."""
    hints = [hint for name, hint in source.hints.items() if name not in source.bound]
    for kind, (module, names) in _CONTAINERS:
        if any(getattr(hint, "__name__", "") in names and _package(hint) == module for hint in hints):
            return kind
    return "general"


def _package(hint: object) -> str:
    return str(getattr(hint, "__module__", "")).partition(".")[0]


def type_of_argument(dtype: object) -> DataType:
    """Return a type that is given as one, as a class of Python, or as SQL.

    Raises:
        TypeError: It is none of these.
        ValueError: The SQL is wrong.
    """
    if isinstance(dtype, DataType):
        return dtype
    if isinstance(dtype, str):
        return DataType._from_sql(dtype)
    try:
        return _of_results(dtype)
    except TypeError as error:
        raise TypeError(
            f"return_dtype must be a DataFrame DataType, Python type, or SQL type string, got {type(dtype).__name__}."
        ) from error


def result_of(source: Source, dtype: object) -> DataType:
    """Return the type of what a function returns, as an argument or its annotation tells.

    Raises:
        TypeError: Neither does.
    """
    if dtype is not None:
        return type_of_argument(dtype)
    if "return" not in source.hints:
        raise TypeError(
            f"Cannot infer return_dtype for '{source.name}': add a return annotation or specify return_dtype "
            "explicitly."
        )
    return _of_results(source.hints["return"])


def _of_results(hint: object) -> DataType:
    """Return the type of results that an annotation describes: all of it may be None, also what is within."""
    return DataType(_nullable(DataType._from_type_hint(hint)._to_table_data_type()))


def _nullable(kind: t.DataType) -> t.DataType:
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(_nullable(kind.element_type))
    if isinstance(kind, t.MapType):
        return t.MapType(_nullable(kind.key_type), _nullable(kind.value_type))
    if isinstance(kind, t.RowType):
        return t.RowType([t.RowField(field.name, _nullable(field.data_type)) for field in kind.fields])
    return kind.nullable()


class Opened:
    """A function in a task: made and opened once for each subtask, and closed at its end."""

    def __init__(self, source: Source) -> None:
        """Take the declaration."""
        self.source = source
        self._made: object = None
        self._open = False

    def open(self, function_context: FunctionContext) -> Callable[..., object]:
        """Make and open the function, and return what calls it."""
        self._made = self.source.make()
        opening = getattr(self._made, "open", None)
        if callable(opening) and (
            isinstance(self._made, UserDefinedFunction) or isinstance(self.source.declared, type)
        ):
            opening(function_context)
        self._open = True
        return self.source.invocation(self._made)

    def close(self) -> None:
        """Close the function, if it was opened."""
        closing = getattr(self._made, "close", None)
        wanted = isinstance(self._made, UserDefinedFunction) or isinstance(self.source.declared, type)
        if self._open and wanted and callable(closing):
            closing()
        self._open = False
