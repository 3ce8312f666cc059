"""The expected results of the queries, which DuckDB computes from the same files.

The SQL is that of https://github.com/nexmark/nexmark in DuckDB's dialect; times are milliseconds since 1970. Where the
original does not define which of several rows comes first, the SQL here and the queries use the same total order.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import duckdb

from benchmarks.nexmark.patterns import PATTERNS, matches

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Rows = list[tuple[Any, ...]]

_VIEWS = r"""
create view line as
select string_split(line, chr(9)) as f
from read_csv('{directory}/events/*',
  header = false, delim = '\x01', quote = '', escape = '', columns = {{line: text}});
create table person as
select f[3]::bigint as id, f[4] as name, f[5] as email, f[6] as card, f[7] as city, f[8] as state,
  f[2]::bigint as time, f[9] as extra
from line where f[1] = 'P';
create table auction as
select f[3]::bigint as id, f[4] as item, f[5] as description, f[6]::bigint as initial, f[7]::bigint as reserve,
  f[2]::bigint as time, f[8]::bigint as expires, f[9]::bigint as seller, f[10]::bigint as category, f[11] as extra
from line where f[1] = 'A';
create table bid as
select f[3]::bigint as auction, f[4]::bigint as bidder, f[5]::bigint as price, f[6] as channel, f[7] as url,
  f[2]::bigint as time, f[8] as extra, strftime(make_timestamp(f[2]::bigint * 1000), '%Y-%m-%d') as day,
  strftime(make_timestamp(f[2]::bigint * 1000), '%H:%M') as minute
