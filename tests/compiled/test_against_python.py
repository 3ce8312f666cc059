"""The compiled loops do what the Python code does that they replace."""

from __future__ import annotations

import contextlib
import struct
from datetime import date, datetime, timezone
from unittest.mock import patch

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from flintstream.common import Types
from flintstream.compiled import load
from flintstream.runtime.exchange import columns, keyed_output
from flintstream.runtime.exchange.blocks import unpack
from flintstream.runtime.exchange.sending import exchange_output
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.partitioners import KeyGroupPartitioner
from flintstream.runtime.plan import ExchangeEdge

exchange = load("exchange")
if exchange is None:
    pytest.skip(
        "there are no compiled modules here: `make setup` builds them if there is a C compiler", allow_module_level=True
    )

LONG = 2**63
longs = st.integers(-LONG, LONG - 1) | st.integers(-300, 300) | st.integers(0, 70_000)
texts = st.text(st.characters(exclude_categories=["Cs"]))
FIELDS = {
    "q": longs,
    "s": texts,
    "d": st.floats(allow_nan=False),
    "t": st.datetimes().filter(lambda moment: not moment.fold),
    "n": st.none(),
    "b": st.booleans(),
}


@st.composite
def flat_blocks(draw):
    kinds = draw(st.lists(st.sampled_from("qsdtnb"), min_size=1, max_size=5))
    shape = draw(st.sampled_from([tuple, list, None]))
    if shape is None:
        records = st.lists(FIELDS[kinds[0]], min_size=1)
    else:
        records = st.lists(st.tuples(*[FIELDS[kind] for kind in kinds]).map(shape), min_size=1)
    values = draw(records)
    stamps = draw(st.none() | st.lists(longs, min_size=len(values), max_size=len(values)))
    return values, stamps, draw(st.binary())


@given(flat_blocks())
def test_columns_come_out_as_they_went_in_with_and_without_compiled_modules(block):
    payload = exchange.pack(*block)
    assert payload[0] == columns.MAGIC
    for taken in (columns.unpack, columns.unpack_in_python):
        found = taken(payload, False)
        assert found == block
        assert list(map(type, found[0])) == list(map(type, block[0]))
        assert repr(found) == repr(block)  # 0.0 and -0.0 are equal


@pytest.mark.parametrize(
    "values",
    [
        [], [1, "a"], [1, None], [None, 1], [True, 1],
        [True, None], [LONG], [-LONG - 1], [(1,), (1, 2)], [(1,), [1]], [()], [(1, (2,))],
        ["\ud800"], [b"a"], [tuple(range(65))], [(1, "a"), ("a", 1)],
        [datetime(2026, 1, 1, tzinfo=timezone.utc)], [datetime(2026, 1, 1, fold=1)], [date(2026, 1, 1)],
    ],
)  # fmt: skip
def test_records_of_other_kinds_do_not_become_columns(values):
    assert exchange.pack(values, None, b"") is None


def test_timestamps_of_other_kinds_do_not_become_columns():
    for stamps in ([1, 2.0], [1, LONG], [1], [1, 2, 3]):
        assert exchange.pack([1, 2], stamps, b"") is None


@given(flat_blocks(), st.data())
def test_a_damaged_block_is_an_error_or_other_records_but_never_a_crash(block, data):
    payload = bytearray(exchange.pack(*block))
    end = data.draw(st.integers(0, len(payload)))
    for _ in range(data.draw(st.integers(0, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    (rows,) = struct.unpack_from("<I", payload, 4)
    assume(rows < 100_000)  # many records need much memory, damaged or not
    with contextlib.suppress(ValueError):
        columns.unpack(bytes(payload[:end]), False)


KINDS = {
    Types.LONG: longs | st.just(LONG), Types.INT: st.integers(-(2**31) - 1, 2**31),
    Types.SHORT: st.integers(-32_769, 32_768), Types.BYTE: st.integers(-129, 128),
    Types.STRING: st.text() | st.none(), Types.DOUBLE: st.floats(), Types.BOOLEAN: st.booleans(),
    Types.CHAR: st.text(max_size=2), Types.BIG_INT: st.integers() | st.none(),
}  # fmt: skip


@st.composite
def typed_records(draw):
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=4))
    anything = st.none() | st.booleans() | st.integers() | st.text() | st.floats()
    fields = [KINDS[kind] if draw(st.integers(0, 4)) else anything for kind in kinds]
    record = st.tuples(*fields) if draw(st.integers(0, 5)) else st.tuples(anything) | anything
    if draw(st.booleans()):
        return Types.TUPLE([kind() for kind in kinds]), draw(st.lists(record))
    return kinds[0](), draw(st.lists(fields[0]))


@given(typed_records())
def test_types_are_checked_alike(typed):
    declared, values = typed
    convert = declared.converter()
    assert convert.kinds
    expected, found = iter(values), iter(values)
    assert exchange.fits(convert.kinds, found, convert.of_tuples) is convert.fits(expected)
    assert found.__length_hint__() == expected.__length_hint__()  # both stop at the same record


def first(record):
    return record[0]


def routed(declared, blocks, *, compiled, groups=128, batch=False):
    """Return the records and timestamps that each bucket of each subtask gets."""
    partitioner = KeyGroupPartitioner(first, None if declared is None else declared.converter())
    outbox: list = []
    with patch.object(keyed_output, "_compiled", exchange if compiled else None):
        edge = ExchangeEdge(0, 1, 2, 0, partitioner, 1, 3, 1, groups, 1)
        output = exchange_output(edge, 0, outbox, "sender", batch=batch)
        for values, timestamps in blocks:
            output.emit(values, timestamps)
        output.flush()
    return [(item.subtask, item.bucket, unpack(item.payload)) for item in outbox]


keys = (
    st.integers() | st.text(max_size=9) | st.booleans() | st.none() | st.floats() | st.lists(st.integers(), max_size=2)
)
moments = st.datetimes() | st.datetimes(timezones=st.timezones()) | st.sampled_from([datetime(1970, 1, 1)])
tuples = st.lists(keys | moments | st.sampled_from([0, 2**61 - 1, 2**61, "\udc80"]), max_size=3).map(tuple)
records = st.lists(st.tuples(keys | tuples, st.integers()), max_size=20)


@given(
    st.lists(records.flatmap(lambda values: st.tuples(st.just(values), st.just([7] * len(values)) | st.none()))),
    st.sampled_from([128, 100, 3]),  # the hash has 31 bits, which matters unless the number divides 2**31
    st.booleans(),
)
@example([([(("a", n), n) for n in range(50)] + [(n, n) for n in range(50)], None)], 100, True)
def test_records_get_the_same_route(blocks, groups, batch):
    expected = routed(None, blocks, compiled=False, groups=groups, batch=batch)
    assert repr(routed(None, blocks, compiled=True, groups=groups, batch=batch)) == repr(expected)


@given(st.text())
@example("")
@example("a\udc80")  # half of a pair of surrogates, which UTF-8 does not have
def test_a_string_gets_the_same_route_among_many(text):
    blocks = [([(text, 1)], None)]
    expected = routed(None, blocks, compiled=False, groups=30_011)
    assert repr(routed(None, blocks, compiled=True, groups=30_011)) == repr(expected)


@pytest.mark.parametrize("record", [(), 5])
def test_a_record_without_the_field_of_the_key_fails_alike(record):
    errors = []
    for compiled in (True, False):
        with pytest.raises(OperatorFailure) as error:
            routed(None, [([("a", 1), record, ("b", 2)], None)], compiled=compiled)
        errors.append((type(error.value.error), str(error.value.error), error.value.record))
    assert errors[0] == errors[1]
