"""Python functions in expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Const, Invocation
from flintstream.table._expressions.python_values import converter_of, zone_converter
from flintstream.table._functions.awaiting import AsyncRows
from flintstream.table._functions.kinds import ArrowRows
from flintstream.table._types.objects import python_lacks
from flintstream.table._types.rules import implicit, sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr
    from flintstream.table._functions.wrappers import FunctionWrapper


def arguments_of(function: Any, arguments: Sequence[Expr], zone: str, place: Place | None) -> tuple[Expr, ...]:
    """Return the arguments in the types that the function declares.

    Raises:
        SqlError: Their number or types do not fit.
    """
    for argument in arguments:
        lacking = python_lacks(argument.type)
        if lacking is not None:
            raise SqlError(
                f"{function.name}{at(place)}: Python functions take no {sql_name(lacking)}, as in PyFlink: convert it, "
                "with JSON_STRING or BITMAP_TO_ARRAY, or select its fields"
            )
    given = _in_declared_types(function, list(map(_keep_digits, arguments)), zone, place)
    if hasattr(function.implementation, "of_types"):
        return given  # of pandas, which has values of its own for points in time
    return tuple(_with_zone(argument, zone) for argument in given)


def _keep_digits(argument: Expr) -> Expr:
    """Return a literal that is cast to DECIMAL with all of its digits, as PyFlink hands it to functions."""
    if not isinstance(argument, Call) or argument.name != "CAST" or not isinstance(argument.type, t.DecimalType):
        return argument
    (literal,) = argument.arguments
    if isinstance(literal, Const) and isinstance(literal.value, Decimal):
        return Const(argument.type, literal.value)
    return argument


def _with_zone(argument: Expr, zone: str) -> Expr:
    """Return an argument whose points in time are, as in PyFlink, in the zone of the session, at the hour of UTC."""
    convert = zone_converter(argument.type, zone)
    if convert is None:
        return argument

    def emit(generator: Generator, _: Call, names: Sequence[str]) -> str:
        return f"{generator.known('z', convert)}({names[0]})"

    return Call(argument.type, "ZONED", (argument,), emit)


def _in_declared_types(
    function: FunctionWrapper, arguments: Sequence[Expr], zone: str, place: Place | None
) -> tuple[Expr, ...]:
    declared = function.input_types
    if declared is None:
        return tuple(arguments)
    given = ", ".join(sql_name(argument.type) for argument in arguments)
    takes = ", ".join(map(sql_name, declared))
    if len(declared) != len(arguments):
        raise SqlError(f"{function.name}({given}){at(place)} has {len(arguments)} arguments: it takes ({takes})")
    made = [
        cast(item, kind, zone) if implicit(item.type, kind) else None
        for item, kind in zip(arguments, declared, strict=True)
    ]
    fitting = tuple(item for item in made if item is not None)
    if len(fitting) < len(made):
        raise SqlError(f"{function.name}({given}){at(place)} has arguments of the wrong type: it takes ({takes})")
    return fitting


def invocation(function: Any, arguments: Sequence[Expr], zone: str, place: Place | None) -> Expr:
    """Return the call of a scalar function."""
    if function.kind != "scalar":
        raise SqlError(f"{function.name}{at(place)} is a {function.kind} function: {function.advice}")
    given = arguments_of(function, arguments, zone, place)
    if isinstance(function.implementation, ArrowRows) and not any(ref for item in given for ref in refs(item)):
        raise SqlError(
            f"{function.name}{at(place)} is a function of Arrow and needs at least one column-valued argument, which "
            "tells it how many rows a batch has"
        )
    typed = function.of_types([item.type for item in given], zone)
    return Invocation(function.result_type, function.name, given, calling(typed), strict=False, function=typed)


def calling(function: Any) -> Emit:
    """Return the emitter of a call; results are converted to the declared type."""

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        names = [generator.value(argument) for argument in call.arguments]
        if not any(function.implementation is item for item in generator.functions):
            generator.functions.append(function.implementation)
        awaited = generator.awaits and isinstance(function.implementation, AsyncRows)
        called = generator.known("u", function.implementation.call if awaited else function.implementation.eval)
        result = generator.put(f"{'await ' if awaited else ''}{called}({', '.join(names)})")
        converter = converter_of(call.type)
        if converter is not None:
            convert = generator.known("t", converter)
            generator.line(f"if {result} is not None: {result} = {convert}({result})")
        return result

    return emit
