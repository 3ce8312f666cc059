"""Reports of a subtask's metrics at the end of an epoch, and how they combine.

Each kind of metric combines in two ways: ``a.then(b)`` merges reports of one subtask from consecutive epochs,
``a.beside(b)`` merges reports of two subtasks. Additive metrics report differences to the previous report, so a
repeated epoch or a subtask that moves to another process neither counts twice nor loses anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Reported(Protocol):
    """A report of one metric."""

    def then(self, later: Any) -> Reported:
        """Merge a later report of the same subtask."""

    def beside(self, other: Any) -> Reported:
        """Merge a report of another subtask."""

    def values(self) -> dict[str, Any]:
        """Return the displayed values by name suffix; empty for the metric's name itself."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The change of a counter. Counters add up.

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
    """The number of a meter's events, and its current rate (per second). The rates of subtasks add up.

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
    """Count, sum, minimum and maximum of a distribution's numbers.

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
        """See :meth:`Reported.values`; only the count if there are no numbers."""
        if not self.count:
            return {".count": 0}
        mean = self.sum / self.count
        return {".count": self.count, ".sum": self.sum, ".min": self.min, ".max": self.max, ".mean": mean}


@dataclass(frozen=True, slots=True)
class Gauged:
    """The latest value of a gauge in each subtask. Only the user knows how such values combine.

    >>> Gauged([3]).then(Gauged([4])).beside(Gauged([1])).values()
    {'': [4, 1]}
    """

    by_subtask: list[Any]
    error: str = ""
    """Why a subtask's gauge could not be read; its value is None then."""

    def then(self, later: Gauged) -> Gauged:
        """See :meth:`Reported.then`."""
        return later

    def beside(self, other: Gauged) -> Gauged:
        """See :meth:`Reported.beside`."""
        return Gauged(self.by_subtask + other.by_subtask)

    def values(self) -> dict[str, Any]:
        """See :meth:`Reported.values`."""
        return {"": self.by_subtask}
