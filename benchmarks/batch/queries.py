"""The queries, each with one row as its result, over the lines that ``benchmarks.nexmark.events`` writes."""

COLUMNS = {"kind": (0, False), "auction": (2, True), "bidder": (3, True), "price": (4, True), "channel": (5, False)}
"""The columns of bids: their position in a line, and whether they are numbers."""
QUERIES = {
    "filter": "SELECT COUNT(*), SUM(price) FROM bids WHERE price > 1000000 AND channel <> 'Google'",
    "group": """
        SELECT COUNT(*), SUM(bids), MAX(highest) FROM (
          SELECT auction, COUNT(*) AS bids, MAX(price) AS highest FROM bids GROUP BY auction) AS g""",
    "distinct": """
        SELECT COUNT(*), SUM(bidders) FROM (
          SELECT channel, COUNT(DISTINCT bidder) AS bidders FROM bids GROUP BY channel) AS g""",
    "join": """
        SELECT COUNT(*), SUM(b.price) FROM bids AS b JOIN (
          SELECT auction, MAX(price) AS highest FROM bids GROUP BY auction) AS g
        ON b.auction = g.auction AND b.price = g.highest""",
    "top": """
        SELECT COUNT(*), SUM(price) FROM (
          SELECT price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, bidder) AS n FROM bids) AS r
        WHERE n <= 3""",
}


def view(part: str, text: str, number: str) -> str:
    """Return the columns of bids: ``part`` makes a field, ``text`` and ``number`` what becomes of it."""
    columns = [
        f"{(number if is_number else text).format(part.format(position + 1, zero=position))} AS {name}"
        for name, (position, is_number) in COLUMNS.items()
        if name != "kind"
    ]
    return ", ".join(columns)
