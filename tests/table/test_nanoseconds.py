"""Timestamps with nanoseconds: as values, in keys, state and exchanges."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common._types.nanoseconds import (
    from_nanoseconds,
    nanoseconds_of,
    plain_datetime,
    to_nanoseconds,
    with_nanoseconds,
)
from flintstream.common.configuration import Configuration
from flintstream.runtime.keys import stable_hash
from flintstream.table import EnvironmentSettings, TableEnvironment

NANOS = st.integers(-(10**18), 10**18)
CLOSE = st.integers(-2000, 2000)


@given(NANOS, CLOSE)
def test_order_equality_and_hashes_are_those_of_the_numbers_of_nanoseconds(start, step):
    a, b = from_nanoseconds(start), from_nanoseconds(start + step)
    assert (a == b, a != b, a < b, a <= b, a > b, a >= b) == (
        step == 0,
        step != 0,
        step > 0,
        step >= 0,
        step < 0,
        step <= 0,
    )
    again = from_nanoseconds(start)
    assert hash(again) == hash(a)
    assert stable_hash(again) == stable_hash(a)
    assert {a: 1}.get(again) == 1


@given(NANOS)
def test_a_value_survives_numbers_and_pickles(number):
    value = from_nanoseconds(number)
    assert to_nanoseconds(value) == number
    again = pickle.loads(pickle.dumps(value))
    assert (again, type(again)) == (value, type(value))


@given(NANOS, st.integers(-(10**9), 10**9))
def test_arithmetic_keeps_nanoseconds(number, micros):
    value, step = from_nanoseconds(number), timedelta(microseconds=micros)
    assert to_nanoseconds(value + step) == to_nanoseconds(step + value) == number + micros * 1000
    assert to_nanoseconds(value - step) == number - micros * 1000
    assert value - value == timedelta(0)


def test_only_values_with_nanoseconds_have_a_class_of_their_own():
    moment = datetime(2020, 1, 2, 3, 4, 5, 6)
    precise = with_nanoseconds(moment, 7)
    assert type(with_nanoseconds(moment, 0)) is datetime
    assert type(plain_datetime(precise)) is datetime
    assert nanoseconds_of(precise.replace(day=3)) == 7
    assert type(precise.replace(microsecond=0)) is datetime
    assert nanoseconds_of(precise.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=1)))) == 7


def rows_of(query: str, config: dict[str, str]) -> list[list[object]]:
    """Return the rows that changes leave behind, sorted."""
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    configuration = Configuration()
    for key, value in config.items():
        configuration.set_string(key, value)
    t_env = TableEnvironment.create(settings.with_configuration(configuration).build())
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW t AS SELECT n, TIMESTAMPADD(SECOND, n / 4, CAST("
        "'2020-01-01 00:00:00.00000000' || CAST(MOD(n, 4) AS STRING) AS TIMESTAMP(9))) AS moment "
        "FROM (SELECT EXPLODED AS n FROM UNNEST(ARRAY[1, 2, 3, 4, 5, 6, 7, 1, 2, 3]) AS u (EXPLODED))"
    )
    left: list[list[object]] = []
    with t_env.execute_sql(query).collect() as found:
        for row in found:
            if row.get_row_kind().value in {0, 2}:
                left.append(list(row))
            else:
                left.remove(list(row))
    return sorted(left, key=str)


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("parallelism", ["1", "3"])
def test_groups_joins_and_state_tell_nanoseconds_apart(backend, parallelism):
    config = {"flintstream.engine": "inline", "parallelism.default": parallelism, "state.backend.type": backend}
    groups = rows_of("SELECT CAST(moment AS STRING), COUNT(*) FROM t GROUP BY moment", config)
    assert groups == [
        ["2020-01-01 00:00:00.000000001", 2],
        ["2020-01-01 00:00:00.000000002", 2],
        ["2020-01-01 00:00:00.000000003", 2],
        ["2020-01-01 00:00:01.000000000", 1],
        ["2020-01-01 00:00:01.000000001", 1],
        ["2020-01-01 00:00:01.000000002", 1],
        ["2020-01-01 00:00:01.000000003", 1],
    ]
    joined = rows_of("SELECT a.n, b.n FROM t AS a JOIN t AS b ON a.moment = b.moment AND a.n <> b.n", config)
    assert joined == []
    last = rows_of(
        "SELECT MOD(n, 2), CAST(MAX(moment) AS STRING), CAST(MIN(moment) AS STRING) FROM t GROUP BY MOD(n, 2)", config
    )
    assert last == [
        [0, "2020-01-01 00:00:01.000000002", "2020-01-01 00:00:00.000000002"],
        [1, "2020-01-01 00:00:01.000000003", "2020-01-01 00:00:00.000000001"],
    ]


@pytest.mark.spark
def test_nanoseconds_cross_the_exchanges_of_spark():
    config = {"parallelism.default": "2", "flintstream.engine": "spark"}
    groups = rows_of("SELECT CAST(moment AS STRING), COUNT(*) FROM t GROUP BY moment", config)
    assert len(groups) == 7
