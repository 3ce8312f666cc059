"""Programs see the values of Arrow columns, and write the same values back."""

from __future__ import annotations

import string
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Row
from flintstream.common.time import Instant
from flintstream.connectors.files.arrow import ArrowFile, ArrowReader, ArrowSplit, arrow_splits
from flintstream.connectors.files.arrow_values import array_of, batch_of, rows_of, values_of
from flintstream.connectors.source import Fetch
from flintstream.errors import FlintstreamError
from flintstream.storage.local import LocalFileStore

MICROS = st.integers(-(10**15), 10**15)


def integers(bits):
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


# (type of Arrow, values of it as a program has them)
LEAVES = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), integers(8)),
    (pa.int16(), integers(16)),
    (pa.int32(), integers(32)),
    (pa.int64(), integers(64)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), st.text(max_size=5)),
    (pa.binary(), st.binary(max_size=5)),
    (pa.decimal128(10, 2), st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2))),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("us", tz="UTC"), MICROS.map(lambda m: Instant(m // 10**6, m % 10**6 * 1000))),
]
HASHABLE = [leaf for leaf in LEAVES if leaf[0] not in (pa.float32(), pa.float64())]
NAMES = st.lists(st.text(string.ascii_letters, min_size=1, max_size=3), min_size=1, max_size=3, unique=True)


def structs(parts):
    def of(names, fields):
        names, fields = names[: len(fields)], fields[: len(names)]
        kind = pa.struct([(name, field) for name, (field, _) in zip(names, fields, strict=True)])
        values = st.tuples(*(st.none() | item for _, item in fields))
        return kind, values.map(lambda parts: Row(**dict(zip(names, parts, strict=True))))

    return st.builds(of, NAMES, st.lists(parts, min_size=1, max_size=3))


def lists(parts):
    return parts.map(lambda part: (pa.list_(part[0]), st.lists(st.none() | part[1], max_size=3)))


def maps(parts):
    def of(key, part):
        return pa.map_(key[0], part[0]), st.dictionaries(key[1], st.none() | part[1], max_size=3)

    return st.builds(of, st.sampled_from(HASHABLE), parts)


TYPES = st.recursive(st.sampled_from(LEAVES), lambda parts: structs(parts) | lists(parts) | maps(parts), max_leaves=4)
COLUMNS = TYPES.flatmap(lambda part: st.tuples(st.just(part[0]), st.lists(st.none() | part[1], max_size=6)))


@given(COLUMNS)
@settings(max_examples=150, deadline=None)
def test_values_come_back_as_they_were(column):
    kind, values = column
    array = array_of(values, kind)
    assert array.type == kind
    array.validate(full=True)
    assert values_of(array) == values
    assert list(map(type, values_of(array))) == list(map(type, values))


@given(COLUMNS, st.integers(0, 6), st.integers(0, 6))
@settings(max_examples=100, deadline=None)
def test_a_part_of_an_array_has_its_part_of_the_values(column, start, length):
    kind, values = column
    assert values_of(array_of(values, kind).slice(start, length)) == values[start : start + length]


def test_nan_stays_nan():
    assert values_of(array_of([float("nan")], pa.float64()))[0] != values_of(array_of([0.0], pa.float64()))[0]
    assert str(values_of(array_of([float("nan"), -0.0], pa.float32()))) == "[nan, -0.0]"


def test_an_array_of_nothing_but_null_is_none():
    assert values_of(pa.nulls(2)) == [None, None]


def test_a_value_that_does_not_fit_names_its_column():
    schema = pa.schema({"id": pa.int64(), "price": pa.decimal128(5, 2)})
    with pytest.raises(FlintstreamError, match=r"column 'price': Decimal\('1\.005'\) does not fit decimal128\(5, 2\)"):
        batch_of([(1, Decimal("2.50")), (2, Decimal("1.005"))], schema)


def test_rows_have_the_names_that_they_are_given():
    batch = batch_of([(1, "a"), (2, None)], pa.schema({"c0": pa.int8(), "c1": pa.string()}))
    assert rows_of(batch, ("number", "a.b")) == [Row(**{"number": 1, "a.b": "a"}), Row(**{"number": 2, "a.b": None})]
    assert rows_of(batch.slice(0, 0), ("number", "a.b")) == []


# -- files -----------------------------------------------------------------------------------------------------------


def written(tmp_path, *lengths):
    """Write a file with record batches of these lengths, which hold 0, 1, 2 and so on."""
    store = LocalFileStore(str(tmp_path))
    schema = pa.schema({"n": pa.int64()})
    position = 0
    with store.create("f.arrow") as file, pa.ipc.new_file(file, schema) as writer:
        for length in lengths:
            writer.write_batch(batch_of([(n,) for n in range(position, position + length)], schema))
            position += length
    return store, ArrowFile("f.arrow", len(lengths))


def read(reader, split, size, batches=None):
    """Read at most this many batches of a split."""
    found = []
    reading = reader.read(split, Fetch(size))
    for _, batch in zip(range(10**6 if batches is None else batches), reading, strict=False):
        found += [row.n for row in batch]
    reading.close()
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("stop", range(5))
def test_another_reader_goes_on_after_the_rows_that_were_read(tmp_path, size, stop):
    store, file = written(tmp_path, 4, 3, 1)
    (split,) = arrow_splits(store, [file], 1)
    first = read(ArrowReader(("n",)), split, size, stop)
    assert first + read(ArrowReader(("n",)), split, 3) == list(range(8))


def test_the_parts_of_a_file_are_the_whole(tmp_path):
    store, file = written(tmp_path, 4, 3, 1)
    splits = arrow_splits(store, [file], 2)
    assert len(splits) == 2
    assert [n for split in splits for n in read(ArrowReader(("n",)), split, 10)] == list(range(8))


def test_a_reader_does_not_begin_a_split_before_it_has_ended_the_last_one(tmp_path):
    store, file = written(tmp_path, 2, 2)
    first, second = arrow_splits(store, [file], 2)
    reader = ArrowReader(("n",))
    reading = reader.read(first, Fetch(1))
    assert [row.n for row in next(reading)] == [0]
    with pytest.raises(StopIteration) as stop:
        next(reader.read(second, Fetch(1)))
    assert stop.value.value is False
    assert [row.n for batch in reading for row in batch] == [1]
    assert read(reader, second, 1) == [2, 3]


def test_a_file_that_is_gone_is_named(tmp_path):
    store, file = written(tmp_path, 1)
    (split,) = arrow_splits(store, [file], 1)
    store.delete("f.arrow")
    with pytest.raises(FlintstreamError, match=r"f\.arrow does not exist any more"):
        read(ArrowReader(("n",)), split, 1)


def test_a_damaged_file_is_refused_by_name(tmp_path):
    store = LocalFileStore(str(tmp_path))
    schema = pa.schema({"n": pa.string()})
    with store.create("f.arrow") as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_batch(batch_of([("abcd",), ("efgh",)], schema))
    whole = (tmp_path / "f.arrow").read_bytes()
    ends = b"".join(end.to_bytes(4, "little") for end in (0, 4, 8))
    assert whole.count(ends) == 1
    damaged = {
        "offsets that lead out of the batch": whole.replace(
            ends, ends[:4] + (1 << 30).to_bytes(4, "little") + ends[8:]
        ),
        "offsets that go back": whole.replace(ends, ends[:4] + (9).to_bytes(4, "little") + ends[8:]),
        "a text that is not UTF-8": whole.replace(b"abcdefgh", b"ab\xffdefgh"),
        "no end": whole[:-20],
        "no contents": b"",
        "no footer": whole[:-10] + bytes(4) + whole[-6:],
        "another file": b"PAR1" * 100,
    }
    for damage, data in damaged.items():
        (tmp_path / "f.arrow").write_bytes(data)
        with pytest.raises(FlintstreamError, match=r"^cannot read .*f\.arrow: "):
            print(damage, read(ArrowReader(("n",)), ArrowSplit("s", store, "f.arrow", 0, 1), 10))


def test_a_file_with_fewer_batches_than_planned_is_refused_by_name(tmp_path):
    store, _ = written(tmp_path, 1)
    with pytest.raises(FlintstreamError, match=r"^cannot read .*f\.arrow: "):
        read(ArrowReader(("n",)), ArrowSplit("s", store, "f.arrow", 0, 2), 10)
