"""The queries in SQL, for PyFlink and flintstream, as tables of the lines that ``events`` writes."""

# ruff: noqa: S608 - SQL of our own

_FIELD = "SPLIT_INDEX(line, CHR(9), {})"


def _number(position: int) -> str:
    return f"CAST({_FIELD.format(position)} AS BIGINT)"


def _columns(**positions: int) -> str:
    numbers = {"id", "initialBid", "reserve", "expires", "seller", "category", "auction", "bidder", "price"}
    made = {name: _number(i) if name in numbers else _FIELD.format(i) for name, i in positions.items()}
    return ", ".join(f"{code} AS {name}" for name, code in made.items())


def tables(directory: object) -> list[str]:
    """Return the statements that declare the events of a directory."""
    person = _columns(id=2, name=3, emailAddress=4, creditCard=5, city=6, state=7, extra=8)
    auction = _columns(
        id=2, itemName=3, description=4, initialBid=5, reserve=6, expires=7, seller=8, category=9, extra=10
    )
    bid = _columns(auction=2, bidder=3, price=4, channel=5, url=6, extra=7)
    views = (("person", "P", person), ("auction", "A", auction), ("bid", "B", bid))
    return [
        (
            f"CREATE TABLE events (line STRING, ms AS {_number(1)}, `dateTime` AS TO_TIMESTAMP_LTZ({_number(1)}, 3), "
            "p_time AS PROCTIME(), WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = '{directory}/events', 'format' = 'raw')"
        ),
        *(
            f"CREATE VIEW {name} AS SELECT {columns}, ms, `dateTime`, p_time FROM events WHERE line LIKE '{letter}%'"
            for name, letter, columns in views
        ),
        (
            "CREATE TABLE side_input (key BIGINT, `value` STRING) "
            f"WITH ('connector' = 'filesystem', 'path' = '{directory}/side_input.csv', 'format' = 'csv')"
        ),
    ]


