from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from tests.savepoint_api.programs import COUNT, COUNTS, PRICES, SEEN, remembered
from tests.savepoints.test_matrix import savepoint

from flintstream.common import Instant, Row, Types
from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import CheckpointError
from flintstream.savepoint import Savepoint, SavepointWriter
from flintstream.savepoint.types import parse_type

TYPES = [
    Types.STRING(),
    Types.BYTE(),
    Types.BIG_DEC(),
    Types.INSTANT(),
    Types.SQL_DATE(),
    Types.PICKLED_BYTE_ARRAY(),
    Types.TUPLE([Types.INT(), Types.LIST(Types.TUPLE([Types.DOUBLE()]))]),
    Types.ROW([Types.INT(), Types.MAP(Types.STRING(), Types.ROW_NAMED(["a", "b"], [Types.CHAR(), Types.SHORT()]))]),
    Types.ROW_NAMED(["a b", "c"], [Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.BASIC_ARRAY(Types.INT())]),
    Types.OBJECT_ARRAY(Types.SQL_TIMESTAMP()),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_found_from_its_text(kind):
    assert parse_type(str(kind)) == kind


@pytest.mark.parametrize(
    "text", ["", "Unknown", "ListTypeInfo<>", "MapTypeInfo<Long>", "RowTypeInfo(a: Long, Long)", "Long)"]
)
def test_a_text_that_is_of_no_type_is_of_none(text):
    assert parse_type(text) is None


def test_a_field_name_that_looks_like_two_fields_gives_no_wrong_type():
    kind = Types.ROW_NAMED(["a: Long, b"], [Types.LONG()])
    assert parse_type(str(kind)) != Types.ROW_NAMED(["a"], [Types.LONG()])


@pytest.fixture(scope="module")
def spark():
    from flintstream.engine.frames.sessions import session

    return session(None)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return savepoint(tmp_path_factory.mktemp("frames"), "hashmap", 2)[0]


@pytest.mark.spark
def test_all_state_is_one_frame_of_json(path, spark):
    frame = Savepoint.load(path).to_dataframe(spark=spark)
    rows = {
        (row.key, row.map_key): row.value
        for row in frame.where("operator_uid = 'ttl' and state = 'map with ttl' and last_access_ms > 0").collect()
    }
    assert len(rows) == 10
    assert rows["3", "0"] == "18"
    of_windows = frame.where("operator = 'TumblingEventTimeWindows' and operator_uid = 'tumbling'")
    window = of_windows.where("key = '\"k1\"'").orderBy("namespace")
    assert window.first().asDict() == {
        "operator_uid": "tumbling",
        "operator": "TumblingEventTimeWindows",
        "state": "window-contents",
        "kind": "aggregating",
        "key": '"k1"',
        "namespace": '{"start": 0, "end": 10}',
        "map_key": None,
        "value": "12",
        "last_access_ms": None,
    }


@pytest.mark.spark
def test_one_state_is_a_frame_of_its_declared_types(path, spark):
    source = Savepoint.load(path)
    counts = source.to_dataframe("tally", "count", spark=spark)
    assert counts.selectExpr("spark_partition_id()").distinct().count() == 2
    assert counts.dtypes == [("key", "bigint"), ("value", "bigint")]
    assert {row.key: row.value for row in counts.collect()} == COUNTS
    expected = [("key", "bigint"), ("value", "struct<f0:int,f1:string>"), ("last_access_ms", "bigint")]
    assert source.to_dataframe("ttl", "value with ttl", spark=spark).dtypes == expected
    last = source.to_dataframe("tally", "last", spark=spark)
    assert last.dtypes == [("key", "bigint"), ("map_key", "string"), ("value", "bigint")]
    windows = source.to_dataframe("tumbling", "window-contents", value_type=Types.LONG(), spark=spark)
    assert windows.where("key = 'k1'").orderBy("namespace").first().value == 12
    with pytest.raises(CheckpointError, match="no state 'x'"):
        source.to_dataframe("tally", "x", spark=spark)


ALL = Types.ROW_NAMED(
    ["text", "day", "moment", "instant", "exact", "big", "bytes", "pairs", "any"],
    [
        Types.STRING(),
        Types.SQL_DATE(),
        Types.SQL_TIMESTAMP(),
        Types.INSTANT(),
        Types.BIG_DEC(),
        Types.BIG_INT(),
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        Types.MAP(Types.STRING(), Types.LIST(Types.TUPLE([Types.INT(), Types.DOUBLE()]))),
        Types.PICKLED_BYTE_ARRAY(),
    ],
)


@pytest.mark.spark
def test_every_type_has_one_in_spark_or_is_json(spark, tmp_path):
    moment = dt.datetime(2024, 2, 29, 12, 30, 1)
    row = ("ä", moment.date(), moment, Instant(0, 0), Decimal("1.25"), 1 << 90, b"ab", {"a": [(1, 2.5)]}, {"x": 1})
    descriptor = ValueStateDescriptor("all", ALL)
    source = Savepoint.load(
        SavepointWriter.new(8).with_state("op", descriptor, [(("k", 1), Row(*row))]).write(str(tmp_path / "made"))
    )
    frame = source.to_dataframe("op", "all", spark=spark)
    assert [field.dataType.simpleString() for field in frame.schema["value"].dataType] == [
        "string",
        "date",
        "timestamp_ntz",
        "timestamp",
        "decimal(38,18)",
        "decimal(38,0)",
        "binary",
        "map<string,array<struct<f0:int,f1:double>>>",
        "string",
    ]
    (found,) = frame.selectExpr("key.f0", "key.f1", "value.*").collect()
    assert tuple(found)[:5] == ("k", 1, "ä", moment.date(), moment)
    assert (found.exact, found.big, found.bytes) == (Decimal("1.25"), 1 << 90, bytearray(b"ab"))
    assert (found.pairs["a"][0].f1, found.any) == (2.5, '{"x": 1}')


@pytest.mark.spark
def test_a_job_starts_with_state_made_from_a_frame(spark, tmp_path):
    numbers = spark.range(60, numPartitions=4)
    counts = numbers.selectExpr("concat('key ', id) as key", "id * 10 as value")
    seen = numbers.selectExpr("concat('key ', id) as key", "array('x', string(id)) as value")
    prices = numbers.selectExpr("concat('key ', id % 30) as key", "string(id) as map_key", "double(id) as value")
    path = (
        SavepointWriter.new(max_parallelism=32)
        .with_state("remember", COUNT, counts, parallelism=3)
        .with_state("remember", SEEN, seen)
        .with_state("remember", PRICES, prices)
        .write(str(tmp_path / "made"))
    )
    found = remembered(path, [f"key {n}" for n in range(60)], **{"flintstream.engine": "spark"})
    assert found == {
        f"key {n}": (n * 10, ["x", f"{n}"], {f"{n}": float(n), f"{n + 30}": n + 30.0} if n < 30 else {})
        for n in range(60)
    }


@pytest.mark.spark
def test_structs_become_tuples_or_rows_as_declared(spark, tmp_path):
    frame = spark.range(3).selectExpr("struct(id, 'x') as key", "map(string(id), struct(id, true)) as value")
    kind = MapStateDescriptor("m", Types.STRING(), Types.ROW_NAMED(["n", "ok"], [Types.LONG(), Types.BOOLEAN()]))
    path = SavepointWriter.new(8).with_state("op", kind, frame).write(str(tmp_path / "made"))
    entries = sorted(Savepoint.load(path).read("op", "m"))
    assert entries[1][:4] == ((1, "x"), None, "1", Row(n=1, ok=True))


@pytest.mark.spark
def test_a_frame_that_does_not_fit_is_refused_without_traces_of_spark(spark, tmp_path):
    twice = spark.createDataFrame([("a", 1), ("a", 2)], "key string, value bigint")
    with pytest.raises(CheckpointError, match=r"^state 'count' for operator remember: duplicate key 'a'$"):
        SavepointWriter.new(8).with_state("remember", COUNT, twice).write(str(tmp_path / "no"))
    writer = SavepointWriter.new(8).with_state("remember", COUNT, twice.withColumnRenamed("value", "n"))
    with pytest.raises(CheckpointError, match="columns key, n, but must have key and value"):
        writer.write(str(tmp_path / "no"))


@pytest.mark.spark
def test_existing_state_is_rewritten_by_tasks(path, spark, tmp_path):
    writer = SavepointWriter.from_existing(path).transform_state("tally", "count", lambda entry: -entry.value)
    edited = Savepoint.load(writer.write(str(tmp_path / "edited"), spark=spark))
    assert {e.key: e.value for e in edited.read("tally", "count")} == {key: -count for key, count in COUNTS.items()}
