"""User functions that only pick fields of records, add them up, and make tuples: the compiled loops need no call.

Many reduce and aggregate functions are like that: ``lambda a, b: (a[0], a[1] + b[1])``.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from types import CodeType

_OTHER_KINDS = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""Flags of functions that take more than their arguments, or return something else than the end of their code."""

_SILENT = frozenset({"RESUME", "CACHE", "NOP", "PRECALL", "COPY_FREE_VARS", "NOT_TAKEN"})
"""Instructions that do nothing to the stack."""

_LARGEST = 1 << 30

MOST_TERMS = 16
"""Most fields of a result, as in the compiled module."""


class Part(NamedTuple):
    """An argument, a field of one, or a constant."""

    argument: int
    """-1 for a constant."""
    field: int | None = None
    """None for the whole argument."""
    constant: Any = None


Term: TypeAlias = tuple[Part, ...]
"""One part, or two to add."""


class Formula(NamedTuple):
    """What a function returns."""

    terms: tuple[Term, ...]
    is_tuple: bool
    """Whether it is a tuple of the terms, or else the only one."""


def formula_of(function: object, arguments: int) -> Formula | None:
    """Return the formula of a function with this number of arguments, or None if it may do something else.

    It tells by the instructions of a function or a method.

    >>> formula_of(lambda a, b: a + b, 2)
    Formula(terms=((Part(argument=0, field=None, constant=None), Part(argument=1, field=None, constant=None)),), \
is_tuple=False)
    >>> formula_of(lambda a, b: a - b, 2), formula_of(max, 2)
    (None, None)
    """
    first = 0
    if type(function) is MethodType:
        function, first = function.__func__, 1
    return _formula_of_code(function.__code__, first, arguments) if type(function) is FunctionType else None


@lru_cache(maxsize=256)
def _formula_of_code(code: CodeType, first: int, arguments: int) -> Formula | None:
    """Return the same for a function whose arguments begin at position ``first``."""
    if code.co_argcount != first + arguments or code.co_nlocals != code.co_argcount or code.co_flags & _OTHER_KINDS:
        return None
    numbers = {name: number - first for number, name in enumerate(code.co_varnames)}
    stack: list[object] = []  # parts, terms, and formulas
    for step in dis.get_instructions(code):
        name, value = step.opname, step.argval
        if name in _SILENT:
            continue
        if name == "RETURN_VALUE":
            return _formula(stack)
        if not _push(stack, name, value, step.argrepr, numbers):
            return None
    return None


def _push(stack: list[object], name: str, value: Any, text: str, numbers: dict[str, int]) -> bool:
    """Do what an instruction does, and tell whether it may be part of a formula."""
    if name.startswith("LOAD_FAST"):  # some load two
        loaded = [numbers.get(item, -1) for item in (value if isinstance(value, tuple) else (value,))]
        stack += [Part(number) for number in loaded]
        return min(loaded) >= 0
    if name in {"LOAD_CONST", "LOAD_SMALL_INT"}:
        stack.append(Part(-1, constant=value))
        return True
    if name == "BUILD_TUPLE":
        terms = [stack.pop() for _ in range(value)][::-1]
        stack.append(Formula(tuple(_term(term) for term in terms), is_tuple=True))
        return 0 < value <= MOST_TERMS and not any(isinstance(term, Formula) for term in terms)
    if name not in {"BINARY_SUBSCR", "BINARY_OP", "BINARY_ADD"}:
        return False
    right, left = stack.pop(), stack.pop()
    if not (isinstance(left, Part) and isinstance(right, Part)):
        return False
    if name == "BINARY_SUBSCR" or text == "[]":
        index = right.constant
        stack.append(Part(left.argument, index))
        return (
            left.argument >= 0 > right.argument
            and left.field is None
            and type(index) is int
            and -_LARGEST <= index <= _LARGEST
        )
    stack.append((left, right))
    return name == "BINARY_ADD" or text == "+"


def field_taken(function: object, arguments: int) -> int | None:
    """Return the field that a function takes from its first argument, or None if it may do something else.

    >>> field_taken(lambda record: record[-1], 1), field_taken(lambda record: record, 1)
    (-1, None)
    """
    formula = formula_of(function, arguments)
    if formula is None or formula.is_tuple or len(formula.terms[0]) > 1:
        return None
    part = formula.terms[0][0]
    return None if part.argument else part.field


def _term(found: object) -> Any:
    return (found,) if isinstance(found, Part) else found


def _formula(stack: list[object]) -> Formula | None:
    (result,) = stack
    return result if isinstance(result, Formula) else Formula((_term(result),), is_tuple=False)
