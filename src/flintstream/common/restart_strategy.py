"""Restart strategies as settings of a program.

Each strategy corresponds to keys of Flink's configuration. :meth:`RestartStrategyConfiguration.write_to` and
:meth:`RestartStrategies.from_configuration` convert between the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import TYPE_CHECKING

from flintstream.options.restarts import (
    BACKOFF_ATTEMPTS,
    FIXED_ATTEMPTS,
    FIXED_DELAY,
    INITIAL_BACKOFF,
    JITTER,
    MAX_BACKOFF,
    MULTIPLIER,
    RATE_DELAY,
    RATE_FAILURES,
    RATE_INTERVAL,
    RESET_THRESHOLD,
    STRATEGY,
)

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.options.option import Option

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]

_MILLISECOND = timedelta(milliseconds=1)


def _span(value: timedelta | int, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if type(value) is int:
        return timedelta(milliseconds=value)
    raise TypeError(f"{name} must be milliseconds (int) or a timedelta, got {value!r}")


def _check_count(value: int, option: Option[int]) -> int:
    if type(value) is not int:
        raise TypeError(f"'{option.key}' must be a whole number, got {value!r}")
    return option.parse(value)


def _check_span(value: timedelta, option: Option[int]) -> timedelta:
    option.parse(_text(value))
    return value


def _text(span: timedelta) -> str:
    return f"{span // _MILLISECOND} ms"


class RestartStrategyConfiguration(ABC):
    """The base class of restart strategies.

    >>> from flintstream.common import Configuration
    >>> strategy = RestartStrategies.fixed_delay_restart(3, 10_000)
    >>> strategy.get_description()
    'up to 3 restarts, each after 10.0 s'
    >>> strategy.to_dict()
    {'restart-strategy.type': 'fixed-delay', 'restart-strategy.fixed-delay.attempts': '3',
    'restart-strategy.fixed-delay.delay': '10000 ms'}
    >>> configuration = Configuration()
    >>> strategy.write_to(configuration)
    >>> configuration.get_string("restart-strategy.type", "none")
    'fixed-delay'
    """

    @abstractmethod
    def get_description(self) -> str:
        """Return a readable description."""

    @abstractmethod
    def to_dict(self) -> dict[str, str]:
        """Return the strategy as keys and values. PyFlink has no such method."""

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys of the strategy in a configuration. PyFlink has no such method."""
        for key, value in self.to_dict().items():
            configuration.set_string(key, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return self.get_description()


class RestartStrategies:
    """The restart strategies, and functions that create them.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_restart_attempts()
    3

    >>> from datetime import timedelta
    >>> RestartStrategies.no_restart().get_description()
    'no restart'
    >>> RestartStrategies.failure_rate_restart(3, timedelta(minutes=5), timedelta(seconds=10)).get_description()
    'restarts after 10.0 s while there are at most 3 failures in 300.0 s'
    >>> RestartStrategies.fall_back_restart().get_description()
    'the configured restart strategy'
    """

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """No restart: the first failure ends the job."""

        def get_description(self) -> str:
            """Return a readable description."""
            return "no restart"

        def to_dict(self) -> dict[str, str]:
            """Return the strategy as keys and values. PyFlink has no such method."""
            return {STRATEGY.key: "none"}

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A fixed number of restarts, each after the same delay."""

        def __init__(self, restart_attempts: int, delay_between_attempts_interval: timedelta | int) -> None:
            self._attempts = _check_count(restart_attempts, FIXED_ATTEMPTS)
            delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")
            self._delay = _check_span(delay, FIXED_DELAY)

        def get_restart_attempts(self) -> int:
            """Return the number of restarts."""
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay before each restart."""
            return self._delay

        def get_description(self) -> str:
            """Return a readable description."""
            return f"up to {self._attempts} restarts, each after {self._delay.total_seconds()} s"

        def to_dict(self) -> dict[str, str]:
            """Return the strategy as keys and values. PyFlink has no such method."""
            return {
                STRATEGY.key: "fixed-delay",
                FIXED_ATTEMPTS.key: str(self._attempts),
                FIXED_DELAY.key: _text(self._delay),
            }

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts as long as the job does not fail too often within an interval."""

        def __init__(
            self,
            max_failure_rate: int,
            failure_interval: timedelta | int,
            delay_between_attempts_interval: timedelta | int,
        ) -> None:
            self._rate = _check_count(max_failure_rate, RATE_FAILURES)
            self._interval = _check_span(_span(failure_interval, "failure_interval"), RATE_INTERVAL)
            delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")
            self._delay = _check_span(delay, RATE_DELAY)

        def get_max_failure_rate(self) -> int:
            """Return the number of failures to tolerate within the interval."""
            return self._rate

        def get_failure_interval(self) -> timedelta:
            """Return the interval."""
            return self._interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay before each restart."""
            return self._delay

        def get_description(self) -> str:
            """Return a readable description."""
            within, pause = self._interval.total_seconds(), self._delay.total_seconds()
            return f"restarts after {pause} s while there are at most {self._rate} failures in {within} s"

        def to_dict(self) -> dict[str, str]:
            """Return the strategy as keys and values. PyFlink has no such method."""
            return {
                STRATEGY.key: "failure-rate",
                RATE_FAILURES.key: str(self._rate),
                RATE_INTERVAL.key: _text(self._interval),
                RATE_DELAY.key: _text(self._delay),
            }

    class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts after delays that grow while the job keeps failing. Flink has this strategy, PyFlink does not."""

        def __init__(
            self,
            initial_backoff: timedelta | int = INITIAL_BACKOFF.default,
            max_backoff: timedelta | int = MAX_BACKOFF.default,
            backoff_multiplier: float = MULTIPLIER.default,
            reset_backoff_threshold: timedelta | int = RESET_THRESHOLD.default,
            jitter_factor: float = JITTER.default,
            attempts_before_reset_backoff: int = BACKOFF_ATTEMPTS.default,
        ) -> None:
            """Create the strategy, by default with Flink's values.

            Args:
                initial_backoff: the first delay, in milliseconds or as a timedelta.
                max_backoff: the longest delay.
                backoff_multiplier: the factor by which each delay exceeds the previous one.
                reset_backoff_threshold: the time without a failure after which delays start from the first one again.
                jitter_factor: the fraction by which a delay varies at random.
                attempts_before_reset_backoff: the number of restarts between two such resets.

            Raises:
                TypeError: an argument has the wrong type.
                ValueError: a value is invalid. The message names its key.
            """
            self._initial = _check_span(_span(initial_backoff, "initial_backoff"), INITIAL_BACKOFF)
            self._max = _span(max_backoff, "max_backoff")
            if self._max < self._initial:
                raise ValueError(
                    f"'{MAX_BACKOFF.key}' must be at least '{INITIAL_BACKOFF.key}', {_text(self._initial)}, "
                    f"got {_text(self._max)}"
                )
            self._multiplier = MULTIPLIER.parse(backoff_multiplier)
            threshold = _span(reset_backoff_threshold, "reset_backoff_threshold")
            self._threshold = _check_span(threshold, RESET_THRESHOLD)
            self._jitter = JITTER.parse(jitter_factor)
            self._attempts = _check_count(attempts_before_reset_backoff, BACKOFF_ATTEMPTS)

        def get_initial_backoff(self) -> timedelta:
            """Return the first delay."""
            return self._initial

        def get_max_backoff(self) -> timedelta:
            """Return the longest delay."""
            return self._max

        def get_backoff_multiplier(self) -> float:
            """Return the factor by which each delay exceeds the previous one."""
            return self._multiplier

        def get_reset_backoff_threshold(self) -> timedelta:
            """Return the time without a failure after which delays start from the first one again."""
            return self._threshold

        def get_jitter_factor(self) -> float:
            """Return the fraction by which a delay varies at random."""
            return self._jitter

        def get_attempts_before_reset_backoff(self) -> int:
            """Return the number of restarts between two resets."""
            return self._attempts

        def get_description(self) -> str:
            """Return a readable description."""
            first, longest = self._initial.total_seconds(), self._max.total_seconds()
            return f"restarts after {first} s, then {self._multiplier} times as long each time, up to {longest} s"

        def to_dict(self) -> dict[str, str]:
            """Return the strategy as keys and values. PyFlink has no such method."""
            return {
                STRATEGY.key: "exponential-delay",
                INITIAL_BACKOFF.key: _text(self._initial),
                MAX_BACKOFF.key: _text(self._max),
                MULTIPLIER.key: str(self._multiplier),
                RESET_THRESHOLD.key: _text(self._threshold),
                JITTER.key: str(self._jitter),
                BACKOFF_ATTEMPTS.key: str(self._attempts),
            }

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The strategy in the configuration (``restart-strategy.type``)."""

        def get_description(self) -> str:
            """Return a readable description."""
            return "the configured restart strategy"

        def to_dict(self) -> dict[str, str]:
            """Return no keys, so that the configuration decides. PyFlink has no such method."""
            return {}

    @staticmethod
    def no_restart() -> RestartStrategies.NoRestartStrategyConfiguration:
        """Return the strategy that gives up at the first failure."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategies.FallbackRestartStrategyConfiguration:
        """Return the strategy that follows the configuration."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: timedelta | int
    ) -> RestartStrategies.FixedDelayRestartStrategyConfiguration:
        """Return a strategy with a fixed number of restarts.

        Args:
            restart_attempts: the number of restarts.
            delay_between_attempts: the delay before each restart, in milliseconds or as a timedelta.
        """
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: timedelta | int, delay_interval: timedelta | int
    ) -> RestartStrategies.FailureRateRestartStrategyConfiguration:
        """Return a strategy that tolerates a number of failures within an interval.

        Args:
            failure_rate: the number of failures to tolerate.
            failure_interval: the interval, in milliseconds or as a timedelta.
            delay_interval: the delay before each restart, in milliseconds or as a timedelta.
        """
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)

    @staticmethod
    def from_configuration(configuration: Configuration) -> RestartStrategyConfiguration:
        """Return the strategy in a configuration, or the fallback if it has none. PyFlink has no such method.

        Raises:
            ValueError: a value is invalid. The message names its key.

        >>> from flintstream.common.configuration import Configuration
        >>> RestartStrategies.from_configuration(Configuration.from_dict({"restart-strategy.type": "fixed-delay"}))
        up to 1 restarts, each after 1.0 s
        """
        get = configuration.get
        match get(STRATEGY):
            case "none":
                return RestartStrategies.no_restart()
            case "fixed-delay":
                return RestartStrategies.fixed_delay_restart(get(FIXED_ATTEMPTS), get(FIXED_DELAY))
            case "failure-rate":
                return RestartStrategies.failure_rate_restart(get(RATE_FAILURES), get(RATE_INTERVAL), get(RATE_DELAY))
            case "exponential-delay":
                return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
                    get(INITIAL_BACKOFF),
                    get(MAX_BACKOFF),
                    get(MULTIPLIER),
                    get(RESET_THRESHOLD),
                    get(JITTER),
                    get(BACKOFF_ATTEMPTS),
                )
        return RestartStrategies.fall_back_restart()
