"""Metrics of one subtask, held in its process.

An update costs one attribute access and one addition; :meth:`MetricGroup.take` does the rest at the end of an epoch.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flintstream.errors import message_of, shorten
from flintstream.metrics.reported import Counted, Distributed, Gauged, Metered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.metrics.reported import Reported

_log = logging.getLogger(__name__)

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class Metric:
    """Base class of metric objects.

    >>> from flintstream.metrics import MetricGroup
    >>> errors = MetricGroup().counter("errors")
    >>> errors.inc(2)
    >>> isinstance(errors, Metric), errors.values(), errors.take()
    (True, {'': 2}, Counted(count=2))
    """

    def values(self) -> dict[str, float]:
        """Return the current values by name suffix; empty for the metric's name itself."""
        return {}

    def take(self) -> Reported:
        """Return the report: the change since the last call."""
        raise NotImplementedError


class Counter(Metric):
    """A number that can increase and decrease.

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
    """Counts events and measures their recent rate per second.

    >>> orders = Meter(time_span_in_seconds=60)
    >>> orders.mark_event(3)
    >>> orders.get_count(), orders.get_rate() > 0
    (3, True)
    """

    __slots__ = ("_clock", "_count", "_samples", "_span", "_taken")

    def __init__(self, time_span_in_seconds: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        if time_span_in_seconds <= 0:
            raise ValueError(f"the time span of a meter must be positive, but got {time_span_in_seconds} s")
        self._span = time_span_in_seconds
        self._clock = clock
        self._count = 0
        self._taken = 0
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])

    def mark_event(self, value: int = 1) -> None:
        """Count ``value`` events."""
        self._count += value

    def get_count(self) -> int:
        """Return the total number of events."""
        return self._count

    def get_rate(self) -> float:
        """Return the events per second, averaged over the time span, at first over less. PyFlink has no such method."""
        now = self._clock()
        samples = self._samples
        # Keep the last sample that is older than the span: the span starts there.
        while len(samples) > 1 and samples[1][0] <= now - self._span:
            samples.popleft()
        since, count_then = samples[0]
        if now - samples[-1][0] >= 1:  # bounds the samples regardless of the number of calls
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
    """Tracks count, sum, minimum and maximum of the given numbers.

    >>> sizes = Distribution()
    >>> sizes.update(3)
    >>> sizes.update(5)
    >>> sizes.values()
    {'.count': 2, '.sum': 8, '.min': 3, '.max': 5, '.mean': 4.0}
    """

    __slots__ = ("_count", "_max", "_min", "_sum", "_taken")

    def __init__(self) -> None:
        self._taken = Distributed()
        self._start()

    def _start(self) -> None:
        self._count = 0
        self._sum: float = 0
        self._min = self._max = 0.0

    def update(self, value: float) -> None:
        """Add a number."""
        if self._count == 0:
            self._min = self._max = value
        elif value < self._min:
            self._min = value
        elif value > self._max:
            self._max = value
        self._count += 1
        self._sum += value

    def values(self) -> dict[str, float]:
        """See :meth:`Metric.values`; only the count if there are no numbers."""
        return self._taken.then(self._since()).values()

    def take(self) -> Reported:
        """See :meth:`Metric.take`."""
        change = self._since()
        self._taken = self._taken.then(change)
        self._start()
        return change

    def _since(self) -> Distributed:
        return Distributed(self._count, self._sum, self._min, self._max)


class _Gauge(Metric):
    """Calls a user function on each report."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read = read

    def values(self) -> dict[str, Any]:
        reading = self.take()
        return {} if reading.error else {"": reading.by_subtask[0]}

    def take(self) -> Gauged:
        try:
            value = self._read()
            value = value.item() if hasattr(value, "item") else value  # NumPy scalars
        except BaseException as error:  # noqa: BLE001 - a failing report must not fail the job
            return Gauged([None], f"{type(error).__name__}: {message_of(error)}")
        if value is not None and not isinstance(value, bool | int | float | str):
            return Gauged([None], f"it must return a number or a str, but returned {shorten(value, 100)}")
        return Gauged([value])


M = TypeVar("M", bound=Metric)


class MetricGroup:
    """A named group of metrics and subgroups.

    A repeated name returns the existing metric or group. If the existing metric is of another kind, the new one works
    but is not reported; the log has a warning.

    >>> group = MetricGroup()
    >>> group.add_group("parser").counter("errors").inc()
    >>> group.gauge("open_windows", lambda: 3)
    >>> group.values()
    {'open_windows': 3, 'parser.errors': 1}

    >>> group = MetricGroup()
    >>> group.meter("orders").mark_event(3)
    >>> group.distribution("sizes").update(5)
    >>> sorted(group.take())
    ['orders', 'sizes']
    """

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._groups: dict[str, MetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the subgroup ``name``; with ``extra``, the group ``extra`` inside that subgroup."""
        group = self._groups.setdefault(name, MetricGroup())
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> Counter:
        """Return the counter with this name."""
        return self._register(name, Counter)

    def gauge(self, name: str, obj: Callable[[], float]) -> None:
        """Report the result of ``obj()``, called for each report; replaces an earlier gauge with this name.

        A function that raises, or returns neither a number nor a str, is logged and reported as None.
        """
        if not callable(obj):
            raise TypeError(f"gauge '{name}' needs a function without parameters, but got {obj!r}")
        if self._is_free(name, _Gauge):
            self._metrics[name] = _Gauge(obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter with this name, which averages its rate over the given time span."""
        return self._register(name, Meter, time_span_in_seconds)

    def distribution(self, name: str) -> Distribution:
        """Return the distribution with this name."""
        return self._register(name, Distribution)

    def values(self) -> dict[str, float]:
        """Return all values by full name, subgroups included: ``group.name``, ``group.name.count``, ...

        Gauges whose function raises are omitted.
        """
        return {name + suffix: value for name, metric in self._walk("") for suffix, value in metric.values().items()}

    def take(self) -> dict[str, Reported]:
        """Return the reports of all metrics by full name; for additive metrics, the change since the last call."""
        return {name: metric.take() for name, metric in self._walk("")}

    def _walk(self, prefix: str) -> Iterator[tuple[str, Metric]]:
        for name, metric in self._metrics.items():
            yield prefix + name, metric
        for name, group in self._groups.items():
            yield from group._walk(f"{prefix}{name}.")

    def _is_free(self, name: str, kind: type[Metric]) -> bool:
        other = self._metrics.get(name)
        if other is None or type(other) is kind:
            return True
        taken, wanted = type(other).__name__.lstrip("_"), kind.__name__.lstrip("_")
        _log.warning("the metric name '%s' belongs to a %s: the %s with that name is not reported", name, taken, wanted)
        return False

    def _register(self, name: str, kind: type[M], *arguments: int) -> M:
        if not self._is_free(name, kind):
            return kind(*arguments)
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = kind(*arguments)
        return cast("M", metric)
