"""Defaults from the command line for the environment that a program will create.

A PyFlink program calls ``StreamExecutionEnvironment.get_execution_environment()`` and does not know the command that
started it. Settings in the program take precedence.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Defaults",
    "ProgressListener",
    "get_defaults",
    "note_built",
    "note_executed",
    "reset_defaults",
    "set_defaults",
    "steps_not_executed",
    "without_sink",
]


class ProgressListener(Protocol):
    """The methods of a ``JobListener``, which a layer above defines, and one more."""

    def on_starting(self, job_name: str) -> None:
        """React to a call of ``execute()``, before the job is planned and the engine started."""

    def on_job_submitted(self, job_client: Any, error: BaseException | None) -> None:
        """React to the start of a job."""

    def on_progress(self, progress: Any) -> None:
        """React to the end of an epoch."""

    def on_job_executed(self, progress: Any, result: Any, error: BaseException | None) -> None:
        """React to the end of a job."""


@dataclass(frozen=True)
class Defaults:
    """The defaults of every new environment."""

    config: Mapping[str, str] = field(default_factory=dict)
    """Flink or flintstream options by key."""
    master: str | None = None
    """Spark master URL; None leaves the choice to the environment."""
    parallelism: int | None = None
    py_files: Sequence[str] = ()
    """Absolute paths of Python files, directories and archives from which tasks import."""
    progress: ProgressListener | None = None


_defaults = Defaults()

_unexecuted: dict[int, str] = {}
"""The id of an environment that exists -> the name of the last step that it has not executed."""

_followed: weakref.WeakSet[Any] = weakref.WeakSet()
"""The environments that leave that dictionary at their end."""

_lost: list[str] = []
"""Such names of environments that do not exist any more."""

_without_sink: list[str] = []
"""The names of jobs that had no sink."""

MOST = 10
"""How many names these lists hold: a program may use environments without end."""


def set_defaults(
    config: Mapping[str, str],
    master: str | None,
    parallelism: int | None,
    py_files: Sequence[str],
    *,
    progress: ProgressListener | None = None,
) -> None:
    """Replace the defaults.

    >>> set_defaults({"pipeline.name": "counts"}, "local[2]", 2, [])
    >>> get_defaults().config["pipeline.name"]
    'counts'
    >>> reset_defaults()
    """
    global _defaults  # noqa: PLW0603 - one command starts one program
    _defaults = Defaults(dict(config), master, parallelism, tuple(py_files), progress)


def get_defaults() -> Defaults:
    """Return the current defaults."""
    return _defaults


def reset_defaults() -> None:
    """Clear the defaults."""
    set_defaults({}, None, None, [])


def note_built(environment: object, name: str) -> None:
    """Note that a program has added a step to an environment."""
    _unexecuted[id(environment)] = name
    if environment not in _followed:
        _followed.add(environment)
        weakref.finalize(environment, _forget, id(environment)).atexit = False


def _forget(environment: int) -> None:
    name = _unexecuted.pop(environment, None)
    if name is not None and len(_lost) < MOST:
        _lost.append(name)


def note_executed(environment: object, job_name: str = "", *, has_sink: bool = True) -> None:
    """Note that a program has executed all steps of an environment."""
    _unexecuted.pop(id(environment), None)
    if not has_sink and len(_without_sink) < MOST:
        _without_sink.append(job_name)


def steps_not_executed() -> list[str]:
    """Return the names of the last steps that environments have not executed.

    >>> class Environment: ...
    >>> env = Environment()
    >>> note_built(env, "map")
    >>> note_built(env, "filter")
    >>> steps_not_executed()[-1]
    'filter'
    >>> note_executed(env)
    >>> "filter" in steps_not_executed()
    False
    """
    return [*_lost, *_unexecuted.values()]


def without_sink() -> list[str]:
    """Return the names of the jobs that had no sink."""
    return list(_without_sink)
