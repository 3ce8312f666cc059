"""Blocks return the values that were put into them."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row, RowKind
from flintstream.runtime.exchange import blocks
from flintstream.runtime.exchange.blocks import Block, is_flat, pack, unpack

atoms = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.decimals(allow_nan=False) | st.datetimes()
)  # fmt: skip
rows = st.builds(Row.of_kind, st.sampled_from(RowKind), atoms, atoms) | st.builds(Row, a=atoms, b=atoms)
flat = st.tuples(st.integers(), st.text()) | st.lists(atoms)
values = st.recursive(atoms | rows | flat, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def through(values, timestamps=None, marks=(), *, plain_keys=True):
    return unpack(pack(values, timestamps, list(marks), plain_keys=plain_keys))


@given(
    st.lists(values) | st.lists(rows) | st.lists(flat) | st.lists(st.builds(Row, x=st.integers())),
    st.lists(st.integers()) | st.none(), st.booleans(),
)  # fmt: skip
def test_a_block_comes_out_as_it_went_in(records, timestamps, plain_keys):
    block = through(records, timestamps, [(0, 5)], plain_keys=plain_keys)
    assert block == Block(records, timestamps, [(0, 5)], plain_keys)
    assert list(map(type, block.values)) == list(map(type, records))


def test_rows_keep_their_fields_and_kinds():
    for records in (
        [Row(a=1, b="x"), Row(a=2, b=None)],
        [Row(1, 2), Row(3)],
        [Row(a=1), Row(b=1)],
        [Row(a=1), 5],
        [Row.of_kind(RowKind.DELETE, 1), Row(1)],
        [Row(1), Row.of_kind(RowKind.UPDATE_AFTER, 1)],
        [Row(), Row()],
        [Row(a=Row(b=[1]))],
    ):
        assert [(repr(row), getattr(row, "_row_kind", None)) for row in through(records).values] == [
            (repr(row), getattr(row, "_row_kind", None)) for row in records
        ]


def test_a_record_that_contains_itself_among_flat_ones_arrives():
    loop: list[object] = [1]
    loop.append(loop)
    arrived = through([(1, 2), loop, (3, 4)]).values
    assert arrived[0] == (1, 2)
    assert arrived[1][1] is arrived[1]


def test_what_a_deep_record_shares_with_itself_is_still_shared():
    part = [1]
    (record,) = through([(part, part)]).values
    assert record[0] is record[1]


def test_an_instance_of_a_class_of_the_program_among_flat_records_arrives():
    made = type("Local", (), {"__module__": "__main__"})
    arrived = through([1, made, 2]).values
    assert arrived[1].__name__ == "Local"


def test_what_cannot_be_pickled_is_an_error():
    with pytest.raises((TypeError, pickle.PicklingError)):
        pack([1, iter(()).__next__, (n for n in "a")], None, [], plain_keys=True)


def test_flat_records_are_written_without_notes_of_what_may_come_again():
    records = [(n, f"text {n}", None if n else 0) for n in range(100)]  # a column of two kinds is none
    assert b"\x94" not in pack(records, None, [], plain_keys=True)[20:]  # MEMOIZE


@pytest.mark.parametrize(
    ("value", "flat"),
    [
        (1, True), ("a", True), (None, True), ((1, "a", 2.5, b"", True, None), True), ([1], True), ((), True),
        ((1, (2,)), False), ({}, False), (decimal.Decimal(1), False), ((dt.date(2026, 1, 1),), False), (Row(1), False),
    ],
)  # fmt: skip
def test_flat_is_what_has_no_parts_that_have_parts(value, flat):
    assert is_flat(value) is flat


def test_pickle_still_has_its_fast_mode():
    assert hasattr(pickle.Pickler, "fast"), f"{blocks.__name__} relies on it"
