"""Functions frozen when their step is added to the program, so that later changes to variables do not affect them.

PyFlink pickles a function when its step is added. A function that is created in a loop therefore keeps the loop
variable's value of its iteration. Pickling at planning time would give all of them the last value.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from flintstream.common._user_code import by_value
from flintstream.errors import UnpicklableError
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.operators.adapters import PlainFunction


def freeze(name: str, operator: Any) -> Frozen:
    """Pickle an operator or a function for the tasks; return one that is already pickled unchanged.

    Raises:
        UnpicklableError: It refers to something that cannot be pickled, which the message names.
    """
    if isinstance(operator, Frozen):
        return operator
    function = getattr(operator, "function", operator)
    try:
        return Frozen(by_value.dumps(operator), _describe(function))
    except Exception as error:
        culprit = _unpicklable_part(function)
        hint = f" (its {culprit})" if culprit else ""
        raise UnpicklableError(
            f"the function of operator '{name}' cannot be pickled{hint}: {error}. "
            "Create such objects (connections, locks, files) in open(), which runs in the worker",
        ) from error


def _describe(function: Any) -> str:
    """Describe a function, or an object by its class."""
    if isinstance(function, PlainFunction):
        (function,) = vars(function).values()
    function = getattr(function, "function", function)  # unwrap adapters
    if isinstance(function, FunctionType):
        return f"the function {function.__qualname__}"
    return f"an object of the class {type(function).__qualname__}"


def _unpicklable_part(function: Any) -> str | None:
    if isinstance(function, FunctionType):
        for name, value in inspect.getclosurevars(function).nonlocals.items():
            if not _picklable(value):
                return f"variable '{name}' of type {type(value).__name__}"
    for name, value in getattr(function, "__dict__", {}).items():
        if not _picklable(value):
            inner = _unpicklable_part(value) if isinstance(value, FunctionType) else None
            return inner or f"attribute '{name}' of type {type(value).__name__}"
    return None


def _picklable(value: Any) -> bool:
    try:
        by_value.dumps(value)
    except Exception:  # noqa: BLE001 - any error makes it the culprit
        return False
    return True
