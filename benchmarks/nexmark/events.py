"""The events of an online auction: people who join, auctions they open, bids on them.

An event depends only on its number and the seed, so any range of events can be generated anywhere. Proportions,
identifiers, hot items and prices are those of https://github.com/nexmark/nexmark; the random numbers are Python's.
Fifty consecutive events, one person, three auctions and 46 bids, share a generator of random numbers, because seeding
one per event would cost more than the event.

An event is written as a line of fields separated by tabs: its kind, its time (ms) and the fields of its kind.
"""

from __future__ import annotations

import random
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EPOCH = 50
"""The number of events in one round of person, auctions and bids."""
AUCTIONS = 3
"""Events 1 to 3 of an epoch; 0 is a person, the others are bids."""

FIRST_ID = 1000
FIRST_CATEGORY, CATEGORIES = 10, 5
IN_FLIGHT = 100
"""The number of youngest auctions that get the bids that do not go to a hot one."""
ACTIVE_PEOPLE = 1000
LEAD = 10
"""Events may refer to identifiers that do not exist yet, at most this many ahead."""
HOT = 100
"""One of this many auctions and persons is hot."""
SIDE_INPUT_ROWS = 10_000
CHANNELS = 10_000

_STATES = ("CA", "ID", "MT", "NV", "OR", "UT")
"""Half of the people live in the states that query 3 selects."""
_CITIES = ("Bend", "Boise", "Carson City", "Eugene", "Fresno", "Helena", "Provo", "Reno", "Salem", "Vallejo")
_FIRST_NAMES = ("Ada", "Ben", "Chloe", "Dan", "Eve", "Finn", "Grace", "Hugo", "Iris", "Jack", "Kim")
_LAST_NAMES = ("Archer", "Baker", "Carter", "Fisher", "Mason", "Porter", "Tanner", "Turner", "Weaver")
_HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TEXT_LENGTH = 1 << 16


@dataclass(frozen=True)
class Settings:
    """The parameters of the generated events."""

    events: int
    rate: float = 10_000
    """Events per second of event time."""
    seed: int = 1
    start: int = 1_436_918_400_000
    """Time of the first event, ms since 1970: midnight of 15 July 2015, UTC."""

    def time_of(self, number: int) -> int:
        """Return the time of an event, ms since 1970."""
        return self.start + int(number * 1000 / self.rate)


@dataclass(frozen=True)
class _Texts:
    """The source of the texts of a seed's events."""

    letters: str
    words: str
    channels: list[tuple[str, str]]
    """Names and URLs; the hot ones come last."""


@lru_cache(maxsize=1)
def _texts(seed: int) -> _Texts:
    chance = random.Random(f"texts {seed}")
    letters = "".join(chance.choices(_LETTERS, k=_TEXT_LENGTH))
    words = "".join(chance.choices(_LETTERS * 12 + " " * 26, k=_TEXT_LENGTH))

    def url() -> str:
        directories = ("".join(chance.choices(_LETTERS, k=chance.randint(3, 5))) for _ in range(3))
        return f"https://www.nexmark.com/{'/'.join(directories)}/item.htm?query=1"

    channels = []
    for number in range(CHANNELS):
        channel_id = f"&channel_id={chance.getrandbits(31)}" if chance.random() < 0.9 else ""
        channels.append((f"channel-{number}", url() + channel_id))
    return _Texts(letters, words, channels + [(name, url()) for name in _HOT_CHANNELS])


