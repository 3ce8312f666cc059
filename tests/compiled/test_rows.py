"""The compiled code makes the same rows as the Python code."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flintstream.checkpoint.codec import CorruptDataError, decode_one, encode_one
from flintstream.checkpoint.key_codec import encode_key
from flintstream.compiled import load
from flintstream.runtime.keys import KeyGroups, key_group
from flintstream.state.backend import TableInfo

rows = pytest.importorskip("flintstream.state.rocksdb.rows")
compiled = load("rows")
if compiled is None:
    pytest.skip(
        "there are no compiled modules here: `make setup` builds them if there is a C compiler", allow_module_level=True
    )

EDGES = [sign * 2**bits + by for bits in (5, 7, 8, 15, 16, 31, 32, 61, 63) for sign in (1, -1) for by in (-1, 0, 1)]
LENGTHS = [0, 1, 31, 32, 255, 256, 65_535, 65_536]
KEYS = (
    st.integers()
    | st.sampled_from(EDGES)
    | st.text()
    | st.binary()
    | st.sampled_from(LENGTHS).map(lambda length: "ä" * length)
    | st.sampled_from(LENGTHS).map(lambda length: b"a" * length)
    | st.sampled_from([None, True, 1.0, "\ud800", ("a", 1), 2**64 - 1, 2**64])
)


@given(KEYS, st.integers(0, 0xFFFF), st.integers(1, 32768))
@example(-1, 0, 128)
def test_a_row_is_that_of_the_python_code(key, number, groups):
    made = compiled.row(key, number, groups)
    expected = key_group(key, groups).to_bytes(2, "big") + number.to_bytes(2, "big") + encode_key(key)
    if made is None:
        assert type(key) not in {int, str, bytes} or key == "\ud800" or not -(2**63) <= key < 2**63
    else:
        assert made == expected


@given(st.lists(KEYS, max_size=4), st.sampled_from(["value", "list", "map"]), st.booleans(), st.booleans())
def test_a_layout_with_compiled_rows_is_the_same(keys, kind, ttl, namespaced):
    info = TableInfo("state", kind, "", ttl, namespaced)
    if namespaced:
        keys = [(key, 7) for key in keys]
    if kind == "map":
        keys = [(key, "map key") for key in keys]
    layout, plain = (rows.Layout(info, 3, groups) for groups in (KeyGroups(128), lambda key: key_group(key, 128)))
    assert plain._groups is None
    for key in keys:
        if kind == "list":
            assert layout.prefix(key) == plain.prefix(key)
        else:
            assert layout.place(key) == plain.place(key)
        if kind == "value":
            assert layout.single(key) == plain.single(key)
    if kind != "list":
        values = [(key, 5) if ttl else key for key in keys]
        assert list(layout.rows(keys, values)) == list(plain.rows(keys, values))


ATOMS = (type(None), bool, int, float, str, bytes)


@given(KEYS | st.floats(allow_nan=False) | st.booleans() | st.lists(st.integers()))
def test_the_value_of_a_row_is_that_of_the_python_code(value):
    row = b"\0" + encode_one(value)
    found = compiled.atom(row)
    if found is row:
        assert type(value) not in ATOMS or value == "\ud800" or not -(2**63) <= value < 2**64
    else:
        assert (type(found), found) == (type(value), value)


@given(
    st.binary(max_size=12)
    | st.tuples(st.sampled_from(range(256)), st.binary(max_size=9)).map(lambda t: bytes([0, t[0]]) + t[1])
)
def test_other_bytes_are_left_to_the_python_code(row):
    found = compiled.atom(row)
    if found is row:
        return
    try:
        expected = decode_one(row[1:])
    except CorruptDataError:
        pytest.fail(f"the Python code refuses it, but the compiled code has {found!r}")
    assert row[0] == 0
    assert repr(found) == repr(expected)
