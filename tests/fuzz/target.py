"""The contract of a fuzzing target."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutate import mutated

from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

EQUAL, ACCEPTED, REFUSED = "equal", "accepted", "refused"


class Violation(AssertionError):  # noqa: N818 - not an error of the code under test
    """The code under test accepted an input with a wrong result, or did what it must not do."""


class Target:
    """A reader, its valid inputs, and the way to tell whether it handled an input well.

    :meth:`check` returns an outcome, or raises. An error of one of the classes ``refusals`` is a refusal; any other one
    is a failure.
    """

    name: str
    share: int = 1
    """Its share of the inputs, relative to the other targets."""
    refusals: tuple[type[BaseException], ...] = (FlintstreamError,)
    may_unpickle = False
    of_libraries: frozenset[str] = frozenset()
    """``hung`` or ``died``, where a library of others is known to: counted, and not a failure."""
    explains = True
    """Whether each refusal has a message."""

    def __init__(self, directory: Path) -> None:
        """Keep files in ``directory``, which exists."""
        self.directory = directory

    def valid(self) -> list[bytes]:
        """Return valid inputs, always the same ones."""
        raise NotImplementedError

    @cached_property
    def corpus(self) -> list[bytes]:
        """The valid inputs."""
        return self.valid()

    def input(self, random: Random, number: int) -> bytes:
        """Return an input: first the valid ones unchanged, then mutations of them."""
        return self.corpus[number] if number < len(self.corpus) else self.mutated(random)

    def mutated(self, random: Random) -> bytes:
        """Return a mutation of a valid input."""
        return mutated(random, random.choice(self.corpus), self.corpus)

    def check(self, data: bytes) -> str:
        """Read an input, and return whether the result equals that of the original, or was just accepted."""
        raise NotImplementedError

    def is_refusal(self, error: BaseException) -> bool:
        """Tell whether an error is a refusal: of our class, and without a lack of memory behind it."""
        return isinstance(error, self.refusals) and not lacks_memory(error)

    def file(self, data: bytes, name: str = "input") -> str:
        """Write a file and return its path."""
        path = self.directory / name
        path.write_bytes(data)
        return os.fspath(path)


def lacks_memory(error: BaseException | None) -> bool:
    """Tell whether a lack of memory caused an error."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def same(one: Any, other: Any) -> bool:
    """Compare values by content; NaN equals NaN."""
    return one == other or repr(one) == repr(other)
