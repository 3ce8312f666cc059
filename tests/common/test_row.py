"""Rows behave like those of PyFlink 2.3.0, from which the values come, unless a test's name states otherwise."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row, RowKind
from flintstream.errors import UnsupportedByDesignError


def test_a_row_shows_its_values_or_its_names():
    assert repr(Row(1, "a")) == str(Row(1, "a")) == "<Row(1, 'a')>"
    assert repr(Row(b=1, a=2)) == "Row(b=1, a=2)"
    assert repr(Row()) == "<Row()>"


def test_fields_are_found_by_name_index_and_attribute():
    row = Row(a=1, b=2, c=3)
    assert (row.b, row["b"], row[1], row[-1], row[1:]) == (2, 2, 2, 3, [2, 3])
    assert list(row) == [1, 2, 3]
    assert len(row) == 3


def test_in_looks_at_names_or_else_at_values():
    assert "a" in Row(a=1)
    assert 1 not in Row(a=1)
    assert 1 in Row(1)


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda: Row(1, a=2), ValueError),
        (lambda: Row(a=1)["b"], ValueError),
        (lambda: Row(1)["b"], KeyError),
        (lambda: Row(1)[3], IndexError),
        (lambda: Row(1).b, AttributeError),
        (lambda: Row(a=1).b, AttributeError),
        (lambda: Row("x")(1, 2), ValueError),
        (lambda: Row(1).as_dict(), TypeError),
        (lambda: Row(a=1).get_fields_by_names(["c"]), ValueError),
        (lambda: Row(a=1).__setattr__("a", 5), AttributeError),
        (lambda: Row(a=1).__setitem__("b", 5), ValueError),
        (lambda: Row(1).__setitem__("b", 5), KeyError),
        (lambda: Row(1) < Row(2), TypeError),  # type: ignore[operator]
        (lambda: hash(Row([1])), TypeError),
        (RowKind.INSERT.to_j_row_kind, UnsupportedByDesignError),
    ],
)
def test_what_a_row_refuses(act, error):
    with pytest.raises(error):
        act()


def test_fields_are_set_by_name_and_index():
    row = Row(a=1, b=2)
    row["a"] = 5
    row[1] = 6
    assert row == Row(a=5, b=6)


def test_only_a_row_with_names_looks_like_a_named_tuple():
    row = Row(1, 2)
    assert not hasattr(row, "_fields")
    row.set_field_names(["a", "b"])
    assert row._fields == Row(a=1, b=2)._fields == ("a", "b")


def test_a_row_of_names_makes_rows():
    person = Row("name", "age")
    assert person("x", 1) == Row(name="x", age=1)
    assert "name" in person
    short = person("x")
    assert repr(short) == "Row(name='x')"
    with pytest.raises(AttributeError):
        _ = short.age


def test_names_can_be_given_later():
    row = Row(1, 2)
    row.set_field_names(["x", "y"])
    assert (row.x, row.as_dict(), "x" in row) == (1, {"x": 1, "y": 2}, True)


def test_fields_by_names():
    assert Row(a=1, b=2).get_fields_by_names(["b"]) == [2]
    assert Row(1, 2).get_fields_by_names(["b"]) == [1, 2]
    assert Row(a=1, b=2).get_fields_by_names(["a", "b"]) == [1, 2]


def test_rows_inside_become_dicts_only_on_demand_and_not_in_tuples():
    row = Row(a=1, b=Row(c=2), d=[Row(e=1)], f={"g": Row(h=1)}, i=(Row(j=1),))
    assert row.as_dict()["b"] == Row(c=2)
    assert row.as_dict(True) == {"a": 1, "b": {"c": 2}, "d": [{"e": 1}], "f": {"g": {"h": 1}}, "i": (Row(j=1),)}


def test_equality_minds_names_kind_and_type():
    assert Row(b=1, a=2) == Row(a=2, b=1)
    assert Row(1, 2) != Row(a=1, b=2)
    assert Row(1, 2) != (1, 2)
    assert Row.of_kind(RowKind.DELETE, 1) != Row(1)
    assert Row(1) != Row(1, 2)


def test_a_row_without_names_hashes_as_its_values_do():
    assert hash(Row(1, 2)) == hash((1, 2))


def test_kinds_have_short_texts():
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]
    row = Row(1)
    row.set_row_kind(RowKind.UPDATE_BEFORE)
    assert row.get_row_kind() is RowKind.UPDATE_BEFORE


values = st.integers() | st.text()
names = st.lists(st.text("abcdef", min_size=1, max_size=3), unique=True, min_size=1, max_size=5)
unnamed_rows = st.lists(values, max_size=5).map(lambda fields: Row(*fields))
named_rows = names.flatmap(lambda n: st.tuples(*[values for _ in n]).map(lambda v: Row(**dict(zip(n, v, strict=True)))))


def with_kind(row: Row, kind: RowKind) -> Row:
    row.set_row_kind(kind)
    return row


rows = st.builds(with_kind, unnamed_rows | named_rows, st.sampled_from(RowKind))


@given(rows)
def test_a_row_survives_pickling_and_copying(row: Row):
    for again in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
        assert again == row
        assert repr(again) == repr(row)
        assert again.get_row_kind() is row.get_row_kind()


def test_a_copy_has_fields_of_its_own():
    row = Row(a=1)
    copy.copy(row)["a"] = 2
    assert row == Row(a=1)


@given(named_rows, st.randoms())
def test_equal_rows_have_equal_hashes_unlike_in_pyflink(row: Row, random):
    items = list(row.as_dict().items())
    random.shuffle(items)
    other = Row(**dict(items))
    assert other == row
    assert hash(other) == hash(row)


@given(rows, rows, rows)
def test_equality_is_an_equivalence(one: Row, two: Row, three: Row):
    assert one == one  # noqa: PLR0124
    assert (one == two) == (two == one)
    if one == two and two == three:
        assert one == three
    if one == two:
        assert hash(one) == hash(two)
