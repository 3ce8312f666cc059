"""SQL reads, joins and writes collections of MongoDB."""

from __future__ import annotations

import datetime as dt
import decimal
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("pymongo", reason="the extra 'mongodb' is not installed: make setup")

from bson import Binary, Code, Decimal128, Int64, ObjectId, Regex, Timestamp
from tests.connectors.mongodb import conftest as mongodb

from flintstream.common import Row, Types
from flintstream.connectors.mongodb.client import MongoError
from flintstream.connectors.sink import WriterContext
from flintstream.table import DataTypes
from flintstream.table._connectors import registry
from flintstream.table._connectors.contract import INSERTIONS, UPSERTS, ConnectorTable
from flintstream.table._connectors.mongodb.values import id_of, reader, writer
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Column

server = mongodb.server
CONTEXT = WriterContext(0, 1, "a")
HEX = "63932a00da01604af329e33c"


def declare(t_env, server, database, columns, tail="", name="t", **more):
    options = {"connector": "mongodb", "uri": server.uri, "database": database, "collection": "c", **more}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) {tail} WITH ({given})")


def source_of(table: ConnectorTable) -> Any:
    """Return the source of a table, as a thing of which tests look at any part."""
    return registry.source_of(table)


def described(*columns, key=(), partitions=(), **more):
    options = {"connector": "mongodb", "uri": "mongodb://h", "database": "d", "collection": "c", **more}
    listed = [Column(name, kind) for name, kind in columns]
    return ConnectorTable("t", listed, Options("t", options), key, partitions)


def sink_of(*columns, **more):
    return registry.sink_of(described(*columns, **more))


def changes(made, *rows):
    """Return what a sink makes of rows."""
    return [made.sink.output.model_of(row, CONTEXT) for row in rows]


NAMED = DataTypes.ROW([DataTypes.FIELD("p", DataTypes.INT()), DataTypes.FIELD("q", DataTypes.STRING())])
MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 6000)
BOTH_WAYS = [
    (DataTypes.STRING(), "pear", "pear"),
    (DataTypes.CHAR(2), "ab", "ab"),
    (DataTypes.BOOLEAN(), True, True),
    (DataTypes.BYTES(), b"\0\xff", b"\0\xff"),
    (DataTypes.INT(), -1, -1),
    (DataTypes.BIGINT(), 5, Int64(5)),
    (DataTypes.DOUBLE(), 0.5, 0.5),
    (DataTypes.DECIMAL(6, 2), decimal.Decimal("1.50"), Decimal128("1.50")),
    (DataTypes.TIMESTAMP(3), MOMENT, MOMENT),
    (DataTypes.TIMESTAMP_LTZ(3), MOMENT, MOMENT),
    (DataTypes.ARRAY(DataTypes.BIGINT()), [1, None], [Int64(1), None]),
    (DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT()), {"o": 1, "n": None}, {"o": Int64(1), "n": None}),
    (NAMED, Row(p=1, q=None), {"p": 1, "q": None}),
    (DataTypes.STRING(), '{"_value": {"$numberInt": "12"}}', 12),
    (DataTypes.STRING(), '{"_value": {"$regularExpression": {"pattern": "^9$", "options": "i"}}}', Regex("^9$", "i")),
    (DataTypes.STRING(), '{"_value": [{"$numberLong": "1"}]}', [Int64(1)]),
]


@pytest.mark.parametrize(("kind", "value", "stored"), BOTH_WAYS)
def test_values_have_the_types_of_flinks_page(kind, value, stored):
    made = writer(kind)(value)
    assert (made, type(made)) == (stored, type(stored))
    assert writer(kind)(None) is None
    back = reader(kind)(stored)
    assert (back, type(back)) == (value, type(value))
    assert reader(kind)(None) is None


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (DataTypes.STRING(), ObjectId(HEX), HEX),
        (DataTypes.BIGINT(), 5, 5),
        (DataTypes.INT(), Int64(5), 5),
        (DataTypes.DOUBLE(), 5, 5.0),
        (DataTypes.DECIMAL(6, 2), 5, decimal.Decimal("5.00")),
        (DataTypes.DECIMAL(6, 2), Decimal128("NaN"), None),
        (DataTypes.DECIMAL(3, 2), Decimal128("123"), None),
        (DataTypes.BYTES(), Binary(b"x", 5), b"x"),
        (DataTypes.TIMESTAMP_LTZ(0), Timestamp(1, 7), dt.datetime(1970, 1, 1, 0, 0, 1)),
        (NAMED, {"p": 1, "r": 3}, Row(p=1, q=None)),
    ],
)
def test_other_values_are_read_as_well(kind, stored, value):
    found = reader(kind)(stored)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (DataTypes.INT(), 1 << 31),
        (DataTypes.INT(), 1.0),
        (DataTypes.INT(), True),
        (DataTypes.BIGINT(), 1.5),
        (DataTypes.DOUBLE(), "1"),
        (DataTypes.DOUBLE(), False),
        (DataTypes.BOOLEAN(), 1),
        (DataTypes.BYTES(), "x"),
        (DataTypes.DECIMAL(6, 2), 1.5),
        (DataTypes.DECIMAL(6, 2), Decimal128("Infinity")),
        (DataTypes.TIMESTAMP(3), 1),
        (DataTypes.ARRAY(DataTypes.INT()), 1),
        (DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), [1]),
        (NAMED, [1]),
    ],
)
def test_a_value_that_does_not_fit_its_column_is_refused(kind, stored):
    with pytest.raises(MongoError, match=r"a document has .* where the table has"):
        reader(kind)(stored)


