"""Metrics of one subtask, held in its process.

Updating one costs an attribute and an addition; :meth:`MetricGroup.take` does the rest when an epoch is reported.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, TypeVar, cast

from flintstream.metrics.reported import Counted, Distributed, Gauged, Metered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.metrics.reported import Reported

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class Metric:
    """Base of the metrics that are objects."""

    def values(self) -> dict[str, float]:
        """Return the numbers now, by the suffix to the metric's name, empty for the name itself."""
        return {}

    def take(self) -> Reported:
        """Return what is to be reported: what has changed since the last time."""
        raise NotImplementedError


class Counter(Metric):
    """A number that goes up and down.

    >>> counter = MetricGroup().counter("bad_records")
    >>> counter.inc()
    >>> counter.inc(5)
    >>> counter.dec(2)
    >>> counter.get_count()
    4
    """

    __slots__ = ("_count", "_taken")

    def __init__(self) -> None:
        self._count = 0
        self._taken = 0

    def inc(self, n: int = 1) -> None:
        """Add ``n``."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Subtract ``n``."""
        self._count -= n

    def get_count(self) -> int:
        """Return the number."""
        return self._count

    def values(self) -> dict[str, float]:
        """See :meth:`Metric.values`."""
        return {"": self._count}

    def take(self) -> Reported:
        """See :meth:`Metric.take`."""
        change, self._taken = self._count - self._taken, self._count
        return Counted(change)


class Meter(Metric):
    """Counts events and, when asked, how many there were per second of late."""

    __slots__ = ("_clock", "_count", "_samples", "_span", "_taken")

    def __init__(self, time_span_in_seconds: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        if time_span_in_seconds <= 0:
            raise ValueError(f"the time span of a meter must be positive, got {time_span_in_seconds} s")
        self._span = time_span_in_seconds
        self._clock = clock
        self._count = 0
        self._taken = 0
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])

    def mark_event(self, value: int = 1) -> None:
        """Count ``value`` events."""
        self._count += value

    def get_count(self) -> int:
        """Return how many events there were in all."""
        return self._count

    def get_rate(self) -> float:
        """Return the events per second, averaged over the time span; over less at first. PyFlink has no such method."""
        now = self._clock()
        samples = self._samples
        # the last sample that is older than the span stays: it is where the span begins
        while len(samples) > 1 and samples[1][0] <= now - self._span:
            samples.popleft()
        since, count_then = samples[0]
        if now - samples[-1][0] >= 1:  # bounds the samples, however often one asks
            samples.append((now, self._count))
        return (self._count - count_then) / (now - since) if now > since else 0.0

    def values(self) -> dict[str, float]:
        """See :meth:`Metric.values`."""
        return {".count": self._count, ".rate": self.get_rate()}

    def take(self) -> Reported:
        """See :meth:`Metric.take`."""
        change, self._taken = self._count - self._taken, self._count
        return Metered(change, self.get_rate())


class Distribution(Metric):
    """Keeps count, sum, smallest and largest of the numbers it is given."""

    __slots__ = ("_count", "_max", "_min", "_sum", "_taken")

    def __init__(self) -> None:
        self._taken = Distributed()
        self._start()

    def _start(self) -> None:
        self._count = 0
        self._sum: float = 0
        self._min = self._max = 0.0

    def update(self, value: float) -> None:
        """Take in a number."""
        if self._count == 0:
            self._min = self._max = value
        elif value < self._min:
            self._min = value
        elif value > self._max:
            self._max = value
        self._count += 1
        self._sum += value

    def values(self) -> dict[str, float]:
        """See :meth:`Metric.values`; nothing but the count while there are no numbers."""
        return self._taken.then(self._since()).values()

    def take(self) -> Reported:
        """See :meth:`Metric.take`."""
        change = self._since()
        self._taken = self._taken.then(change)
        self._start()
        return change

    def _since(self) -> Distributed:
        return Distributed(self._count, self._sum, self._min, self._max)


class _Reading(Metric):
    """What a gauge shows."""

    __slots__ = ("_value",)

    def __init__(self, value: float) -> None:
        self._value = value

    def values(self) -> dict[str, float]:
        return {"": self._value}

    def take(self) -> Reported:
        return Gauged([self._value])


M = TypeVar("M", bound=Metric)


class MetricGroup:
    """A named place for metrics and further groups.

    Asking again for a name gives the metric or group that has it.

    >>> group = MetricGroup()
    >>> group.add_group("parser").counter("errors").inc()
    >>> group.gauge("open_windows", lambda: 3)
    >>> group.values()
    {'open_windows': 3, 'parser.errors': 1}
    """

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._groups: dict[str, MetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group of that name inside this one; with ``extra``, the group ``extra`` inside that."""
        group = self._groups.setdefault(name, MetricGroup())
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> Counter:
        """Return the counter of that name."""
        return self._registered(name, Counter)

    def gauge(self, name: str, obj: Callable[[], float]) -> None:
        """Report what ``obj()`` returns, asked at each report; replaces an earlier gauge of that name."""
        if not callable(obj):
            raise TypeError(f"gauge '{name}' takes a function without parameters, got {obj!r}")
        self._check_free(name, None)
        self._gauges[name] = obj

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of that name, whose rate is an average over the given time span."""
        return self._registered(name, Meter, time_span_in_seconds)

    def distribution(self, name: str) -> Distribution:
        """Return the distribution of that name."""
        return self._registered(name, Distribution)

    def values(self) -> dict[str, float]:
        """Return all numbers by full name, groups included: ``group.name``, ``group.name.count``, and so on.

        A gauge whose function raises is left out: a failing report must not fail the job.
        """
        return {name + suffix: value for name, metric in self._walk("") for suffix, value in metric.values().items()}

    def take(self) -> dict[str, Reported]:
        """Return what is to be reported of all metrics, by full name: of what adds up, the change since the last time.

        A gauge whose function raises is left out.
        """
        return {name: metric.take() for name, metric in self._walk("")}

    def _walk(self, prefix: str) -> Iterator[tuple[str, Metric]]:
        for name, metric in self._metrics.items():
            yield prefix + name, metric
        for name, read in self._gauges.items():
            try:
                value = read()
            except Exception:  # noqa: BLE001, S112 - see values()
                continue
            yield prefix + name, _Reading(value)
        for name, group in self._groups.items():
            yield from group._walk(f"{prefix}{name}.")  # noqa: SLF001 - own kind

    def _check_free(self, name: str, kind: type[Metric] | None) -> None:
        other = self._metrics.get(name)
        if (other is not None and type(other) is not kind) or (kind is not None and name in self._gauges):
            taken = "Gauge" if other is None else type(other).__name__
            wanted = "Gauge" if kind is None else kind.__name__
            raise ValueError(f"the name '{name}' belongs to a {taken}, so it cannot be a {wanted}")

    def _registered(self, name: str, kind: type[M], *arguments: int) -> M:
        self._check_free(name, kind)
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = kind(*arguments)
        return cast("M", metric)
