"""The autoscaler: how much parallelism a job needs, from what it has done and what waits."""

from __future__ import annotations

import logging
import math
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.coordinator.requests import RescaleRequest
from flintstream.coordinator.rescaling import default_parallelism, plan_rescaled
from flintstream.errors import PlanError
from flintstream.options import autoscaler as options
from flintstream.runtime.operators.source import PENDING_RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flintstream.coordinator.client import RunningJob
    from flintstream.coordinator.job import Progress
    from flintstream.coordinator.monitoring.load import Load
    from flintstream.metrics.subtask import SubtaskMetrics

SAMPLES = 20
"""How many samples there are in a window, at most."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AutoscalerSettings:
    """When to change the parallelism. Times are in ms, shares from 0 to 1."""

    target: float = options.UTILIZATION_TARGET.default
    lowest: float = options.UTILIZATION_MIN.default
    highest: float = options.UTILIZATION_MAX.default
    least: int = options.MIN_PARALLELISM.default
    most: int = options.MAX_PARALLELISM.default
    stabilization_ms: int = options.STABILIZATION.default
    window_ms: int = options.WINDOW.default
    scale_down_ms: int = options.SCALE_DOWN.default
    catch_up_ms: int = options.CATCH_UP.default

    def __post_init__(self) -> None:
        """Check that the settings fit together.

        Raises:
            PlanError: They do not.
        """
        for low, high, lower, upper in (
            (options.UTILIZATION_MIN, options.UTILIZATION_TARGET, self.lowest, self.target),
            (options.UTILIZATION_TARGET, options.UTILIZATION_MAX, self.target, self.highest),
            (options.MIN_PARALLELISM, options.MAX_PARALLELISM, self.least, self.most),
        ):
            if lower > upper:
                raise PlanError(f"'{low.key}' is {lower}, which is more than '{high.key}', {upper}")

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> AutoscalerSettings | None:
        """Return the settings in a configuration; None if the autoscaler is off.

        Raises:
            PlanError: They do not fit together.
        """
        if not options.AUTOSCALER.read(configuration):
            return None
        return cls(
            options.UTILIZATION_TARGET.read(configuration),
            options.UTILIZATION_MIN.read(configuration),
            options.UTILIZATION_MAX.read(configuration),
            options.MIN_PARALLELISM.read(configuration),
            options.MAX_PARALLELISM.read(configuration),
            options.STABILIZATION.read(configuration),
            options.WINDOW.read(configuration),
            options.SCALE_DOWN.read(configuration),
            options.CATCH_UP.read(configuration),
        )


class Sample(NamedTuple):
    """What a job has done at one moment."""

    at_ms: int
    worked_ms: float
    """Time that it worked since the start: one superstep after the other, or always while it could read more."""
    records: int
    """Records that it read since the start."""
    backlog: int | None
    """Records that it could read already; None if that is unknown."""


class Autoscaler:
    """Decides on the parallelism of a job from samples. It knows no clock and no job.

    A job that works all the time, with a target of 70 %, needs half as much again:

    >>> scaler = Autoscaler(AutoscalerSettings(stabilization_ms=0, window_ms=1000))
    >>> scaler.decide(Sample(0, 0, 0, None), 4), scaler.decide(Sample(1000, 1000, 500, None), 4)
    (None, 6)
    """

    def __init__(self, settings: AutoscalerSettings) -> None:
        """Start without samples."""
        self.settings = settings
        self._samples: deque[Sample] = deque()
        self._parallelism = 0
        self._since_ms = 0
        """When the parallelism was last changed, or was to be."""
        self._less: deque[tuple[int, int]] = deque()
        """What would have been enough, and when, since it was last less than the job has."""

    def due(self, at_ms: int) -> bool:
        """Return whether it is time for another sample."""
        return not self._samples or at_ms - self._samples[-1].at_ms >= self.settings.window_ms / SAMPLES

    def decide(self, sample: Sample, parallelism: int) -> int | None:
        """Return another parallelism for a job with this one, or None."""
        if parallelism != self._parallelism:
            self._start_again(sample.at_ms)
            self._parallelism = parallelism
        wanted = self._decide(sample, parallelism)
        if wanted is not None:
            self._start_again(sample.at_ms)  # if the change fails, it is not tried again at once
        return wanted

    def _start_again(self, at_ms: int) -> None:
        self._samples.clear()
        self._less.clear()
        self._since_ms = at_ms

    def _decide(self, sample: Sample, parallelism: int) -> int | None:
        settings = self.settings
        self._samples.append(sample)
        while len(self._samples) > 2 and self._samples[1].at_ms <= sample.at_ms - settings.window_ms:
            self._samples.popleft()
        age = sample.at_ms - self._since_ms
        if age < settings.stabilization_ms or age < settings.window_ms:
            return None
        wanted = self._wanted_parallelism(parallelism)
        if wanted >= parallelism:
            self._less.clear()
            return wanted if wanted > parallelism else None
        self._less.append((sample.at_ms, wanted))
        if sample.at_ms - self._less[0][0] < settings.scale_down_ms:
            return None
        return max(item for _, item in self._less)

    def _wanted_parallelism(self, parallelism: int) -> int:
        settings, first, last = self.settings, self._samples[0], self._samples[-1]
        elapsed = max(1, last.at_ms - first.at_ms)
        worked = min(1.0, max(0.0, last.worked_ms - first.worked_ms) / elapsed)
        read = max(0, last.records - first.records) / elapsed
        needed = worked
        if read and first.backlog is not None and last.backlog is not None:
            arriving = max(0.0, read + (last.backlog - first.backlog) / elapsed)
            needed = worked * (arriving + last.backlog / settings.catch_up_ms) / read
        if not settings.lowest <= needed < settings.highest:
            wanted = math.ceil(parallelism * needed / settings.target - 1e-9)
            if (wanted > parallelism) == (needed >= settings.highest):
                parallelism = wanted
        return min(max(parallelism, settings.least), settings.most)


def worked_ms(load: Load) -> float:
    """Return how long a job has worked since the start of its load: the slowest chain of each superstep."""
    levels: dict[int, float] = {}
    reading = 0.0
    for chain, (_, _, busy, held, _) in zip(load.plan.chains, load.by_chain(), strict=True):
        levels[chain.level] = max(levels.get(chain.level, 0.0), sum(busy) / len(busy))
        reading = max(reading, *map(sum, zip(busy, held, strict=True)))
    return max(reading, sum(levels.values()))


def waiting_records(subtasks: Iterable[SubtaskMetrics]) -> int | None:
    """Return how many records wait for the sources; None if a source cannot tell, or not yet for each subtask."""
    told: dict[int, list[object]] = {}
    for subtask in subtasks:
        told.setdefault(subtask.operator_id, []).append(subtask.values.get(PENDING_RECORDS))
    known = [values for values in told.values() if any(isinstance(value, int) for value in values)]
    numbers = [value for values in known for value in values if isinstance(value, int)]
    return sum(numbers) if numbers and len(numbers) == sum(map(len, known)) else None


def autoscaling(settings: AutoscalerSettings) -> Callable[[RunningJob], Callable[[], None]]:
    """Return a function that makes a job change its parallelism itself, and returns what to call at its end."""

    def begin(job: RunningJob) -> Callable[[], None]:
        if not job.job.plan.batch:
            job.listen(partial(_look, job, Autoscaler(settings)))
        return lambda: None

    return begin


def _look(job: RunningJob, scaler: Autoscaler, progress: Progress) -> None:
    coordinator, plan = job.coordinator, job.job.plan
    now_ms = coordinator.clock.now_ms()
    if not scaler.due(now_ms) or coordinator.requests.rescales:
        return
    parallelism = default_parallelism(job.job)
    try:
        waiting = waiting_records(coordinator.statistics.metrics.by_subtask())
        sample = Sample(now_ms, worked_ms(coordinator.statistics.load), progress.worked_in, waiting)
        wanted = None if parallelism is None else scaler.decide(sample, parallelism)
        if wanted is not None:
            _log.info("changing the parallelism of job '%s' from %d to %d", plan.job_name, parallelism, wanted)
            coordinator.requests.add_rescaling(RescaleRequest(plan_rescaled(job.job, wanted)))
    except PlanError as error:
        _log.warning("job '%s' stays at parallelism %d: %s", plan.job_name, parallelism, error)
        most = parallelism or 1
        scaler.settings = replace(scaler.settings, least=min(scaler.settings.least, most), most=most)
    except Exception:  # noqa: BLE001 - the job itself is fine
        _log.exception("the autoscaler of the job '%s' failed", plan.job_name)
