"""Queries that join streams by key; waiting records are in keyed state."""

# ruff: noqa: ANN001, ANN201, ANN202, D102 - as a user of that engine would write it

from bisect import insort

from pyflink.common import Types
from pyflink.datastream.functions import KeyedCoProcessFunction, KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

ANY = Types.PICKLED_BYTE_ARRAY()
AUCTION_TIME, EXPIRES, SELLER, CATEGORY = 5, 6, 7, 8
PRICE, BID_TIME = 2, 5


def beats(bid, other):
    """Return whether a bid beats another: by price, then by time; the rest makes the order total."""
    if bid[PRICE] != other[PRICE]:
        return bid[PRICE] > other[PRICE]
    return (bid[BID_TIME], bid) < (other[BID_TIME], other)


class NewSellers(KeyedCoProcessFunction):
    """Join a person (input 1), who appears once, with all their auctions (input 2)."""

    def open(self, runtime_context):
        self.person = runtime_context.get_state(ValueStateDescriptor("person", ANY))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", ANY))

    def process_element1(self, person, ctx):
        found = person[1], person[4], person[5]
        self.person.update(found)
        for auction in self.waiting.get():
            yield (*found, auction)
        self.waiting.clear()

    def process_element2(self, auction, ctx):
        person = self.person.value()
        if person is None:
            self.waiting.add(auction[0])
        else:
            yield (*person, auction[0])


def q3(inputs):
    """Find sellers in Oregon, Idaho and California in category 10."""
    persons = inputs.persons().filter(lambda person: person[5] in {"OR", "ID", "CA"})
    auctions = inputs.auctions().filter(lambda auction: auction[CATEGORY] == 10)
    by_id = persons.key_by(lambda person: person[0], key_type=Types.LONG())
    by_seller = auctions.key_by(lambda auction: auction[SELLER], key_type=Types.LONG())
    return by_id.connect(by_seller).process(NewSellers())


class WinningBid(KeyedCoProcessFunction):
    """Join an auction (input 1) with the best of its bids (input 2) when it closes; then drop them."""

    def open(self, runtime_context):
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", ANY))
        self.best = runtime_context.get_state(ValueStateDescriptor("best", ANY))
        self.early = runtime_context.get_list_state(ListStateDescriptor("early", ANY))

    def process_element1(self, auction, ctx):
        self.auction.update(auction)
        for bid in self.early.get():
            self.consider(auction, bid)
        self.early.clear()
        ctx.timer_service().register_event_time_timer(auction[EXPIRES])

    def process_element2(self, bid, ctx):
        auction = self.auction.value()
        if auction is not None:
            self.consider(auction, bid)
        else:  # the auction may arrive later; it matters only if it does not begin after the bid
            self.early.add(bid)
            ctx.timer_service().register_event_time_timer(bid[BID_TIME])

    def consider(self, auction, bid):
        if auction[AUCTION_TIME] <= bid[BID_TIME] <= auction[EXPIRES]:
            best = self.best.value()
            if best is None or beats(bid, best):
                self.best.update(bid)

    def on_timer(self, timestamp, ctx):
        auction = self.auction.value()
        if auction is None:
            self.early.update([bid for bid in self.early.get() if bid[BID_TIME] > timestamp])
        elif auction[EXPIRES] <= timestamp:
            best = self.best.value()
            self.auction.clear()
            self.best.clear()
            if best is not None:
                yield auction, best


def winning_bids(inputs):
    """Return pairs of auction and winning bid, as the auctions close."""
    auctions = inputs.timed_auctions().key_by(lambda auction: auction[0], key_type=Types.LONG())
    bids = inputs.timed_bids().key_by(lambda bid: bid[0], key_type=Types.LONG())
    return auctions.connect(bids).process(WinningBid())


class Average(KeyedProcessFunction):
    """Update the average, rounded down, of all values of a key."""

    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", ANY))

    def process_element(self, value, ctx):
        key, number = value
        total, count = self.total.value() or (0, 0)
        total, count = total + number, count + 1
        self.total.update((total, count))
        yield key, total // count


def q4(inputs):
    """Update the average of the winning bids of each category."""
    prices = winning_bids(inputs).map(lambda pair: (pair[0][CATEGORY], pair[1][PRICE]))
    return prices.key_by(lambda pair: pair[0], key_type=Types.LONG()).process(Average())


class MovingAverage(KeyedProcessFunction):
    """Update, for each auction of a seller, the average of its price and the 10 before it, in order of the bids."""

    def open(self, runtime_context):
        self.prices = runtime_context.get_state(ValueStateDescriptor("prices", ANY))

    def process_element(self, value, ctx):
        seller, *price = value
        prices = self.prices.value() or []
        insort(prices, price)
        self.prices.update(prices)
        place = prices.index(price)
        for changed in range(place, min(place + 11, len(prices))):
            last = [number for _, _, number in prices[max(changed - 10, 0) : changed + 1]]
            yield seller, prices[changed][1], sum(last) // len(last)


def q6(inputs):
    """Update the average selling price of each seller over the last 11 auctions, for every auction."""
    prices = winning_bids(inputs).map(lambda pair: (pair[0][SELLER], pair[1][BID_TIME], pair[0][0], pair[1][PRICE]))
    return prices.key_by(lambda price: price[0], key_type=Types.LONG()).process(MovingAverage())


def q9(inputs):
    """Find the winning bid of each auction."""

    def flat(pair):
        auction, (number, bidder, price, _, _, time, extra) = pair
        return (*auction, number, bidder, price, time, extra)

    return winning_bids(inputs).map(flat)


class Expand(KeyedCoProcessFunction):
    """Join an auction (input 1) with all its bids (input 2) if it is of category 10."""

    def open(self, runtime_context):
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", ANY))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", ANY))

    def process_element1(self, auction, ctx):
        wanted = auction[1:] if auction[CATEGORY] == 10 else ()
        self.auction.update(wanted)
        if wanted:
            for bid in self.waiting.get():
                yield bid + wanted
        self.waiting.clear()

    def process_element2(self, bid, ctx):
        auction = self.auction.value()
        if auction is None:
            self.waiting.add(bid)
        elif auction:
            yield bid + auction


def q20(inputs):
    """Add the auction to every bid on one of category 10."""
    # The join gets all auctions, so that bids on other categories do not wait indefinitely.
    auctions = inputs.auctions().key_by(lambda auction: auction[0], key_type=Types.LONG())
    bids = inputs.bids().key_by(lambda bid: bid[0], key_type=Types.LONG())
    return auctions.connect(bids).process(Expand())
