"""The picture of the steps up to a stream."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Time, Types
from flintstream.datastream import OutputTag, StreamExecutionEnvironment
from flintstream.datastream.window import TumblingProcessingTimeWindows


def environment():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})


def names(stream):
    """The names in the picture, from left to right, which is well-formed."""
    tree = ET.fromstring(stream._repr_html_())  # noqa: S314 - our own
    return [item.text for item in tree.iter("{http://www.w3.org/2000/svg}title")]


def labels(stream):
    return re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', stream._repr_html_())


def test_a_stream_shows_the_steps_up_to_it_and_no_others():
    numbers = environment().from_collection([1, 2]).name("numbers")
    doubled = numbers.map(lambda x: 2 * x).name("doubled").set_parallelism(3)
    assert names(numbers) == ["numbers"]
    assert names(doubled) == ["numbers", "doubled"]
    assert "source × 1" in numbers._repr_html_()  # noqa: RUF001
    assert "operator × 3" in doubled._repr_html_()  # noqa: RUF001
    assert names(doubled.print()) == ["numbers", "doubled", "Print to Std. Out"]


def test_lines_tell_where_records_change_subtasks():
    numbers = environment().from_collection([1, 2]).name("numbers")
    assert labels(numbers.map(lambda x: x)) == []
    assert labels(numbers.rebalance().map(lambda x: x)) == ["rebalance"]
    late = numbers.get_side_output(OutputTag("late", Types.LONG())).broadcast()
    assert labels(late.map(lambda x: x)) == ["broadcast &#x27;late&#x27;"]


def test_a_stream_that_only_routes_has_an_open_end():
    numbers = environment().from_collection([1, 2]).name("numbers")
    keyed = numbers.key_by(lambda x: x)
    windows = keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(1)))
    for stream in (keyed, windows):
        assert names(stream) == ["numbers"]
        assert labels(stream) == ["hash"]
        assert stream._repr_html_().count("<circle") == 1


def test_both_inputs_of_connected_streams_are_shown():
    env = environment()
    left, right = env.from_collection([1]).name("left"), env.from_collection([2]).name("right")
    assert names(left.connect(right)) == ["left", "right"]
    assert names(left.union(right).map(lambda x: x).name("both")) == ["left", "right", "both"]


def test_a_line_passes_below_the_boxes_between():
    env = environment()
    numbers = env.from_collection([1]).name("numbers")
    long = numbers.map(lambda x: x).map(lambda x: x).union(numbers).map(lambda x: x)
    text = long._repr_html_()
    (detour,) = re.findall(r'<path d="(M[^"]*H[^"]*)"', text)
    boxes = {int(y) for y in re.findall(r'<rect x="[1-9]\d*" y="(\d+)"', text)}
    row = int(re.findall(r"(\d+)H", detour)[0])
    assert not any(y <= row <= y + 40 for y in boxes if y != max(boxes)) or row > max(boxes)


@given(st.text())
def test_any_name_is_shown_as_text(name):
    numbers = environment().from_collection([1])
    numbers._transformation.name = name
    text = numbers._repr_html_()
    assert "<b>" not in text
    assert text.count("<rect") == 1
