"""Texts of times and the patterns that read them: TO_TIMESTAMP is strict, UNIX_TIMESTAMP and TO_DATE are lenient."""

from tests.table.conformance.registry import scalars, table

BOTH = """
    29/Feb/2024:10:11:12 +0100|dd/MMM/yyyy:HH:mm:ss Z
    29/Feb/2024:10:11:12|dd/MMM/yyyy:HH:mm:ss
    29/feb/2024|dd/MMM/yyyy
    29 February 2024|dd MMMM yyyy
    29 Feb 2024|d MMMM yyyy
    29 February 2024|d MMM yyyy
    Thu, 29 Feb 2024 10:11:12|EEE, dd MMM yyyy HH:mm:ss
    Fri, 29 Feb 2024 10:11:12|EEE, dd MMM yyyy HH:mm:ss
    Thu, 29 Feb 2024 10:11:12 GMT|EEE, dd MMM yyyy HH:mm:ss z
    Thu, 29 Feb 2024 10:11:12 PST|EEE, dd MMM yyyy HH:mm:ss zzz
    Thursday 29|EEEE dd
    2024-02-29T10:11:12Z|yyyy-MM-dd'T'HH:mm:ssX
    2024-02-29T10:11:12+02:00|yyyy-MM-dd'T'HH:mm:ssXXX
    2024-02-29T10:11:12+0200|yyyy-MM-dd'T'HH:mm:ssXX
    2024-02-29T10:11:12+0200|yyyy-MM-dd'T'HH:mm:ssZ
    2024-02-29T10:11:12Z|yyyy-MM-dd'T'HH:mm:ss'Z'
    2024-02-29T10:11:12.345Z|yyyy-MM-dd'T'HH:mm:ss.SSS'Z'
    2024-02-29T10:11:12.345678Z|yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'
    2024-02-29T10:11:12.345678|yyyy-MM-dd'T'HH:mm:ss.SSSSSS
    2024-02-29T10:11:12.3456|yyyy-MM-dd'T'HH:mm:ss.SSS
    2024-02-29 10:11 PM|yyyy-MM-dd hh:mm a
    2024-02-29 10:11 pm|yyyy-MM-dd hh:mm a
    2024-02-29 12:11 AM|yyyy-MM-dd hh:mm a
    2024-02-29 13:11 AM|yyyy-MM-dd hh:mm a
    2024-02-29 10:11|yyyy-MM-dd hh:mm
    2024-02-29 10:11|yyyy-MM-dd KK:mm
    2024-02-29 24:11|yyyy-MM-dd kk:mm
    2024-02-29 24:00|yyyy-MM-dd HH:mm
    2024-02-29 24:01|yyyy-MM-dd HH:mm
    2024-02-29 10:61|yyyy-MM-dd HH:mm
    2024-060|yyyy-DDD
    2024-60|yyyy-D
    2024060|yyyyDDD
    AD 2024|G yyyy
    20240229|yyyyMMdd
    202402291011|yyyyMMddHHmm
    20240229101112|yyyyMMddHHmmss
    20240229101112345|yyyyMMddHHmmssSSS
    24-02-29|yy-MM-dd
    99-02-29|yy-MM-dd
    2024-02-29|yy-MM-dd
    24-2-9|y-M-d
    +2024-02-29|yyyy-MM-dd
    2024-2-9|yyyy-MM-dd
    2024-02-30|yyyy-MM-dd
    2024-02-31|uuuu-MM-dd
    2024-02-32|yyyy-MM-dd
    2024-13-01|yyyy-MM-dd
    2024-00-00|yyyy-MM-dd
    2023-02-29|yyyy-MM-dd
    10:11:12|HH:mm:ss
    10|HH
    2024|yyyy
    2024-02|yyyy-MM
    29|dd
    2024-02-29|yyyy-MM-dd[ HH:mm]
    2024-02-29 10:11|yyyy-MM-dd[ HH:mm]
    2024-02-29|[yyyy-MM-dd][yyyyMMdd]
    20240229|[yyyy-MM-dd][yyyyMMdd]
    2024-02-29 10|yyyy-MM-dd HH[:mm[:ss]]
    2024-02-29 10:11:12|yyyy-MM-dd HH[:mm[:ss]]
    2024-02-29 10:11:12|yyyy-MM-dd
    2024-02-29|yyyy-MM-dd HH:mm:ss
     2024-02-29|yyyy-MM-dd
    2024-02-29 |yyyy-MM-dd
    2024 - 02|yyyy - MM
    2024-02-29 1011|yyyy-MM-dd HHmm
    2024-02-29 1|yyyy-MM-dd F
    2024/2/29 9:5:3|yyyy/M/d H:m:s
    29.02.2024|dd.MM.yyyy
    02/29/2024 10:11|MM/dd/yyyy HH:mm
    2/9/24|M/d/yy
    29/02/68|dd/MM/yy
    01/01/50|dd/MM/yy
    Feb 29, 2024 10:11:12 PM|MMM dd, yyyy hh:mm:ss a
    Feb 29, 2024, 1:05 AM|MMM d, yyyy, h:mm a
    2024-02-29 10:11:12.5|yyyy-MM-dd HH:mm:ss.S
    2024-02-29 10:11:12.50|yyyy-MM-dd HH:mm:ss.S
    2024-02-29 10:11:12,345|yyyy-MM-dd HH:mm:ss,SSS
    2024-02-29 10:11:12.345|yyyy-MM-dd HH:mm:ss
    2024-02-29 10:11:12 UTC|yyyy-MM-dd HH:mm:ss z
    2024-02-29 10:11:12 America/New_York|yyyy-MM-dd HH:mm:ss z
    2024-02-29 10:11:12 GMT+02:00|yyyy-MM-dd HH:mm:ss z
    2024-02-29 10:11:12 +02:00|yyyy-MM-dd HH:mm:ss ZZZZZ
    2024-02-29 10:11:12 -0800|yyyy-MM-dd HH:mm:ss Z
    o'clock 10|'o''clock' HH
    10 o'clock|HH 'o''clock'
    abc|yyyy-MM-dd
    |yyyy-MM-dd
    2024-02-29|
    2024年02月29日|yyyy年MM月dd日
    ٢٠٢٤-٠٢-٢٩|yyyy-MM-dd
    2024-02-29  10:11|yyyy-MM-dd HH:mm
    2024-2-29T10|yyyy-M-dd'T'HH
    2024-02-29 10:11 AM PM|yyyy-MM-dd hh:mm a a
    2024-02-29 2024|yyyy-MM-dd yyyy
    2024-02-29 2023|yyyy-MM-dd yyyy
    2024-1|yyyy-MMM
    2024-2-3|yyyy-L-d
    2024 Sat|yyyy EEE
    1 Mon|d E
    2024-02-29 60|yyyy-MM-dd D
    12 31 2023|MM dd YYYY
    -5|m
    9|s
"""
STRICT = """
    2024-02-29 Europe/Paris|yyyy-MM-dd VV
    2024-W09-4|YYYY-'W'ww-e
    2024 9 4|YYYY w e
    2024 Q1|yyyy 'Q'Q
    2024 1|yyyy Q
    2024-02-29 36671|yyyy-MM-dd A
    2024-02-29 36671000|yyyy-MM-dd A
    2024-02-29 36671000000000|yyyy-MM-dd N
    2024-02-29 5|yyyy-MM-dd n
    2024-02-29 10:11:12 GMT+2|yyyy-MM-dd HH:mm:ss O
    2024-02-29 10:11:12 +02|yyyy-MM-dd HH:mm:ss x
    1709201472|epoch
"""
"""Only for TO_TIMESTAMP: SimpleDateFormat has no such letters, or finds no date, for which TO_DATE gives a wrong one."""


