"""Restart strategies: whether and when a failed job restarts.

They decide like Flink's, to the millisecond at the edges of intervals.
"""

from __future__ import annotations

import random
from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from flintstream.common.configuration import Configuration
from flintstream.common.restart_strategy import RestartStrategies
from flintstream.errors import ExecutorError
from flintstream.options import restarts

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ExponentialDelay",
    "FailureRate",
    "FixedDelay",
    "NoRestart",
    "RestartStrategy",
    "SetupFailures",
    "restart_strategy",
]

SETUP_TRIES = 3
"""A job ends after this many failures in a row that no restart is likely to heal."""


class RestartStrategy(Protocol):
    """Decides after each failure of a job. One object serves one job over all its attempts."""

    def delay_ms(self, now_ms: int) -> int | None:
        """Return how long (ms) to wait before the job restarts, or None to give up.

        Call it once per failure, as it counts the calls.
        """


class NoRestart:
    """No restart: the first failure ends the job."""

    def delay_ms(self, now_ms: int) -> int | None:
        """Give up."""
        return None


class FixedDelay:
    """A fixed number of restarts, each after the same delay.

    >>> strategy = FixedDelay(attempts=1, delay=500)
    >>> strategy.delay_ms(0), strategy.delay_ms(10_000)
    (500, None)
    """

    def __init__(self, attempts: int, delay: int) -> None:
        """Allow ``attempts`` restarts, each after ``delay`` ms."""
        self._left = attempts
        self._delay = delay

    def delay_ms(self, now_ms: int) -> int | None:
        """Return how long (ms) to wait before the job restarts, or None to give up."""
        self._left -= 1
        return self._delay if self._left >= 0 else None


class FailureRate:
    """Restarts as long as at most ``failures`` occur within any ``interval`` ms.

    >>> strategy = FailureRate(failures=1, interval=1_000, delay=50)
    >>> strategy.delay_ms(0), strategy.delay_ms(1_001), strategy.delay_ms(2_000)
    (50, 50, None)
    """

    def __init__(self, failures: int, interval: int, delay: int) -> None:
        """Tolerate ``failures`` within ``interval`` ms, and restart ``delay`` ms after each."""
        self._recent: deque[int] = deque(maxlen=failures + 1)
        self._interval = interval
        self._delay = delay

    def delay_ms(self, now_ms: int) -> int | None:
        """Return how long (ms) to wait before the job restarts, or None to give up."""
        self._recent.append(now_ms)
        too_many = len(self._recent) == self._recent.maxlen and now_ms - self._recent[0] <= self._interval
        return None if too_many else self._delay


class ExponentialDelay:
    """Restarts after delays that grow as long as the job keeps failing.

    >>> strategy = ExponentialDelay(initial=100, maximum=300, multiplier=2, jitter=0)
    >>> [strategy.delay_ms(now) for now in (0, 1_000, 2_000)]
    [100, 200, 300]
    >>> strategy.delay_ms(2_000 + 300 + 3_600_000)
    100
    """

    def __init__(
        self,
        initial: int = restarts.INITIAL_BACKOFF.default,
        maximum: int = restarts.MAX_BACKOFF.default,
        multiplier: float = restarts.MULTIPLIER.default,
        reset_after: int = restarts.RESET_THRESHOLD.default,
        jitter: float = restarts.JITTER.default,
        attempts: int = restarts.BACKOFF_ATTEMPTS.default,
        chance: random.Random | None = None,
    ) -> None:
        """Grow the delays (ms) from ``initial`` to ``maximum`` by a factor.

        Args:
            initial: the first delay.
            maximum: the longest delay.
            multiplier: the factor by which each delay exceeds the previous one.
            reset_after: the time without a failure (ms) after which delays start from ``initial`` again.
            jitter: the fraction by which a delay varies at random, so that jobs do not restart in step.
            attempts: the number of restarts between two such resets.
            chance: the source of the jitter.
        """
        self._initial = initial
        self._maximum = maximum
        self._multiplier = multiplier
        self._reset_after = reset_after
        self._jitter = jitter
        self._attempts = attempts
        self._chance = random.Random() if chance is None else chance  # noqa: S311 - no secret
        self._failures = 0
        self._backoff = float(initial)
        self._restarted_at: int | None = None

    def delay_ms(self, now_ms: int) -> int | None:
        """Return how long (ms) to wait before the job restarts, or None to give up."""
        if self._restarted_at is not None and now_ms - self._restarted_at >= self._reset_after:
            self._failures = 0
            self._backoff = float(self._initial)
        self._failures += 1
        if self._failures > self._attempts:
            return None
        delay = self._with_jitter(self._backoff)
        self._backoff = min(self._backoff * self._multiplier, self._maximum)
        self._restarted_at = now_ms + delay
        return delay

    def _with_jitter(self, backoff: float) -> int:
        if backoff >= self._maximum:
            return self._maximum
        spread = backoff * self._jitter
        return round(min(max(backoff + self._chance.uniform(-spread, spread), self._initial), self._maximum))


