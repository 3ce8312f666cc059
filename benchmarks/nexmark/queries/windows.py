"""Queries with windows."""

# ruff: noqa: ANN001, ANN201, D101, D102, D103 - as a user of that engine would write it

from pyflink.common import Time, Types
from pyflink.datastream.functions import (
    AggregateFunction,
    KeyedCoProcessFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.state import ListStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

ANY = Types.PICKLED_BYTE_ARRAY()
AUCTION, BIDDER, PRICE, BID_TIME = 0, 1, 2, 5
PERIOD = 10_000
"""Length of windows, ms."""


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithEnd(ProcessWindowFunction):
    """(key, result, end of the window)."""

    def process(self, key, context, elements):
        yield key, elements[0], context.window().end


class WithStartAndEnd(ProcessWindowFunction):
    """(key, result, start and end of the window)."""

    def process(self, key, context, elements):
        window = context.window()
        yield key, elements[0], window.start, window.end


class Hottest(AggregateFunction):
    """The highest number, and the auctions that have it."""

    def create_accumulator(self):
        return 0, []

    def add(self, value, accumulator):
        auction, number, _ = value
        most, auctions = accumulator
        if number > most:
            return number, [auction]
        return (most, [*auctions, auction]) if number == most else accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        if a[0] != b[0]:
            return max(a, b)
        return a[0], a[1] + b[1]


class EachHottest(ProcessWindowFunction):
    def process(self, key, context, elements):
        most, auctions = elements[0]
        for auction in auctions:
            yield auction, most


def q5(inputs):
    """Find the auctions with most bids in the last 10 seconds, every 2 seconds."""
    counts = (
        inputs.timed_bids()
        .key_by(lambda bid: bid[AUCTION], key_type=Types.LONG())
        .window(SlidingEventTimeWindows.of(Time.milliseconds(PERIOD), Time.seconds(2)))
        .aggregate(Count(), window_function=WithEnd())
    )
    # A count has the time of its window's last millisecond: all counts of a window are in the same 2 seconds.
    return (
        counts.key_by(lambda count: count[2], key_type=Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.seconds(2)))
        .aggregate(Hottest(), window_function=EachHottest())
    )


class Highest(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return max(value, accumulator)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return max(a, b)


class HighestBid(Highest):
    def add(self, value, accumulator):
        return max(value[PRICE], accumulator)


class OnlyResult(ProcessWindowFunction):
    def process(self, key, context, elements):
        return elements


class AllWithEnd(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield elements[0], context.window().end


def end_of_window(time):
    return time - time % PERIOD + PERIOD


class OfWindow(KeyedCoProcessFunction):
    """Join bids (input 1) with highest prices of windows (input 2), both of the same price.

    A bid belongs to a window also if it was made at the very end of it.
    """

    def open(self, runtime_context):
        self.bids = runtime_context.get_list_state(ListStateDescriptor("bids", ANY))
        self.ends = runtime_context.get_list_state(ListStateDescriptor("ends", ANY))

    def process_element1(self, bid, ctx):
        for end in self.ends.get():
            if end - PERIOD <= bid[BID_TIME] <= end:
                yield result_of_q7(bid)
        self.bids.add(bid)
        ctx.timer_service().register_event_time_timer(end_of_window(bid[BID_TIME]))

    def process_element2(self, highest, ctx):
        end = highest[1]
        for bid in self.bids.get():
            if end - PERIOD <= bid[BID_TIME] <= end:
                yield result_of_q7(bid)
        self.ends.add(end)
        ctx.timer_service().register_event_time_timer(end)

    def on_timer(self, timestamp, ctx):
        self.bids.update([bid for bid in self.bids.get() if end_of_window(bid[BID_TIME]) > timestamp])
        self.ends.update([end for end in self.ends.get() if end > timestamp])
        return []


def result_of_q7(bid):
    auction, bidder, price, _, _, time, extra = bid
    return auction, price, bidder, time, extra


def q7(inputs):
    """Find the highest bids of every 10 seconds."""
    bids = inputs.timed_bids()
    windows = TumblingEventTimeWindows.of(Time.milliseconds(PERIOD))
    of_bidders = bids.key_by(lambda bid: bid[BIDDER], key_type=Types.LONG()).window(windows).aggregate(HighestBid())
    highest = of_bidders.window_all(windows).aggregate(Highest(), window_function=AllWithEnd())
    by_price = bids.key_by(lambda bid: bid[PRICE], key_type=Types.LONG())
    return by_price.connect(highest.key_by(lambda row: row[0], key_type=Types.LONG())).process(OfWindow())


class NameAndSells(AggregateFunction):
    """A person's name, if there is one, and whether there is an auction."""

    def create_accumulator(self):
        return None, False

    def add(self, value, accumulator):
        name = value[1]
        return (accumulator[0], True) if name is None else (name, accumulator[1])

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] or b[0], a[1] or b[1]


class NewSeller(ProcessWindowFunction):
    def process(self, key, context, elements):
        name, sells = elements[0]
        if name is not None and sells:
            yield key, name, context.window().start


def q8(inputs):
    """Find people who joined and opened an auction in the same 10 seconds."""
    persons = inputs.timed_persons().map(lambda person: (person[0], person[1]))
    sellers = inputs.timed_auctions().map(lambda auction: (auction[7], None))
    return (
        persons.union(sellers)
        .key_by(lambda pair: pair[0], key_type=Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(PERIOD)))
        .aggregate(NameAndSells(), window_function=NewSeller())
    )


def q11(inputs):
    """Count the bids of each session of a bidder; sessions end with 10 seconds without a bid."""
    return (
        inputs.timed_bids()
        .key_by(lambda bid: bid[BIDDER], key_type=Types.LONG())
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(PERIOD)))
        .aggregate(Count(), window_function=WithStartAndEnd())
    )


def q12(inputs):
    """Count the bids of each bidder in every 10 seconds of processing time."""
    return (
        inputs.bids()
        .key_by(lambda bid: bid[BIDDER], key_type=Types.LONG())
        .window(TumblingProcessingTimeWindows.of(Time.milliseconds(PERIOD)))
        .aggregate(Count(), window_function=WithStartAndEnd())
    )
