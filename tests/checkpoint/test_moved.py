"""State that names the modules of earlier releases."""

from __future__ import annotations

import pickle

import pytest
from msgpack import ExtType

from flintstream.checkpoint.moved import MOVED, loads
from flintstream.checkpoint.values import ENUM, decode_one, encode_one, pack
from flintstream.common import Row
from flintstream.common._types.basic import BasicTypeInfo
from flintstream.common._types.columns import RowType
from flintstream.common._types.composite import RowTypeInfo
from flintstream.common._user_code import by_value
from flintstream.connectors.files.arrow import ArrowSplit
from flintstream.connectors.files.compaction import HeldFile, HeldFiles
from flintstream.connectors.files.input_formats import InputPart
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.files.recoverable import OpenFile, PreparedFile
from flintstream.connectors.files.sink import EndOfWriter, WriterState
from flintstream.datastream import window
from flintstream.datastream.window import CountWindow, TimeWindow, TriggerResult
from flintstream.storage import custom
from flintstream.storage.local import LocalFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.remote import FsspecFileStore


@pytest.mark.parametrize(
    ("module", "name", "now"),
    [
        ("flintstream.datastream._window.windows", "TimeWindow", TimeWindow),
        ("flintstream.datastream._window.windows", "CountWindow", CountWindow),
        ("flintstream.datastream._window.base", "TriggerResult", TriggerResult),
        ("flintstream.connectors.places", "PreparedFile", PreparedFile),
        ("flintstream.connectors.places", "OpenFile", OpenFile),
        ("flintstream.connectors.files.places", "OpenFile", OpenFile),
        ("flintstream.connectors.part_files", "LastOf", EndOfWriter),
        ("flintstream.connectors.part_files", "WriterState", WriterState),
        ("flintstream.connectors.compaction", "HeldFile", HeldFile),
        ("flintstream.connectors.compaction", "HeldFiles", HeldFiles),
        ("flintstream.connectors.file_reader", "FileSplit", FileSplit),
        ("flintstream.connectors.arrow_files", "ArrowSplit", ArrowSplit),
        ("flintstream.connectors.input_formats", "InputPart", InputPart),
        ("flintstream.checkpoint.fsspec_store", "FsspecFileStore", FsspecFileStore),
        ("flintstream.checkpoint.own_store", "_unpickled", custom._unpickled),
        ("flintstream.common._by_value", "_once", by_value._once),
        ("flintstream.common._basictypes", "BasicTypeInfo", BasicTypeInfo),
        ("flintstream.common._columntypes", "RowType", RowType),
        ("flintstream.common._compositetypes", "RowTypeInfo", RowTypeInfo),
    ],
)
def test_a_class_is_found_under_the_module_it_had(module, name, now):
    assert module in MOVED
    assert loads(f"c{module}\n{name}\n.".encode()) is now


@pytest.mark.parametrize(("name", "now"), [("LocalFileStore", LocalFileStore), ("MemoryFileStore", MemoryFileStore)])
def test_a_store_in_a_split_of_an_earlier_release_is_found(name, now):
    assert loads(f"cflintstream.checkpoint.file_store\n{name}\n.".encode()) is now


def test_what_is_missing_besides_is_an_error_as_always():
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        loads(b"celsewhere\nName\n.")


def test_public_classes_are_pickled_under_their_public_name():
    assert b"flintstream.datastream.window" in pickle.dumps(TimeWindow, 0)
    names = [name for name in vars(window)["__all__"] if name.endswith("Window")]
    assert {getattr(window, name).__module__ for name in names} == {window.__name__}


def test_a_member_of_an_enum_that_moved_is_read():
    old = pack(ExtType(ENUM, pack(["flintstream.datastream._window.base", "TriggerResult", "FIRE"])))
    assert decode_one(old) is TriggerResult.FIRE


def test_a_window_within_a_row_comes_back():
    row = Row(TimeWindow(0, 5), TriggerResult.PURGE)
    assert decode_one(encode_one(row)) == row
