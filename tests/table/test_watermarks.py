"""Watermarks of declared tables: any expression, and sources or subtasks that have no rows."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common._types.data_types import DataTypes
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import Item
from flintstream.table.udf import udf

EPOCH = dt.datetime(2024, 1, 31)
HOURS = st.lists(st.integers(0, 24 * 90), min_size=1, max_size=12)


def environment():
    settings_ = EnvironmentSettings.in_streaming_mode()
    t_env = TableEnvironment.create(settings_)
    t_env.get_config().set("flintstream.engine", "inline")
    t_env.get_config().set("parallelism.default", "1")
    return t_env


def minus_month(moment):
    month = moment.month - 1 or 12
    last = (moment.replace(day=1) - dt.timedelta(days=1)).day if month == moment.month - 1 else 31
    return moment.replace(year=moment.year - (month == 12), month=month, day=min(moment.day, last))


WATERMARKS = {
    "ts - INTERVAL '1' MONTH": minus_month,
    "ts - INTERVAL '36' HOUR": lambda ts: ts - dt.timedelta(hours=36),
    "ts + INTERVAL -'1' DAY": lambda ts: ts - dt.timedelta(days=1),
    "ts": lambda ts: ts,
    "CASE WHEN EXTRACT(HOUR FROM ts) = 0 THEN ts ELSE ts - INTERVAL '2' DAY END": lambda ts: (
        ts if ts.hour == 0 else ts - dt.timedelta(days=2)
    ),
    "TIMESTAMPADD(HOUR, -5, ts)": lambda ts: ts - dt.timedelta(hours=5),
    "CAST(NULL AS TIMESTAMP(3))": lambda _: None,
}


@pytest.mark.parametrize("expression", WATERMARKS)
@given(hours=HOURS)
@settings(max_examples=15, deadline=None)
def test_a_row_is_late_if_the_watermark_of_earlier_rows_has_passed_its_window(expression, hours, tmp_path_factory):
    times = [EPOCH + dt.timedelta(hours=hour) for hour in hours]
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("".join(f"{ts}\n" for ts in times))
    t_env = environment()
    t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")
    t_env.execute_sql(
        f"CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS {expression}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    day = dt.timedelta(days=1)
    counts: dict[dt.datetime, int] = {}
    watermark = dt.datetime.min
    for ts in times:
        start = ts.replace(hour=0)
        if start + day - dt.timedelta(milliseconds=1) > watermark:
            counts[start] = counts.get(start, 0) + 1
        watermark = max(watermark, WATERMARKS[expression](ts) or watermark)
    query = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    with t_env.execute_sql(query).collect() as rows:
        assert {row[0]: row[1] for row in rows} == counts


def test_a_watermark_that_is_not_a_time_is_refused():
    with pytest.raises(SqlError, match=r"WATERMARK FOR ts: the watermark must be TIMESTAMP .* not INT"):
        environment().execute_sql(
            "CREATE TABLE t (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS n) WITH ('connector' = 'datagen')"
        )


def test_a_python_function_in_a_watermark_is_refused():
    t_env = environment()
    t_env.create_temporary_function("f", udf(lambda ts: ts, result_type=DataTypes.TIMESTAMP(3)))
    with pytest.raises(UnsupportedClauseError, match="a Python function in a watermark"):
        t_env.execute_sql("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS f(ts)) WITH ('connector' = 'datagen')")


def test_subtasks_without_rows_do_not_hold_back_windows_after_the_idle_timeout(tmp_path):
    (tmp_path / "rows.csv").write_text("2024-01-01 00:00:01\n2024-01-01 00:01:00\n")
    t_env = environment()
    t_env.get_config().set("parallelism.default", "2")
    t_env.get_config().set("table.exec.source.idle-timeout", "100 ms")
    t_env.execute_sql(
        "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv', 'source.monitor-interval' = '1 s')"
    )
    query = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    with t_env.execute_sql(query).collect() as rows:  # the source never ends: only the timeout lets the window fire
        assert list(next(iter(rows))) == [dt.datetime(2024, 1, 1), 1]


KAFKA = {"connector": "kafka", "topic": "x", "format": "json", "properties.bootstrap.servers": "127.0.0.1:1"}


def kafka_table(t_env, **more):
    """Return the watermarks of a table in Kafka with these options of watermarks."""
    options = {**KAFKA, **{f"scan.watermark.{key}": value for key, value in more.items()}}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({listed})")
    session = t_env._session
    table = session.catalog.find(("t",), None)
    items = [Item("ts", Ref(table.columns[0].type, 0), "")]
    return session.watermark("t", table, items)[1]


def test_the_idle_timeout_of_a_table_comes_before_that_of_the_session():
    t_env = environment()
    t_env.get_config().set("table.exec.source.idle-timeout", "1 s")
    marks = kafka_table(t_env, **{"idle-timeout": "5 s"})
    assert marks.strategy(200).idle_timeout_ms == 5_000


def test_options_align_the_source_of_a_table():
    marks = kafka_table(environment(), **{"alignment.group": "g", "alignment.max-drift": "2 s"})
    assert marks.alignment == ("g", 2_000, 1_000)


def test_an_alignment_needs_a_group_and_a_drift():
    with pytest.raises(SqlError, match="belong together"):
        kafka_table(environment(), **{"alignment.group": "g"})


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_a_source_with_splits_follows_the_time_of_each_split_whether_or_not_its_table_has_a_key(key):
    env = StreamExecutionEnvironment.get_execution_environment()
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(
        f"CREATE TABLE g (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND{key}) "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '4')"
    )
    t_env.to_data_stream(t_env.from_path("g")).print()
    assert "WatermarkAssigner" not in env.get_execution_plan()
