"""Records that are due at a constant rate. This module imports only the standard library: all engines' jobs use it."""

from __future__ import annotations

from dataclasses import dataclass

PATIENCE_SECONDS = 2.0
"""An engine keeps up if it has emitted all records this long after the last one was due."""
TICKS = 1000
"""Ticks per second of sources that cannot wait for a single record."""


@dataclass(frozen=True)
class Beats:
    """Record ``number`` is due ``number / rate`` seconds after the start; the parts of a source take turns."""

    rate: float
    seconds: float
    parts: int = 1

    @property
    def records(self) -> int:
        """The number of all records."""
        return int(self.rate * self.seconds)

    @property
    def ticks(self) -> int:
        """The number of ticks of a part."""
        return int(self.seconds * TICKS)

    def due(self, number: int) -> float:
        """Return when a record is due, in ms after the start."""
        return number * 1000 / self.rate

    def until(self, elapsed: float) -> int:
        """Return the number of records that are due ``elapsed`` ms after the start."""
        return min(self.records, int(elapsed * self.rate / 1000) + 1)

    def of_tick(self, tick: int, part: int = 0) -> range:
        """Return the records of a part that are due at a tick or since the one before."""
        first = self.until((tick - 1) * 1000 / TICKS) if tick else 0
        end = self.records if tick == self.ticks - 1 else self.until(tick * 1000 / TICKS)
        return range(first + (part - first) % self.parts, end, self.parts)

    def is_over(self, elapsed: float) -> bool:
        """Whether records are no longer emitted ``elapsed`` ms after the start, even if some are left."""
        return elapsed > (self.seconds + PATIENCE_SECONDS) * 1000
