"""User functions, pickled once when a step is added to the program and loaded in each task."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from flintstream.errors import add_note


@dataclass(frozen=True)
class Frozen:
    """A pickled function, or an operator that holds one."""

    payload: bytes
    what: str
    """A description for messages."""

    def thaw(self) -> Any:
        """Unpickle the object.

        Raises:
            Exception: Unpickling failed; a note names the function.
        """
        try:
            return pickle.loads(self.payload)
        except BaseException as error:
            add_note(error, f"raised when a task unpickled {self.what}")
            raise


def thaw_function(function: Any) -> Any:
    """Return ``function``, unpickled if it is frozen."""
    return function.thaw() if isinstance(function, Frozen) else function


def thaw_operator(frozen: Frozen) -> Any:
    """Unpickle an operator and the functions that it shares with others, such as a key selector."""
    operator = frozen.thaw()
    for name, value in list(vars(operator).items()):
        if type(value) is Frozen:
            setattr(operator, name, value.thaw())
    return operator
