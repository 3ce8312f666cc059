"""Methods of the Table API that plans can make again: each remembers how its result came about."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from flintstream.table._logical.planned import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import Origin, PlannedQuery


class Recorded(Protocol):
    """A table, or what its methods return on the way to another one."""

    _made: Step | None

    @property
    def _origin(self) -> Origin | None:
        """Where it comes from; None if no plan can store that."""


MakeTable: TypeAlias = "Callable[[Node | PlannedQuery], Recorded]"
"""Makes a table of a plan."""
C = TypeVar("C", bound=type[Recorded])
_RECORDS = "_is_recorded"


class Unfinished:
    """What methods of tables return on the way to another table."""

    _made: Step | None = None

    @property
    def _origin(self) -> Origin | None:
        """The last method that made it."""
        return self._made


def record_steps(kind: C) -> C:
    """Return a class of tables whose methods note the call in the table that they return.

    These are the public methods that are declared to return a class named ``...Table``. Calls within them do not count.
    """
    for name, method in list(vars(kind).items()):
        returned = getattr(method, "__annotations__", {}).get("return", "")
        if not name.startswith("_") and str(returned).endswith("Table"):
            setattr(kind, name, _recorder(method))
    return kind


def _recorder(method: Callable[..., Recorded]) -> Callable[..., Recorded]:
    @wraps(method)
    def call(self: Recorded, *arguments: object, **named: object) -> Recorded:
        made = method(self, *arguments, **named)
        made._made = Step(self._origin, method.__name__, arguments, named)
        return made

    setattr(call, _RECORDS, True)
    return call


def is_recorded(kind: type[object], name: str) -> bool:
    """Return whether a class has a method of a name that notes its calls."""
    return hasattr(getattr(kind, name, None), _RECORDS)
