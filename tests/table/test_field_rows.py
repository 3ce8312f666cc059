"""Compiled loops that take fields of a text give the rows that the code for one row at a time gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed")

from flintstream.common._types.data_types import DataTypes as D
from flintstream.compiled import load
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Const, Expr, Ref, Unread
from flintstream.table._expressions.functions.signatures import FUNCTIONS
from flintstream.table._expressions.functions.times import in_millis
from flintstream.table._expressions.operators import comparison, logic
from flintstream.table._operators.field_rows import FieldLoop, FieldSource, field_source

if load("values") is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)

LINE, OTHER = Ref(D.STRING(), 1), Ref(D.STRING(), 0)
NOTHING = Unread(D.STRING(), None)


def present(made: Expr | None) -> Expr:
    assert made is not None
    return made


def call(name: str, *arguments: Expr) -> Expr:
    return present(FUNCTIONS[name].build(name, arguments, "UTC"))


def text(value: str) -> Expr:
    return Const(D.STRING(), value)


def number(value: int) -> Expr:
    return Const(D.INT(), value)


def part(index: int, of: Expr = LINE) -> Expr:
    return call("SPLIT_INDEX", of, call("CHR", number(9)), number(index))


def whole(index, kind=None) -> Expr:
    return present(cast(part(index), kind or D.BIGINT(), "UTC"))


def both(*conditions: Expr) -> Expr:
    return present(logic("AND", conditions, "UTC"))


BEGINS = call("LIKE", LINE, text("B%"))
FIRST = present(comparison("=", (part(0), text("B")), "UTC"))
POSITIVE = present(comparison(">", (whole(1), Const(D.BIGINT(), 0)), "UTC"))
SHOWN = call("CONCAT", part(1), part(0, OTHER), OTHER)
TIME, SMALL = call("TO_TIMESTAMP_LTZ", whole(1), number(3)), call("TO_TIMESTAMP_LTZ", whole(2, D.INT()), number(3))
DAY, PRECISE = call("DATE_FORMAT", TIME, text("yyyy-MM-dd")), call("TO_TIMESTAMP_LTZ", whole(1), number(6))
TIMES = [TIME, SMALL, DAY, PRECISE]
CHOICES = [part(0), part(2), whole(1), whole(1, D.TINYINT()), whole(3), OTHER, LINE, NOTHING, part(1, OTHER), SHOWN]
CHOICES += TIMES
CONDITIONS = [None, BEGINS, FIRST, both(BEGINS, POSITIVE), both(FIRST, BEGINS)]

MOMENTS = ["1436918400123", "253402300800000", "-62135596800001"]
values = st.sampled_from(["B", "A", "", "7", "-7", " 7", "7.9", "x", "128", "99999999999999999999", "ä", "٣", *MOMENTS])
lines = st.none() | st.lists(values, max_size=5).map("\t".join) | st.text("B\tä1", max_size=4)
blocks = st.lists(st.tuples(lines, lines), max_size=5)


def in_order(code, rows, stamps):
    """Return what the code for one row at a time gives, or its error."""
    found: list[object] = []
    marks: list[int] = []
    try:
        if stamps is None:
            compile_source(code)(iter(rows), found.append)
        else:
            compile_source(code)(zip(rows, stamps, strict=True), found.append, marks.append)
    except (ValueError, ArithmeticError) as error:
        return type(error), str(error)
    return found, None if stamps is None else marks


@given(st.lists(st.sampled_from(CHOICES), min_size=1), st.sampled_from(CONDITIONS), blocks, st.booleans())
@example([whole(1), part(2), NOTHING, OTHER], BEGINS, [("x", "B\t5\tä"), ("y", "B\t 6\tz"), (None, "A\t7")], True)
@example([whole(3)], None, [("x", None), ("x", "B"), ("x", "")], False)
@example([TIME, whole(1)], BEGINS, [("x", f"B\t{ms}") for ms in (*MOMENTS, "", "-1")], True)
@example([TIME, DAY, OTHER], BEGINS, [("x", f"B\t{ms}") for ms in (*MOMENTS, "", "-1")], True)
@example([SHOWN], CONDITIONS[3], [("a\tb", "B\t1"), ("a\tb", "B\t-1"), (None, "B\tx")], True)
def test_rows_of_fields_are_those_of_the_code_for_each_row(items, condition, rows, stamped):
    code = field_source(items, condition, stamped=stamped)
    stamps = [10 * i for i in range(len(rows))] if stamped else None
    expected = in_order(source(items, condition, stamped=stamped), rows, stamps)
    assert in_order(code, rows, stamps) == expected
    made = FieldLoop(code).run(rows, stamps)
    if made is not None:
        assert made == expected
        assert repr(made) == repr(expected)
    else:  # the other form decides
        assert not isinstance(code, FieldSource) or rows


@given(st.lists(lines | st.integers(-(10**17), 10**17).map("B\t{}".format), max_size=4))
@example(["B\t253402300799999", "B\t253402300800000", "B\t-62135596800000", "B\t-62135596800001", None])
def test_times_of_fields_are_those_of_the_code_for_each_row(texts):
    rows: list[object] = [("x", line) for line in texts]
    code = field_source(in_millis(call("TO_TIMESTAMP_LTZ", whole(1), number(3))), None, stamped=False)
    assert isinstance(code, FieldSource)
    made, expected = FieldLoop(code).run(rows, None), in_order(code, rows, None)
    assert (made is None and isinstance(expected[0], type)) or made == expected


def test_a_block_with_a_field_that_is_not_a_number_is_left_to_the_code_for_each_row():
    code = field_source([whole(1)], BEGINS, stamped=False)
    assert FieldLoop(code).run([("x", "B\t1"), ("x", "A\ty")], None) == ([(1,)], None)
    assert FieldLoop(code).run([("x", "B\t1"), ("x", "B\ty")], None) is None


def test_a_condition_on_how_a_text_begins_needs_no_code_of_its_own():
    code = field_source([whole(1), part(2), OTHER], BEGINS, stamped=False)
    assert isinstance(code, FieldSource)
    assert code.rest is None
    assert code.taken.prefix == "B"


def test_times_of_fields_need_no_code_of_their_own():
    code = field_source([TIME, whole(1), SMALL], BEGINS, stamped=False)
    assert isinstance(code, FieldSource)
    assert code.rest is None
    assert code.taken.moments == (0, 2)
    rest = field_source([DAY], BEGINS, stamped=False)
    assert isinstance(rest, FieldSource)
    assert rest.rest is not None
    assert "moment_of" not in rest.rest.text


def test_conditions_on_fields_are_computed_from_the_fields_that_were_taken():
    code = field_source([whole(1)], both(BEGINS, POSITIVE), stamped=False)
    assert isinstance(code, FieldSource)
    assert code.rest is not None
    assert "fields" not in code.rest.text


@pytest.mark.parametrize("pattern", ["%B", "%B%", "B_%", "B", "%"])
def test_other_patterns_stay_with_the_rest(pattern):
    code = field_source([part(0)], call("LIKE", LINE, text(pattern)), stamped=False)
    assert isinstance(code, FieldSource)
    assert code.taken.prefix is None
    rows: list[object] = [("x", "B\tC"), ("x", "AB"), ("x", "B"), ("x", None)]
    assert FieldLoop(code).run(rows, None) == in_order(code, rows, None)


@pytest.mark.parametrize(
    "items", [[OTHER], [call("RAND"), part(0)], [call("SPLIT_INDEX", LINE, text("::"), number(0))]]
)
def test_other_projections_have_one_form(items):
    assert not isinstance(field_source(items, None, stamped=False), FieldSource)
