"""A lack of memory is no damage of a checkpoint."""

from __future__ import annotations

import pickle

import pytest

from flintstream.checkpoint import codec
from flintstream.checkpoint.checked_file import usable
from flintstream.errors import CorruptCheckpointError, NotEnoughMemoryError

REMEDY = "raise 'spark.executor.pyspark.memory'"


def test_state_that_does_not_fit_into_memory_is_not_called_corrupt(monkeypatch):
    def unpack(*_):
        raise MemoryError

    monkeypatch.setattr(codec, "unpack", unpack)
    with pytest.raises(NotEnoughMemoryError, match=REMEDY):
        codec.decode(b"", allow_pickle=False)


def test_a_lack_of_memory_while_a_file_is_read_names_the_remedy_and_no_damage():
    with pytest.raises(NotEnoughMemoryError, match=REMEDY) as caught, usable("/checkpoint"):
        raise MemoryError
    assert not isinstance(caught.value, CorruptCheckpointError)


def test_the_error_reaches_the_driver():
    assert str(pickle.loads(pickle.dumps(NotEnoughMemoryError()))) == str(NotEnoughMemoryError())
