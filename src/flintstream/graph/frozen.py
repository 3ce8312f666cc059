"""Functions as they are when a step is added to the program: what happens to their surroundings later changes nothing.

PyFlink pickles a function when its step is added, so that one that is made in a loop keeps the loop's variable of its
round. Pickling it when the job is planned would give all of them that of the last.
"""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType
from typing import Any, TypeVar

import cloudpickle

from flintstream.errors import UnpicklableError

T = TypeVar("T")


def frozen(name: str, operator: T) -> T:
    """Return a copy of an operator, or of a function, that shares nothing with the program.

    Raises:
        UnpicklableError: It holds something that cannot be pickled; the message says what.
    """
    return pickle.loads(pickle_operator(name, operator))  # type: ignore[no-any-return]


def pickle_operator(name: str, operator: Any) -> bytes:
    """Pickle an operator, or a function, for the tasks.

    Raises:
        UnpicklableError: It holds something that cannot be pickled; the message says what.
    """
    try:
        return cloudpickle.dumps(operator, 5)  # type: ignore[no-any-return]
    except Exception as error:
        culprit = _unpicklable_part(getattr(operator, "function", operator))
        hint = f" (its {culprit})" if culprit else ""
        raise UnpicklableError(
            f"the function of operator '{name}' cannot be pickled{hint}: {error}. "
            "Create such objects (connections, locks, files) in open(), which runs in the worker",
        ) from error


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
        cloudpickle.dumps(value)
    except Exception:  # noqa: BLE001 - any failure makes it the culprit
        return False
    return True
