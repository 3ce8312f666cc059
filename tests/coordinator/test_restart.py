"""Restart strategies decide as Flink 2.3's do: the expected delays here were taken from Flink with a manual clock."""

from __future__ import annotations

import random

import pytest

from flintstream.common import Configuration
from flintstream.coordinator.restart import (
    ExponentialDelay,
    FailureRate,
    FixedDelay,
    NoRestart,
    RestartStrategy,
    restart_strategy,
)


def delays(strategy: RestartStrategy, *failures_at: int) -> list[int | None]:
    return [strategy.delay_ms(now) for now in failures_at]


def test_no_restart_gives_up_at_once():
    assert delays(NoRestart(), 0) == [None]


def test_a_fixed_delay_gives_up_after_its_attempts_for_good():
    assert delays(FixedDelay(2, 7), 0, 1, 2, 10**9) == [7, 7, None, None]
    assert delays(FixedDelay(0, 7), 0) == [None]


@pytest.mark.parametrize(
    ("failures", "at", "expected"),
    [
        (2, (0, 1_000, 2_000, 11_000, 12_000), [7, 7, None, None, None]),
        (2, (0, 5_000, 10_000, 15_001, 20_000, 20_001), [7, 7, None, 7, None, None]),
        (1, (0, 10_000, 20_001, 30_000), [7, None, 7, None]),
    ],
)
def test_a_failure_rate_counts_the_failures_within_its_interval(failures, at, expected):
    assert delays(FailureRate(failures, 10_000, 7), *at) == expected


def test_exponential_delays_grow_to_their_maximum():
    strategy = ExponentialDelay(1_000, 8_000, 2, 60_000, jitter=0)
    assert delays(strategy, 0, 1_500, 4_500, 9_500, 18_500, 27_500) == [1_000, 2_000, 4_000, 8_000, 8_000, 8_000]


@pytest.mark.parametrize(("second_failure", "expected"), [(10_999, 2_000), (11_000, 1_000)])
def test_exponential_delays_start_anew_when_the_restarted_job_lasted_long_enough(second_failure, expected):
    strategy = ExponentialDelay(1_000, 8_000, 2, reset_after=10_000, jitter=0)
    assert delays(strategy, 0, second_failure) == [1_000, expected]


def test_exponential_delays_give_up_after_their_attempts_which_a_reset_renews():
    strategy = ExponentialDelay(100, 8_000, 2, reset_after=10_000, jitter=0, attempts=2)
    assert delays(strategy, 0, 1_000, 21_000, 22_000, 23_000) == [100, 200, 100, 200, None]


def test_jitter_spreads_delays_but_not_beyond_the_bounds():
    def second(seed: int) -> int:
        strategy = ExponentialDelay(1_000, 8_000, 2, jitter=0.25, chance=random.Random(seed))
        strategy.delay_ms(0)
        return strategy.delay_ms(10_000) or 0

    seconds = [second(seed) for seed in range(200)]
    assert 1_500 <= min(seconds) < 1_600
    assert 2_400 < max(seconds) <= 2_500
    firsts = [
        ExponentialDelay(1_000, 8_000, 2, jitter=0.5, chance=random.Random(s)).delay_ms(0) or 0 for s in range(50)
    ]
    assert min(firsts) == 1_000
    assert max(firsts) > 1_300
    assert delays(ExponentialDelay(1_000, 1_000, 2, jitter=1), 0, 2_000) == [1_000, 1_000]


def test_the_same_chance_gives_the_same_jitter():
    one, two = (ExponentialDelay(jitter=1, chance=random.Random(3)) for _ in range(2))
    times = range(0, 100_000, 10_000)
    assert delays(one, *times) == delays(two, *times)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, NoRestart) for name in ("none", "off", "disable", "NONE")),
        *((name, FixedDelay) for name in ("fixed-delay", "fixeddelay", "Fixed-Delay")),
        *((name, FailureRate) for name in ("failure-rate", "failurerate")),
        *((name, ExponentialDelay) for name in ("exponential-delay", "exponentialdelay")),
    ],
)
@pytest.mark.parametrize("key", ["restart-strategy.type", "restart-strategy"])
def test_strategies_go_by_all_names_of_flink(key, name, expected):
    assert type(restart_strategy({key: name}, checkpointing=False)) is expected
    assert type(restart_strategy(Configuration().set_string(key, name), checkpointing=True)) is expected


