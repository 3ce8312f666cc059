"""What a subtask reports of its metrics at the end of an epoch, and how reports are put together.

Each kind of metric combines in two ways: ``a.then(b)`` is what one subtask reported in two epochs one after the other,
``a.beside(b)`` what two subtasks reported. What adds up is reported as the difference to the previous report, so that
an epoch that is repeated, or a subtask that goes on in another process, counts nothing twice and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Reported(Protocol):
    """A report of one metric."""

    def then(self, later: Any) -> Reported:
        """Add what the same subtask reported later."""

    def beside(self, other: Any) -> Reported:
        """Add what another subtask reported."""

    def values(self) -> dict[str, Any]:
        """Return what is shown: values by the suffix to the metric's name, empty for the name itself."""


@dataclass(frozen=True, slots=True)
class Counted:
    """By how much a counter changed; counters add up.

    >>> Counted(2).then(Counted(3)).beside(Counted(10)).values()
    {'': 15}
    """

    count: int

    def then(self, later: Counted) -> Counted:
        """See :meth:`Reported.then`."""
        return Counted(self.count + later.count)

    beside = then

    def values(self) -> dict[str, Any]:
        """See :meth:`Reported.values`."""
        return {"": self.count}


@dataclass(frozen=True, slots=True)
class Metered:
    """How many events a meter has seen, and its rate (per second) now; the rates of subtasks add up.

    >>> Metered(2, 9.0).then(Metered(3, 4.0)).beside(Metered(10, 1.5)).values()
    {'.count': 15, '.rate': 5.5}
    """

    count: int
    rate: float

    def then(self, later: Metered) -> Metered:
        """See :meth:`Reported.then`."""
        return Metered(self.count + later.count, later.rate)

    def beside(self, other: Metered) -> Metered:
        """See :meth:`Reported.beside`."""
        return Metered(self.count + other.count, self.rate + other.rate)

    def values(self) -> dict[str, Any]:
        """See :meth:`Reported.values`."""
        return {".count": self.count, ".rate": self.rate}


@dataclass(frozen=True, slots=True)
class Distributed:
    """Count, sum, smallest and largest of the numbers a distribution was given.

    >>> Distributed(2, 8.0, 3.0, 5.0).then(Distributed(1, 1.0, 1.0, 1.0)).values()
    {'.count': 3, '.sum': 9.0, '.min': 1.0, '.max': 5.0, '.mean': 3.0}
    """

    count: int = 0
    sum: float = 0
    min: float = 0.0
    max: float = 0.0

    def then(self, later: Distributed) -> Distributed:
        """See :meth:`Reported.then`."""
        if not self.count or not later.count:
            return later if later.count else self
        return Distributed(
            self.count + later.count, self.sum + later.sum, min(self.min, later.min), max(self.max, later.max)
        )

    beside = then

    def values(self) -> dict[str, Any]:
        """See :meth:`Reported.values`; nothing but the count while there are no numbers."""
        if not self.count:
            return {".count": 0}
        mean = self.sum / self.count
        return {".count": self.count, ".sum": self.sum, ".min": self.min, ".max": self.max, ".mean": mean}


@dataclass(frozen=True, slots=True)
class Gauged:
    """What a gauge showed last in each subtask; nobody but the user knows how such values combine.

    >>> Gauged([3]).then(Gauged([4])).beside(Gauged([1])).values()
    {'': [4, 1]}
    """

    by_subtask: list[Any]
    error: str = ""
    """Why a subtask's gauge could not be read; None stands in the place of its value."""

    def then(self, later: Gauged) -> Gauged:
        """See :meth:`Reported.then`."""
        return later

    def beside(self, other: Gauged) -> Gauged:
        """See :meth:`Reported.beside`."""
        return Gauged(self.by_subtask + other.by_subtask)

    def values(self) -> dict[str, Any]:
        """See :meth:`Reported.values`."""
        return {"": self.by_subtask}
