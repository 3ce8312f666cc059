"""Functions of the user as they were when a step was added to the program: pickled once, loaded in each task."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frozen:
    """A pickled function, or an operator that holds one."""

    payload: bytes
    what: str
    """What it is, for messages."""

    def thaw(self) -> Any:
        """Return a copy of what was pickled.

        Raises:
            Exception: Whatever unpickling raises, with a note that names the function.
        """
        try:
            return pickle.loads(self.payload)
        except BaseException as error:
            error.add_note(f"raised when a task unpickled {self.what}")
            raise


def thawed(function: Any) -> Any:
    """Return a function, which may be frozen."""
    return function.thaw() if isinstance(function, Frozen) else function


def thaw_operator(frozen: Frozen) -> Any:
    """Return an operator and what it shares with others, such as a key selector."""
    operator = frozen.thaw()
    for name, value in list(vars(operator).items()):
        if type(value) is Frozen:
            setattr(operator, name, value.thaw())
    return operator
