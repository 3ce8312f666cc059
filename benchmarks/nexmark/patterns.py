"""The patterns of Nexmark in SQL, and their results by a plain loop over the bids of each auction and bidder.

They ask what ``queries-cep`` of https://github.com/nexmark/nexmark ask. Bids of the same time are in the order of their
prices, which Nexmark leaves open.
"""

# ruff: noqa: S608 - SQL of our own

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Bid = tuple[int, int, int, int]
"""Auction, bidder, time in ms, and price."""
Match = tuple[list[int], int]
"""The measures, none if the match is never complete, and where to go on."""
_LIMIT, _DROP, _WITHIN_MS = 10_000, 50, 5_000


def _query(measures: str, skip: str, pattern: str, conditions: str) -> str:
    return f"""
        SELECT * FROM (SELECT auction, bidder, price, ms, `dateTime` FROM bid) MATCH_RECOGNIZE (
          PARTITION BY auction, bidder ORDER BY `dateTime`, price MEASURES {measures}
          ONE ROW PER MATCH AFTER MATCH SKIP {skip} PATTERN {pattern} DEFINE {conditions})"""


def _cheap(skip: str) -> str:
    measures = "FIRST(Cheap.ms) AS starts, LAST(Cheap.ms) AS ends, AVG(Cheap.price) AS average"
    return _query(measures, skip, "(Cheap+ Other)", f"Cheap AS AVG(Cheap.price) < {_LIMIT}")


PATTERNS = {
    "cep0": _query(
        "First1.ms AS starts, LAST(Fall.ms) AS bottom, LAST(Rise.ms) AS ends",
        "TO LAST Rise",
        "(First1 Fall+ Rise)",
        "Fall AS Fall.price < COALESCE(LAST(Fall.price, 1), First1.price), Rise AS Rise.price > LAST(Fall.price, 1)",
    ),
    "cep1": _cheap("PAST LAST ROW"),
    "cep2": _cheap("TO NEXT ROW"),
    "cep3": _query(
        "Low.ms AS dropped, First1.price - Low.price AS difference",
        "PAST LAST ROW",
        f"(First1 High* Low) WITHIN INTERVAL '{_WITHIN_MS // 1000}' SECOND",
        f"High AS High.price > First1.price - {_DROP}, Low AS Low.price < First1.price - {_DROP}",
    ),
}
"""Queries by name: a price that falls and rises; bids whose average is low, without and with overlaps; a drop."""


def _falls(bids: Sequence[Bid], start: int) -> Match | None:
    end = start + 1
    while end < len(bids) and bids[end][3] < bids[end - 1][3]:
        end += 1
    if end - start < 3 or end == len(bids) or bids[end][3] <= bids[end - 2][3]:
        return None
    return [bids[start][2], bids[end - 1][2], bids[end][2]], end


def _cheap_bids(bids: Sequence[Bid], start: int) -> Match | None:
    end, total = start, 0
    while end < len(bids) and (total + bids[end][3]) // (end - start + 1) < _LIMIT:
        total += bids[end][3]
        end += 1
    if end == len(bids) and end > start:  # never complete: it holds back what begins after it
        return [], end
    if end == start:
        return None
    return [bids[start][2], bids[end - 1][2], total // (end - start)], end + 1


def _cheap_bids_from_each(bids: Sequence[Bid], start: int) -> Match | None:
    found = _cheap_bids(bids, start)
    return (found[0], start + 1) if found is not None and found[0] else found


def _drops(bids: Sequence[Bid], start: int) -> Match | None:
    floor, end = bids[start][3] - _DROP, start + 1
    while end < len(bids) and bids[end][3] > floor:
        end += 1
    if end == len(bids) or bids[end][3] == floor or bids[end][2] - bids[start][2] >= _WITHIN_MS:
        return None
    return [bids[end][2], bids[start][3] - bids[end][3]], end + 1


_MATCHERS = {"cep0": _falls, "cep1": _cheap_bids, "cep2": _cheap_bids_from_each, "cep3": _drops}


def matches(query: str, bids: Iterable[Bid]) -> Iterator[tuple[int, ...]]:
    """Yield the matches of a query.

    >>> list(matches("cep1", [(1, 2, 10, 9_000), (1, 2, 20, 10_000), (1, 2, 30, 50_000)]))
    [(1, 2, 10, 20, 9500)]
    """
    for key, group in groupby(sorted(bids), key=lambda bid: bid[:2]):
        own, start = list(group), 0
        while start < len(own):
            found = _MATCHERS[query](own, start)
            if found is not None and found[0]:
                yield (*key, *found[0])
            start = start + 1 if found is None else found[1]
