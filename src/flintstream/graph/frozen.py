"""Functions as they are when a step is added to the program: what happens to their surroundings later changes nothing.

PyFlink pickles a function when its step is added, so that one that is made in a loop keeps the loop's variable of its
round. Pickling it when the job is planned would give all of them that of the last.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from flintstream.common import _by_value
from flintstream.errors import UnpicklableError
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.operators.adapters import PlainFunction


def frozen(name: str, operator: Any) -> Frozen:
    """Pickle an operator, or a function, for the tasks; one that is pickled already stays as it is.

    Raises:
        UnpicklableError: It holds something that cannot be pickled; the message says what.
    """
    if isinstance(operator, Frozen):
        return operator
    function = getattr(operator, "function", operator)
    try:
        return Frozen(_by_value.dumps(operator), _described(function))
    except Exception as error:
        culprit = _unpicklable_part(function)
        hint = f" (its {culprit})" if culprit else ""
        raise UnpicklableError(
            f"the function of operator '{name}' cannot be pickled{hint}: {error}. "
            "Create such objects (connections, locks, files) in open(), which runs in the worker",
        ) from error


def _described(function: Any) -> str:
    """Name a function, or the class of an object."""
    if isinstance(function, PlainFunction):
        (function,) = vars(function).values()
    function = getattr(function, "function", function)  # of an adapter
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
        _by_value.dumps(value)
    except Exception:  # noqa: BLE001 - any failure makes it the culprit
        return False
    return True
