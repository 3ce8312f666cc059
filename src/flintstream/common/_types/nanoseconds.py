"""Timestamps of SQL with more digits than Python's ``datetime`` has."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, SupportsIndex

if TYPE_CHECKING:
    from datetime import time, tzinfo


MICROSECONDS = 6
"""The digits of a second that ``datetime`` has."""


class PreciseDatetime(datetime):
    """A ``datetime`` with nanoseconds, for ``TIMESTAMP(7)`` to ``TIMESTAMP(9)``.

    Only a value whose nanoseconds are not zero has this class. Comparisons count them, and arithmetic keeps them.

    >>> moment = with_nanoseconds(datetime(2020, 1, 1), 7)
    >>> nanoseconds_of(moment + timedelta(days=1)), moment > datetime(2020, 1, 1), moment == datetime(2020, 1, 1)
    (7, True, False)
    >>> type(moment.replace(microsecond=0)).__name__
    'datetime'
    """

    nanosecond: int
    """What is below a microsecond: 1 to 999."""

    def replace(self, *args: object, **kwargs: object) -> datetime:  # type: ignore[override]  # all of datetime's
        """Return the value with other parts; other microseconds have no nanoseconds."""
        made = plain_datetime(self).replace(*args, **kwargs)  # type: ignore[arg-type]  # checked there
        return made if "microsecond" in kwargs or len(args) > 6 else with_nanoseconds(made, self.nanosecond)

    def astimezone(self, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # returns this class there
        """Return the same point in time in another zone."""
        return with_nanoseconds(plain_datetime(self).astimezone(tz), self.nanosecond)

    def __add__(self, other: timedelta) -> datetime:  # type: ignore[override]  # returns this class there
        return with_nanoseconds(plain_datetime(self) + other, self.nanosecond)

    def __radd__(self, other: timedelta) -> datetime:  # type: ignore[override]  # returns this class there
        return self + other

    def __sub__(self, other: datetime | timedelta) -> timedelta | datetime:  # type: ignore[override]  # as above
        found = plain_datetime(self) - other
        return with_nanoseconds(found, self.nanosecond) if isinstance(found, datetime) else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, datetime) and _parts(self) == _parts(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: datetime) -> bool:  # type: ignore[override]  # no plain dates
        return _parts(self) < _parts(other)

    def __le__(self, other: datetime) -> bool:  # type: ignore[override]  # no plain dates
        return _parts(self) <= _parts(other)

    def __gt__(self, other: datetime) -> bool:  # type: ignore[override]  # no plain dates
        return _parts(self) > _parts(other)

    def __ge__(self, other: datetime) -> bool:  # type: ignore[override]  # no plain dates
        return _parts(self) >= _parts(other)

    def __hash__(self) -> int:
        return hash(_parts(self))

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        return with_nanoseconds, (plain_datetime(self), self.nanosecond)


def with_nanoseconds(value: datetime, nanosecond: int) -> datetime:
    """Return a ``datetime`` with 0 to 999 nanoseconds below its microseconds."""
    if not nanosecond:
        return value
    made = PreciseDatetime.combine(value.date(), value.timetz())
    made.nanosecond = nanosecond
    return made


def nanoseconds_of(value: object) -> int:
    """Return the nanoseconds below the microseconds.

    >>> nanoseconds_of(datetime(2020, 1, 1))
    0
    """
    return value.nanosecond if type(value) is PreciseDatetime else 0


def plain_datetime(value: datetime) -> datetime:
    """Return a value of Python's own class, without nanoseconds."""
    return datetime.combine(value.date(), value.timetz()) if type(value) is PreciseDatetime else value


def to_nanoseconds(value: datetime) -> int:
    """Return the nanoseconds since 1970.

    >>> to_nanoseconds(datetime(1970, 1, 1, 0, 0, 1))
    1000000000
    """
    return (plain_datetime(value) - _EPOCH) // timedelta(microseconds=1) * 1000 + nanoseconds_of(value)


def from_nanoseconds(value: int) -> datetime:
    """Return the timestamp of nanoseconds since 1970.

    >>> nanoseconds_of(from_nanoseconds(-1))
    999
    """
    micros, nanosecond = divmod(value, 1000)
    return with_nanoseconds(_EPOCH + timedelta(microseconds=micros), nanosecond)


def fraction_of(value: datetime | time) -> str:
    """Return the nine digits of the fraction of a second.

    >>> fraction_of(datetime(2020, 1, 1, 0, 0, 0, 25))
    '000025000'
    """
    return f"{value.microsecond:06d}{nanoseconds_of(value):03d}"


_EPOCH = datetime.fromtimestamp(0, timezone.utc).replace(tzinfo=None)


def _parts(value: datetime) -> tuple[datetime, int]:
    return plain_datetime(value), nanoseconds_of(value)
