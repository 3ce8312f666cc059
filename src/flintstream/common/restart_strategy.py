"""What to do when a job fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


def _span(value: timedelta | int, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if type(value) is int:
        return timedelta(milliseconds=value)
    raise TypeError(f"{name} takes milliseconds (int) or a timedelta, got {value!r}")


class RestartStrategyConfiguration(ABC):
    """What a restart strategy is made of."""

    @abstractmethod
    def get_description(self) -> str:
        """Return one sentence for people."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return self.get_description()


class RestartStrategies:
    """Makes restart strategies.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_restart_attempts()
    3
    """

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The first failure ends the job."""

        def get_description(self) -> str:
            """Return one sentence for people."""
            return "no restart"

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is started again a number of times, after a pause."""

        def __init__(self, restart_attempts: int, delay_between_attempts_interval: timedelta | int) -> None:
            self._attempts = restart_attempts
            self._delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_restart_attempts(self) -> int:
            """Return how often the job is started again."""
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the pause before each attempt."""
            return self._delay

        def get_description(self) -> str:
            """Return one sentence for people."""
            return f"up to {self._attempts} restarts, each after {self._delay.total_seconds()} s"

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is started again unless it fails too often in a span of time."""

        def __init__(
            self,
            max_failure_rate: int,
            failure_interval: timedelta | int,
            delay_between_attempts_interval: timedelta | int,
        ) -> None:
            self._rate = max_failure_rate
            self._interval = _span(failure_interval, "failure_interval")
            self._delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_max_failure_rate(self) -> int:
            """Return how many failures within the span are borne."""
            return self._rate

        def get_failure_interval(self) -> timedelta:
            """Return the span of time."""
            return self._interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the pause before each attempt."""
            return self._delay

        def get_description(self) -> str:
            """Return one sentence for people."""
            within, pause = self._interval.total_seconds(), self._delay.total_seconds()
            return f"restarts after {pause} s while there are at most {self._rate} failures in {within} s"

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """What the configuration (``restart-strategy.type``) says."""

        def get_description(self) -> str:
            """Return one sentence for people."""
            return "the configured restart strategy"

    @staticmethod
    def no_restart() -> RestartStrategies.NoRestartStrategyConfiguration:
        """Return the strategy that gives up at the first failure."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategies.FallbackRestartStrategyConfiguration:
        """Return the strategy that the configuration names."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: timedelta | int
    ) -> RestartStrategies.FixedDelayRestartStrategyConfiguration:
        """Return the strategy of a fixed number of restarts.

        Args:
            restart_attempts: how many.
            delay_between_attempts: the pause before each, in milliseconds or as a timedelta.
        """
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: timedelta | int, delay_interval: timedelta | int
    ) -> RestartStrategies.FailureRateRestartStrategyConfiguration:
        """Return the strategy that bears a number of failures within a span of time.

        Args:
            failure_rate: how many.
            failure_interval: the span, in milliseconds or as a timedelta.
            delay_interval: the pause before each restart, in milliseconds or as a timedelta.
        """
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)
