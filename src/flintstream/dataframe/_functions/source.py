"""What a program declares as a function: a callable, an object or a class of one."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from flintstream.dataframe._functions.annotations import annotations_of, container_of
from flintstream.dataframe.datatype import DataType
from flintstream.table import types as t
from flintstream.table.udf import AsyncScalarFunction, ScalarFunction, UserDefinedFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table.udf import FunctionContext

FunctionLike: TypeAlias = "Callable[..., object] | UserDefinedFunction"
"""What a program may declare: a function, an object that is called, a class of one, or one of the Table API."""
_SCALAR = (ScalarFunction, AsyncScalarFunction)


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
    owner: type | None = None
    """The class that has the target as a method."""
    takes_self: bool = False
    """Whether the first parameter of the target is its object or class."""

    @property
    def name(self) -> str:
        """What the program calls it."""
        target = unwrap(self.declared)
        found = getattr(target, "__name__", None)
        return found if isinstance(found, str) else type(target).__name__

    @property
    def hints(self) -> dict[str, object]:
        """Its annotations; those that cannot be resolved are texts."""
        return annotations_of(self.target, self.owner)

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
        found: Callable[..., object] = getattr(made, self.method) if self.method else made  # type: ignore[assignment]
        return found


def unwrap(function: object) -> object:
    """Return a function without the arguments that are bound to it."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def source_of(function: object) -> Source:
    """Return what a program declares.

    Raises:
        TypeError: It cannot be called, is another kind of function of the Table API, or hides that it is async.
    """
    if isinstance(function, functools.partial) or inspect.isroutine(function):
        found = _of_callable(function)
    elif isinstance(function, type):
        found = _of_class(function)
    else:
        found = _of_object(function)
    if not found.is_async and inspect.iscoroutinefunction(inspect.unwrap(found.target)):
        raise TypeError(f"'{found.name}' wraps an async function and is none: declare it with async def.")
    return found


def _of_callable(function: object) -> Source:
    target = unwrap(function)
    if not inspect.isroutine(target):
        target = type(target).__call__
    of = getattr(target, "__self__", None)
    owner = of if isinstance(of, type) or of is None else type(of)
    bound = _bound_names(function, target)
    is_async = inspect.iscoroutinefunction(target)
    return Source(function, target, "", is_async, bound, owner, inspect.ismethod(target))


def _of_class(made: type) -> Source:
    if issubclass(made, UserDefinedFunction) and not issubclass(made, _SCALAR):
        raise TypeError(f"func must be a scalar UDF, got {made.__name__}.")
    method, kind = ("eval", "Scalar UDF class") if issubclass(made, _SCALAR) else ("__call__", "Callable class")
    if method == "__call__" and not any("__call__" in vars(base) for base in made.__mro__[:-1]):
        raise TypeError(f"func must be callable, got {made.__name__}.")
    check_constructor(made)
    found = inspect.getattr_static(made, method, None)
    plain = getattr(found, "__func__", found)
    if not inspect.isroutine(plain) or isinstance(plain, (functools.partial, functools.partialmethod)):
        raise TypeError(
            f"{kind} '{made.__name__}' has an unsupported {method} definition.\n"
            f"Define {method} as an instance, class, or static method."
        )
    first = () if isinstance(found, staticmethod) else tuple(inspect.signature(plain).parameters)[:1]
    is_async = _is_async(plain, made)
    return Source(made, plain, method, is_async, frozenset(first), made, bool(first))


def _of_object(function: object) -> Source:
    if isinstance(function, UserDefinedFunction) and not isinstance(function, _SCALAR):
        raise TypeError(f"func must be a scalar UDF, got {type(function).__name__}.")
    if not callable(function) and not isinstance(function, _SCALAR):
        raise TypeError(f"func must be callable, got {type(function).__name__}.")
    method = "eval" if isinstance(function, _SCALAR) else "__call__"
    target = getattr(function, method)
    is_async = _is_async(target, type(function))
    return Source(function, target, method, is_async, owner=type(function), takes_self=inspect.ismethod(target))


