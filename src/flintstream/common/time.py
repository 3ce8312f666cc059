"""Durations and points in time. Plain numbers elsewhere in the API are in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from flintstream.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from flintstream.options.units import parse_nanos

__all__ = ["Duration", "Instant", "Time"]

_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


@dataclass(frozen=True, order=True)
class Duration:
    """A span of time with nanosecond precision.

    >>> Duration.of_seconds(90) == Duration.of_minutes(1) + Duration.of_millis(30_000)
    True
    >>> Duration.of_millis(1500)
    Duration('1500 ms')

    >>> Duration.of_days(1) == Duration.of_hours(24)
    True
    >>> Duration.of_nanos(1_500_000).to_millis(), Duration.of_millis(2).to_nanos()
    (1, 2000000)
    >>> str(Duration.of_hours(36).to_timedelta())
    '1 day, 12:00:00'
    """

    nanos: int

    def __post_init__(self) -> None:
        if isinstance(self.nanos, bool) or not isinstance(self.nanos, int):
            raise TypeError(f"a Duration needs a whole number of units, but got {self.nanos!r}: use a smaller unit")

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return ``days`` times 24 hours."""
        return Duration(days * 86_400 * _NANOS_PER_SECOND)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return that many hours."""
        return Duration(hours * 3_600 * _NANOS_PER_SECOND)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return that many minutes."""
        return Duration(minutes * 60 * _NANOS_PER_SECOND)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return that many seconds."""
        return Duration(seconds * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return that many milliseconds."""
        return Duration(millis * _NANOS_PER_MILLI)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return that many nanoseconds."""
        return Duration(nanos)

    @staticmethod
    def of(value: Duration | Time | timedelta | int | str) -> Duration:
        """Convert ``value`` to a duration: a number is in milliseconds, a string is parsed by :meth:`parse`.

        >>> Duration.of("10 s") == Duration.of(10_000) == Duration.of(timedelta(seconds=10))
        True
        """
        if isinstance(value, Duration):
            return value
        if isinstance(value, Time):
            return Duration(round(value.to_milliseconds() * _NANOS_PER_MILLI))  # Time.minutes(0.1) is a float
        if isinstance(value, timedelta):
            return Duration((value // timedelta(microseconds=1)) * 1_000)
        if isinstance(value, str):
            return Duration.parse(value)
        return Duration.of_millis(value)

    @staticmethod
    def parse(text: str) -> Duration:
        """Parse a duration in Flink's configuration syntax: ``10 s``, ``5min``, ``250`` (ms), or ISO ``PT1M30S``.

        Raises:
            ValueError: The text is not a duration.

        >>> Duration.parse("1 min"), Duration.parse("250"), Duration.parse("PT1.5S")
        (Duration('60000 ms'), Duration('250 ms'), Duration('1500 ms'))
        """
        return Duration(parse_nanos(text))

    def to_millis(self) -> int:
        """Return the whole milliseconds, rounded down.

        Raises:
            OverflowError: They do not fit in 64 bits, as Java's ``long`` does not hold them.
        """
        millis = self.nanos // _NANOS_PER_MILLI
        if not MIN_LONG_VALUE <= millis <= MAX_LONG_VALUE:
            raise OverflowError(f"a duration must fit in 64 bits of milliseconds, but this one has {millis} ms")
        return millis

    def to_nanos(self) -> int:
        """Return the nanoseconds."""
        return self.nanos

    def to_timedelta(self) -> timedelta:
        """Return a :class:`datetime.timedelta`, rounded down to microseconds."""
        return timedelta(microseconds=self.nanos // 1_000)

    def __add__(self, other: object) -> Duration:
        return Duration(self.nanos + other.nanos) if isinstance(other, Duration) else NotImplemented

    def __sub__(self, other: object) -> Duration:
        return Duration(self.nanos - other.nanos) if isinstance(other, Duration) else NotImplemented

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __str__(self) -> str:
        if self.nanos % _NANOS_PER_MILLI:
            return f"{self.nanos} ns"
        return f"{self.nanos // _NANOS_PER_MILLI} ms"

    def __repr__(self) -> str:
        return f"Duration('{self}')"


class Instant:
    """A point in time: seconds since the epoch (1970-01-01T00:00:00Z) and nanoseconds within that second.

    Unlike PyFlink's, instants are hashable and ordered, and :meth:`to_epoch_milli` is correct before 1970 as well.

    >>> Instant.of_epoch_milli(1500)
    Instant<1, 500000000>
    >>> Instant.of_epoch_milli(-1).to_epoch_milli()
    -1
    """

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant ``epoch_milli`` milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1_000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def to_epoch_milli(self) -> int:
        """Return the milliseconds since the epoch, rounded down."""
        return self.seconds * 1_000 + self.nanos // _NANOS_PER_MILLI

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return (self.seconds, self.nanos) == (other.seconds, other.nanos)

    def __lt__(self, other: Instant) -> bool:
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)

    def __le__(self, other: Instant) -> bool:
        return (self.seconds, self.nanos) <= (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """The length of a window, a session gap or a time to live.

    >>> Time.seconds(5).to_milliseconds()
    5000
    >>> str(Time.minutes(1))
    '60000 ms'

    >>> Time.milliseconds(1_500), Time.hours(1), Time.days(1)
    (Time('1500 ms'), Time('3600000 ms'), Time('86400000 ms'))
    """

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return the length in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return that many milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return that many seconds."""
        return Time(seconds * 1_000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return that many minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return that many hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return that many times 24 hours."""
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash(self._milliseconds)

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        return f"Time('{self}')"
