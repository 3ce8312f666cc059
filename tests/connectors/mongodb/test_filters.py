"""Conditions of queries are sent to the server, and no row is lost by that."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("pymongo", reason="the extra 'mongodb' is not installed: make setup")

import bson
from bson import Int64, ObjectId, Regex, Timestamp
from pymongo import monitoring
from pymongo.errors import OperationFailure
from tests.datastream.inline import make_env

from flintstream.connectors.mongodb.client import MongoAccess
from flintstream.connectors.mongodb.source import _Reader
from flintstream.connectors.mongodb.splitting import MongoInput
from flintstream.table import DataTypes, StreamTableEnvironment
from flintstream.table._connectors.mongodb.conditions import Conditions
from flintstream.table._expressions.expr import Call, Const, Ref, template

HEX = "63932a00da01604af329e33c"
COLUMNS = (
    "_id STRING, n INT, l BIGINT, d DOUBLE, b BOOLEAN, s STRING, at TIMESTAMP(3), z TIMESTAMP_LTZ(3), "
    "de DECIMAL(6, 2), a ARRAY<INT>, `x.y` INT, PRIMARY KEY (_id) NOT ENFORCED"
)
MOMENT = dt.datetime(2024, 1, 2, 3, 4, 5, 6000)
DOCUMENTS = [
    {"_id": "a", "n": 1, "l": Int64(1), "d": 0.5, "b": True, "s": "pear", "at": MOMENT, "z": MOMENT, "a": [1]},
    {"_id": "b", "n": 5, "l": 5, "d": 5, "b": False, "s": "", "at": MOMENT + dt.timedelta(days=1), "a": []},
    {"_id": ObjectId(HEX), "n": Int64(9), "s": ObjectId(HEX), "z": Timestamp(1704164645, 1)},
    {"_id": "c", "n": None, "l": Int64(1 << 40), "s": 12, "at": Timestamp(1, 1), "de": 3},
    {"_id": "d", "s": ["pear", 1], "a": [None, 2], "b": None, "d": 7.5},
    {"_id": "e", "n": -3, "l": Int64(-1), "d": -0.5, "s": "é", "de": 1, "x": {"y": 4}},
    {"_id": "f", "n": 5, "s": '{"_value": {"$numberInt": "12"}}', "d": Int64((1 << 53) + 1)},
]
EDGES: list[Mapping[str, object]] = [
    *({"d": value} for value in (-0.0, 0, 0.0, 1.7e308, -1.7e308, 5e-324, (1 << 53) - 1, 2.0**53)),
    *({"d": Int64(value)} for value in ((1 << 53) + 1, -(1 << 53) - 1, (1 << 63) - 1, -1 << 63)),
    *({"n": value} for value in ((1 << 31) - 1, -1 << 31, Int64(0), None)),
    *({"l": value} for value in (Int64((1 << 63) - 1), Int64(-1 << 63), 0, Int64((1 << 53) + 1), 1 << 53)),
    *(
        {"s": value}
        for value in (HEX.upper(), HEX, ObjectId(HEX), "a", "ab", "A", "ä", "a\u0308", "\uffff", "\U0001f600")
    ),
    *({"s": value} for value in (5, 5.0, True, MOMENT, ["a"], [], [None], {"a": "a"}, {}, b"a", Regex("a"))),
    *({"s": value} for value in ("null", "{", '{"_value": null}', "5", Timestamp(5, 1), None)),
    *(
        {"at": value}
        for value in (dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999000), Timestamp(0, 1))
    ),
    *({"at": value} for value in (dt.datetime(9999, 12, 31, 23, 59, 59, 999000), MOMENT, None)),
    *({"z": value} for value in (dt.datetime(1970, 1, 1), MOMENT, Timestamp(1704164645, 9))),
    *({"b": value} for value in (True, False, None)),
    *({"a": value} for value in ([], [None], [1, None], None)),
]
"""Values that are easily compared in another way. The server has neither NaN nor infinities nor decimals."""


class Counted(monitoring.CommandListener):
    """Keeps the ids of documents that queries return; a reader that was interrupted asks for some again."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.sent = set()

    def started(self, event):
        pass

    def succeeded(self, event):
        cursor = event.reply.get("cursor", {}) if event.command_name in {"find", "getMore"} else {}
        self.sent |= {repr(found["_id"]) for found in cursor.get("firstBatch", cursor.get("nextBatch", ()))}

    def failed(self, event):
        pass


