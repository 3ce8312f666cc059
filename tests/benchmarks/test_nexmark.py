from __future__ import annotations

from collections import Counter
from dataclasses import replace

import duckdb
import pytest
from benchmarks.nexmark import events
from benchmarks.nexmark.expected import SQL, database, difference, final_table

from flintstream.compat import pyflink
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

pytestmark = pytest.mark.slow

EVENINGS = events.Settings(10_000, rate=200, start=1_436_918_400_000 - 25_000)
"""50 s around midnight: several windows, two days."""
ALL_DAY = events.Settings(2_000, rate=1 / 60)
"""33 hours: every time of day."""


@pytest.fixture(scope="module", autouse=True)
def _installed():
    was_installed = pyflink.is_installed()
    pyflink.install()
    yield
    if not was_installed:
        pyflink.uninstall()


@pytest.fixture(scope="module")
def evenings(tmp_path_factory):
    return written(EVENINGS, tmp_path_factory.mktemp("evenings"))


@pytest.fixture(scope="module")
def all_day(tmp_path_factory):
    return written(ALL_DAY, tmp_path_factory.mktemp("all-day"))


def written(settings, directory):
    events.write(settings, directory)
    return directory, database(directory)


def results(query, directory, engine, mode="STREAMING"):
    from benchmarks.nexmark.queries import QUERIES
    from benchmarks.nexmark.streams import read

    settings = {"flintstream.engine": engine, "flintstream.master": "local[2]"}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    with QUERIES[query](read(env, directory)).execute_and_collect() as rows:
        return list(rows)


@pytest.mark.parametrize("query", [query for query in SQL if query != "q12"])
def test_a_query_returns_what_sql_returns(query, evenings):
    directory, expected = evenings
    assert not difference(query, results(query, directory, "inline"), expected)


@pytest.mark.parametrize("query", ["q5", "q7", "q9", "q19"])
def test_joins_and_windows_are_the_same_in_batches(query, evenings):
    directory, expected = evenings
    assert not difference(query, results(query, directory, "inline", "BATCH"), expected)


def test_windows_of_processing_time_have_every_bid_once(evenings):
    """At the end of the input, open windows are dropped, but in BATCH mode they fire."""
    directory, expected = evenings
    assert not difference("q12", results("q12", directory, "inline", "BATCH"), expected)


def test_every_time_of_day_has_its_name(all_day):
    directory, expected = all_day
    ours = results("q14", directory, "inline")
    assert not difference("q14", ours, expected)
    assert {row[3] for row in ours} == {"dayTime", "nightTime", "otherTime"}


@pytest.mark.spark
@pytest.mark.parametrize("query", ["q4", "q5", "q7", "q8", "q11", "q13", "q16", "q18", "q20"])
def test_a_query_returns_on_spark_what_sql_returns(query, evenings):
    directory, expected = evenings
    assert not difference(query, results(query, directory, "spark"), expected)


def test_a_wrong_result_is_told():
    connection = duckdb.connect()
    connection.execute("create table bid as select 123 as auction, 7 as price")
    assert not difference("q2", [(123, 7)], connection)
    assert difference("q2", [(123, 8)], connection) == "q2: (123, 8) instead of (123, 7)"
    assert difference("q2", [(123, 7), (123, 7)], connection) == "q2: 2 rows instead of 1"
    connection.execute("delete from bid")
    assert "too few" in difference("q2", [], connection)


def test_of_the_changes_of_a_row_the_last_one_counts():
    assert final_table("q19", [(1, "a", 1), (1, "b", 1), (1, "a", 2)]) == [(1, "b", 1), (1, "a", 2)]


def test_an_event_depends_on_its_number_and_the_seed_alone():
    everything = list(events.lines(EVENINGS))
    assert len(everything) == EVENINGS.events
    assert list(events.lines(EVENINGS, 333, 777)) == everything[333:777]
    assert list(events.lines(EVENINGS, 50, 50)) == []
    assert list(events.lines(replace(EVENINGS, events=100))) == everything[:100]
    assert list(events.lines(replace(EVENINGS, seed=2))) != everything


def test_events_come_in_their_proportions_and_in_order_of_time():
    fields = [line.split("\t") for line in events.lines(EVENINGS)]
    assert Counter(kind for kind, *_ in fields) == {"P": 200, "A": 600, "B": 9200}
    times = [int(time) for _, time, *_ in fields]
    assert times == sorted(times)
    assert (times[0], times[-1]) == (EVENINGS.start, EVENINGS.start + 49_995)
    assert [int(id) for kind, _, id, *_ in fields if kind == "A"] == list(range(1000, 1600))


def test_some_auctions_and_bidders_are_hot():
    bids = [line.split("\t") for line in events.lines(EVENINGS) if line[0] == "B"]
    auctions = Counter(int(auction) for _, _, auction, *_ in bids)
    bidders = Counter(int(bidder) for _, _, _, bidder, *_ in bids)
    hot_auctions = sum(count for auction, count in auctions.items() if auction % 100 == 0)
    hot_bidders = sum(count for bidder, count in bidders.items() if bidder % 100 == 1)
    assert hot_auctions == pytest.approx(len(bids) / 2, rel=0.05)
    assert hot_bidders == pytest.approx(len(bids) * 3 / 4, rel=0.05)
