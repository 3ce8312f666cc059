"""Queries whose result is a table that every bid may change: they emit the rows that change."""

# ruff: noqa: ANN001, ANN201, D102 - as a user of that engine would write it

from bisect import bisect

from pyflink.common import Types
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

from benchmarks.nexmark.queries.times import day, minute

ANY = Types.PICKLED_BYTE_ARRAY()
AUCTION, BIDDER, PRICE, CHANNEL, URL, TIME, EXTRA = range(7)


def rank_of(price):
    """Return 0, 1 or 2 for a low, medium or high price."""
    if price < 10_000:
        return 0
    return 1 if price < 1_000_000 else 2


class Statistics(KeyedProcessFunction):
    """Count bids, bidders and auctions, in total and for each rank of prices: 12 numbers."""

    def open(self, runtime_context):
        self.counts = runtime_context.get_state(ValueStateDescriptor("counts", ANY))
        # Bidder or auction -> its ranks so far, as bits.
        self.bidders = runtime_context.get_map_state(MapStateDescriptor("bidders", Types.LONG(), Types.LONG()))
        self.auctions = runtime_context.get_map_state(MapStateDescriptor("auctions", Types.LONG(), Types.LONG()))

    def count(self, bid):
        counts = list(self.counts.value() or (0,) * 12)
        rank = rank_of(bid[PRICE])
        counts[0] += 1
        counts[1 + rank] += 1
        for first, seen, item in ((4, self.bidders, bid[BIDDER]), (8, self.auctions, bid[AUCTION])):
            ranks = seen.get(item) or 0
            if not ranks:
                counts[first] += 1
            if not ranks & 1 << rank:
                counts[first + 1 + rank] += 1
                seen.put(item, ranks | 1 << rank)
        self.counts.update(counts)
        return counts

    def process_element(self, bid, ctx):
        yield (ctx.get_current_key(), *self.count(bid))


def q15(inputs):
    """Update the numbers of bids, bidders and auctions of a day, by rank of price."""
    return inputs.bids().key_by(lambda bid: day(bid[TIME]), key_type=Types.STRING()).process(Statistics())


class ChannelStatistics(Statistics):
    """Also keep the latest minute."""

    def open(self, runtime_context):
        super().open(runtime_context)
        self.minute = runtime_context.get_state(ValueStateDescriptor("minute", Types.STRING()))

    def process_element(self, bid, ctx):
        latest = max(self.minute.value() or "", minute(bid[TIME]))
        self.minute.update(latest)
        yield (bid[CHANNEL], day(bid[TIME]), latest, *self.count(bid))


def q16(inputs):
    """Update the numbers of bids, bidders and auctions of a channel and day, by rank of price."""
    return inputs.bids().key_by(lambda bid: (bid[CHANNEL], day(bid[TIME]))).process(ChannelStatistics())


class Prices(KeyedProcessFunction):
    """Count bids, in total and for each rank, and keep lowest, highest, average and sum of prices."""

    def open(self, runtime_context):
        self.row = runtime_context.get_state(ValueStateDescriptor("row", ANY))

    def process_element(self, bid, ctx):
        price = bid[PRICE]
        count, *ranks, lowest, highest, total = self.row.value() or (0, 0, 0, 0, price, price, 0)
        ranks[rank_of(price)] += 1
        count, lowest, highest, total = count + 1, min(lowest, price), max(highest, price), total + price
        self.row.update((count, *ranks, lowest, highest, total))
        yield (bid[AUCTION], day(bid[TIME]), count, *ranks, lowest, highest, total // count, total)


def q17(inputs):
    """Update the numbers of bids and the prices of an auction and day."""
    return inputs.bids().key_by(lambda bid: (bid[AUCTION], day(bid[TIME]))).process(Prices())


class Last(KeyedProcessFunction):
    """Keep the bid with the latest time; the other fields make the order total."""

    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", ANY))

    def process_element(self, bid, ctx):
        last = self.last.value()
        if last is None or (bid[TIME], bid) > (last[TIME], last):
            self.last.update(bid)
            yield bid


def q18(inputs):
    """Update the last bid of a bidder on an auction."""
    return inputs.bids().key_by(lambda bid: (bid[BIDDER], bid[AUCTION])).process(Last())


def order_of(bid):
    """Return the rank key of a bid on an auction: highest price first, then earliest; the rest makes it total."""
    return -bid[PRICE], bid[TIME], bid


class Top(KeyedProcessFunction):
    """Keep the 10 best bids and their ranks."""

    def open(self, runtime_context):
        self.best = runtime_context.get_state(ValueStateDescriptor("best", ANY))

    def process_element(self, bid, ctx):
        best = self.best.value() or []
        place = bisect(best, order_of(bid), key=order_of)
        if place < 10:
            best = [*best[:place], bid, *best[place:9]]
            self.best.update(best)
            for rank, moved in enumerate(best[place:], place + 1):
                yield (*moved, rank)


def q19(inputs):
    """Update the 10 highest bids on an auction."""
    return inputs.bids().key_by(lambda bid: bid[AUCTION], key_type=Types.LONG()).process(Top())
