"""How scalar functions are defined: what they take, what they return, and their code.

A signature has a letter for each argument: S text, I integer, N number, F floating point, B boolean, T timestamp,
D date or timestamp, C time of day, V interval, A any type, Y bytes or text, P text but no bare NULL. A ``?`` makes
the last one optional, a ``*`` lets it repeat.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from flintstream.common._types import data_types as t
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, template
from flintstream.table._types.rules import (
    BYTES,
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    IntervalType,
    is_nullable,
    with_null,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr
    from flintstream.table._expressions.operators import Build

STRING, INT, BIGINT, DOUBLE, BOOLEAN = (
    t.VarCharType(t.MAX_LENGTH),
    t.IntType(),
    t.BigIntType(),
    t.DoubleType(),
    t.BooleanType(),
)

_LETTERS: dict[str, tuple[type[DataType], ...]] = {
    "S": TEXTS,
    "P": TEXTS,
    "I": tuple(INTEGERS),
    "N": (t.NumericType,),
    "F": (t.NumericType,),
    "B": (t.BooleanType,),
    "T": TIMESTAMPS,
    "D": (*TIMESTAMPS, t.DateType),
    "A": (t.DataType,),
    "Y": (*TEXTS, *BYTES),
    "C": (t.TimeType,),
    "V": (IntervalType,),
}


class Function(NamedTuple):
    """A function of the catalog that comes with the system."""

    name: str
    signatures: tuple[str, ...]
    build: Build
    takes: str
    """What the arguments may be, for messages."""


FUNCTIONS: dict[str, Function] = {}
"""By name, in capital letters."""


def _fits(signature: str, arguments: Sequence[Expr]) -> bool:
    letters = signature.replace("?", "").replace("*", "")
    least = len(letters) - (1 if signature.endswith(("?", "*")) else 0)
    if len(arguments) < least or (len(arguments) > len(letters) and not signature.endswith("*")):
        return False
    padded = letters + letters[-1:] * (len(arguments) - len(letters))
    return all(
        isinstance(item.type, (*_LETTERS[letter], *(() if letter == "P" else (t.NullType,))))
        for letter, item in zip(padded, arguments, strict=False)
    )


def _prepare(signature: str, arguments: Sequence[Expr], zone: str) -> list[Expr]:
    letters = signature.replace("?", "").replace("*", "")
    padded = letters + letters[-1:] * max(len(arguments) - len(letters), 0)
    return [_fit(letter, item, zone) for letter, item in zip(padded, arguments, strict=False)]


def _fit(letter: str, argument: Expr, zone: str) -> Expr:
    kind = argument.type
    if letter == "F":
        return cast(argument, DOUBLE, zone) or argument
    if letter in "TD" and isinstance(kind, t.LocalZonedTimestampType):  # parts of it are those of the local time
        return cast(argument, t.TimestampType(kind.precision), zone) or argument
    return argument


def _words(signature: str) -> str:
    names = {
        "S": "STRING",
        "P": "STRING",
        "I": "INT",
        "N": "number",
        "F": "number",
        "B": "BOOLEAN",
        "T": "TIMESTAMP",
        "D": "DATE or TIMESTAMP",
        "A": "any",
        "Y": "STRING or BYTES",
        "C": "TIME",
        "V": "INTERVAL",
    }
    text = ", ".join(names[letter] for letter in signature if letter in names)
    return f"({text}{' [optional]' if signature.endswith('?') else ', ...' if signature.endswith('*') else ''})"


def define(
    name: str,
    signature: str,
    returns: DataType | Callable[[Sequence[Expr]], DataType],
    code: str | Emit,
    *,
    may_be_null: bool = False,
    lacking: bool = False,
) -> None:
    """Add a function whose code is a template.

    Args:
        name: Its name; several, separated by `` | ``, are aliases.
        signature: Signatures, separated by spaces.
        returns: The type, or a function of the arguments that returns it.
        code: The code, in which ``{all}`` is all arguments; or what emits it.
        may_be_null: Whether it may return None for arguments that are not None.
        lacking: Whether it may do so although its type then says NOT NULL.
    """
    signatures = tuple(signature.split(" "))

    def build(called: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
        fitting = next((item for item in signatures if _fits(item, arguments)), None)
        if fitting is None:
            return None
        kind = returns if isinstance(returns, t.DataType) else returns(arguments)
        nullable = may_be_null or any(is_nullable(argument.type) for argument in arguments)
        given = tuple(_prepare(fitting, arguments, zone))
        emit = template(code.replace("{zone}", repr(zone))) if isinstance(code, str) else code
        return Call(with_null(kind, nullable), called, given, emit, lacking=lacking)

    add(name, signatures, build)


def add(name: str, signatures: tuple[str, ...], build: Build) -> None:
    """Add a function that builds its own expression."""
    takes = " or ".join(_words(signature) for signature in signatures)
    for alias in name.split(" | "):
        FUNCTIONS[alias] = Function(alias, signatures, build, takes)


def first_type(arguments: Sequence[Expr]) -> DataType:
    """Return the type of the first argument."""
    return arguments[0].type


@cache
def structure(code: str) -> Emit:
    """Return an emitter whose arguments may be None; ``{all}`` is all of them."""

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        names = [generator.value(argument) for argument in call.arguments]
        return generator.put(code.format(*names, all=", ".join(names)))

    return emit
