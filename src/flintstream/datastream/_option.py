"""What is known of a key of the configuration, and of the values that it may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common.time import Duration
from flintstream.datastream._settings import MAX_INT
from flintstream.datastream.slot_sharing_group import MemorySize

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ANY", "FLAG", "SIZE", "Option", "Values", "count", "names", "number", "span"]


@dataclass(frozen=True)
class Values:
    """The values that a key may have."""

    words: str
    """What they are, as an error goes on after ``must be``."""
    accepts: Callable[[str], bool]
    """Whether a text is one of them; it may also raise a ``ValueError`` if not."""

    def __contains__(self, text: str) -> bool:
        try:
            return self.accepts(text)
        except ValueError:
            return False


def names(*members: str, also: tuple[str, ...] = ()) -> Values:
    """Return the values that have these names, in any case; those of ``also`` are understood but not advertised.

    >>> "cold" in names("WARM", "COLD"), names("WARM", "COLD").words
    (True, 'one of WARM, COLD')
    """
    accepted = {name.lower() for name in (*members, *also)}
    return Values(f"one of {', '.join(members)}", lambda text: text.lower() in accepted)


def count(minimum: int, maximum: int = MAX_INT, *, also: int | None = None) -> Values:
    """Return the whole numbers within the bounds, and ``also`` one that stands for something else.

    >>> "0" in count(1), "-1" in count(1, also=-1), "1.5" in count(1)
    (False, True, False)
    """
    bounds = f"of at least {minimum}" if maximum == MAX_INT else f"from {minimum} to {maximum}"
    special = "" if also is None else f", or {also}"
    return Values(
        f"a whole number {bounds}{special}", lambda text: minimum <= int(text) <= maximum or int(text) == also
    )


def number(words: str, accepts: Callable[[float], bool]) -> Values:
    """Return the numbers for which ``accepts`` is true; ``words`` say which these are."""
    return Values(f"a number {words}", lambda text: accepts(float(text)))


def span(minimum_ms: int) -> Values:
    """Return the spans of time of at least so many ms.

    >>> "10 s" in span(1), "10 sec onds" in span(1), "0" in span(1)
    (True, False, False)
    """
    least = f" of at least {minimum_ms} ms" if minimum_ms else ""
    return Values(
        f"a span of time{least}, like '10 s' or '5 min'", lambda text: Duration.parse(text).to_millis() >= minimum_ms
    )


FLAG = Values("'true' or 'false'", lambda text: text.lower() in {"true", "false"})
SIZE = Values("a size like '64 mb'", lambda text: MemorySize.parse(text).get_bytes() >= 0)
ANY = Values("a text", lambda _: True)
"""Names, paths, and what the code that uses the value checks better."""


@dataclass(frozen=True)
class Option:
    """One key of the configuration."""

    key: str
    values: Values
    default: str | None
    """As it would be written in a configuration; None where the key has none."""
    meaning: str
    older: tuple[str, ...] = ()
    """Spellings that count where the key itself is not set, in this order."""
