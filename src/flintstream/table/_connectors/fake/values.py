"""What the names of Java Faker mean: words, functions of the package ``faker``, and functions with arguments."""

from __future__ import annotations

import json
import random
import uuid
from datetime import timedelta
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from flintstream.table._connectors.fake.patterns import matching
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions import helpers
from flintstream.table._expressions.times import helpers as time_helpers
from flintstream.table._expressions.times import patterns as time_patterns
from flintstream.table._expressions.times import texts as time_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    Make = Callable[[], object]
    Fakes = Callable[[], Any]  # the generators of the package ``faker``, loaded when first needed

_NAMES = json.loads(get_data(__name__, "names.json") or b"")
WORDS = {name: tuple(words.split(", ")) for name, words in _NAMES["words"].items()}
"""By names in small letters, without ``_``; a name with ``$`` is only a part of others."""
_BY_NAME = {
    f"{kind}.{name}": ours or name
    for kind, methods in _NAMES["methods"].items()
    for name, _, ours in (method.partition("=") for method in methods.split())
}
"""Of each method of Java Faker, the method of the package ``faker``, or one of `_OWN`."""
_SYNONYMS = {
    "drwho.thedoctors": "drwho.thedoctor",
    "drwho.actors": "drwho.actor",
    "drwho.villains": "drwho.villain",
    "harrypotter.characters": "harrypotter.character",
    "harrypotter.spells": "harrypotter.spell",
}


def simple(name: str) -> str:
    """Return a name as it is compared: Java Faker ignores case and ``_``.

    >>> simple("Harry_Potter.characters")
    'harrypotter.character'
    """
    found = name.lower().replace("_", "")
    return _SYNONYMS.get(found, found)


def value_of(name: str, arguments: Sequence[str], fake: Callable[[], Any]) -> Make:
    """Return the function that makes values.

    Args:
        name: As a program writes it.
        arguments: Those of the expression.
        fake: Returns the generator of the package ``faker``.

    Raises:
        SqlError: There is no such name, or its arguments are wrong.
        MissingDependencyError: It needs the package, which is not installed.
    """
    wanted = simple(name)
    made = _WITH_ARGUMENTS.get(wanted)
    if made is not None:
        try:
            return made(list(arguments), fake)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            given = ", ".join(f"'{argument}'" for argument in arguments)
            raise SqlError(f"#{{{name}}} does not take the arguments {given or 'none'}: {error}") from error
    words = WORDS.get(wanted)
    if words is not None and "$" not in wanted:
        return lambda: random.choice(words)  # noqa: S311 - test data
    ours = _BY_NAME.get(wanted)
    if ours is None:
        raise SqlError(f"#{{{name}}} is unknown{nearest(wanted, list_names())}")
    if ours in _OWN:
        return _OWN[ours](fake)
    found: Make = getattr(fake(), ours)
    return found


def list_names() -> list[str]:
    """Return all names."""
    return sorted({*_BY_NAME, *_WITH_ARGUMENTS, *(item for item in WORDS if "$" not in item)})


# -- with arguments --------------------------------------------------------------------------------------------------


def _between(given: list[str], _: object) -> Make:
    low, high = int(given[0]), int(given[1])
    if high < low:
        raise ValueError("the first is greater than the second")
    last = max(high - 1, low)  # the second is not among the numbers
    return lambda: random.randint(low, last)  # noqa: S311


def _double(given: list[str], _: object) -> Make:
    digits, low, high = int(given[0]), float(given[1]), float(given[2])
    return lambda: round(random.uniform(low, high), digits)  # noqa: S311


def _digits(given: list[str], _: object) -> Make:
    count = int(given[0])
    return lambda: "".join(random.choices("0123456789", k=count))  # noqa: S311


_UNITS = {
    "NANOSECONDS": 1e-6, "MICROSECONDS": 1e-3, "MILLISECONDS": 1, "SECONDS": 1000, "MINUTES": 60_000,
    "HOURS": 3_600_000, "DAYS": 86_400_000,
}  # fmt: skip


def _near(sign: int) -> Callable[[list[str], object], Make]:
    def make_value(given: list[str], _: object) -> Make:
        at = next(i for i, item in enumerate(given) if not item.strip().isdigit())
        unit = _UNITS[given[at].strip().upper()]
        most, least = int(given[0]) * unit, int(given[1]) * unit if at > 1 else 0
        pattern = given[at + 1] if len(given) > at + 1 else None
        if most < least:
            raise ValueError("the first is less than the second")

        def moment() -> Any:
            found = _millis(time_helpers.now()) + timedelta(milliseconds=sign * round(random.uniform(least, most)))  # noqa: S311
            return found if pattern is None else time_patterns.format_date(found, pattern)

        return moment

    return make_value


def _millis(value: datetime) -> datetime:
    return helpers.cut(value, 3)