@pytest.fixture(scope="module")
def counted():
    found = Counted()
    monitoring.register(found)
    yield found
    monitoring._LISTENERS.command_listeners.remove(found)


@pytest.fixture(scope="module")
def filled(server, counted):
    """Tables with policy always, and with never, of the same documents."""
    t_env = StreamTableEnvironment.create(make_env())
    t_env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    for prefix, documents in (
        ("", DOCUMENTS),
        ("all_", [*DOCUMENTS, *({"_id": str(i), **d} for i, d in enumerate(EDGES))]),
    ):
        database = server.database()
        server.insert(database, documents)
        for name, policy in (("pushed", "always"), ("whole", "never")):
            t_env.execute_sql(
                f"CREATE TABLE {prefix}{name} ({COLUMNS}) WITH ('connector' = 'mongodb', 'uri' = '{server.uri}', "
                f"'database' = '{database}', 'collection' = 'c', 'scan.partition.strategy' = 'single', "
                f"'filter.handling.policy' = '{policy}')"
            )
    return t_env


def rows(t_env, counted, table, condition, columns="*"):
    """Return the rows that a query finds, and how many documents the server sent."""
    counted.clear()
    query = f"SELECT {columns} FROM {table} WHERE {condition}"  # noqa: S608
    with t_env.execute_sql(query).collect() as found:
        return sorted(map(str, found)), len(counted.sent)


@pytest.mark.parametrize(
    ("condition", "documents"),
    [
        ("n = 5", 2),
        ("5 < n", 1),
        ("n <> 5", 5),
        ("n >= 1 AND n < 9", 3),
        ("n BETWEEN 1 AND 5", 3),
        ("n IN (1, 9)", 2),
        ("n IN (1, CAST(NULL AS INT))", 1),
        ("n = 5 OR l < 0", 3),
        ("n = 5 OR n = 9 OR s = 'pear'", 5),
        ("n = 5 AND CHAR_LENGTH(s) = 0", 2),
        ("n = 5.0", 2),
        ("l > 4000000000", 1),
        ("n IS NULL", 2),
        ("n IS NOT NULL", 5),
        ("a IS NOT NULL", 3),
        ("a IS NULL", 4),
        ("d > 0", 4),
        ("d > 0.25 AND d <= 5", 2),
        ("b", 1),
        ("NOT b", 1),
        ("b = FALSE", 1),
        ("_id = 'b'", 1),
        (f"_id = '{HEX}'", 1),
        ("_id <> 'b'", 6),
        ("_id >= 'e'", 3),
        ("s = 'pear'", 2),
        ("s > 'b'", 6),
        ("s <> 'pear'", 6),
        ("at = TIMESTAMP '2024-01-02 03:04:05.006'", 2),
        ("at > '2024-01-02 03:04:06'", 2),
        ("at < CAST('1980-01-01 00:00:00' AS TIMESTAMP(3))", 1),
        ("z < TO_TIMESTAMP_LTZ(1704164645007, 3)", 2),
    ],
)
def test_the_server_sends_fewer_documents_and_the_rows_are_the_same(filled, counted, condition, documents):
    found, sent = rows(filled, counted, "pushed", condition)
    assert (found, len(DOCUMENTS)) == rows(filled, counted, "whole", condition)
    assert sent == documents


@pytest.mark.parametrize(
    "condition",
    [
        's = \'{"_value": {"$numberInt": "12"}}\'',  # a number, and the same text
        "de = 3",  # rounded to the digits of the column
        "de IS NULL",
        "d > 9007199254740992",  # a whole number that DOUBLE does not have
        "at = TIMESTAMP '2024-01-02 03:04:05.0061'",
        "at < TIMESTAMP '2024-01-02 03:04:05.0061'",
        "`x.y` IS NULL",  # a path for the server
        "n + 1 > 5",
        "l > n",
        "s LIKE 'p%'",
        "n = 5 OR s LIKE 'p%'",
        "NOT (n > 3)",
        "n = CAST(NULL AS INT)",
        "b IS NOT TRUE",
        "z < CURRENT_TIMESTAMP",
    ],
)
def test_what_the_server_cannot_tell_is_checked_here(filled, counted, condition):
    found = rows(filled, counted, "pushed", condition)
    assert found == rows(filled, counted, "whole", condition)
    assert found[1] == len(DOCUMENTS)


