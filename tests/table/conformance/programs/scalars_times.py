"""Dates, times, timestamps, intervals and time zones."""

from tests.table.conformance.registry import scalars, table

TIMES = table(
    "ts TIMESTAMP(3); d DATE; t TIME; ts6 TIMESTAMP(6)",
    (
        "TIMESTAMP '2020-02-29 13:14:15.678'",
        "DATE '2020-02-29'",
        "TIME '13:14:15'",
        "TIMESTAMP '2020-02-29 13:14:15.678901'",
    ),
    (
        "TIMESTAMP '1969-12-31 23:59:59.999'",
        "DATE '1969-12-31'",
        "TIME '23:59:59'",
        "TIMESTAMP '1969-12-31 23:59:59.999999'",
    ),
    ("TIMESTAMP '2023-01-01 00:00:00'", "DATE '2023-01-01'", "TIME '00:00:00'", "TIMESTAMP '2023-01-01 00:00:00'"),
    ("NULL", "NULL", "NULL", "NULL"),
)
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
scalars(
    "parts_of_timestamps",
    "\n".join(
        [
            *(
                f"EXTRACT({unit} FROM ts)"
                for unit in (
                    *UNITS,
                    "DOW",
                    "DOY",
                    "ISODOW",
                    "ISOYEAR",
                    "EPOCH",
                    "CENTURY",
                    "DECADE",
                    "MILLENNIUM",
                    "MICROSECOND",
                )
            ),
            *(f"EXTRACT({unit} FROM d)" for unit in ("YEAR", "MONTH", "DAY", "WEEK", "DOW", "DOY", "EPOCH")),
            *(f"EXTRACT({unit} FROM t)" for unit in ("HOUR", "MINUTE", "SECOND")),
            *(
                f"{name}(ts)"
                for name in (
                    "YEAR",
                    "QUARTER",
                    "MONTH",
                    "WEEK",
                    "DAYOFYEAR",
                    "DAYOFMONTH",
                    "DAYOFWEEK",
                    "HOUR",
                    "MINUTE",
                    "SECOND",
                )
            ),
            *(f"{name}(d)" for name in ("YEAR", "MONTH", "DAYOFMONTH", "DAYOFWEEK")),
            "EXTRACT(DAY FROM INTERVAL '3 04' DAY TO HOUR)",
            "EXTRACT(MONTH FROM INTERVAL '2-3' YEAR TO MONTH)",
        ]
    ),
    TIMES,
)
scalars(
    "floor_and_ceil_of_times",
    "\n".join(
        [
            *(f"FLOOR(ts TO {unit})" for unit in UNITS),
            *(f"CEIL(ts TO {unit})" for unit in UNITS),
            *(f"FLOOR(d TO {unit})" for unit in ("YEAR", "MONTH", "WEEK", "DAY")),
            *(f"CEIL(d TO {unit})" for unit in ("YEAR", "MONTH")),
            *(f"FLOOR(t TO {unit})" for unit in ("HOUR", "MINUTE")),
            "FLOOR(ts6 TO SECOND)",
        ]
    ),
    TIMES,
)
# 24:00 is no time in Python, which ends what collect() gives of the query.
scalars("hours_rounded_up_to_midnight", "CEIL(t TO HOUR)", TIMES)
scalars(
    "arithmetic_of_times",
    "\n".join(
        [
            *(f"TIMESTAMPADD({unit}, 1, ts)" for unit in UNITS[:-1]),
            *(f"TIMESTAMPDIFF({unit}, TIMESTAMP '2019-01-31 12:00:00', ts)" for unit in UNITS[:-1]),
            "TIMESTAMPADD(MONTH, 1, d)",
            "TIMESTAMPADD(DAY, -1, d)",
            "TIMESTAMPADD(HOUR, 1, d)",
            "TIMESTAMPADD(YEAR, 1, ts)",
            "TIMESTAMPDIFF(DAY, d, DATE '2020-03-01')",
            "TIMESTAMPDIFF(MONTH, DATE '2020-03-31', d)",
            "ts + INTERVAL '1' DAY",
            "ts - INTERVAL '1' MONTH",
            "ts + INTERVAL '1-2' YEAR TO MONTH",
            "ts + INTERVAL '1 02:03:04.567' DAY TO SECOND",
            "ts - INTERVAL '90' SECOND",
            "ts + INTERVAL '10' MINUTE * 3",
            "d + INTERVAL '1' DAY",
            "d - INTERVAL '1' MONTH",
            "d + INTERVAL '12' HOUR",
            "t + INTERVAL '1' HOUR",
            "t - INTERVAL '14' HOUR",
            "ts6 + INTERVAL '1' SECOND",
            "ts > TIMESTAMP '2020-01-01 00:00:00'",
            "d > DATE '2020-01-01'",
            "ts = d",
            "ts > '2020-01-01 00:00:00'",
            "d = '2020-02-29'",
            "t > TIME '12:00:00'",
            "ts BETWEEN TIMESTAMP '2020-01-01 00:00:00' AND TIMESTAMP '2021-01-01 00:00:00'",
            "(ts, INTERVAL '1' DAY) OVERLAPS (TIMESTAMP '2020-03-01 00:00:00', INTERVAL '1' DAY)",
            "(ts - TIMESTAMP '2020-01-01 00:00:00') DAY TO SECOND",
            "CAST((ts - TIMESTAMP '2020-01-01 00:00:00') SECOND AS STRING)",
            "INTERVAL '1' DAY",
            "INTERVAL '2' MONTH",
            "INTERVAL '1' DAY > INTERVAL '23' HOUR",
            "INTERVAL '1' DAY + INTERVAL '2' HOUR",
            "-INTERVAL '1' DAY",
            "COALESCE(ts, TIMESTAMP '2000-01-01 00:00:00')",
            "CAST(ts AS DATE)",
            "CAST(ts AS TIME)",
            "CAST(ts AS STRING)",
            "CAST(ts6 AS STRING)",
            "CAST(ts6 AS TIMESTAMP(3))",
            "CAST(ts6 AS TIMESTAMP(0))",
            "CAST(d AS TIMESTAMP(3))",
            "CAST(t AS STRING)",
            "CAST(d AS STRING)",
        ]
    ),
    TIMES,
)
scalars(
    "formatting_and_parsing_times",
    r"""
    DATE_FORMAT(ts, 'yyyy-MM-dd')
    DATE_FORMAT(ts, 'yyyy/MM/dd HH:mm:ss.SSS')
    DATE_FORMAT(ts, 'E MMM d h:mm a')
    DATE_FORMAT(ts, 'D w u')
    DATE_FORMAT('2020-01-02 03:04:05', 'HH:mm')
    DATE_FORMAT(ts6, 'SSSSSS')
    TO_DATE('2020-01-02')
    TO_DATE('02.01.2020', 'dd.MM.yyyy')
    TO_DATE('nonsense')
    TO_TIMESTAMP('2020-01-02 03:04:05')
    TO_TIMESTAMP('2020-01-02')
    TO_TIMESTAMP('2020-01-02 03:04:05.678')
    TO_TIMESTAMP('02/01/2020 03:04', 'dd/MM/yyyy HH:mm')
    TO_TIMESTAMP('2020-01-02T03:04:05Z', 'yyyy-MM-dd''T''HH:mm:ss''Z''')
    TO_TIMESTAMP('nonsense')
    TO_TIMESTAMP('2020-13-45 00:00:00')
    CAST(TO_TIMESTAMP_LTZ(0, 0) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1600000000, 0) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1600000000123, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(-1, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1600000000123) AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-02 03:04:05') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-02 03:04:05', 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo') AS STRING)
    FROM_UNIXTIME(0)
    FROM_UNIXTIME(1600000000)
    FROM_UNIXTIME(1600000000, 'yyyy/MM')
    UNIX_TIMESTAMP('2020-01-02 03:04:05')
    UNIX_TIMESTAMP('02.01.2020', 'dd.MM.yyyy')
    UNIX_TIMESTAMP('nonsense')
    CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')
    CONVERT_TZ('2020-07-01 00:00:00', 'Europe/Berlin', 'UTC')
    DATE '2020-01-02'
    TIME '03:04:05'
    TIMESTAMP '2020-01-02 03:04:05'
    TIMESTAMP '2020-01-02 03:04:05.1'
    TIMESTAMP '2020-01-02 03:04:05.123456789'
    CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(0, 3) AS TIMESTAMP(3))
    CAST(CAST(ts AS TIMESTAMP_LTZ(3)) AS STRING)
    DATE_FORMAT(TO_TIMESTAMP_LTZ(0, 3), 'yyyy-MM-dd HH')
    EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(0, 3))
    CAST(FLOOR(TO_TIMESTAMP_LTZ(1600000000123, 3) TO DAY) AS STRING)
    TO_TIMESTAMP_LTZ(0, 3) = ts
    CURRENT_DATE IS NOT NULL
    CURRENT_TIMESTAMP > TIMESTAMP '2020-01-01 00:00:00'
    LOCALTIMESTAMP IS NULL
    TYPEOF(CURRENT_TIMESTAMP)
    TYPEOF(LOCALTIMESTAMP)
    TYPEOF(CURRENT_TIME)
    TYPEOF(NOW())
    TYPEOF(CURRENT_ROW_TIMESTAMP())
    TYPEOF(UNIX_TIMESTAMP())
    """,
    TIMES,
)
for zone in ("America/New_York", "Asia/Kolkata", "+08:00"):
    scalars(
        f"times_in_the_zone_{zone.replace('/', '_').replace('+', 'plus_').replace(':', '')}",
        """
        CAST(TO_TIMESTAMP_LTZ(n, 3) AS STRING)
        CAST(TO_TIMESTAMP_LTZ(n, 3) AS STRING)
        CAST(TO_TIMESTAMP_LTZ(n, 3) AS TIMESTAMP(3))
        CAST(TO_TIMESTAMP_LTZ(n, 3) AS DATE)
        CAST(TO_TIMESTAMP_LTZ(n, 3) AS TIME)
        CAST(CAST(ts AS TIMESTAMP_LTZ(3)) AS STRING)
        CAST(CAST(ts AS TIMESTAMP_LTZ(3)) AS STRING)
        DATE_FORMAT(TO_TIMESTAMP_LTZ(n, 3), 'yyyy-MM-dd HH:mm')
        FROM_UNIXTIME(n / 1000)
        UNIX_TIMESTAMP(CAST(ts AS STRING))
        EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(n, 3))
        CAST(FLOOR(TO_TIMESTAMP_LTZ(n, 3) TO DAY) AS STRING)
        CAST(TO_TIMESTAMP_LTZ(n, 3) + INTERVAL '1' DAY AS STRING)
        TIMESTAMPDIFF(HOUR, TO_TIMESTAMP_LTZ(0, 3), TO_TIMESTAMP_LTZ(n, 3))
        CAST(CAST('2020-01-02 03:04:05' AS TIMESTAMP_LTZ(3)) AS STRING)
        CAST(CAST(d AS TIMESTAMP_LTZ(3)) AS STRING)
        """,
        table(
            "n BIGINT; ts TIMESTAMP(3); d DATE",
            ("0", "TIMESTAMP '1970-01-01 00:00:00'", "DATE '1970-01-01'"),
            ("1583650800000", "TIMESTAMP '2020-03-08 02:30:00'", "DATE '2020-03-08'"),
            ("1604206800000", "TIMESTAMP '2020-11-01 01:30:00'", "DATE '2020-11-01'"),
            ("-1", "TIMESTAMP '1969-12-31 23:59:59.999'", "DATE '1969-12-31'"),
            ("NULL", "NULL", "NULL"),
        ),
        config={"table.local-time-zone": zone},
    )
