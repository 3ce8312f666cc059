from __future__ import annotations

from datetime import timedelta

import pytest

from flintstream.common import RestartStrategies


def test_a_fixed_delay_can_be_given_in_milliseconds_or_as_a_timedelta():
    strategy = RestartStrategies.fixed_delay_restart(3, 1500)
    assert strategy.get_restart_attempts() == 3
    assert strategy.get_delay_between_attempts_interval() == timedelta(seconds=1.5)
    assert strategy == RestartStrategies.fixed_delay_restart(3, timedelta(seconds=1.5))
    assert strategy != RestartStrategies.fixed_delay_restart(4, 1500)


def test_a_failure_rate_has_three_numbers():
    strategy = RestartStrategies.failure_rate_restart(5, 60_000, timedelta(seconds=2))
    assert strategy.get_max_failure_rate() == 5
    assert strategy.get_failure_interval() == timedelta(minutes=1)
    assert strategy.get_delay_between_attempts_interval() == timedelta(seconds=2)
    assert hash(strategy) == hash(RestartStrategies.failure_rate_restart(5, 60_000, 2_000))


def test_strategies_are_equal_by_kind_and_numbers():
    assert RestartStrategies.no_restart() == RestartStrategies.no_restart()
    assert RestartStrategies.no_restart() != RestartStrategies.fall_back_restart()
    descriptions = {
        strategy.get_description()
        for strategy in (
            RestartStrategies.no_restart(),
            RestartStrategies.fall_back_restart(),
            RestartStrategies.fixed_delay_restart(3, 1),
            RestartStrategies.failure_rate_restart(3, 1, 1),
        )
    }
    assert len(descriptions) == 4


@pytest.mark.parametrize("delay", [1.5, "1 s", None, True])
def test_a_delay_is_milliseconds_or_a_timedelta(delay):
    with pytest.raises(TypeError, match="milliseconds"):
        RestartStrategies.fixed_delay_restart(3, delay)
