"""The conversion of a block is equal to that of its single values."""

from __future__ import annotations

from operator import length_hint

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row, Types
from flintstream.common._types.conversion import convert_block

TYPES = [
    Types.LONG(),
    Types.INT(),
    Types.STRING(),
    Types.FLOAT(),
    Types.TUPLE([Types.LONG(), Types.STRING()]),
    Types.TUPLE([Types.FLOAT(), Types.BOOLEAN()]),
    Types.ROW([Types.INT()]),
    Types.LIST(Types.INT()),
]
ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**64), 2**64), st.floats(allow_nan=False), st.text(max_size=2)
)
VALUES = st.one_of(
    ATOMS,
    st.tuples(st.integers(), st.text(max_size=2)),
    st.tuples(ATOMS, ATOMS),
    st.lists(ATOMS, max_size=2),
    ATOMS.map(Row),
)


def one_by_one(convert, values):
    """Return the converted values, or the position of the first inconvertible one and the reason."""
    results = []
    for position, value in enumerate(values):
        try:
            results.append(convert(value))
        except Exception as error:  # noqa: BLE001
            return position, repr(error)
    return results


@pytest.mark.parametrize("kind", TYPES, ids=str)
@given(st.lists(VALUES, max_size=6))
def test_a_block_becomes_what_its_values_become_one_by_one(kind, values):
    convert = kind.converter()
    cursor = iter(values)
    try:
        outcome: object = convert_block(convert, values, cursor)
    except Exception as error:  # noqa: BLE001
        outcome = len(values) - length_hint(cursor) - 1, repr(error)
    assert repr(outcome) == repr(one_by_one(convert, values))


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Types.LONG(), 1), (Types.STRING(), "a"), (Types.TUPLE([Types.LONG(), Types.STRING()]), (1, "a"))],
    ids=str,
)
def test_a_block_that_is_right_already_comes_back_as_it_is(kind, value):
    values = [value, value]
    assert convert_block(kind.converter(), values, iter(values)) is values
