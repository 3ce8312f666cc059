"""Sources with a limited rate."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.datastream.inline import MODES, make_env

from flintstream.common import Types, WatermarkStrategy
from flintstream.connectors.rate_limit import RateLimiterStrategy
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.errors import PlanError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_limited_source_takes_as_long_as_its_rate_says_and_loses_nothing(mode, parallelism):
    source = RateLimiterStrategy.per_second(1000).limit(NumberSequenceSource(1, 1000))
    env = make_env(mode, parallelism)
    began = time.monotonic()
    with env.from_source(source, WatermarkStrategy.no_watermarks(), "slow").execute_and_collect() as found:
        assert sorted(found) == list(range(1, 1001))
    assert time.monotonic() - began > 0.85  # a burst of 100 ms may come first


def test_a_limited_source_is_otherwise_as_it_was():
    source = NumberSequenceSource(1, 10)
    limited: Any = RateLimiterStrategy.per_second(10).limit(source)
    assert limited.produced_type == Types.LONG()
    assert limited.get_boundedness() is source.get_boundedness()
    assert RateLimiterStrategy.no_op().limit(source) is source


def test_what_is_no_rate_or_no_source_is_refused():
    several: list[Any] = [0, -1, "10", True]
    for wrong in several:
        with pytest.raises(PlanError, match="positive number of records per second"):
            RateLimiterStrategy.per_second(wrong)
    with pytest.raises(TypeError, match="only a Source can be limited, got list"):
        RateLimiterStrategy.per_second(1).limit([])  # type: ignore[arg-type]
