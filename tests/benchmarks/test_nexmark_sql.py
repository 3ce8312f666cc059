"""The queries of Nexmark in SQL, against the same results as their versions with streams."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import datetime, timezone
from decimal import Decimal
from urllib.parse import unquote

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from benchmarks.nexmark import events
from benchmarks.nexmark.expected import database, difference
from benchmarks.nexmark.patterns import PATTERNS
from benchmarks.nexmark.sql import QUERIES, log, tables

from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment

pytestmark = pytest.mark.slow

FEW = events.Settings(4_000, rate=80, start=1_436_918_400_000 - 25_000)
"""50 s around midnight: several windows, two days."""


@pytest.fixture(scope="module")
def auction(tmp_path_factory):
    directory = tmp_path_factory.mktemp("auction")
    events.write(FEW, directory)
    return directory, database(directory)


def results(query, directory, engine, mode):
    """Return the rows that the changes of a query leave behind, in the values of the streams."""
    settings = {"flintstream.engine": engine, "flintstream.master": "local[2]"}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    t_env = StreamTableEnvironment.create(env)
    for statement in tables(directory):
        t_env.execute_sql(statement)
    left: Counter[tuple[object, ...]] = Counter()
    with t_env.execute_sql({**QUERIES, **PATTERNS}[query]).collect() as rows:
        for row in rows:
            left[tuple(map(plain, row))] += 1 if str(row.get_row_kind()) in {"+I", "+U"} else -1
    assert min(left.values()) >= 0
    return list(left.elements())


def plain(value):
    if isinstance(value, datetime):
        return round(value.replace(tzinfo=timezone.utc).timestamp() * 1000)
    return float(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize("query", [query for query in QUERIES if query != "q12"])
def test_a_query_in_sql_returns_what_its_version_with_streams_does(query, auction):
    directory, expected = auction
    assert not difference(query, results(query, directory, "inline", "STREAMING"), expected)


@pytest.mark.parametrize("query", ["q5", "q12", "q16"])
def test_a_query_in_sql_is_the_same_in_batches(query, auction):
    directory, expected = auction
    assert not difference(query, results(query, directory, "inline", "BATCH"), expected)


def test_bids_are_logged_to_partitions_of_day_and_minute(auction, tmp_path):
    directory, expected = auction
    t_env = StreamTableEnvironment.create(
        StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    )
    for statement in [*tables(directory), log(tmp_path / "log")]:
        t_env.execute_sql(statement)
    t_env.sql_query(QUERIES["q10"]).execute_insert("bids_by_minute").wait()
    written = [
        (*line, *(unquote(part.partition("=")[2]) for part in path.parts[-3:-1]))
        for path in tmp_path.rglob("*")
        if path.is_file() and not path.name.startswith(".")
        for line in csv.reader(path.read_text().splitlines())
    ]
    rows = [(int(a), int(b), int(c), int(d), *rest) for a, b, c, d, *rest in written]
    assert not difference("q10", rows, expected)


@pytest.fixture(scope="module")
def few_bidders(tmp_path_factory):
    """Events in which the same people bid for the same auctions again and again."""
    directory = tmp_path_factory.mktemp("few-bidders")
    events.write(FEW, directory)
    for path in (directory / "events").iterdir():
        lines = [line.split("\t") for line in path.read_text().splitlines()]
        for line in lines:
            if line[0] == "B":
                line[2:5] = str(1000 + int(line[2]) % 7), str(1000 + int(line[3]) % 5), str(int(line[4]) % 20_000)
        path.write_text("".join("\t".join(line) + "\n" for line in lines))
    return directory, database(directory)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("query", PATTERNS)
def test_a_pattern_finds_what_a_plain_loop_does(query, few_bidders, mode):
    directory, expected = few_bidders
    assert not difference(query, results(query, directory, "inline", mode), expected)


@pytest.mark.spark
@pytest.mark.parametrize("query", PATTERNS)
def test_a_pattern_finds_the_same_on_spark(query, few_bidders):
    directory, expected = few_bidders
    assert not difference(query, results(query, directory, "spark", "STREAMING"), expected)


@pytest.mark.spark
@pytest.mark.parametrize("query", ["q11", "q16"])
def test_a_query_in_sql_returns_the_same_on_spark(query, auction):
    directory, expected = auction
    assert not difference(query, results(query, directory, "spark", "STREAMING"), expected)
