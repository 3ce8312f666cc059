"""Functions with patterns of SimpleDateFormat: the Julian calendar until 1582, years past 9999, and zones before 1900."""

from tests.table.conformance.registry import scalars, table

scalars(
    "the_calendar_of_simple_date_format",
    """
    FROM_UNIXTIME(-12219292800, 'yyyy-MM-dd D w W E F u')
    FROM_UNIXTIME(-12219292801, 'yyyy-MM-dd D w W E F u')
    FROM_UNIXTIME(-12200000000, 'yyyy-MM-dd D w W E F u')
    FROM_UNIXTIME(-14825808000, 'yyyy D E w W F u Y G')
    FROM_UNIXTIME(-14831769600)
    FROM_UNIXTIME(-62135596800)
    FROM_UNIXTIME(-62135769600)
    FROM_UNIXTIME(-62135769601, 'yyyy-MM-dd G')
    FROM_UNIXTIME(-62135769601, 'yy YY YYYY')
    FROM_UNIXTIME(-99999999999, 'yyyy D E w W F u Y G y')
    FROM_UNIXTIME(253402300800)
    FROM_UNIXTIME(253402300800, 'yy YY YYYYY yyyyyy')
    FROM_UNIXTIME(1700000000000)
    FROM_UNIXTIME(1700000000000, 'yyyy D E w W F u Y G')
    FROM_UNIXTIME(9223372036854775)
    FROM_UNIXTIME(-9223372036854775)
    FROM_UNIXTIME(9223372036854775807)
    UNIX_TIMESTAMP('1582-10-15 00:00:00')
    UNIX_TIMESTAMP('1582-10-10 00:00:00')
    UNIX_TIMESTAMP('1582-10-05 00:00:00')
    UNIX_TIMESTAMP('1582-10-04 00:00:00')
    UNIX_TIMESTAMP('1500-03-01 00:00:00')
    UNIX_TIMESTAMP('1500-02-29 00:00:00')
    UNIX_TIMESTAMP('0001-01-01 00:00:00')
    UNIX_TIMESTAMP('0000-01-01 00:00:00')
    UNIX_TIMESTAMP('10000-01-01 00:00:00')
    UNIX_TIMESTAMP('99999-12-31 00:00:00')
    UNIX_TIMESTAMP('12000 100', 'yyyy D')
    UNIX_TIMESTAMP('1400 100', 'yyyy D')
    UNIX_TIMESTAMP('1400-W10-3', 'YYYY-''W''ww-u')
    DATE_FORMAT('1500-03-01 00:00:00', 'yyyy/MM/dd')
    DATE_FORMAT('1582-10-10 00:00:00', 'yyyy/MM/dd')
    DATE_FORMAT('99999-12-31 00:00:00', 'yyyy-MM-dd E')
    CONVERT_TZ('1500-03-01 00:00:00', 'UTC', 'Asia/Shanghai')
    CONVERT_TZ('12000-03-01 00:00:00', 'UTC', 'Asia/Shanghai')
    TO_DATE('1500-03-01', 'yyyy-MM-dd') = DATE '1500-03-11'
    CAST(TO_DATE('1582-10-10', 'yyyy-MM-dd') AS STRING)
    """,
)
for zone in ("Asia/Shanghai", "America/New_York", "Europe/London"):
    scalars(
        f"zones_long_ago_and_far_ahead_in_{zone.partition('/')[2]}",
        """
        FROM_UNIXTIME(n)
        FROM_UNIXTIME(n, 'yyyy-MM-dd HH:mm:ss Z')
        UNIX_TIMESTAMP(FROM_UNIXTIME(n))
        UNIX_TIMESTAMP('1500-03-01 00:00:00')
        UNIX_TIMESTAMP('1899-12-31 23:59:00')
        UNIX_TIMESTAMP('12000-07-01 01:00:00')
        """,
        table(
            "n BIGINT",
            ("-14825808000",),
            ("-3000000000",),
            ("-2208988801",),
            ("-2000000000",),
            ("253402300799",),
            ("253402300800",),
            ("253417300800",),
        ),
        config={"table.local-time-zone": zone},
    )