def _birthday(given: list[str], _: object) -> Make:
    low, high = (int(given[0]), int(given[1])) if given else (18, 65)

    def moment() -> datetime:
        today = helpers.cut(time_helpers.now(), 0)
        return today - timedelta(days=random.uniform(low, high) * 365.2425 // 1, seconds=random.randrange(86_400))  # noqa: S311

    return moment


def _moments(given: list[str], _: object) -> Make:
    first, last = (time_texts.parse_short_timestamp(item.replace("T", " ", 1), 3) for item in given[:2])
    width = round((last - first) / timedelta(milliseconds=1))
    return lambda: first + timedelta(milliseconds=random.randint(0, width))  # noqa: S311


def _option(given: list[str], _: object) -> Make:
    if not given:
        raise ValueError("give the options")
    return lambda: random.choice(given)  # noqa: S311


def _regexify(given: list[str], _: object) -> Make:
    return matching(given[0])


def _bothify(letters: str, numbers: str) -> Callable[[list[str], object], Make]:
    def make_value(given: list[str], _: object) -> Make:
        upper = len(given) > 1 and given[1].lower() == "true"
        sources = {
            letters: "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if upper else "abcdefghijklmnopqrstuvwxyz",
            numbers: "0123456789",
        }
        parts = [sources.get(char, char) if char else char for char in given[0]]
        return lambda: "".join([random.choice(part) for part in parts])  # noqa: S311

    return make_value


def _words(method: str, default: int) -> Callable[[list[str], object], Make]:
    def make_value(given: list[str], fake: Any) -> Make:
        count, call = int(given[0]) if given else default, getattr(fake(), method)
        return lambda: " ".join(call(count))

    return make_value


def _characters(given: list[str], _: object) -> Make:
    low, high = (int(given[0]), int(given[1])) if len(given) > 1 else (int(given[0]),) * 2 if given else (255, 255)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return lambda: "".join(random.choices(letters, k=random.randint(low, high)))  # noqa: S311


def _price(given: list[str], _: object) -> Make:
    low, high = (float(given[0]), float(given[1])) if given else (0.0, 100.0)
    return lambda: round(random.uniform(low, high), 2)  # noqa: S311


def _password(given: list[str], fake: Any) -> Make:
    call = fake().password
    if not given:
        return call  # type: ignore[no-any-return]
    low, high = int(given[0]), int(given[1]) if len(given) > 1 else int(given[0])
    return lambda: call(length=random.randint(low, max(low, high - 1)))  # noqa: S311


_WITH_ARGUMENTS: dict[str, Callable[[list[str], Any], Make]] = {
    "number.numberbetween": _between,
    "random.nextint": _between,
    "number.randomdouble": _double,
    "number.digits": _digits,
    "number.number": _digits,
    "date.past": _near(-1),
    "date.future": _near(1),
    "timeanddate.past": _near(-1),
    "timeanddate.future": _near(1),
    "date.birthday": _birthday,
    "timeanddate.birthday": _birthday,
    "date.between": _moments,
    "timeanddate.between": _moments,
    "options.option": _option,
    "regexify": _regexify,
    "bothify": _bothify("?", "#"),
    "letterify": _bothify("?", ""),
    "numerify": _bothify("", "#"),
    "lorem.words": _words("words", 3),
    "lorem.sentences": _words("sentences", 3),
    "lorem.paragraphs": _words("paragraphs", 3),
    "lorem.characters": _characters,
    "lorem.fixedstring": _characters,
    "commerce.price": _price,
    "internet.password": _password,
}


# -- without arguments, and not from the package ---------------------------------------------------------------------


def _join(*names: str) -> Callable[[object], Make]:
    lists = [WORDS[name] for name in names]
    return lambda _: lambda: " ".join([random.choice(words) for words in lists])  # noqa: S311


def _pattern(pattern: str) -> Callable[[object], Make]:
    return lambda _: matching(pattern)


def _number(low: int, high: int) -> Callable[[Any], Make]:
    return lambda _: lambda: random.randint(low, high)  # noqa: S311


def _call(method: str, change: Callable[[str], str]) -> Callable[[Fakes], Make]:
    def make_value(fake: Fakes) -> Make:
        call = getattr(fake(), method)
        return lambda: change(call())

    return make_value


_OWN: dict[str, Callable[[Fakes], Make]] = {
    "$address": _call("address", lambda text: text.replace("\n", ", ")),
    "$asin": _pattern("B0[0-9A-Z]{8}"),
    "$buzzword": _call("catch_phrase", lambda text: text.split()[0]),
    "$celsius": lambda _: lambda: f"{random.randint(-30, 38)}°C",  # noqa: S311
    "$country3": _pattern("(AUS|BRA|CAN|CHN|DEU|ESP|FRA|GBR|IND|ITA|JPN|KEN|MEX|NOR|POL|SWE|TUR|USA)"),
    "$descriptor": _join("superhero.descriptor"),
    "$extension": _pattern("[0-9]{4}"),
    "$fahrenheit": lambda _: lambda: f"{random.randint(-22, 100)}°F",  # noqa: S311
    "$flag": lambda _: lambda: random.random() < 0.5,  # noqa: S311
    "$hero": _join("superhero.descriptor", "superhero.$noun"),
    "$imei": _pattern("[0-9]{15}"),
    "$name3": lambda fake: lambda: f"{fake().first_name()} {fake().first_name()} {fake().last_name()}",
    "$negative": _number(-(2**31), -1),
    "$noun": _join("superhero.$noun"),
    "$positive": _number(1, 2**31 - 1),
    "$product": _join("commerce.$adjective", "commerce.material", "commerce.$product"),
    "$sex": _pattern("(Female|Male)"),
    "$sexletter": _pattern("(f|m)"),
    "$sha512": _pattern("[0-9a-f]{128}"),
    "$subscriber": _pattern("[0-9]{4}"),
    "$symbol": _pattern("[A-Z]{3,4}"),
    "$team": _call("state", lambda text: f"{text} {random.choice(WORDS['team.creature'])}"),  # noqa: S311
    "$uuid": lambda _: lambda: str(uuid.UUID(int=random.getrandbits(128), version=4)),
    "$version": _pattern("[0-9]\\.[0-9]{1,2}\\.[0-9]"),
}
