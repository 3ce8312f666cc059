# mypy: disable-error-code="import-not-found,import-untyped"
"""Windows of TIMESTAMP_LTZ in the time zone of the session: days, hours, and the hours that a change of clocks moves."""

import datetime as dt

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.table import DataTypes, Schema
from pyflink.table.expressions import col, lit
from pyflink.table.window import Session, Slide, Tumble
from tests.table.conformance.registry import BOTH, program, script

SHANGHAI, NEW_YORK, KOLKATA = "Asia/Shanghai", "America/New_York", "Asia/Kolkata"


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def events(env, t_env, moments):
    """Declare the view ``events`` with rows of these moments in UTC: n, ms, and the rowtime ts."""
    epoch = dt.datetime(1970, 1, 1)
    values = [
        (n, int((dt.datetime.fromisoformat(item) - epoch).total_seconds() * 1000)) for n, item in enumerate(moments)
    ]
    stream = env.from_collection(values, Types.TUPLE([Types.INT(), Types.LONG()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    schema = (
        Schema.new_builder()
        .column("f0", "INT")
        .column("f1", "BIGINT")
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(f1, 3)")
        .watermark("ts", "ts - INTERVAL '1' SECOND")
        .build()
    )
    table = t_env.from_data_stream(stream.assign_timestamps_and_watermarks(strategy), schema)
    t_env.create_temporary_view("events", table)
    return table


PLAIN = (
    "2024-05-01T15:59:59",
    "2024-05-01T16:00:00",
    "2024-05-02T03:30:00",
    "2024-05-02T15:00:00",
    "2024-05-02T18:29:00",
)
SPRING = (
    "2024-03-10T05:30:00", "2024-03-10T06:15:00", "2024-03-10T06:45:00", "2024-03-10T07:00:00", "2024-03-10T07:30:00",
    "2024-03-10T08:30:00", "2024-03-11T03:30:00", "2024-03-11T04:30:00",
)  # fmt: skip
AUTUMN = (
    "2024-11-03T03:30:00", "2024-11-03T04:30:00", "2024-11-03T05:15:00", "2024-11-03T05:45:00", "2024-11-03T06:15:00",
    "2024-11-03T06:45:00", "2024-11-03T07:30:00", "2024-11-04T04:30:00", "2024-11-04T05:30:00",
)  # fmt: skip
WINDOWS = {
    "days": "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' DAY)",
    "hours": "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
    "half_hours": "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '30' MINUTE)",
    "shifted_days": "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '6' HOUR)",
    "hops": "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)",
    "steps": "CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY)",
    "sessions": "SESSION(TABLE events, DESCRIPTOR(ts), INTERVAL '50' MINUTE)",
}
OLD = {
    "days": "TUMBLE{}(ts, INTERVAL '1' DAY)",
    "hops": "HOP{}(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)",
    "sessions": "SESSION{}(ts, INTERVAL '50' MINUTE)",
}

for zone, label, moments in (
    (SHANGHAI, "without_changes_of_clocks", PLAIN),
    (KOLKATA, "of_half_an_hour", PLAIN),
    (NEW_YORK, "in_spring", SPRING),
    (NEW_YORK, "in_autumn", AUTUMN),
):

    def windows(env, t_env, moments=moments):
        events(env, t_env, moments)
        return [
            t_env.sql_query(
                "SELECT window_start, window_end, CAST(window_time AS STRING) AS t, COUNT(*) AS c, SUM(f0) AS s "
                f"FROM TABLE({window}) GROUP BY window_start, window_end, window_time"
            )
            for window in WINDOWS.values()
        ]

    def old_windows(env, t_env, moments=moments):
        events(env, t_env, moments)
        return [
            t_env.sql_query(
                f"SELECT {call.format('_START')} AS a, {call.format('_END')} AS b, "
                f"CAST({call.format('_ROWTIME')} AS STRING) AS t, COUNT(*) AS c FROM events GROUP BY {call.format('')}"
            )
            for call in OLD.values()
        ]

    def groups_of_groups(env, t_env, moments=moments):
        events(env, t_env, moments)
        found = []
        for name, window in WINDOWS.items():
            if name != "sessions":
                rows = f"SELECT f0, window_start AS s, window_end AS e FROM TABLE({window})"
                counts = (
                    f"SELECT MOD(f0, 2) AS k, window_start AS s, window_end AS e, COUNT(*) AS c FROM TABLE({window}) "
                    "GROUP BY MOD(f0, 2), window_start, window_end"
                )
                found.append(t_env.sql_query(f"SELECT s, e, SUM(c) AS t, MAX(k) AS k FROM ({counts}) GROUP BY s, e"))
                found.append(t_env.sql_query(f"SELECT s, e, SUM(f0) AS t FROM ({rows} WHERE f0 <> 2) GROUP BY s, e"))
        return found

    windows.__name__ = f"windows_in_a_time_zone_{label}"
    old_windows.__name__ = f"old_windows_in_a_time_zone_{label}"
    groups_of_groups.__name__ = f"groups_of_groups_of_windows_in_a_time_zone_{label}"
    settings = {"table.local-time-zone": zone}
    program(2, modes=BOTH, order="multiset", config=settings)(windows)
    program(2, modes=BOTH, order="multiset", config=settings)(old_windows)
    program(2, modes=BOTH, order="multiset", config=settings)(groups_of_groups)


@program(2, order="multiset", modes=BOTH, config={"table.local-time-zone": NEW_YORK})
def windows_of_the_table_api_in_a_time_zone(env, t_env):
    t = events(env, t_env, AUTUMN)
    return [
        t.window(kind.on(col("ts")).alias("w"))
        .group_by(col("w"))
        .select(
            col("w").start.alias("a"),
            col("w").end.alias("b"),
            col("w").rowtime.cast(DataTypes.STRING()).alias("t"),
            col("f0").count.alias("c"),
        )
        for kind in (
            Tumble.over(lit(1).days),
            Slide.over(lit(2).hours).every(lit(1).hours),
            Session.with_gap(lit(50).minutes),
        )
    ]


@program(2, order="multiset", config={"table.local-time-zone": NEW_YORK})
def rows_with_windows_in_a_time_zone(env, t_env):
    events(env, t_env, AUTUMN)
    window = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    hours = f"SELECT window_time AS t, COUNT(*) AS c FROM {window} GROUP BY window_start, window_end, window_time"
    t_env.create_temporary_view("hours", t_env.sql_query(hours))
    return [
        t_env.sql_query(f"SELECT f0, window_start, window_end, CAST(window_time AS STRING) AS t FROM {window}"),
        t_env.sql_query(
            "SELECT f0, window_start, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
            f"ORDER BY f0 DESC) AS rn FROM {window}) WHERE rn <= 1"
        ),
        t_env.sql_query(
            "SELECT window_start, window_end, SUM(c) AS c FROM TABLE(TUMBLE(TABLE hours, DESCRIPTOR(t), "
            "INTERVAL '1' DAY)) GROUP BY window_start, window_end"
        ),
    ]


script("printed_instants_in_a_time_zone", """
CREATE TEMPORARY VIEW instants AS SELECT TO_TIMESTAMP_LTZ(ms, 3) AS t, id FROM (VALUES (0, 1), (1720000000123, 2), (1705000000000, 3)) AS v (ms, id);
SELECT t, id, CAST(t AS TIMESTAMP(3)) AS here, CAST(t AS STRING) AS said FROM instants;
SELECT ARRAY[t] AS a, MAP['k', t] AS m, ROW(t, id) AS r FROM instants;
SELECT CAST(t AS TIMESTAMP_LTZ(6)) AS six, CAST(t AS TIMESTAMP_LTZ(0)) AS zero, CAST(NULL AS TIMESTAMP_LTZ(3)) AS nothing FROM instants;
SELECT COLLECT(t) AS c FROM (SELECT TO_TIMESTAMP_LTZ(0, 3) AS t FROM instants) AS v;
SELECT COLLECT(x) AS c FROM (SELECT CAST(1.5 AS FLOAT) AS x FROM instants) AS v;
SELECT COLLECT(x) AS c FROM (SELECT TIMESTAMP '2020-01-02 03:04:05.6' AS x FROM instants) AS v;
SELECT COLLECT(x) AS c FROM (SELECT X'0a' AS x FROM instants LIMIT 1) AS v;
SELECT ARRAY[X'0a', CAST(NULL AS BYTES)] AS a, MAP['k', X'0aff'] AS m, ROW(X'0a', 1) AS r FROM instants WHERE id = 1;
SELECT ARRAY[CAST(1.5 AS FLOAT)] AS a, ARRAY[TIME '10:00:00'] AS t, ARRAY[DATE '2020-01-01'] AS d, ARRAY[1e10] AS e, ARRAY[TRUE] AS b FROM instants WHERE id = 1;
""", printed=True, modes=BOTH, config={"table.local-time-zone": "America/New_York"})  # fmt: skip
