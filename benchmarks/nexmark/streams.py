"""The three streams of an auction, as tuples, from the lines that ``events`` writes; for PyFlink and flintstream."""

# ruff: noqa: ANN001, ANN201, ANN204, D101, D102, D103 - as a user of that engine would write it

from dataclasses import dataclass

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.file_system import FileEnumeratorProvider, FileSource, StreamFormat

# Person: (id, name, email, credit card, city, state, time, extra)
# Auction: (id, item, description, initial bid, reserve, time, expires, seller, category, extra)
# Bid: (auction, bidder, price, channel, url, time, extra)
PERSON_TIME, AUCTION_TIME, BID_TIME = 6, 5, 5

DELAY = Duration.of_seconds(4)
"""Lateness of events that Nexmark's watermarks allow; those of ``events`` are never late."""


class TimeField(TimestampAssigner):
    def __init__(self, field):
        self.field = field

    def extract_timestamp(self, value, record_timestamp):
        return value[self.field]


def person(line):
    _, time, id, name, email, card, city, state, extra = line.split("\t")
    return int(id), name, email, card, city, state, int(time), extra


def auction(line):
    _, time, id, item, description, initial, reserve, expires, seller, category, extra = line.split("\t")
    return (
        int(id),
        item,
        description,
        int(initial),
        int(reserve),
        int(time),
        int(expires),
        int(seller),
        int(category),
        extra,
    )


def bid(line):
    _, time, auction, bidder, price, channel, url, extra = line.split("\t")
    return int(auction), int(bidder), int(price), channel, url, int(time), extra


@dataclass
class Inputs:
    """Inputs of a query: the lines of all events, and the path of the side input."""

    events: object
    side_input: str

    def persons(self):
        return self.events.filter(lambda line: line[0] == "P").map(person)

    def auctions(self):
        return self.events.filter(lambda line: line[0] == "A").map(auction)

    def bids(self):
        return self.events.filter(lambda line: line[0] == "B").map(bid)

    def timed_persons(self):
        return timed(self.persons(), PERSON_TIME)

    def timed_auctions(self):
        return timed(self.auctions(), AUCTION_TIME)

    def timed_bids(self):
        return timed(self.bids(), BID_TIME)


def timed(stream, field):
    """Return the stream with event time."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(DELAY).with_timestamp_assigner(TimeField(field))
    return stream.assign_timestamps_and_watermarks(strategy)


def read(env, directory):
    """Return the inputs that ``events.write`` wrote to a directory."""
    # Whole files, so that every reader goes through event time from beginning to end.
    source = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{directory}/events")
        .set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
        .process_static_file_set()
        .build()
    )
    events = env.from_source(source, WatermarkStrategy.no_watermarks(), "events", Types.STRING())
    return Inputs(events, f"{directory}/side_input.csv")
