"""State that names the modules of earlier releases."""

from __future__ import annotations

import pickle

import pytest
from msgpack import ExtType

from flintstream.checkpoint.moved import MOVED, loads
from flintstream.checkpoint.values import ENUM, decode_one, encode_one, pack
from flintstream.common import Row
from flintstream.connectors.files.places import PreparedFile
from flintstream.datastream import window
from flintstream.datastream.window import CountWindow, TimeWindow, TriggerResult


@pytest.mark.parametrize(
    ("module", "name", "now"),
    [
        ("flintstream.datastream._window.windows", "TimeWindow", TimeWindow),
        ("flintstream.datastream._window.windows", "CountWindow", CountWindow),
        ("flintstream.datastream._window.base", "TriggerResult", TriggerResult),
        ("flintstream.connectors.places", "PreparedFile", PreparedFile),
    ],
)
def test_a_class_is_found_under_the_module_it_had(module, name, now):
    assert module in MOVED
    assert loads(f"c{module}\n{name}\n.".encode()) is now


def test_what_is_missing_besides_is_an_error_as_always():
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        loads(b"celsewhere\nName\n.")


def test_public_classes_are_pickled_under_their_public_name():
    assert b"flintstream.datastream.window" in pickle.dumps(TimeWindow, 0)
    assert all(
        getattr(window, name).__module__ == window.__name__ for name in window.__all__ if name.endswith("Window")
    )


def test_a_member_of_an_enum_that_moved_is_read():
    old = pack(ExtType(ENUM, pack(["flintstream.datastream._window.base", "TriggerResult", "FIRE"])))
    assert decode_one(old) is TriggerResult.FIRE


def test_a_window_within_a_row_comes_back():
    row = Row(TimeWindow(0, 5), TriggerResult.PURGE)
    assert decode_one(encode_one(row)) == row