def test_a_column_that_is_not_null_needs_a_value():
    with pytest.raises(MongoError, match="a document has no value where the table has INT NOT NULL"):
        reader(DataTypes.INT(False))(None)


def test_times_lose_what_is_shorter_than_a_millisecond_and_texts_may_be_any():
    assert writer(DataTypes.TIMESTAMP(6))(dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)) == dt.datetime(
        1969, 12, 31, 23, 59, 59, 999_000
    )
    for text in ('{"_value"}', '{"a": "_value"}', "{_value: }"):
        assert writer(DataTypes.STRING())(text) == text
    code = '{"_value": {"$code": "function() { return 10; }"}}'
    assert reader(DataTypes.STRING())(writer(DataTypes.STRING())(code)) == code
    assert writer(DataTypes.STRING())(code) == Code("function() { return 10; }")
    for text in (
        '{"$symbol": "_value"}',
        '{"_value": {"$oid": "xyz"}}',
        '{"_value": {"$numberDecimal": "x"}}',
        '{"_value": {"$regularExpression": 1}}',
    ):
        assert writer(DataTypes.STRING())(text) == text
    assert id_of(HEX, HEX) == ObjectId(HEX)
    assert id_of("x" * 24, "x") == "x" * 24


@pytest.mark.parametrize("value", ['{"$gt": ""}', '{"$regularExpression": {"pattern": ".*", "options": ""}}'])
def test_a_text_in_a_key_selects_no_other_document(t_env, server, value):
    database = server.database()
    server.insert(database, [{"_id": "other"}])
    text = f'{{"_value": {value}}}'
    declare(t_env, server, database, "_id STRING, n INT, PRIMARY KEY (_id) NOT ENFORCED")
    t_env.execute_sql(f"INSERT INTO t VALUES ('{text}', 1)").wait()
    assert server.documents(database) == [{"_id": "other"}, {"_id": text, "n": 1}]
    made = sink_of(("k", DataTypes.STRING()), ("s", DataTypes.STRING()), key=["k"], partitions=["s"])
    (deletion, change) = changes(made, (text, text, 3), (text, text, 0))
    assert deletion._filter == {"_id": text}
    assert change._filter == {"_id": text, "s": text}


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ([("a", DataTypes.TINYINT())], {}, "MongoDB has no type for the column 'a' TINYINT"),
        ([("a", DataTypes.FLOAT())], {}, "MongoDB has no type for the column 'a' FLOAT"),
        ([("a", DataTypes.ARRAY(DataTypes.DATE()))], {}, "MongoDB has no type for the column 'a' ARRAY<DATE>"),
        ([("a", DataTypes.MAP(DataTypes.INT(), DataTypes.INT()))], {}, "MongoDB has no type for the column 'a'"),
        ([("a", DataTypes.BYTES())], {"key": ["a"]}, "an '_id' cannot have a BYTES, as the column 'a'"),
        ([("_id", DataTypes.INT())], {}, "the column '_id' must be the only one of the PRIMARY KEY"),
        ([("_id", DataTypes.INT()), ("a", DataTypes.INT())], {"key": ["a"]}, "the column '_id' must be the only one"),
        ([], {"sink.delivery-guarantee": "exactly-once"}, "'sink.delivery-guarantee' does not accept 'exactly-once'"),
        ([], {"sink.buffer-flush.max-rows": "0"}, "'sink.buffer-flush.max-rows' must be at least 1, but got 0"),
        ([], {"sink.max-retries": "-1"}, "'sink.max-retries' must be at least 0, but got -1"),
        ([], {"scan.partition.strategy": "samples"}, "'scan.partition.strategy' does not accept 'samples'; did you"),
        ([], {"scan.partition.size": "0"}, "'scan.partition.size' must be at least 1 byte"),
        ([], {"scan.fetch-size": "0"}, "'scan.fetch-size' must be at least 1, but got 0"),
        ([], {"filter.handling.policy": "some"}, "'filter.handling.policy' does not accept 'some'"),
        ([], {"lookup.cache": "FULL"}, "'lookup.cache' does not accept 'FULL'"),
        ([], {"lookup.max-retries": "-1"}, "'lookup.max-retries' must be at least 0, but got -1"),
        ([], {"uri": "http://h"}, "'http://h' is not a URI of MongoDB"),
        ([], {"colection": "x"}, "the connector 'mongodb' has no option 'colection'; did you mean 'collection'"),
    ],
)
def test_what_mongodb_does_not_take_is_refused(columns, more, message):
    table = described(*columns, **more)
    reads = any(name.startswith(("scan.", "filter.", "lookup.")) for name in more)
    plan = (lambda: source_of(table).lookup([])) if reads else (lambda: registry.sink_of(table))
    with pytest.raises(SqlError, match=message):
        plan()


