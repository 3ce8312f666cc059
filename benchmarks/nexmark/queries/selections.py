"""Queries that look at one bid at a time."""

# ruff: noqa: ANN001, ANN201, ANN202, ANN204, D102 - as a user of that engine would write it

import re
from pathlib import Path

from pyflink.datastream.functions import MapFunction

from benchmarks.nexmark.queries.times import day, hour, minute

EURO = 0.908
CHANNEL_IDS = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}
CHANNEL_ID = re.compile(r"(?:&|^)channel_id=([^&]*)")


def q0(inputs):
    """Pass on all bids."""

    def select(bid):
        auction, bidder, price, _, _, time, extra = bid
        return auction, bidder, price, time, extra

    return inputs.bids().map(select)


def q1(inputs):
    """Convert prices from dollars to euros."""

    def convert(bid):
        auction, bidder, price, _, _, time, extra = bid
        return auction, bidder, EURO * price, time, extra

    return inputs.bids().map(convert)


def q2(inputs):
    """Find the bids on some auctions."""
    return inputs.bids().filter(lambda bid: bid[0] % 123 == 0).map(lambda bid: (bid[0], bid[2]))


def q10(inputs):
    """Log all bids, partitioned by day and minute."""

    def select(bid):
        auction, bidder, price, _, _, time, extra = bid
        return auction, bidder, price, time, extra, day(time), minute(time)

    return inputs.bids().map(select)


class Enrich(MapFunction):
    """Add the value of a bid's auction in a table; None if it has none."""

    def __init__(self, path):
        self.path = path

    def open(self, runtime_context):
        rows = (line.split(",", 1) for line in Path(self.path).read_text().splitlines())
        self.table = {int(key): value for key, value in rows}

    def map(self, bid):
        return bid[0], bid[1], bid[2], bid[5], self.table.get(bid[0] % 10_000)


def q13(inputs):
    """Enrich bids from a table."""
    return inputs.bids().map(Enrich(inputs.side_input)).filter(lambda row: row[4] is not None)


def q14(inputs):
    """Compute with bids in a price range, with a user-defined function."""

    def count_char(text, character):
        return text.count(character)

    def time_of_day(time):
        at = hour(time)
        if 8 <= at <= 18:
            return "dayTime"
        return "nightTime" if at <= 6 or at >= 20 else "otherTime"

    def compute(bid):
        auction, bidder, price, _, _, time, extra = bid
        return auction, bidder, EURO * price, time_of_day(time), time, extra, count_char(extra, "c")

    return inputs.bids().filter(lambda bid: 1_000_000 < EURO * bid[2] < 50_000_000).map(compute)


def q21(inputs):
    """Add the identifier of the channel; leave out bids by a channel without one."""

    def identify(bid):
        auction, bidder, price, channel, url, _, _ = bid
        found = CHANNEL_IDS.get(channel.lower())
        if found is None:
            match = CHANNEL_ID.search(url)
            if match is None:
                return
            found = match[1]
        yield auction, bidder, price, channel, found

    return inputs.bids().flat_map(identify)


def q22(inputs):
    """Take the directories out of URLs."""

    def split(bid):
        auction, bidder, price, channel, url, _, _ = bid
        directories = url.split("/", 6)
        return auction, bidder, price, channel, directories[3], directories[4], directories[5]

    return inputs.bids().map(split)
