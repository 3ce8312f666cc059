"""What a conformance program says about itself.

The module imports nothing but the standard library, for it is loaded beside real PyFlink and beside flintstream alike.
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
    """Values that a program has already brought home by itself, with ``execute_and_collect`` for one."""

    values: tuple[Any, ...]


def collected(values: Iterable[Any]) -> Collected:
    """Return ``values`` as a result of a program, in place of a stream."""
    return Collected(tuple(values))


@dataclass(frozen=True)
class Program:
    """One program: what builds its streams, and how its results are to be compared."""

    function: Callable[..., Any]
    modes: tuple[Mode, ...] = ("STREAMING",)
    parallelism: tuple[int, ...] = (1,)
    ordering: Ordering = "exact"
    directory: bool = False
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the function, which is also that of the file with its recorded results."""
        return self.function.__name__

    @property
    def can_share_a_job(self) -> bool:
        """Whether one job can run it beside others: it executes nothing itself and leaves the settings alone."""
        return not _NEEDS_A_JOB_OF_ITS_OWN & set(self.function.__code__.co_names)


_NEEDS_A_JOB_OF_ITS_OWN = {"collected", "add_python_file", "set_uid_hash"}


@dataclass(frozen=True)
class FailingProgram:
    """One program that has to fail: at what stage, with what exception, saying what."""

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
    """Register a function that has to fail.

    Args:
        stage: ``build``: the function itself raises. ``run``: what it returns cannot be executed.
        exception: The name of the exception's class; at the stage ``run``, of the one that started it all.
        match: What the message has to contain, upper and lower case alike.
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
