"""Bucket assigners: the directory below a file sink's base path to which a record goes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flintstream.common._java_view import Wrapper
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

_TOKEN = re.compile(r"''|'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+|'")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
_UTC_NAMES = {"UTC", "GMT", "UT", "Z"}

_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "d": lambda t: t.day,
    "D": lambda t: t.timetuple().tm_yday,
    "H": lambda t: t.hour,
    "k": lambda t: t.hour or 24,
    "K": lambda t: t.hour % 12,
    "h": lambda t: t.hour % 12 or 12,
    "m": lambda t: t.minute,
    "s": lambda t: t.second,
    "n": lambda t: t.microsecond * 1000,
    "A": lambda t: ((t.hour * 60 + t.minute) * 60 + t.second) * 1000 + t.microsecond // 1000,
}


_TEXTS: dict[str, Callable[[datetime, int], str]] = {
    "E": lambda t, width: t.strftime("%a" if width <= 3 else "%A"),
    "a": lambda t, _: "AM" if t.hour < 12 else "PM",
    "S": lambda t, width: f"{t.microsecond:06}000"[:width],
    "z": lambda t, _: t.tzname() or "",
    "V": lambda t, _: t.tzname() or "",
}


def _month(letters: str) -> Callable[[datetime], str]:
    if len(letters) <= 2:
        return lambda t: str(t.month).zfill(len(letters))
    return lambda t: t.strftime("%b" if len(letters) == 3 else "%B")


def _offset(letters: str) -> Callable[[datetime], str]:
    def text(moment: datetime) -> str:
        plain = moment.strftime("%z")[:5]
        if letters[0] == "X" and plain in {"+0000", "-0000"}:
            return "Z"
        if len(letters) == 1 and letters != "Z" and plain.endswith("00"):
            return plain[:3]
        return f"{plain[:3]}:{plain[3:]}" if len(letters) == 3 and letters[0] != "Z" else plain

    return text


def _field(letters: str, pattern: str) -> Callable[[datetime], str]:
    letter, width = letters[0], len(letters)
    if letter in "yu":
        return (lambda t: f"{t.year % 100:02}") if width == 2 else (lambda t: str(t.year).zfill(width))
    if letter in "ML":
        return _month(letters)
    if letter in "xXZ" and width <= 3:
        return _offset(letters)
    if letter in _NUMBERS:
        number = _NUMBERS[letter]
        return lambda t: str(number(t)).zfill(width)
    if letter in _TEXTS:
        text = _TEXTS[letter]
        return lambda t: text(t, width)
    raise PlanError(
        f"the date pattern {pattern!r} contains {letters!r}, which is not supported; quote text like 'this'"
    )


def java_date_format(pattern: str) -> Callable[[datetime], str]:
    """Return a function that formats a time like Java's ``DateTimeFormatter`` with this pattern (names in English).

    >>> java_date_format("yyyy-MM-dd--HH")(datetime(2013, 1, 2, 3))
    '2013-01-02--03'
    >>> java_date_format("'dt='yyyyMMdd/'hour='H")(datetime(2013, 1, 2, 3))
    'dt=20130102/hour=3'

    Raises:
        PlanError: The pattern contains a letter that is not supported.
    """
    parts: list[Callable[[datetime], str] | str] = []
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text == "''":
            parts.append("'")
        elif text == "'":
            raise PlanError(f"the date pattern {pattern!r} has an unclosed quote")
        elif text[0] == "'":
            parts.append(text[1:-1].replace("''", "'"))
        elif token[1]:
            parts.append(_field(text, pattern))
        elif set(text) & set("[]{}#"):
            raise PlanError(f"the date pattern {pattern!r} contains one of []{{}}#, which is not supported")
        else:
            parts.append(text)
    return lambda moment: "".join(part if isinstance(part, str) else part(moment) for part in parts)


def zone(timezone_id: str) -> tzinfo:
    """Return the time zone of a Java zone ID: ``Europe/Berlin``, ``UTC``, ``GMT-08:00``, ``+02:00``.

    Raises:
        PlanError: The zone does not exist.
    """
    offset = _OFFSET.fullmatch(timezone_id)
    if offset is not None:
        amount = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-amount if offset[1] == "-" else amount, timezone_id)
    if timezone_id in _UTC_NAMES:
        return timezone.utc
    try:
        return ZoneInfo(timezone_id)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PlanError(f"unknown time zone {timezone_id!r}: write it like 'Europe/Berlin' or 'GMT-08:00'") from None


@dataclass(frozen=True)
class BucketContext:
    """The context of a record for a bucket assigner (times in ms)."""

    current_processing_time: int
    current_watermark: int
    timestamp: int | None


class BucketAssigner(metaclass=Wrapper):
    """Assigns each record to a bucket, a directory below the base path.

    Subclasses override :meth:`get_bucket_id`. (PyFlink has only the two built-in assigners.)

    >>> class ByCountry(BucketAssigner):
    ...     def get_bucket_id(self, element, context):
    ...         return f"country={element['country']}"
    >>> now = BucketContext(current_processing_time=1_700_000_000_000, current_watermark=0, timestamp=None)
    >>> ByCountry().get_bucket_id({"country": "CH"}, now)
    'country=CH'
    """

    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        """Return the bucket of a record: a relative path, or "" for the base path itself."""
        raise NotImplementedError

    def common_bucket_id(self, now: int) -> str | None:
        """Return the bucket of all records that are written at ``now`` (ms), or None if it depends on the record.

        >>> BucketAssigner.date_time_bucket_assigner("yyyy/MM/dd", "UTC").common_bucket_id(1_700_000_000_000)
        '2023/11/14'
        """
        return None

    def split_block(
        self, values: Sequence[object], timestamps: Sequence[int] | None, now: int, watermark: int
    ) -> Mapping[str, list[object]]:
        """Return the records of each bucket: of records written at ``now`` (ms), with their timestamps, if any.

        >>> class ByLength(BucketAssigner):
        ...     def get_bucket_id(self, element, context):
        ...         return str(len(element))
        >>> ByLength().split_block(["a", "bc", "d"], None, 0, 0)
        {'1': ['a', 'd'], '2': ['bc']}
        """
        buckets: dict[str, list[object]] = {}
        for position, value in enumerate(values):
            timestamp = None if timestamps is None else timestamps[position]
            bucket = self.get_bucket_id(value, BucketContext(now, watermark, timestamp))
            buckets.setdefault(bucket, []).append(value)
        return buckets

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Return an assigner that puts all files into the base path.

        >>> now = BucketContext(current_processing_time=1_700_000_000_000, current_watermark=0, timestamp=None)
        >>> BucketAssigner.base_path_bucket_assigner().get_bucket_id("a record", now)
        ''
        """
        return _BasePath()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Return an assigner that names buckets by the time of writing.

        >>> now = BucketContext(current_processing_time=1_700_000_000_000, current_watermark=0, timestamp=None)
        >>> for zone_name in "UTC", "Asia/Tokyo":
        ...     print(BucketAssigner.date_time_bucket_assigner(timezone_id=zone_name).get_bucket_id("a record", now))
        2023-11-14--22
        2023-11-15--07

        Args:
            format_str: A pattern of Java's ``DateTimeFormatter``.
            timezone_id: The time zone; None for that of the machine.

        Raises:
            PlanError: The pattern or the time zone is not supported.
        """
        return _DateTime(format_str, timezone_id)


class _BasePath(BucketAssigner):
    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        return ""

    def common_bucket_id(self, now: int) -> str | None:
        return ""


class _DateTime(BucketAssigner):
    def __init__(self, format_str: str, timezone_id: str | None) -> None:
        self._arguments = (format_str, timezone_id)
        self._format = java_date_format(format_str)
        self._zone = None if timezone_id is None else zone(timezone_id)

    def __reduce__(self) -> tuple[type[_DateTime], tuple[str, str | None]]:
        return _DateTime, self._arguments

    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        return self.common_bucket_id(context.current_processing_time)

    def common_bucket_id(self, now: int) -> str:
        seconds, ms = divmod(now, 1000)
        moment = datetime.fromtimestamp(seconds, timezone.utc) + timedelta(milliseconds=ms)
        return self._format(moment.astimezone(self._zone))