def _is_async(target: object, made: type) -> bool:
    """Return whether calls are awaited.

    Raises:
        TypeError: Those of its class are, and this method is not async.
    """
    is_async = inspect.iscoroutinefunction(target)
    if issubclass(made, AsyncScalarFunction) and not is_async:
        raise TypeError(f"AsyncScalarFunction '{made.__name__}': declare eval with async def.")
    return is_async


def _bound_names(function: object, target: Callable[..., object]) -> frozenset[str]:
    """Return the parameters that ``functools.partial`` gives.

    Raises:
        TypeError: The function has no such parameters.
    """
    if not isinstance(function, functools.partial):
        return frozenset()
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return frozenset()
    try:
        return frozenset(signature.bind_partial(*function.args, **function.keywords).arguments)
    except TypeError as error:
        name = getattr(target, "__name__", type(target).__name__)
        raise TypeError(f"Invalid functools.partial UDF '{name}': {error}") from error


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
    """Return the kind of function that its annotations tell: ``pandas``, ``arrow`` or ``general``.

    Raises:
        ValueError: They tell two kinds.
    """
    hints = [hint for name, hint in source.hints.items() if name not in source.bound]
    kinds = {kind for kind in map(container_of, hints) if kind is not None}
    if len(kinds) > 1:
        raise ValueError(f"'{source.name}' has annotations of pandas and of Arrow: choose one by func_type.")
    return next(iter(kinds), "general")


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
        return DataType._from_type_hint(dtype)
    except (TypeError, NameError, SyntaxError) as error:
        raise TypeError(
            "return_dtype must be a DataFrame DataType or SQL type string, or a Python type, got "
            f"{type(dtype).__name__}."
        ) from error


def result_of(source: Source, dtype: object) -> DataType:
    """Return the type of what a function returns, as an argument or its annotation tells.

    Raises:
        TypeError: Neither does.
    """
    if dtype is not None:
        return type_of_argument(dtype)
    hints = source.hints
    if "return" not in hints:
        raise TypeError(
            f"Cannot infer return_dtype for '{source.name}': add a return annotation or specify return_dtype "
            "explicitly."
        )
    try:
        return DataType._from_type_hint(hints["return"])
    except (TypeError, NameError, SyntaxError) as error:
        raise TypeError(
            f"Cannot infer return_dtype for '{source.name}' from its return annotation.\n"
            "Specify return_dtype explicitly."
        ) from error


def with_none(dtype: DataType) -> DataType:
    """Return a type whose values may be None, also within: annotations of aggregates leave it out."""
    return DataType(_nullable(dtype._to_table_data_type()))


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

    def __init__(self, source: Source, *, deterministic: bool = True) -> None:
        """Take the declaration."""
        self.source, self.deterministic = source, deterministic
        self._made: object = None
        self._open = False

    def open(self, function_context: FunctionContext) -> Callable[..., object]:
        """Make and open the function, and return what calls it.

        Raises:
            ValueError: The function says otherwise than its declaration whether equal arguments give equal results.
        """
        self._made = self.source.make()
        if isinstance(self._made, _SCALAR) and self._made.is_deterministic() != self.deterministic:
            raise ValueError(f"Inconsistent deterministic: {self.deterministic} and {not self.deterministic}.")
        opening = getattr(self._made, "open", None)
        if callable(opening) and self._has_life:
            opening(function_context)
        self._open = True
        return self.source.invocation(self._made)

    @property
    def _has_life(self) -> bool:
        """Whether the function is opened and closed, and not only called."""
        return isinstance(self._made, UserDefinedFunction) or isinstance(self.source.declared, type)

    def close(self) -> None:
        """Close the function, if it was opened."""
        was_open, self._open = self._open, False
        closing = getattr(self._made, "close", None)
        if was_open and self._has_life and callable(closing):
            closing()