NUMBERS: tuple[str, ...] = (
    "0",
    "-1",
    "5",
    "2147483647",
    "9007199254740991",
    "9007199254740992",
    "9223372036854775807",
    "5.0",
    "0.5",
)
NUMBERS += (
    "CAST(0 AS DOUBLE)",
    "-0.0E0",
    "5E-1",
    "1E300",
    "CAST('NaN' AS DOUBLE)",
    "CAST('Infinity' AS DOUBLE)",
    "'5'",
)
TEXTS: tuple[str, ...] = (
    "'pear'",
    "''",
    f"'{HEX}'",
    f"'{HEX.upper()}'",
    "'é'",
    "'a'",
    "'A'",
    "'{'",
    "'5'",
    "'null'",
    "U&'\\FFFF'",
)
TEXTS += ("UPPER('a')", "CAST('ab' AS CHAR(3))", "CAST(NULL AS STRING)")
TIMES: tuple[str, ...] = (
    "TIMESTAMP '2024-01-02 03:04:05.006'",
    "TIMESTAMP '2024-01-02 03:04:05.0061'",
    "TIMESTAMP '1969-12-31 23:59:59'",
)
TIMES += ("'2024-01-02 03:04:05'", "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999999'")
ZONED = ("TO_TIMESTAMP_LTZ(0, 3)", "TO_TIMESTAMP_LTZ(1704164645006, 3)", "TIMESTAMP '2024-01-02 12:04:05.006'")
CONSTANTS = {"n": NUMBERS, "l": NUMBERS, "d": NUMBERS, "s": TEXTS, "_id": TEXTS, "at": TIMES, "z": ZONED}
COMPARED = st.sampled_from(sorted(CONSTANTS))
SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


@st.composite
def atoms(draw):
    """Return a condition on one column."""
    name = draw(COMPARED)
    constants = st.sampled_from(CONSTANTS[name])
    return draw(
        st.one_of(
            st.tuples(SIGNS, constants).map(lambda found: f"{name} {found[0]} {found[1]}"),
            st.tuples(SIGNS, constants).map(lambda found: f"{found[1]} {found[0]} {name}"),
            st.tuples(constants, constants).map(lambda found: f"{name} BETWEEN {found[0]} AND {found[1]}"),
            st.lists(constants, min_size=1, max_size=4).map(lambda found: f"{name} IN ({', '.join(found)})"),
            st.sampled_from([*CONSTANTS, "a", "b", "de"]).map("{} IS NULL".format),
            st.sampled_from([*CONSTANTS, "a", "b", "de"]).map("{} IS NOT NULL".format),
            st.sampled_from(
                ["b", "NOT b", "b = TRUE", "b <> TRUE", "b IS TRUE", "CHAR_LENGTH(s) > 3", "TRUE", "de > 1"]
            ),
        )
    )