def test_rows_without_a_key_become_documents_to_insert():
    made = sink_of(("a", DataTypes.INT()), ("b", DataTypes.STRING()))
    assert changes(made, (1, None)) == [{"a": 1, "b": None}]
    assert made.changes == INSERTIONS
    assert made.overwriting is None


def test_rows_with_a_key_change_their_documents():
    from pymongo import DeleteOne, UpdateOne

    made = sink_of(("k", DataTypes.STRING()), ("n", DataTypes.BIGINT()), key=["k"])
    assert changes(made, ("a", 1, 0), ("a", 2, 2), ("a", 2, 3), (HEX, 1, 0)) == [
        UpdateOne({"_id": "a"}, {"$set": {"k": "a", "n": 1}}, upsert=True),
        UpdateOne({"_id": "a"}, {"$set": {"k": "a", "n": 2}}, upsert=True),
        DeleteOne({"_id": "a"}),
        UpdateOne({"_id": ObjectId(HEX)}, {"$set": {"k": HEX, "n": 1}}, upsert=True),
    ]
    assert made.changes == UPSERTS
    made = sink_of(("_id", DataTypes.BIGINT()), ("n", DataTypes.INT()), key=["_id"], partitions=["n"])
    assert changes(made, (1, 2, 0)) == [UpdateOne({"_id": 1, "n": 2}, {"$set": {"n": 2}}, upsert=True)]
    made = sink_of(("b", DataTypes.STRING()), ("a", DataTypes.INT()), key=["a", "b"])
    assert changes(made, (HEX, 1, 3)) == [DeleteOne({"_id": {"a": 1, "b": HEX}})]


def test_the_options_of_writing_act():
    more = {
        "sink.buffer-flush.max-rows": "7", "sink.buffer-flush.interval": "3s", "sink.max-retries": "5",
        "sink.retry.interval": "2s", "sink.ordered-writes": "false", "sink.bypass-document-validation": "true",
        "sink.parallelism": "3", "sink.delivery-guarantee": "none",
    }  # fmt: skip
    made = sink_of(("a", DataTypes.INT()), **more)
    output = made.sink.output
    assert (output.batch_size, output.interval_ms, output.max_retries, output.retry_ms) == (7, 3000, 5, 2000)
    assert (output.ordered, output.bypasses_validation, made.parallelism) == (False, True, 3)


def test_rows_are_inserted(t_env, server):
    database = server.database()
    columns = "s STRING, b BOOLEAN, i INT, l BIGINT, d DOUBLE, x BYTES, z TIMESTAMP_LTZ(3), a ARRAY<INT>, n INT, "
    declare(t_env, server, database, columns + "r ROW<p INT, q STRING>, m MAP<STRING, INT>")
    t_env.execute_sql(
        "INSERT INTO t SELECT 'a', TRUE, -1, CAST(5 AS BIGINT), 0.5e0, X'00ff', TO_TIMESTAMP_LTZ(1500, 3), "
        "ARRAY[1, 2], CAST(NULL AS INT), CAST(ROW(1, 'q') AS ROW<p INT, q STRING>), MAP['o', 1]"
    ).wait()
    (found,) = server.documents(database)
    assert isinstance(found.pop("_id"), ObjectId)
    assert found == {
        "s": "a", "b": True, "i": -1, "l": 5, "d": 0.5, "x": b"\0\xff", "z": dt.datetime(1970, 1, 1, 0, 0, 1, 500_000),
        "a": [1, 2], "n": None, "r": {"p": 1, "q": "q"}, "m": {"o": 1},
    }  # fmt: skip
    assert isinstance(found["l"], Int64)