_RANKS = ("", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")


def _ranks(*counted: str) -> str:
    return ", ".join(
        f"COUNT({what}){f' FILTER (WHERE {condition})' if condition else ''} AS c{number}{rank}"
        for number, what in enumerate(counted)
        for rank, condition in enumerate(_RANKS)
    )


_STATISTICS = _ranks("*", "DISTINCT bidder", "DISTINCT auction")
_DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"
_MINUTE = "DATE_FORMAT(`dateTime`, 'HH:mm')"
_CHANNEL_ID = "REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)"
_HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"


def _tumbling(table: str, key: str) -> str:
    return (
        f"SELECT {key}, window_start AS starttime, window_end AS endtime "
        f"FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) "
        f"GROUP BY {key}, window_start, window_end"
    )


QUERIES = {
    "q0": "SELECT auction, bidder, price, ms, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, ms, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
    "q3": """
        SELECT P.name, P.city, P.state, A.id FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
        WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA')""",
    "q4": """
        SELECT Q.category, AVG(Q.final) AS average FROM (
          SELECT MAX(B.price) AS final, A.category FROM auction AS A, bid AS B
          WHERE A.id = B.auction AND B.ms BETWEEN A.ms AND A.expires GROUP BY A.id, A.category) AS Q
        GROUP BY Q.category""",
    "q5": f"""
        SELECT C.auction, C.num FROM (
          SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime FROM {_HOP}
          GROUP BY auction, window_start, window_end) AS C
        JOIN (
          SELECT MAX(num) AS most, starttime, endtime FROM (
            SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime FROM {_HOP}
            GROUP BY auction, window_start, window_end) AS N
          GROUP BY starttime, endtime) AS M
        ON C.starttime = M.starttime AND C.endtime = M.endtime AND C.num >= M.most""",
    "q7": """
        SELECT B.auction, B.price, B.bidder, B.ms, B.extra FROM bid AS B
        JOIN (
          SELECT MAX(price) AS highest, window_end AS endtime
          FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
          GROUP BY window_start, window_end) AS M
        ON B.price = M.highest
        WHERE B.`dateTime` BETWEEN M.endtime - INTERVAL '10' SECOND AND M.endtime""",
    "q8": f"""
        SELECT P.id, P.name, P.starttime
        FROM ({_tumbling("person", "id, name")}) AS P JOIN ({_tumbling("auction", "seller")}) AS A
        ON P.id = A.seller AND P.starttime = A.starttime AND P.endtime = A.endtime""",
    "q9": """
        SELECT id, itemName, description, initialBid, reserve, ms, expires, seller, category, extra, auction, bidder,
          price, bid_ms, bid_extra
        FROM (
          SELECT A.id, A.itemName, A.description, A.initialBid, A.reserve, A.ms, A.expires, A.seller, A.category,
            A.extra, B.auction, B.bidder, B.price, B.ms AS bid_ms, B.extra AS bid_extra,
            ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.ms) AS number
          FROM auction AS A, bid AS B WHERE A.id = B.auction AND B.ms BETWEEN A.ms AND A.expires)
        WHERE number <= 1""",
    "q10": f"SELECT auction, bidder, price, ms, extra, {_DAY} AS `day`, {_MINUTE} AS `minute` FROM bid",
    "q11": """
        SELECT bidder, COUNT(*) AS bid_count, SESSION_START(`dateTime`, INTERVAL '10' SECOND) AS starttime,
          SESSION_END(`dateTime`, INTERVAL '10' SECOND) AS endtime
        FROM bid GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND)""",
    "q12": """
        SELECT bidder, COUNT(*) AS bid_count, TUMBLE_START(p_time, INTERVAL '10' SECOND) AS starttime,
          TUMBLE_END(p_time, INTERVAL '10' SECOND) AS endtime
        FROM bid GROUP BY bidder, TUMBLE(p_time, INTERVAL '10' SECOND)""",
    "q13": """
        SELECT B.auction, B.bidder, B.price, B.ms, S.`value` FROM bid AS B
        JOIN side_input AS S ON MOD(B.auction, 10000) = S.key""",
    "q14": """
        SELECT auction, bidder, 0.908 * price AS price,
          CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
            WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS time_of_day,
          ms, extra, CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS letters
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    "q15": f"SELECT {_DAY} AS `day`, {_STATISTICS} FROM bid GROUP BY {_DAY}",
    "q16": f"""
        SELECT channel, {_DAY} AS `day`, MAX({_MINUTE}) AS `minute`, {_STATISTICS}
        FROM bid GROUP BY channel, {_DAY}""",
    "q17": f"""
        SELECT auction, {_DAY} AS `day`, {_ranks("*")}, MIN(price) AS min_price, MAX(price) AS max_price,
          AVG(price) AS avg_price, SUM(price) AS sum_price
        FROM bid GROUP BY auction, {_DAY}""",
    "q18": """
        SELECT auction, bidder, price, channel, url, ms, extra FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS number FROM bid)
        WHERE number <= 1""",
    "q19": """
        SELECT auction, bidder, price, channel, url, ms, extra, number FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, ms) AS number FROM bid)
        WHERE number <= 10""",
    "q20": """
        SELECT auction, bidder, price, channel, url, B.ms, B.extra, itemName, description, initialBid, reserve,
          A.ms AS opened, expires, seller, category, A.extra AS more
        FROM bid AS B INNER JOIN auction AS A ON B.auction = A.id WHERE A.category = 10""",
    "q21": f"""
        SELECT auction, bidder, price, channel,
          CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'google' THEN '1'
            WHEN LOWER(channel) = 'facebook' THEN '2' WHEN LOWER(channel) = 'baidu' THEN '3'
            ELSE {_CHANNEL_ID} END AS channel_id
        FROM bid
        WHERE {_CHANNEL_ID} IS NOT NULL OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')""",
    "q22": """
        SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1, SPLIT_INDEX(url, '/', 4) AS dir2,
          SPLIT_INDEX(url, '/', 5) AS dir3
        FROM bid""",
}
"""Queries by number: as Nexmark publishes them, with ``ms`` where it has ``dateTime`` as a plain column.

Three differ more. q10 selects what it writes to partitions (:func:`log`). q13 joins its side input as any table, since
Flink's files cannot be looked up. q14 counts letters with functions of SQL, where Nexmark has a function in Java. There
is no q6: Flink SQL refuses changes as the input of ``OVER`` in the order of a time.
"""

_LOGGED = "auction BIGINT, bidder BIGINT, price BIGINT, ms BIGINT, extra STRING, `day` STRING, `minute` STRING"


def log(directory: object) -> str:
    """Return the statement that declares the table that q10 writes: files of a directory, by day and minute."""
    return (
        f"CREATE TABLE bids_by_minute ({_LOGGED}) PARTITIONED BY (`day`, `minute`) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'csv')"
    )
