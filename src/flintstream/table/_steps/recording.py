"""Methods of the Table API that plans can make again: each remembers how its result came about."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Protocol, TypeVar

from flintstream.table._logical.planned import Step

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate

    from typing_extensions import ParamSpec

    from flintstream.table._logical.planned import Origin

    P = ParamSpec("P")


class Recorded(Protocol):
    """A table, or what its methods return on the way to another one."""

    _made: Step | None

    @property
    def _origin(self) -> Origin | None:
        """Where it comes from; None if no plan can store that."""


class Unfinished:
    """What methods of tables return on the way to another table."""

    _made: Step | None = None

    @property
    def _origin(self) -> Origin | None:
        """The last method that made it."""
        return self._made


R = TypeVar("R", bound=Recorded)
S = TypeVar("S", bound=Recorded)
_RECORDS = "_is_recorded"


def recorded(method: Callable[Concatenate[R, P], S]) -> Callable[Concatenate[R, P], S]:
    """Return a method whose result remembers the call. Calls within it do not count."""

    @wraps(method)
    def call(self: R, *arguments: P.args, **named: P.kwargs) -> S:
        made = method(self, *arguments, **named)
        made._made = Step(self._origin, method.__name__, arguments, named)
        return made

    setattr(call, _RECORDS, True)
    return call  # type: ignore[return-value]  # it has the name of `self` as well


def is_recorded(kind: type[object], name: str) -> bool:
    """Return whether a class has a method of a name that remembers its calls."""
    return hasattr(getattr(kind, name, None), _RECORDS)
