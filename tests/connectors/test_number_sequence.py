from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.connectors.source import Boundedness, Fetch
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.errors import PlanError


@given(start=st.integers(-50, 50), length=st.integers(1, 200), parallelism=st.integers(1, 9), stop=st.integers(1, 4))
def test_each_number_comes_once_in_order_wherever_reading_stops(start, length, parallelism, stop):
    source = NumberSequenceSource(start, start + length - 1)
    found: list[int] = []
    splits = source.create_enumerator(parallelism).discover()
    assert len(splits) == min(parallelism, length)
    sizes = set()
    for split in splits:
        before = len(found)
        finished = False
        while not finished:
            split = pickle.loads(pickle.dumps(split))  # noqa: PLW2901
            finished = True
            reading = source.create_reader().read(split, Fetch(7))
            for number, batch in enumerate(reading, 1):
                assert isinstance(batch, list)
                found += batch
                if number == stop:
                    reading.close()
                    finished = False
                    break
        sizes.add(len(found) - before)
    assert found == list(range(start, start + length))
    assert max(sizes) - min(sizes) <= 1


def test_the_sequence_is_bounded_and_of_longs():
    from flintstream.common.typeinfo import Types

    source = NumberSequenceSource(-(2**63), 2**63 - 1)
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert source.produced_type == Types.LONG()
    assert next(source.create_reader().read(source.create_enumerator(2).discover()[1], Fetch(2))) == [0, 1]


@pytest.mark.parametrize(
    ("start", "end", "error"), [(2, 1, PlanError), (0, 2**63, PlanError), (0, 1.5, TypeError), (False, 3, TypeError)]
)
def test_wrong_bounds_are_refused(start, end, error):
    with pytest.raises(error, match="NumberSequenceSource"):
        NumberSequenceSource(start, end)