def rows(text: str) -> str:
    """Return the table of the lines, each a text and a pattern."""
    lines = [line.strip().replace("'", "''").split("|") for line in text.strip().splitlines()]
    return table("s STRING; p STRING", *((f"'{found}'", f"'{pattern}'") for found, pattern in lines))


scalars(
    "reading_times_with_patterns",
    """
    CAST(TO_TIMESTAMP(s, p) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(s, p) AS STRING)
    UNIX_TIMESTAMP(s, p)
    CASE WHEN UNIX_TIMESTAMP(s, p) > -9000000000000000000 THEN CAST(TO_DATE(s, p) AS STRING) END
    """,
    rows(BOTH),
    config={"table.local-time-zone": "America/New_York"},
)
scalars(
    "reading_times_with_patterns_of_date_time_formatter",
    """
    CAST(TO_TIMESTAMP(s, p) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(s, p) AS STRING)
    """,
    rows(STRICT),
)
scalars(
    "times_that_are_read_without_a_pattern",
    """
    DATE_FORMAT(s, 'yyyy-MM-dd HH:mm:ss.SSS')
    CONVERT_TZ(s, 'UTC', 'Asia/Tokyo')
    CONVERT_TZ(s, 'GMT+08:00', 'UTC')
    CONVERT_TZ(s, 'nowhere', 'Asia/Tokyo')
    CAST(TO_DATE(s) AS STRING)
    CAST(TO_TIMESTAMP(s) AS STRING)
    """,
    table(
        "s STRING",
        ("'2024-02-29 10:11:12.345'",),
        ("'2024-02-29'",),
        ("'2024-02-30 10:11:12'",),
        ("'2024-2-9 1:1:1'",),
        ("'2024-02-29T10:11:12'",),
        ("'x'",),
        ("''",),
        ("'2024-13-40 25:61:61'",),
        ("NULL",),
    ),
)
