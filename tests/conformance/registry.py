"""The declarations of conformance programs.

The module imports only the standard library, because both real PyFlink and flintstream load it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Mode = Literal["STREAMING", "BATCH"]
BOTH: tuple[Mode, ...] = ("STREAMING", "BATCH")
Ordering = Literal["exact", "multiset", "per_key"]
Stage = Literal["build", "run"]
F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True)
class Collected:
    """Values that a program has already collected itself, for example with ``execute_and_collect``."""

    values: tuple[Any, ...]


def collected(values: Iterable[Any]) -> Collected:
    """Return ``values`` as a result of a program, instead of a stream."""
    return Collected(tuple(values))


@dataclass(frozen=True)
class Program:
    """One program: the function that builds its streams, and the comparison of its results."""

    function: Callable[..., Any]
    modes: tuple[Mode, ...] = ("STREAMING",)
    parallelism: tuple[int, ...] = (1,)
    ordering: Ordering = "exact"
    directory: bool = False
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the function, and of the file with its recorded results."""
        return self.function.__name__

    @property
    def can_share_a_job(self) -> bool:
        """Whether one job can run it together with others: it executes nothing itself and does not change settings."""
        return not _NEEDS_A_JOB_OF_ITS_OWN & set(self.function.__code__.co_names)


_NEEDS_A_JOB_OF_ITS_OWN = {"collected", "add_python_file", "set_uid_hash"}


@dataclass(frozen=True)
class FailingProgram:
    """One program that must fail: the stage, the exception and the message."""

    function: Callable[..., Any]
    stage: Stage
    exception: str
    match: str
    mode: Mode = "STREAMING"

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__


_programs: list[Program] = []
_failing: list[FailingProgram] = []


def program(
    modes: tuple[Mode, ...] = ("STREAMING",),
    *,
    parallelism: tuple[int, ...] = (1,),
    ordering: Ordering = "exact",
    directory: bool = False,
    config: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Register a function ``(env) -> DataStream | Collected | list of both`` as a program.

    Args:
        modes: The runtime modes it runs in.
        parallelism: The default parallelisms it runs with.
        ordering: ``exact``: the records come in this order. ``multiset``: in any order. ``per_key``: in this order
            among the records with the same first field.
        directory: Whether the function takes an empty directory (a ``pathlib.Path``) as its second argument.
        config: Further options of the environment.
    """

    def register(function: F) -> F:
        _programs.append(Program(function, modes, parallelism, ordering, directory, dict(config or {})))
        return function

    return register


def failing(stage: Stage, exception: str, match: str, *, mode: Mode = "STREAMING") -> Callable[[F], F]:
    """Register a function that must fail.

    Args:
        stage: ``build``: the function itself raises. ``run``: what it returns cannot be executed.
        exception: The name of the exception's class; at the stage ``run``, of the root cause.
        match: A part of the message; case does not matter.
        mode: The runtime mode.
    """

    def register(function: F) -> F:
        _failing.append(FailingProgram(function, stage, exception, match, mode))
        return function

    return register


def take_programs() -> list[Program]:
    """Return what has been registered since the last call."""
    taken = _programs[:]
    _programs.clear()
    return taken


def take_failing() -> list[FailingProgram]:
    """Return what has been registered since the last call."""
    taken = _failing[:]
    _failing.clear()
    return taken