def test_the_newer_key_counts():
    settings = {"restart-strategy": "none", "restart-strategy.type": "fixed-delay"}
    assert type(restart_strategy(settings, checkpointing=True)) is FixedDelay


def test_by_default_only_jobs_with_checkpoints_restart():
    assert type(restart_strategy({"restart-strategy.fixed-delay.attempts": "3"}, checkpointing=False)) is NoRestart
    strategy = restart_strategy({}, checkpointing=True, chance=random.Random(0))
    first, second = delays(strategy, 0, 5_000)
    assert 1_000 <= (first or 0) <= 1_100
    assert 1_350 <= (second or 0) <= 1_650


def test_defaults_are_those_of_flink():
    assert delays(restart_strategy({"restart-strategy": "fixed-delay"}, checkpointing=False), 0, 1) == [1_000, None]
    rate = restart_strategy({"restart-strategy": "failure-rate"}, checkpointing=False)
    assert delays(rate, 0, 60_001, 120_001) == [1_000, 1_000, None]


def test_options_are_read():
    fixed = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "2 s",
    }
    assert delays(restart_strategy(fixed, checkpointing=False), 0, 1, 2, 3) == [2_000, 2_000, 2_000, None]
    rate = {
        "restart-strategy.type": "failure-rate",
        "restart-strategy.failure-rate.max-failures-per-interval": "2",
        "restart-strategy.failure-rate.failure-rate-interval": "1 min",
        "restart-strategy.failure-rate.delay": "50",
    }
    assert delays(restart_strategy(rate, checkpointing=False), 0, 60_000, 60_001, 60_002) == [50, 50, 50, None]
    exponential = {
        "restart-strategy.type": "exponential-delay",
        "restart-strategy.exponential-delay.initial-backoff": "100 ms",
        "restart-strategy.exponential-delay.max-backoff": "1 s",
        "restart-strategy.exponential-delay.backoff-multiplier": "3.0",
        "restart-strategy.exponential-delay.reset-backoff-threshold": "1 min",
        "restart-strategy.exponential-delay.jitter-factor": "0",
        "restart-strategy.exponential-delay.attempts-before-reset-backoff": "4",
    }
    strategy = restart_strategy(exponential, checkpointing=False)
    assert delays(strategy, 0, 1_000, 3_000, 6_000, 9_000) == [100, 300, 900, 1_000, None]
    assert delays(strategy, 67_000) == [100]


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("fixed-delay", "attempts", "-1"),
        ("fixed-delay", "attempts", "many"),
        ("fixed-delay", "delay", "-1 s"),
        ("fixed-delay", "delay", "PT-1S"),
        ("fixed-delay", "delay", "soon"),
        ("failure-rate", "max-failures-per-interval", "0"),
        ("failure-rate", "failure-rate-interval", "0 s"),
        ("failure-rate", "delay", "PT-1S"),
        ("exponential-delay", "initial-backoff", "0 s"),
        ("exponential-delay", "max-backoff", "1 ms"),
        ("exponential-delay", "backoff-multiplier", "1.0"),
        ("exponential-delay", "backoff-multiplier", "nan"),
        ("exponential-delay", "reset-backoff-threshold", "0"),
        ("exponential-delay", "jitter-factor", "1.5"),
        ("exponential-delay", "jitter-factor", "-0.1"),
        ("exponential-delay", "attempts-before-reset-backoff", "0"),
    ],
)
def test_a_bad_value_is_refused_with_its_key(kind, option, value):
    key = f"restart-strategy.{kind}.{option}"
    with pytest.raises(ValueError, match=key):
        restart_strategy({"restart-strategy.type": kind, key: value}, checkpointing=True)


@pytest.mark.parametrize("key", ["restart-strategy.type", "restart-strategy"])
@pytest.mark.parametrize("name", ["full", "no-restart", "false", ""])
def test_an_unknown_strategy_is_refused_with_the_known_ones(key, name):
    with pytest.raises(ValueError, match=rf"'{key}' must be one of .* exponential-delay, got '{name}'"):
        restart_strategy({key: name}, checkpointing=True)
