"""Key selectors that just take a field of a record."""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW"})
_CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})
_SUBSCRIPTS = frozenset({"BINARY_SUBSCR", "BINARY_OP"})
_OTHER_KINDS = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_SILENT = frozenset({"RESUME", "CACHE", "NOP", "PRECALL", "COPY_FREE_VARS", "NOT_TAKEN"})


def field_of(selector: Any) -> int:
    """Return the number of the field that ``selector`` takes from a tuple, or -1 if it may do something else.

    It tells by the instructions of a function, such as ``lambda record: record[0]``, or of a method ``get_key``.

    >>> field_of(lambda record: record[1]), field_of(lambda record: record[1] + 1), field_of(len)
    (1, -1, -1)
    """
    position = 0
    if type(selector) is MethodType:
        selector, position = selector.__func__, 1
    return _field_of_code(selector.__code__, position) if type(selector) is FunctionType else -1


@lru_cache(maxsize=256)  # by code: a user's selector need not be hashable
def _field_of_code(code: CodeType, position: int) -> int:
    """Return the same for a function whose argument at ``position`` is the record."""
    if code.co_argcount != position + 1 or code.co_nlocals != position + 1 or code.co_flags & _OTHER_KINDS:
        return -1
    steps = [step for step in dis.get_instructions(code) if step.opname not in _SILENT]
    if len(steps) != 4 or steps[3].opname != "RETURN_VALUE":
        return -1
    load, constant, subscript, _ = steps
    if not (load.opname in _LOADS and constant.opname in _CONSTANTS and subscript.opname in _SUBSCRIPTS):
        return -1
    if subscript.opname == "BINARY_OP" and subscript.argrepr != "[]":
        return -1
    if load.argval != code.co_varnames[position] or type(constant.argval) is not int:
        return -1
    return constant.argval if 0 <= constant.argval <= sys.maxsize else -1