def lines(settings: Settings, first: int = 0, last: int | None = None) -> Iterator[str]:
    """Yield the events numbered from ``first`` to before ``last``, by default to the last one."""
    last = settings.events if last is None else last
    if first >= last:
        return iter(())
    epochs = (_epoch(settings, epoch) for epoch in range(first // EPOCH, (last - 1) // EPOCH + 1))
    return islice(chain.from_iterable(epochs), first % EPOCH, first % EPOCH + last - first)


def _epoch(settings: Settings, epoch: int) -> list[str]:
    """Return the events of an epoch."""
    texts = _texts(settings.seed)
    uniform = random.Random(settings.seed << 40 | epoch).random
    first = epoch * EPOCH
    times = [settings.time_of(number) for number in range(first, first + EPOCH)]
    length = 2000 / settings.rate * IN_FLIGHT * EPOCH / AUCTIONS
    return [
        _person(texts, uniform, epoch, times[0]),
        *(_auction(texts, uniform, epoch, offset, times[1 + offset], length) for offset in range(AUCTIONS)),
        *_bids(texts, uniform, epoch, times[1 + AUCTIONS :]),
    ]


def _person(texts: _Texts, uniform: Callable[[], float], number: int, time: int) -> str:
    name = f"{_pick(_FIRST_NAMES, uniform)} {_pick(_LAST_NAMES, uniform)}"
    email = f"{_cut(texts.letters, 3, 7, uniform)}@{_cut(texts.letters, 3, 5, uniform)}.com"
    card = " ".join(f"{int(uniform() * 10_000):04d}" for _ in range(4))
    extra = _cut(texts.letters, 96, 144, uniform)
    city, state = _pick(_CITIES, uniform), _pick(_STATES, uniform)
    return f"P\t{time}\t{FIRST_ID + number}\t{name}\t{email}\t{card}\t{city}\t{state}\t{extra}"


def _auction(texts: _Texts, uniform: Callable[[], float], epoch: int, offset: int, time: int, length: float) -> str:
    number = epoch * AUCTIONS + offset
    # Three of four auctions are a hot seller's.
    seller = epoch // HOT * HOT if uniform() >= 1 / 4 else _somebody(uniform, epoch)
    initial = _price(uniform)
    reserve = initial + _price(uniform)
    expires = time + 1 + int(uniform() * length)
    item = _cut(texts.words, 3, 20, uniform).strip()
    description = _cut(texts.words, 3, 100, uniform).strip()
    extra = _cut(texts.letters, 312, 468, uniform)
    return (
        f"A\t{time}\t{FIRST_ID + number}\t{item}\t{description}\t{initial}\t{reserve}\t{expires}"
        f"\t{FIRST_ID + seller}\t{FIRST_CATEGORY + int(uniform() * CATEGORIES)}\t{extra}"
    )


def _bids(texts: _Texts, uniform: Callable[[], float], epoch: int, times: list[int]) -> Iterator[str]:
    youngest = epoch * AUCTIONS + AUCTIONS - 1
    oldest = max(youngest - IN_FLIGHT, 0)
    auctions = youngest - oldest + 1 + LEAD
    hot_auction, hot_bidder = FIRST_ID + youngest // HOT * HOT, FIRST_ID + epoch // HOT * HOT + 1
    letters, channels = texts.letters, texts.channels
    for time in times:
        # Half of the bids are on a hot auction, three of four are a hot bidder's, half come by a hot channel.
        auction = hot_auction if uniform() < 1 / 2 else FIRST_ID + oldest + int(uniform() * auctions)
        bidder = hot_bidder if uniform() >= 1 / 4 else FIRST_ID + _somebody(uniform, epoch)
        hot = uniform() < 1 / 2
        channel, url = channels[CHANNELS + int(uniform() * 4) if hot else int(uniform() * CHANNELS)]
        where = int(uniform() * (_TEXT_LENGTH - 82))
        extra = letters[where : where + 54 + int(uniform() * 28)]
        yield f"B\t{time}\t{auction}\t{bidder}\t{_price(uniform)}\t{channel}\t{url}\t{extra}"


def _somebody(uniform: Callable[[], float], epoch: int) -> int:
    """Return the number of a person who is active, or soon will be."""
    active = min(epoch + 1, ACTIVE_PEOPLE)
    return epoch + 1 - active + int(uniform() * (active + LEAD))


def _price(uniform: Callable[[], float]) -> int:
    return int(10 ** (uniform() * 6) * 100 + 0.5)


def _pick(choices: tuple[str, ...], uniform: Callable[[], float]) -> str:
    return choices[int(uniform() * len(choices))]


def _cut(text: str, shortest: int, longest: int, uniform: Callable[[], float]) -> str:
    where = int(uniform() * (_TEXT_LENGTH - longest))
    return text[where : where + shortest + int(uniform() * (longest + 1 - shortest))]


def write(settings: Settings, directory: Path, files: int = 2) -> Path:
    """Write the events to a number of files, and the side input of query 13; return the directory of events.

    Consecutive epochs go to consecutive files, so that readers of one file each are at about the same event time.
    """
    events = directory / "events"
    if events.exists():
        shutil.rmtree(events)
    events.mkdir(parents=True)
    (directory / "side_input.csv").write_text("".join(f"{row},{row}\n" for row in range(SIDE_INPUT_ROWS)))
    with ProcessPoolExecutor() as pool:
        for written in [pool.submit(_write_file, settings, events, number, files) for number in range(files)]:
            written.result()
    return events


def _write_file(settings: Settings, directory: Path, number: int, files: int) -> None:
    with (directory / f"events-{number}.tsv").open("w", encoding="ascii") as file:
        for first in range(number * EPOCH, settings.events, files * EPOCH):
            file.writelines(f"{line}\n" for line in lines(settings, first, min(first + EPOCH, settings.events)))
