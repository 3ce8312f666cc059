"""Factories of expressions of dates and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._methods.json_methods import word
from flintstream.table._methods.methods import without_none
from flintstream.table.expression import apply

if TYPE_CHECKING:
    from flintstream.table.expression import Expression, TimePointUnit

__all__ = [
    "convert_tz",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "from_unixtime",
    "local_time",
    "local_timestamp",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
]


def current_date() -> Expression:
    """Return the date in the time zone of the session.

    >>> current_date()
    Expression(CURRENT_DATE())
    """
    return apply("CURRENT_DATE")


def current_time() -> Expression:
    """Return the time of day in the time zone of the session.

    >>> current_time()
    Expression(CURRENT_TIME())
    """
    return apply("CURRENT_TIME")


def current_timestamp() -> Expression:
    """Return the point in time.

    >>> current_timestamp()
    Expression(CURRENT_TIMESTAMP())
    """
    return apply("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """Return the time of day in the time zone of the session.

    >>> local_time()
    Expression(LOCALTIME())
    """
    return apply("LOCALTIME")


def local_timestamp() -> Expression:
    """Return the timestamp in the time zone of the session.

    >>> local_timestamp()
    Expression(LOCALTIMESTAMP())
    """
    return apply("LOCALTIMESTAMP")


def current_watermark(rowtimeAttribute: object) -> Expression:
    """Return the watermark; it is not supported yet, and raises an error when the query is planned.

    >>> current_watermark(col("ts"))
    Expression(CURRENT_WATERMARK(ts))
    """
    return apply("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """Return the watermark of the source, as the watermark of a schema.

    >>> source_watermark()
    Expression(SOURCE_WATERMARK())
    """
    return apply("SOURCE_WATERMARK")


def to_date(date_str: object, format: str | None = None) -> Expression:
    """Return the date of a text, ``yyyy-MM-dd`` by default.

    >>> to_date("2020-01-31")
    Expression(TO_DATE('2020-01-31'))
    """
    return apply("TO_DATE", *without_none(date_str, format))


def to_timestamp(timestamp_str: object, format: str | None = None) -> Expression:
    """Return the timestamp of a text, ``yyyy-MM-dd HH:mm:ss`` by default.

    >>> to_timestamp(col("s"))
    Expression(TO_TIMESTAMP(s))
    """
    return apply("TO_TIMESTAMP", *without_none(timestamp_str, format))


def to_timestamp_ltz(*args: object) -> Expression:
    """Return the point in time of a number of seconds (or with precision 3, ms), or of a text.

    >>> to_timestamp_ltz(col("ms"), 3)
    Expression(TO_TIMESTAMP_LTZ(ms, 3))
    """
    return apply("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(
    left_time_point: object, left_temporal: object, right_time_point: object, right_temporal: object
) -> Expression:
    """Return whether two periods overlap; each is a point in time and its end, or its length.

    >>> temporal_overlaps(col("a"), col("b"), col("c"), lit(1).hour)
    Expression(OVERLAPS(a, b, c, 3600000))
    """
    return apply("OVERLAPS", left_time_point, left_temporal, right_time_point, right_temporal)


def date_format(timestamp: object, format: object) -> Expression:
    """Return a timestamp as text: ``yyyy-MM-dd HH:mm``.

    >>> date_format(col("ts"), "yyyy")
    Expression(DATE_FORMAT(ts, 'yyyy'))
    """
    return apply("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: object, time_point2: object) -> Expression:
    """Return how many whole units there are between two points in time.

    >>> from flintstream.table.expression import TimePointUnit
    >>> timestamp_diff(TimePointUnit.DAY, col("a"), col("b"))
    Expression(TIMESTAMPDIFF('DAY', a, b))
    """
    return apply("TIMESTAMPDIFF", word(time_point_unit.name), time_point1, time_point2)


def convert_tz(date_str: object, tz_from: object, tz_to: object) -> Expression:
    """Return the local time of one time zone as that of another.

    >>> convert_tz(col("s"), "UTC", "Asia/Tokyo")
    Expression(CONVERT_TZ(s, 'UTC', 'Asia/Tokyo'))
    """
    return apply("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: object, format: object = None) -> Expression:
    """Return the text of a number of seconds since 1970, in the time zone of the session.

    >>> from_unixtime(col("s"))
    Expression(FROM_UNIXTIME(s))
    """
    return apply("FROM_UNIXTIME", *without_none(unixtime, format))


def unix_timestamp(date_str: object = None, format: object = None) -> Expression:
    """Return the seconds since 1970 until a local time, or until now.

    >>> unix_timestamp()
    Expression(UNIX_TIMESTAMP())
    """
    return apply("UNIX_TIMESTAMP", *without_none(date_str, format))