CONDITIONS = st.recursive(
    atoms(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(" ".join).map("({})".format),
        inner.map("NOT ({})".format),
    ),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(condition=CONDITIONS)
def test_any_condition_finds_the_same_rows(filled, counted, condition):
    assert rows(filled, counted, "all_pushed", condition)[0] == rows(filled, counted, "all_whole", condition)[0]


def test_only_columns_of_the_query_are_sent_also_with_a_condition_on_others(filled, counted):
    found, sent = rows(filled, counted, "pushed", "n = 5", columns="_id")
    assert (found, sent) == (["<Row('b')>", "<Row('f')>"], 2)


def test_conditions_of_views_are_sent_together(filled, counted):
    filled.execute_sql("CREATE TEMPORARY VIEW fives AS SELECT _id, l AS long, n FROM pushed WHERE n = 5")
    found, sent = rows(filled, counted, "fives", "long > 1", columns="_id")
    assert (found, sent) == (["<Row('b')>"], 1)


def test_two_queries_of_a_table_have_conditions_of_their_own(filled, counted):
    counted.clear()
    query = "SELECT _id FROM pushed WHERE n = 1 UNION ALL SELECT _id FROM pushed WHERE n = 5"
    with filled.execute_sql(query).collect() as found:
        assert sorted(row[0] for row in found) == ["a", "b", "f"]
    assert len(counted.sent) == 3


def test_a_large_condition_is_checked_here(filled, counted):
    condition = f"s IN ('pear', '{'x' * (1 << 20)}')"
    found = rows(filled, counted, "pushed", condition)
    assert found == rows(filled, counted, "whole", condition)
    assert found[1] == len(DOCUMENTS)


def test_of_a_deep_condition_the_outer_part_is_sent(filled, counted):
    deep = "(" * 60 + "b" + "".join(f" {'OR' if n % 2 else 'AND'} n < {n})" for n in range(60))
    for condition in (deep, f"n = 5 AND {deep}"):
        found, sent = rows(filled, counted, "pushed", condition)
        assert found == rows(filled, counted, "whole", condition)[0]
        assert sent < len(DOCUMENTS)


def test_rows_that_are_found_by_key_meet_a_condition(filled):
    filled.execute_sql(
        "CREATE TEMPORARY VIEW asked AS SELECT id, PROCTIME() AS at FROM (VALUES ('a'), ('b'), ('d')) AS t(id)"
    )
    query = (
        "SELECT a.id, p.n FROM asked AS a LEFT JOIN pushed FOR SYSTEM_TIME AS OF a.at AS p ON a.id = p._id AND p.n > 1"
    )
    with filled.execute_sql(query).collect() as found:
        assert sorted(map(tuple, found)) == [("a", None), ("b", 5), ("d", None)]


def condition_of(text, kind):
    """Return what is sent for a condition on a column of one type."""
    column = Ref(kind, 0)
    arguments = (column,) if text is None else (column, Const(kind, text))
    name = "IS NULL" if text is None else "="
    return Conditions(["c"], [kind]).of(Call(DataTypes.BOOLEAN(), name, arguments, template("")))


def test_null_is_what_has_none_of_the_types_with_values():
    # Some servers still have "undefined", which the driver reads as None, and which is not equal to null.
    assert condition_of(None, DataTypes.INT())["c"].keys() == {"$not"}
    assert not {"null", "undefined"} & {*condition_of(None, DataTypes.INT())["c"]["$not"]["$type"]}
    assert condition_of(None, DataTypes.DECIMAL(5, 2)) is None


def test_numbers_that_are_no_numbers_and_halves_of_letters_are_not_sent():
    assert condition_of("a", DataTypes.STRING()) == {"c": {"$eq": "a"}}
    assert condition_of("\ud800", DataTypes.STRING()) is None
    assert condition_of(0.5, DataTypes.DOUBLE()) == {"c": {"$eq": 0.5}}
    assert condition_of(math.nan, DataTypes.DOUBLE()) is None
    assert condition_of(math.inf, DataTypes.DOUBLE()) is None
    assert condition_of(1 << 63, DataTypes.BIGINT()) is None


def test_a_watermark_comes_from_all_rows(server, counted):
    database = server.database()
    server.insert(database, [{"_id": str(n), "at": MOMENT + dt.timedelta(days=n)} for n in range(4)])
    t_env = StreamTableEnvironment.create(make_env())
    t_env.execute_sql(
        "CREATE TABLE marked (_id STRING, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'mongodb', "
        f"'uri' = '{server.uri}', 'database' = '{database}', 'collection' = 'c')"
    )
    found, sent = rows(t_env, counted, "marked", "_id = '1'", columns="_id")
    assert (found, sent) == (["<Row('1')>"], 4)


@pytest.mark.parametrize(
    ("options", "filter_"),
    [
        (dict, {"n": 1}),
        (lambda: {"collation": {"locale": "de"}}, {"n": 2}),
        (lambda: (_ for _ in ()).throw(OperationFailure("not authorized", 13)), {"n": 2}),
    ],
)
def test_a_collection_with_an_order_of_its_own_does_not_compare_texts(options, filter_):
    one, two = bson.encode({"n": 1}), bson.encode({"n": 2})
    made = MongoInput(MongoAccess("mongodb://h", "d", "c"), lambda: dict, condition=one, collated=two)
    assert _Reader(made)._choose(SimpleNamespace(options=options)) == filter_