@pytest.mark.parametrize("ordered", ["true", "false"])
def test_the_newest_row_of_each_key_remains_and_none_that_is_deleted(t_env, server, ordered):
    database = server.database()
    columns = "city STRING, hour_ INT, n BIGINT, PRIMARY KEY (city, hour_) NOT ENFORCED"
    more = {"sink.ordered-writes": ordered, "sink.buffer-flush.max-rows": "7"}
    declare(t_env, server, database, columns, **more)
    values = ", ".join(f"('{'ab'[i % 2]}', {i % 3})" for i in range(200))
    t_env.execute_sql(
        f"INSERT INTO t SELECT city, h, COUNT(*) FROM (VALUES {values}) AS v(city, h) "
        "GROUP BY city, h HAVING COUNT(*) < 34"
    ).wait()
    counts = {(c, h): sum(i % 2 == "ab".index(c) and i % 3 == h for i in range(200)) for c in "ab" for h in range(3)}
    kept = {key: n for key, n in counts.items() if n < 34}
    assert {(d["city"], d["hour_"]): d["n"] for d in server.documents(database)} == kept
    assert [d["_id"] for d in server.documents(database)] == [
        {"city": d["city"], "hour_": d["hour_"]} for d in server.documents(database)
    ]
    assert 0 < len(kept) < 6


def test_fields_that_the_table_lacks_stay_and_a_key_may_be_all_there_is(t_env, server):
    database = server.database()
    server.insert(database, [{"_id": ObjectId(HEX), "n": 1, "other": "x"}, {"_id": "k", "other": "y"}])
    declare(t_env, server, database, "_id STRING, n INT, PRIMARY KEY (_id) NOT ENFORCED")
    t_env.execute_sql(f"INSERT INTO t VALUES ('{HEX}', 2)").wait()
    declare(t_env, server, database, "_id STRING, PRIMARY KEY (_id) NOT ENFORCED", name="keys")
    t_env.execute_sql("INSERT INTO keys VALUES ('k'), ('new')").wait()
    assert server.documents(database) == [
        {"_id": ObjectId(HEX), "n": 2, "other": "x"}, {"_id": "k", "other": "y"}, {"_id": "new"}
    ]  # fmt: skip


USERS: list[dict[str, Any]] = [
    {"_id": "ann", "n": 1, "tags": ["a", "b"], "at": {"city": "Rome"}, "secret": "x"},
    {"_id": ObjectId(HEX), "n": 2},
    {"_id": "bob", "n": None, "secret": 5},
]
USER_COLUMNS = "_id STRING, n INT, tags ARRAY<STRING>, at_ ROW<city STRING>, PRIMARY KEY (_id) NOT ENFORCED"


def rows(result):
    with result.collect() as found:
        return [tuple(row) for row in found]


def test_documents_are_rows(t_env, server):
    database = server.database()
    server.insert(database, [{("at_" if key == "at" else key): value for key, value in user.items()} for user in USERS])
    declare(t_env, server, database, USER_COLUMNS)
    assert sorted(rows(t_env.execute_sql("SELECT _id, n, tags, at_ FROM t"))) == [
        (HEX, 2, None, None), ("ann", 1, ["a", "b"], Row("Rome")), ("bob", None, None, None)
    ]  # fmt: skip
    assert rows(t_env.execute_sql("SELECT COUNT(*) FROM t WHERE n IS NOT NULL"))[-1] == (2,)


def test_a_query_asks_only_for_the_fields_that_it_reads(t_env, server):
    """A field of another type does not matter to a query that leaves it out."""
    database = server.database()
    server.insert(database, USERS)
    declare(t_env, server, database, "_id STRING, n INT, secret BOOLEAN")
    assert sorted(rows(t_env.execute_sql("SELECT _id, n FROM t")), key=str) == [(HEX, 2), ("ann", 1), ("bob", None)]
    with pytest.raises(MongoError, match=r"a document has '?[x5]'? \((str|int)\) where the table has BOOLEAN"):
        rows(t_env.execute_sql("SELECT secret FROM t"))
    made = source_of(described(("a", DataTypes.INT()), ("b", DataTypes.INT())))
    assert made.with_columns(frozenset("b")).input.fields == ("b",)


