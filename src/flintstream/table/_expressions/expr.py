"""Resolved expressions: what the code generator reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._functions.wrappers import FunctionWrapper


@dataclass(frozen=True)
class Expr:
    """An expression with a type."""

    type: DataType

    @property
    def nullable(self) -> bool:
        """Whether it may be None."""
        return is_nullable(self.type)


@dataclass(frozen=True)
class Ref(Expr):
    """A column of the input."""

    index: int


@dataclass(frozen=True)
class OuterRef(Expr):
    """A column of the query around this one, until both are joined."""

    index: int


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A value. 0.0 and -0.0 differ."""

    value: Any

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same value of one type."""
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        """Return a hash that agrees."""
        return hash(self._key())

    def _key(self) -> tuple[DataType, type, str]:
        return self.type, type(self.value), repr(self.value)


class Unread(Const):
    """NULL in place of what no step reads."""


@dataclass(frozen=True)
class Call(Expr):
    """A function applied to arguments.

    ``emit`` writes the code. If ``strict``, it gets variables that are not None: any None makes the result None.
    A result that is ``lacking`` may be None although its type says NOT NULL, as that of LPAD in Flink.
    """

    name: str
    arguments: tuple[Expr, ...]
    emit: Emit
    strict: bool = True
    lacking: bool = False


def may_be_none(expression: Expr) -> bool:
    """Return whether the value of an expression may be None, whatever its type says."""
    if is_nullable(expression.type):
        return True
    if not isinstance(expression, Call):
        return False
    return expression.lacking or (expression.strict and any(map(may_be_none, expression.arguments)))


@dataclass(frozen=True)
class Invocation(Call):
    """A Python function applied to arguments."""

    function: FunctionWrapper | None = None


def calls_python(expression: Expr) -> bool:
    """Return whether an expression calls a Python function."""
    if isinstance(expression, Invocation):
        return True
    return isinstance(expression, Call) and any(map(calls_python, expression.arguments))


_VOLATILE = frozenset({"CURRENT_WATERMARK", "RAND", "RAND_INTEGER"})


def is_repeatable(call: Call) -> bool:
    """Return whether a call has the same result for the same arguments. What takes none may ask a clock."""
    return bool(call.arguments) and call.name not in _VOLATILE and not isinstance(call, Invocation)


def is_stable(expression: Expr) -> bool:
    """Return whether an expression has the same value for the same row whenever it is computed."""
    if isinstance(expression, Call):
        return (is_repeatable(expression) or not expression.strict) and all(map(is_stable, expression.arguments))
    return True


Emit = Callable[["Generator", Call, Sequence[str]], str]
"""Writes statements if necessary, and returns a Python expression for the result; lazy functions get no variables."""


@dataclass(frozen=True)
class Column:
    """A column of a table. ``time`` is ROWTIME or PROCTIME for a time attribute, else empty."""

    name: str
    type: DataType
    time: str = ""
    in_star: bool = True
    """Whether ``*`` stands for it, too."""


@cache
def template(text: str) -> Emit:
    """Return an emitter that fills ``{0}``, ``{1}``, ... or ``{all}`` with the variables of the arguments."""

    def emit(_: Generator, __: Call, names: Sequence[str]) -> str:
        return text.format(*names, all=", ".join(names))

    return emit