class SetupFailures:
    """Counts the failures that a restart is unlikely to heal, such as a missing package.

    Some of them are worth another try: it may run on other executors, or an administrator may have repaired this one.

    >>> failures = SetupFailures()
    >>> [failures.are_exhausted(ExecutorError("no Python"), epochs) for epochs in (0, 0, 7, 7, 7)]
    [False, False, False, False, True]
    """

    def __init__(self) -> None:
        """Start without any."""
        self._count = 0
        self._epochs = 0

    def are_exhausted(self, error: Exception, epochs: int) -> bool:
        """Count a failure; tell whether the job must end. ``epochs`` is how many have succeeded in all."""
        if not isinstance(error, (ExecutorError, ImportError)):
            self._count = 0
            return False
        self._count = self._count + 1 if epochs == self._epochs else 1
        self._epochs = epochs
        return self._count >= SETUP_TRIES or (isinstance(error, ExecutorError) and error.final)


def restart_strategy(
    configuration: Mapping[str, str] | Configuration, checkpointing: bool, chance: random.Random | None = None
) -> RestartStrategy:
    """Return the strategy that the keys ``restart-strategy.*`` select.

    Without these keys, a job with checkpoints restarts after growing delays, and a job without checkpoints gives up,
    as in Flink 2.

    Args:
        configuration: keys and values.
        checkpointing: whether the job takes checkpoints.
        chance: the source of the jitter of growing delays.

    Raises:
        ValueError: a value is invalid. The message names its key.

    >>> type(restart_strategy({}, checkpointing=True)).__name__
    'ExponentialDelay'
    >>> type(restart_strategy({"restart-strategy.type": "off"}, checkpointing=True)).__name__
    'NoRestart'
    """
    if not isinstance(configuration, Configuration):
        configuration = Configuration.from_dict(configuration)
    chosen = RestartStrategies.from_configuration(configuration)
    if isinstance(chosen, RestartStrategies.FallbackRestartStrategyConfiguration) and checkpointing:
        chosen = RestartStrategies.ExponentialDelayRestartStrategyConfiguration()
    if isinstance(chosen, RestartStrategies.FixedDelayRestartStrategyConfiguration):
        return FixedDelay(chosen.get_restart_attempts(), _millis(chosen.get_delay_between_attempts_interval()))
    if isinstance(chosen, RestartStrategies.FailureRateRestartStrategyConfiguration):
        interval = _millis(chosen.get_failure_interval())
        return FailureRate(
            chosen.get_max_failure_rate(), interval, _millis(chosen.get_delay_between_attempts_interval())
        )
    if isinstance(chosen, RestartStrategies.ExponentialDelayRestartStrategyConfiguration):
        return ExponentialDelay(
            _millis(chosen.get_initial_backoff()),
            _millis(chosen.get_max_backoff()),
            chosen.get_backoff_multiplier(),
            _millis(chosen.get_reset_backoff_threshold()),
            chosen.get_jitter_factor(),
            chosen.get_attempts_before_reset_backoff(),
            chance,
        )
    return NoRestart()


def _millis(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