from line where f[1] = 'B';
create table side_input as
select * from read_csv('{directory}/side_input.csv', header = false, columns = {{key: bigint, value: text}});
create view hop as
select auction, price, start, start + 10000 as finish
from bid, lateral (select unnest(range(time - time % 2000 - 8000, time + 1, 2000)) as start);
create table winner as
select auction.*, auction as number, bidder, price, bid.time as bid_time, bid.extra as bid_extra
from auction join bid on id = auction and bid.time between auction.time and expires
qualify row_number() over (
  partition by id order by price desc, bid.time, bidder, channel, url, bid.extra
) = 1;
"""

_STATISTICS = ", ".join(
    f"{what} filter ({condition})"
    for what in ("count(*)", "count(distinct bidder)", "count(distinct auction)")
    for condition in ("true", "price < 10000", "price >= 10000 and price < 1000000", "price >= 1000000")
)

SQL = {
    "q0": "select auction, bidder, price, time, extra from bid",
    "q1": "select auction, bidder, 0.908::double * price, time, extra from bid",
    "q2": "select auction, price from bid where auction % 123 = 0",
    "q3": """
        select name, city, state, a.id from auction a join person p on seller = p.id
        where category = 10 and state in ('OR', 'ID', 'CA')""",
    "q4": """
        select category, sum(final)::bigint // count(*)
        from (
          select max(price) as final, category from auction join bid on id = auction
          where bid.time between auction.time and expires group by id, category)
        group by category""",
    "q5": """
        with counts as (select auction, start, count(*) as number from hop group by auction, start)
        select auction, number from counts
        join (select start, max(number) as most from counts group by start) using (start)
        where number >= most""",
    "q6": """
        select seller, id, sum(price) over last::bigint // count(*) over last from winner
        window last as (partition by seller order by bid_time, id rows between 10 preceding and current row)""",
    "q7": """
        select auction, price, bidder, time, extra
        from bid join (select max(price) as highest, time // 10000 * 10000 as start from bid group by start)
        on price = highest and time between start and start + 10000""",
    "q8": """
        select id, name, p.start
        from (select distinct id, name, time // 10000 * 10000 as start from person) p
        join (select distinct seller, time // 10000 * 10000 as start from auction) a
        on id = seller and p.start = a.start""",
    "q9": "select * from winner",
    "q10": "select auction, bidder, price, time, extra, day, minute from bid",
    "q11": """
        select bidder, count(*), min(time), max(time) + 10000
        from (
          select *, sum(begins) over (partition by bidder order by time, row) as session
          from (
            select bidder, time, row,
              coalesce(time - lag(time) over (partition by bidder order by time, row) >= 10000, true)::int as begins
            from (select bidder, time, row_number() over () as row from bid)))
        group by bidder, session""",
    "q12": "select bidder, count(*) from bid group by bidder",
    "q13": """
        select auction, bidder, price, time, value from bid join side_input on auction % 10000 = key""",
    "q14": """
        select auction, bidder, 0.908::double * price,
          case when hour between 8 and 18 then 'dayTime' when hour <= 6 or hour >= 20 then 'nightTime'
            else 'otherTime' end,
          time, extra, length(extra) - length(replace(extra, 'c', ''))
        from (select *, hour(make_timestamp(time * 1000)) as hour from bid)
        where 0.908 * price > 1000000 and 0.908 * price < 50000000""",
    "q15": f"select day, {_STATISTICS} from bid group by day",  # noqa: S608 - of our own
    "q16": f"select channel, day, max(minute), {_STATISTICS} from bid group by channel, day",  # noqa: S608 - as above
    "q17": """
        select auction, day, count(*), count(*) filter (price < 10000),
          count(*) filter (price >= 10000 and price < 1000000), count(*) filter (price >= 1000000),
          min(price), max(price), sum(price)::bigint // count(*), sum(price)::bigint
        from bid group by auction, day""",
    "q18": """
        select auction, bidder, price, channel, url, time, extra from bid
        qualify row_number() over (
          partition by bidder, auction order by time desc, price desc, channel desc, url desc, extra desc) = 1""",
    "q19": """
        select auction, bidder, price, channel, url, time, extra,
          row_number() over (partition by auction order by price desc, time, bidder, channel, url, extra) as rank
        from bid qualify rank <= 10""",
    "q20": """
        select auction, bidder, price, channel, url, bid.time, bid.extra,
          item, description, initial, reserve, auction.time, expires, seller, category, auction.extra
        from bid join auction on auction = id where category = 10""",
    "q21": r"""
        select auction, bidder, price, channel,
          case lower(channel) when 'apple' then '0' when 'google' then '1' when 'facebook' then '2'
            when 'baidu' then '3' else regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) end
        from bid
        where lower(channel) in ('apple', 'google', 'facebook', 'baidu')
          or regexp_matches(url, '(&|^)channel_id=([^&]*)')""",
    "q22": """
        select auction, bidder, price, channel, split_part(url, '/', 4), split_part(url, '/', 5),
          split_part(url, '/', 6)
        from bid""",
}

PRIMARY_KEYS = {
    "q4": (0,),
    "q6": (0, 1),
    "q15": (0,),
    "q16": (0, 1),
    "q17": (0, 1),
    "q18": (0, 1),
    "q19": (0, -1),
}
"""Queries whose results are changes of a table, and the fields that identify its rows: the last change counts."""


def database(directory: Path) -> duckdb.DuckDBPyConnection:
    """Return a database of the events in a directory."""
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(_VIEWS.format(directory=directory))
    return connection


def final_table(query: str, results: Iterable[tuple[Any, ...]]) -> Rows:
    """Return the table after all changes; the results themselves if they are not changes.

    >>> final_table("q4", [(10, 5), (11, 7), (10, 6)])
    [(10, 6), (11, 7)]
    """
    if query == "q12":  # the window of a bid depends on when the bid is read
        totals: dict[Any, int] = {}
        for bidder, count, start, end in results:
            assert (start % 10_000, end - start) == (0, 10_000), f"no window of q12: {start} to {end}"
            totals[bidder] = totals.get(bidder, 0) + count
        return list(totals.items())
    key = PRIMARY_KEYS.get(query)
    return list(results) if key is None else list({tuple(row[k] for k in key): row for row in results}.values())


def _computed(query: str, connection: duckdb.DuckDBPyConnection) -> Rows:
    if query in PATTERNS:
        bids = connection.execute("select auction, bidder, time, price from bid").fetchall()
        return list(matches(query, bids))
    return connection.execute(SQL[query]).fetchall()


def difference(query: str, results: Iterable[tuple[Any, ...]], connection: duckdb.DuckDBPyConnection) -> str:
    """Return the error in the results of a query; an empty text if they are right."""
    ours, theirs = sorted(final_table(query, results)), sorted(_computed(query, connection))
    if len(ours) != len(theirs):
        return f"{query}: {len(ours):,} rows instead of {len(theirs):,}"
    if not theirs:
        return f"{query}: the events are too few, there is no result to compare"
    for our, their in zip(ours, theirs, strict=True):
        if len(our) != len(their) or not all(map(_same, our, their)):
            return f"{query}: {our} instead of {their}"
    return ""


def _same(ours: Any, theirs: Any) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-12) if isinstance(theirs, float) else bool(ours == theirs)


def written(directory: Path) -> Rows:
    """Return the results that a job wrote to files; unfinished files have a leading dot."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not path.name.startswith((".", "_")))
    return [tuple(json.loads(line)) for path in files for line in path.read_text().splitlines()]
