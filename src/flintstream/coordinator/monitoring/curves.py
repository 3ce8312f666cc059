"""The course of a job from its start: samples of its totals, from which a page draws curves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from flintstream.common._clock import wall_clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.coordinator.job import Progress
    from flintstream.coordinator.monitoring.load import Load

FIRST_SAMPLE_MS = 2_000
CAPACITY = 600
NO_WATERMARK, END = -(2**63), 2**63 - 1


class Curves:
    """At most :data:`CAPACITY` samples of the whole life of a job. The longer it lasts, the coarser they are.

    One thread adds to it while others may read it.
    """

    def __init__(self, now_ms: int, sample_ms: int = FIRST_SAMPLE_MS) -> None:
        """Start at ``now_ms``, on a clock for durations."""
        self._every_ms = sample_ms
        self._due_ms = now_ms
        self._samples: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def add(self, progress: Progress, load: Load, now_ms: int, epochs: Sequence[int] = ()) -> None:
        """Note the totals, if it is time for a sample."""
        if now_ms < self._due_ms:
            return
        self._due_ms = now_ms + self._every_ms
        latency = load.latency()
        sample = {
            "at_ms": wall_clock(),
            "in": progress.worked_in,
            "out": progress.worked_out,
            "watermark": None if progress.watermark in (NO_WATERMARK, END) else progress.watermark,
            "latency": [latency[0.5], latency[0.99]] if latency else None,
            "restarts": progress.restarts,
            "epochs": list(epochs),
            "vertices": load.by_chain(),
        }
        with self._lock:
            self._samples.append(sample)
            if len(self._samples) >= CAPACITY:
                self._samples = self._samples[::2]
                self._every_ms *= 2

    def since(self, at_ms: int) -> list[dict[str, Any]]:
        """Return the samples that are later than a time (ms since the epoch)."""
        with self._lock:
            return [sample for sample in self._samples if sample["at_ms"] > at_ms]