def test_the_options_of_reading_act():
    more = {
        "scan.fetch-size": "7", "scan.partition.strategy": "pagination", "scan.partition.size": "1mb",
        "scan.partition.samples": "3", "scan.partition.record-size": "9", "scan.cursor.no-timeout": "false",
        "filter.handling.policy": "never", "lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "5",
        "lookup.partial-cache.expire-after-write": "2s", "lookup.partial-cache.expire-after-access": "3s",
        "lookup.partial-cache.cache-missing-key": "false", "lookup.max-retries": "4", "lookup.retry.interval": "6s",
    }  # fmt: skip
    made = source_of(described(("a", DataTypes.INT()), ("b", DataTypes.STRING()), **more))
    found = made.source.input
    assert (found.fetch_size, found.strategy, found.partition_bytes) == (7, "pagination", 1 << 20)
    assert (found.samples, found.partition_records, found.fields) == (3, 9, ("a", "b"))
    cached = made.lookup([1])
    assert (cached.max_rows, cached.limits, cached.keeps_missing) == (5, (2000, 3000), False)
    assert (cached.lookup.keys, cached.lookup.max_retries, cached.lookup.retry_ms) == (("b",), 4, 6000)


def joined(env, t_env, keys):
    stream = env.from_collection([(key,) for key in keys], Types.ROW_NAMED(["k"], [Types.STRING()]))
    t_env.create_temporary_view("plain", t_env.from_data_stream(stream))
    t_env.execute_sql("CREATE TEMPORARY VIEW o AS SELECT *, PROCTIME() AS p FROM plain")
    return rows(t_env.execute_sql("SELECT o.k, t.n FROM o LEFT JOIN t FOR SYSTEM_TIME AS OF o.p ON o.k = t._id"))


@pytest.mark.parametrize("cache", ["NONE", "PARTIAL"])
def test_a_lookup_join_finds_documents_by_key(env, t_env, server, cache):
    database = server.database()
    server.insert(database, USERS)
    declare(t_env, server, database, "_id STRING, n INT", **{"lookup.cache": cache})
    keys = ["ann", HEX, "nobody", "bob", "ann"]
    assert sorted(joined(env, t_env, keys), key=str) == sorted(
        [("ann", 1), (HEX, 2), ("nobody", None), ("bob", None), ("ann", 1)], key=str
    )


def test_lookups_compare_values_as_columns_have_them(server):
    database = server.database()
    server.insert(
        database, [{"_id": "x", "m": MOMENT, "n": Int64(5), "s": "p"}, {"_id": "y", "m": MOMENT, "n": 5, "s": "q"}]
    )
    table = described(
        ("m", DataTypes.TIMESTAMP(6)), ("n", DataTypes.BIGINT()), ("s", DataTypes.STRING()), uri=server.uri, database=database
    )  # fmt: skip
    lookup = source_of(table).lookup([0, 1])
    moment = MOMENT.replace(microsecond=6999)  # a document has milliseconds
    keys = [(moment, 5), (MOMENT, 5), (MOMENT, 6)] + [(MOMENT, n) for n in range(100, 250)]
    found = lookup.find(keys)
    lookup.close()
    both = [(MOMENT, 5, "p"), (MOMENT, 5, "q")]
    assert {key: sorted(value) for key, value in found.items()} == {(moment, 5): both, (MOMENT, 5): both}
    injected = source_of(table).lookup([2])
    assert injected.find([('{"_value": {"$gt": ""}}',)]) == {}
    injected.close()


def test_a_lookup_waits_for_a_server_that_is_away(server, monkeypatch):
    from pymongo.errors import AutoReconnect

    from flintstream.connectors.mongodb.lookup import MongoLookup

    database = server.database()
    server.insert(database, USERS)
    table = described(("_id", DataTypes.STRING()), ("n", DataTypes.INT()), uri=server.uri, database=database)
    waits: list[float] = []
    fails = [True, True]
    ask = MongoLookup._ask

    def failing(self, condition):
        if fails and fails.pop():
            raise AutoReconnect("away")
        return ask(self, condition)

    monkeypatch.setattr(MongoLookup, "_ask", failing)
    monkeypatch.setattr("flintstream.connectors.mongodb.lookup.time", SimpleNamespace(sleep=waits.append))
    lookup = source_of(table).lookup([0])
    assert lookup.find([("ann",)]) == {("ann",): [("ann", 1)]}
    assert waits == [1.0, 2.0]
    lookup.close()
    fails += [True] * 4
    with pytest.raises(MongoError, match=r"cannot look up keys in .*: away"):
        lookup.find([("ann",)])
    assert fails == []
