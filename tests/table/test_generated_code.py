"""The code of expressions computes each value once, constants when planned, and steps on each other in one loop."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed")

from flintstream.common._types.data_types import DataTypes as D
from flintstream.table._connectors.times import ComputedWatermarks, TimeColumn
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Call, Column, Const, Ref
from flintstream.table._expressions.functions.signatures import FUNCTIONS
from flintstream.table._expressions.functions.times import in_millis
from flintstream.table._expressions.operators import logic
from flintstream.table._expressions.plain_values import Fields
from flintstream.table._logical.merging import merge
from flintstream.table._logical.nodes import Calc, Scan

LINE, NUMBER = Ref(D.STRING(), 0), Ref(D.BIGINT(), 0)


def call(name, *arguments):
    made = FUNCTIONS[name].build(name, arguments, "UTC")
    assert made is not None
    return made


def text(value):
    return Const(D.STRING(), value)


def number(value):
    return Const(D.INT(), value)


def run(projection, rows, condition=None):
    found: list[tuple[object, ...]] = []
    compile_source(source(projection, condition, stamped=False))(iter(rows), found.append)
    return found


def part(index, separator=None):
    return call("SPLIT_INDEX", LINE, separator or call("CHR", number(9)), number(index))


def test_a_text_is_split_once_and_only_as_far_as_its_parts_are_read():
    code = source([part(1), part(3), call("UPPER", part(1))], None, stamped=False)
    assert code.text.count("fields") == 1
    assert [value for value in code.names.values() if isinstance(value, Fields)] == [Fields("\t", ((1, 0), (3, 0)))]


def test_fields_that_a_condition_does_not_read_are_taken_only_if_it_holds():
    condition = Call(D.BOOLEAN(), "IS NOT NULL", (part(1),), lambda _, __, names: f"{names[0]} is not None")
    code = source([part(1), part(3)], condition, stamped=False)
    wanted = [value.wanted for value in code.names.values() if isinstance(value, Fields)]
    assert wanted == [((1, 0),), ((3, 0),)]
    assert run([part(1), part(3)], [("a\tb\tc\td",), ("a",)], condition) == [("b", "d")]


@given(st.lists(st.sampled_from(["7", "-7", "+7", " 7", "7.9", "", "x", "128"]), max_size=4), st.integers(0, 4))
def test_numbers_in_a_text_are_what_casts_of_its_parts_are(parts, index):
    line = "\t".join(parts)
    kept = cast(call("CONCAT", part(index), text("")), D.TINYINT(), "UTC")
    results = []
    for expression in (kept, cast(part(index), D.TINYINT(), "UTC")):
        try:
            results.append(run([expression], [(line,)]))
        except (ValueError, ArithmeticError) as error:
            results.append([type(error)])
    assert results[0] == results[1]


@given(st.one_of(st.none(), st.text("ab\t", max_size=12)), st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_parts_of_a_text_are_those_between_separators(line, indexes):
    parts = line.split("\t") if line else []
    expected = tuple(parts[i] if i < len(parts) else None for i in indexes)
    assert run([part(i) for i in indexes], [(line,)]) == [expected]


@pytest.mark.parametrize("pattern", ["ab", "ab%", "%ab", "%ab%", "a%b", "%", "", "a_", "%%ab"])
@given(line=st.text("ab", max_size=5))
def test_a_constant_pattern_matches_as_one_that_is_read_from_a_row(pattern, line):
    (constant,) = run([call("LIKE", LINE, text(pattern))], [(line,)])
    (varying,) = run([call("LIKE", LINE, Ref(D.STRING(), 1))], [(line, pattern)])
    assert constant == varying


def test_a_call_of_constants_is_made_when_the_code_is_written():
    code = source([call("UPPER", text("a")), call("CONCAT", text("b"), call("CHR", number(99)))], None, stamped=False)
    assert "upper" not in code.text
    assert run([call("UPPER", text("a"))], [()]) == [("A",)]


def test_a_call_of_constants_that_fails_fails_only_if_there_is_a_row():
    broken = Call(D.INT(), "BROKEN", (number(0),), lambda *_: "1 // 0")
    assert run([broken], []) == []
    with pytest.raises(ZeroDivisionError):
        run([broken], [()])


def test_calls_that_differ_each_time_are_made_each_time():
    code = source([call("RAND_INTEGER", number(9)), call("RAND_INTEGER", number(9)), call("UUID")], None, stamped=False)
    assert code.text.count("randrange") == 2
    first, second = run([call("UUID"), call("UUID")], [()])[0]
    assert first != second


def test_what_a_branch_computes_is_not_known_outside_of_it():
    upper = call("UPPER", LINE)
    never = Const(D.BOOLEAN(), False)
    either = FUNCTIONS["IF"].build("IF", (never, upper, LINE), "UTC")
    assert run([either, upper], [("a",)]) == [("a", "A")]


def test_a_block_of_no_depth_keeps_what_is_known():
    upper = call("UPPER", LINE)
    first = FUNCTIONS["COALESCE"].build("COALESCE", (upper,), "UTC")
    assert first is not None
    code = source([upper, first, upper], None, stamped=False)
    assert code.text.count("upper(") == 1
    assert run([upper, first, upper], [("a",)]) == [("A", "A", "A")]


def never_opened(env):
    raise AssertionError(env)


SCAN = Scan((Column("a", D.BIGINT()),), "t", never_opened)


def calc(node, *items, condition=None):
    columns = tuple(Column(f"c{i}", item.type) for i, item in enumerate(items)) or node.columns
    return Calc(columns, node, tuple(items) or None, condition)


def positive(item):
    return Call(D.BOOLEAN(), ">", (item, number(0)), lambda _, __, names: f"{names[0]} > {names[1]}")


def test_a_filter_and_a_projection_on_a_projection_become_one_step():
    inner = calc(SCAN, call("ABS", NUMBER), NUMBER, condition=positive(NUMBER))
    merged = merge(calc(inner, Ref(D.BIGINT(), 1), Ref(D.BIGINT(), 0), condition=positive(Ref(D.BIGINT(), 1))))
    assert merged.input is SCAN
    assert run(merged.projection, [(3,), (-2,), (None,)], merged.condition) == [(3, 3)]


def test_a_value_that_differs_each_time_stays_the_same_for_all_who_read_it():
    inner = calc(SCAN, call("UUID"))
    twice = calc(inner, Ref(D.STRING(), 0), Ref(D.STRING(), 0))
    assert merge(twice) is twice
    assert merge(calc(inner, Ref(D.STRING(), 0))).input is SCAN


def test_views_that_double_their_columns_do_not_become_one_huge_expression():
    node = calc(SCAN, NUMBER)
    for _ in range(60):
        node = merge(calc(node, logic_sum(Ref(D.BIGINT(), 0))))
    assert isinstance(node.input, Calc)


def logic_sum(item):
    return Call(D.BIGINT(), "+", (item, item), lambda _, __, names: f"{names[0]} + {names[1]}")


def test_conditions_that_all_have_to_hold_are_tested_one_after_the_other():
    both = logic("AND", (positive(NUMBER), Const(D.BOOLEAN(), None)), "UTC")
    assert run([NUMBER], [(1,), (-1,)], both) == []


@given(st.one_of(st.none(), st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(10**13), 10**13)))
def test_whole_ms_become_a_time_and_ms_again(ms):
    moment = call("TO_TIMESTAMP_LTZ", NUMBER, number(3))
    (made,) = run([moment], [(ms,)])[0]
    within = ms is not None and -62_135_596_800_000 <= ms <= 253_402_300_799_999
    assert made == (datetime(1970, 1, 1) + timedelta(milliseconds=ms) if within else None)
    assert run([in_millis(moment)], [(ms,)]) == [(ms if within else None,)]


class Output:
    def __init__(self):
        self.marks = []

    def emit_watermark(self, timestamp):
        self.marks.append(timestamp)


def by_record(generator, values, stamps):
    output, found = Output(), []
    for i, (value, stamp) in enumerate(zip(values, stamps, strict=True)):
        generator.on_event(value, stamp, output)
        found += [(i + 1, mark) for mark in output.marks]
        output.marks.clear()
    return found


def by_block(generator, values, stamps):
    output, found, start = Output(), [], 0
    while start < len(values):
        start = generator.on_block(values, stamps, start, output)
        found += [(start, mark) for mark in output.marks]
        output.marks.clear()
    return found


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 5), st.integers(0, 20))
def test_watermarks_follow_the_same_records_in_a_block_as_one_by_one(stamps, delay, interval):
    rows = [()] * len(stamps)
    one, other = TimeColumn(delay, interval), TimeColumn(delay, interval)
    assert by_block(one, rows, stamps) == by_record(other, rows, stamps)
    assert vars(one) == vars(other)


@given(st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=30), st.integers(0, 20))
def test_computed_watermarks_follow_the_same_records_in_a_block_as_one_by_one(marks, interval):
    code = source(NUMBER, None, stamped=False)
    rows, stamps = [(mark,) for mark in marks], [0] * len(marks)
    one, other = ComputedWatermarks(code, interval), ComputedWatermarks(code, interval)
    assert by_block(one, rows, stamps) == by_record(other, rows, stamps)
