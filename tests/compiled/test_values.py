"""What generated code asks first gives the same with and without compiled modules."""

from __future__ import annotations

import runpy
from datetime import datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flintstream.compiled import PURE_PYTHON, load
from flintstream.table._expressions import plain_values

values = load("values")
if values is None:
    pytest.skip(
        "there are no compiled modules here: `make setup` builds them if there is a C compiler", allow_module_level=True
    )


@pytest.fixture(scope="module")
def in_python():
    """Return the functions as they are without compiled modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PURE_PYTHON, "1")
        return runpy.run_path(plain_values.__file__)


texts = st.integers().map(str) | st.text("0123456789-+ .٣e", max_size=21) | st.text(max_size=3)


@given(texts, st.sampled_from([8, 16, 32, 64]))
@example("-128", 8)
@example("128", 8)
@example("-", 64)
@example("999999999999999999", 64)
@example("1000000000000000000", 64)
def test_integers_are_read_alike(in_python, text, bits):
    found = values.plain_integer(text, bits)
    assert found == in_python["plain_integer"](text, bits)
    assert type(found) in {int, type(None)}


fields = st.sampled_from([",", "\t", "::", "ä"]).flatmap(
    lambda separator: st.tuples(
        st.lists(texts | st.just(separator), max_size=6).map(separator.join),
        st.just(separator),
        st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0, 8, 64])), min_size=1, max_size=40),
    )
)


@given(fields)
@example((None, ",", [(0, 0), (1, 64)]))
@example(("", ",", [(0, 0), (1, 64)]))
@example((",", ",", [(0, 0), (1, 64), (2, 0)]))
@example(("7", ",", [(0, 64), (0, 0), (0, 64)]))
def test_fields_are_taken_alike(in_python, given):
    text, separator, wanted = given
    found = plain_values.field_reader(separator, wanted)(text)
    assert found == in_python["field_reader"](separator, wanted)(text)
    assert list(map(type, found)) == list(map(type, in_python["field_reader"](separator, wanted)(text)))


@given(st.datetimes().map(lambda moment: (moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1)))
@example(-62_135_596_800_000)
@example(253_402_300_799_999)
def test_times_are_made_alike(in_python, ms):
    assert values.moment_of(ms) == in_python["moment_of"](ms)


@given(st.datetimes(), st.lists(st.sampled_from(["yyyy", "MM", "dd", "HH", "mm", "ss", "-", " ", ":"]), max_size=9))
def test_times_are_shown_alike(in_python, moment, parts):
    pattern = "".join(parts)
    assert values.show_fields(moment, pattern) == in_python["show_fields"](moment, pattern)


@pytest.mark.parametrize("given", [None, "text", type("Later", (datetime,), {})(2026, 1, 1)])
def test_what_is_no_datetime_is_shown_elsewhere(in_python, given):
    assert values.show_fields(given, "yyyy") is in_python["show_fields"](given, "yyyy") is None
