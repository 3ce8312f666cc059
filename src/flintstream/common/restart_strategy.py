"""What to do when a job fails.

Each strategy stands for keys of Flink's configuration. :meth:`RestartStrategyConfiguration.write_to` and
:meth:`RestartStrategies.from_configuration` translate between the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import TYPE_CHECKING

from flintstream.common.time import Duration

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]

TYPE = "restart-strategy.type"
OLDER_TYPE = "restart-strategy"
FIXED_ATTEMPTS = "restart-strategy.fixed-delay.attempts"
FIXED_DELAY = "restart-strategy.fixed-delay.delay"
RATE_FAILURES = "restart-strategy.failure-rate.max-failures-per-interval"
RATE_INTERVAL = "restart-strategy.failure-rate.failure-rate-interval"
RATE_DELAY = "restart-strategy.failure-rate.delay"
INITIAL_BACKOFF = "restart-strategy.exponential-delay.initial-backoff"
MAX_BACKOFF = "restart-strategy.exponential-delay.max-backoff"
MULTIPLIER = "restart-strategy.exponential-delay.backoff-multiplier"
RESET_THRESHOLD = "restart-strategy.exponential-delay.reset-backoff-threshold"
JITTER = "restart-strategy.exponential-delay.jitter-factor"
BACKOFF_ATTEMPTS = "restart-strategy.exponential-delay.attempts-before-reset-backoff"

_UNLIMITED = 2**31 - 1
_MILLISECOND = timedelta(milliseconds=1)


def _span(value: timedelta | int, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if type(value) is int:
        return timedelta(milliseconds=value)
    raise TypeError(f"{name} takes milliseconds (int) or a timedelta, got {value!r}")


def _check_count(value: int, key: str, minimum: int) -> int:
    if type(value) is not int:
        raise TypeError(f"'{key}' must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"'{key}' must be at least {minimum}, got {value}")
    return value


def _check_span(value: timedelta, key: str, minimum_ms: int) -> timedelta:
    if value < minimum_ms * _MILLISECOND:
        raise ValueError(f"'{key}' must be at least {minimum_ms} ms, got {_text(value)}")
    return value


def _text(span: timedelta) -> str:
    return f"{span // _MILLISECOND} ms"


class RestartStrategyConfiguration(ABC):
    """What a restart strategy is made of."""

    @abstractmethod
    def get_description(self) -> str:
        """Return one sentence for people."""

    @abstractmethod
    def to_dict(self) -> dict[str, str]:
        """Return the keys and values that stand for the strategy. PyFlink has no such method."""

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys that stand for the strategy. PyFlink has no such method."""
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
    """Makes restart strategies.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_restart_attempts()
    3
    """

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The first failure ends the job."""

        def get_description(self) -> str:
            """Return one sentence for people."""
            return "no restart"

        def to_dict(self) -> dict[str, str]:
            """Return the keys and values that stand for the strategy. PyFlink has no such method."""
            return {TYPE: "none"}

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is started again a number of times, after a pause."""

        def __init__(self, restart_attempts: int, delay_between_attempts_interval: timedelta | int) -> None:
            self._attempts = _check_count(restart_attempts, FIXED_ATTEMPTS, 0)
            delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")
            self._delay = _check_span(delay, FIXED_DELAY, 0)

        def get_restart_attempts(self) -> int:
            """Return how often the job is started again."""
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the pause before each attempt."""
            return self._delay

        def get_description(self) -> str:
            """Return one sentence for people."""
            return f"up to {self._attempts} restarts, each after {self._delay.total_seconds()} s"

        def to_dict(self) -> dict[str, str]:
            """Return the keys and values that stand for the strategy. PyFlink has no such method."""
            return {TYPE: "fixed-delay", FIXED_ATTEMPTS: str(self._attempts), FIXED_DELAY: _text(self._delay)}

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is started again unless it fails too often in a span of time."""

        def __init__(
            self,
            max_failure_rate: int,
            failure_interval: timedelta | int,
            delay_between_attempts_interval: timedelta | int,
        ) -> None:
            self._rate = _check_count(max_failure_rate, RATE_FAILURES, 1)
            self._interval = _check_span(_span(failure_interval, "failure_interval"), RATE_INTERVAL, 1)
            delay = _span(delay_between_attempts_interval, "delay_between_attempts_interval")
            self._delay = _check_span(delay, RATE_DELAY, 0)

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

        def to_dict(self) -> dict[str, str]:
            """Return the keys and values that stand for the strategy. PyFlink has no such method."""
            return {
                TYPE: "failure-rate",
                RATE_FAILURES: str(self._rate),
                RATE_INTERVAL: _text(self._interval),
                RATE_DELAY: _text(self._delay),
            }

    class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job is started again after pauses that grow while it keeps failing. Flink has it, PyFlink does not."""

        def __init__(
            self,
            initial_backoff: timedelta | int = 1_000,
            max_backoff: timedelta | int = 60_000,
            backoff_multiplier: float = 1.5,
            reset_backoff_threshold: timedelta | int = 3_600_000,
            jitter_factor: float = 0.1,
            attempts_before_reset_backoff: int = _UNLIMITED,
        ) -> None:
            """Describe the strategy, by default with Flink's values.

            Args:
                initial_backoff: the first pause, in milliseconds or as a timedelta.
                max_backoff: the longest pause.
                backoff_multiplier: by how much each pause is longer than the one before.
                reset_backoff_threshold: after so long without a failure, pauses start from the first one again.
                jitter_factor: the share of a pause by which it may be longer or shorter, at random.
                attempts_before_reset_backoff: how many restarts there are between two such resets.
            """
            self._initial = _check_span(_span(initial_backoff, "initial_backoff"), INITIAL_BACKOFF, 1)
            self._max = _span(max_backoff, "max_backoff")
            if self._max < self._initial:
                raise ValueError(
                    f"'{MAX_BACKOFF}' must be at least '{INITIAL_BACKOFF}', {_text(self._initial)}, "
                    f"got {_text(self._max)}"
                )
            if not backoff_multiplier > 1:
                raise ValueError(f"'{MULTIPLIER}' must be greater than 1, got {backoff_multiplier!r}")
            self._multiplier = float(backoff_multiplier)
            threshold = _span(reset_backoff_threshold, "reset_backoff_threshold")
            self._threshold = _check_span(threshold, RESET_THRESHOLD, 1)
            if not 0 <= jitter_factor <= 1:
                raise ValueError(f"'{JITTER}' must be from 0 to 1, got {jitter_factor!r}")
            self._jitter = float(jitter_factor)
            self._attempts = _check_count(attempts_before_reset_backoff, BACKOFF_ATTEMPTS, 1)

        def get_initial_backoff(self) -> timedelta:
            """Return the first pause."""
            return self._initial

        def get_max_backoff(self) -> timedelta:
            """Return the longest pause."""
            return self._max

        def get_backoff_multiplier(self) -> float:
            """Return by how much each pause is longer than the one before."""
            return self._multiplier

        def get_reset_backoff_threshold(self) -> timedelta:
            """Return how long without a failure it takes for pauses to start from the first one again."""
            return self._threshold

        def get_jitter_factor(self) -> float:
            """Return the share of a pause by which it may be longer or shorter."""
            return self._jitter

        def get_attempts_before_reset_backoff(self) -> int:
            """Return how many restarts there are between two resets."""
            return self._attempts

        def get_description(self) -> str:
            """Return one sentence for people."""
            first, longest = self._initial.total_seconds(), self._max.total_seconds()
            return f"restarts after {first} s, then {self._multiplier} times as long each time, up to {longest} s"

        def to_dict(self) -> dict[str, str]:
            """Return the keys and values that stand for the strategy. PyFlink has no such method."""
            return {
                TYPE: "exponential-delay",
                INITIAL_BACKOFF: _text(self._initial),
                MAX_BACKOFF: _text(self._max),
                MULTIPLIER: str(self._multiplier),
                RESET_THRESHOLD: _text(self._threshold),
                JITTER: str(self._jitter),
                BACKOFF_ATTEMPTS: str(self._attempts),
            }

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """What the configuration (``restart-strategy.type``) says."""

        def get_description(self) -> str:
            """Return one sentence for people."""
            return "the configured restart strategy"

        def to_dict(self) -> dict[str, str]:
            """Return no keys: whatever is configured counts. PyFlink has no such method."""
            return {}

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

    @staticmethod
    def from_configuration(configuration: Configuration) -> RestartStrategyConfiguration:
        """Return the strategy that the keys name, the fallback where they name none. PyFlink has no such method.

        Raises:
            ValueError: a value is no valid setting; the message names its key.

        >>> from flintstream.common.configuration import Configuration
        >>> RestartStrategies.from_configuration(Configuration.from_dict({"restart-strategy.type": "fixed-delay"}))
        up to 1 restarts, each after 1.0 s
        """
        key = TYPE if configuration.contains_key(TYPE) else OLDER_TYPE
        if not configuration.contains_key(key):
            return RestartStrategies.fall_back_restart()
        kind = configuration.get_string(key, "")

        def span(key: str, default_ms: int) -> timedelta:
            return configuration.get_duration(key, Duration.of_millis(default_ms)).to_millis() * _MILLISECOND

        # Flink reads these names in any case, and with or without the hyphen.
        name = kind.lower()
        if name in {"none", "off", "disable"}:
            return RestartStrategies.no_restart()
        if name in {"fixed-delay", "fixeddelay"}:
            return RestartStrategies.FixedDelayRestartStrategyConfiguration(
                configuration.get_integer(FIXED_ATTEMPTS, 1), span(FIXED_DELAY, 1_000)
            )
        if name in {"failure-rate", "failurerate"}:
            return RestartStrategies.FailureRateRestartStrategyConfiguration(
                configuration.get_integer(RATE_FAILURES, 1), span(RATE_INTERVAL, 60_000), span(RATE_DELAY, 1_000)
            )
        if name in {"exponential-delay", "exponentialdelay"}:
            return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
                span(INITIAL_BACKOFF, 1_000),
                span(MAX_BACKOFF, 60_000),
                configuration.get_float(MULTIPLIER, 1.5),
                span(RESET_THRESHOLD, 3_600_000),
                configuration.get_float(JITTER, 0.1),
                configuration.get_integer(BACKOFF_ATTEMPTS, _UNLIMITED),
            )
        raise ValueError(
            f"'{key}' must be 'none' (or 'off', 'disable'), 'fixed-delay', 'failure-rate' or 'exponential-delay', "
            f"got {kind!r}"
        )
