from __future__ import annotations

import pickle
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Time
from flintstream.common.time import Duration
from flintstream.datastream import window
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)

MIN, MAX = -(2**63), 2**63 - 1


class Context(WindowAssigner.WindowAssignerContext):
    """One key with value states by name, and a constant clock."""

    def __init__(self, now=0):
        self.now = now
        self.states = {}

    def get_current_processing_time(self):
        return self.now

    def get_runtime_context(self):
        return self

    def get_state(self, descriptor):
        assert isinstance(descriptor, ValueStateDescriptor)
        return self.states.setdefault(descriptor.name, Value())


class Value:
    content = None

    def value(self):
        return self.content

    def update(self, value):
        self.content = value


class Callback(MergingWindowAssigner.MergeCallback):
    def __init__(self):
        self.merged = []

    def merge(self, to_be_merged, merge_result):
        self.merged.append((sorted(to_be_merged), merge_result))


def assign(assigner, timestamp=MIN, context=None, element=None):
    return list(assigner.assign_windows(element, timestamp, context or Context()))


def spans(windows):
    return [(item.start, item.end) for item in windows]


# -- windows ---------------------------------------------------------------------------------------------------------


def test_time_windows_compare_by_start_and_end():
    assert TimeWindow(0, 5) == TimeWindow(0, 5)
    assert TimeWindow(0, 5) != TimeWindow(0, 6)
    assert hash(TimeWindow(0, 5)) == hash(TimeWindow(0, 5))
    assert sorted([TimeWindow(1, 2), TimeWindow(0, 9), TimeWindow(0, 5)]) == [
        TimeWindow(0, 5),
        TimeWindow(0, 9),
        TimeWindow(1, 2),
    ]
    assert TimeWindow(0, 5) <= TimeWindow(0, 5)


def test_a_time_window_equals_nothing_but_a_time_window():
    assert TimeWindow(0, 5) != (0, 5)
    assert (0, 5) != TimeWindow(0, 5)  # noqa: SIM300 - the other way round
    assert not TimeWindow(0, 5) == (0, 5)  # noqa: SIM201 - both operators
    assert TimeWindow(0, 0) != CountWindow(0)
    assert CountWindow(0) != GlobalWindow()


def test_the_last_timestamp_of_a_time_window_is_just_before_its_end():
    assert TimeWindow(0, 5).max_timestamp() == 4


def test_count_and_global_windows_never_end():
    assert CountWindow(3).max_timestamp() == GlobalWindow().max_timestamp() == MAX


@pytest.mark.parametrize(
    ("other", "intersects"),
    [
        ((0, 4), False),
        ((0, 5), True),
        ((0, 6), True),
        ((6, 7), True),
        ((10, 12), True),
        ((11, 12), False),
        ((0, 20), True),
    ],
)
def test_windows_intersect_when_they_overlap_or_touch(other, intersects):
    assert TimeWindow(5, 10).intersects(TimeWindow(*other)) is intersects
    assert TimeWindow(*other).intersects(TimeWindow(5, 10)) is intersects


def test_a_covering_window_reaches_from_the_first_start_to_the_last_end():
    assert TimeWindow(0, 5).cover(TimeWindow(3, 9)) == TimeWindow(0, 9)
    assert TimeWindow(0, 9).cover(TimeWindow(3, 5)) == TimeWindow(0, 9)


def test_windows_look_as_in_pyflink():
    assert repr(TimeWindow(0, 5)) == "TimeWindow(start=0, end=5)"
    assert repr(CountWindow(7)) == "CountWindow(id=7)"
    assert repr(GlobalWindow.get()) == "GlobalWindow"


@pytest.mark.parametrize("window", [TimeWindow(-1, 5), CountWindow(7), GlobalWindow()])
def test_windows_can_be_pickled_and_used_as_keys(window):
    copy = pickle.loads(pickle.dumps(window))
    assert copy == window
    assert {window: 1}[copy] == 1
    assert type(copy) is type(window)


def test_a_global_window_is_as_good_as_another():
    assert GlobalWindow() == GlobalWindow.get()
    assert hash(GlobalWindow()) == hash(GlobalWindow.get())


@pytest.mark.parametrize(
    ("serializer", "windows", "size"),
    [
        (TimeWindowSerializer(), [TimeWindow(-5, 7), TimeWindow(MIN, MAX)], 16),
        (CountWindowSerializer(), [CountWindow(0), CountWindow(2**40)], 8),
        (GlobalWindowSerializer(), [GlobalWindow(), GlobalWindow()], 1),
    ],
)
def test_serializers_read_what_they_wrote(serializer, windows, size):
    stream = BytesIO()
    for item in windows:
        serializer.serialize(item, stream)
    assert stream.tell() == len(windows) * size
    stream.seek(0)
    assert [serializer.deserialize(stream) for _ in windows] == windows
    with pytest.raises(EOFError):
        serializer.deserialize(stream)


# -- tumbling and sliding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp", "offset", "start"),
    [(0, 0, 0), (9, 0, 0), (10, 0, 10), (-1, 0, -10), (-10, 0, -10), (2, 3, -7), (3, 3, 3), (2, -3, -3)],
)
def test_windows_of_negative_timestamps_and_with_offsets_start_where_they_do_in_flink(timestamp, offset, start):
    assert TimeWindow.get_window_start_with_offset(timestamp, offset, 10) == start
    assert spans(assign(TumblingEventTimeWindows(10, offset), timestamp)) == [(start, start + 10)]


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000), st.integers(-999, 999))
def test_a_tumbling_window_holds_its_record_and_lies_on_the_grid(timestamp, size, offset):
    offset %= size
    ((start, end),) = spans(assign(TumblingEventTimeWindows(size, offset), timestamp))
    assert start <= timestamp < end
    assert end - start == size
    assert (start - offset) % size == 0


@given(st.integers(-(10**4), 10**4), st.integers(1, 50), st.integers(1, 50), st.integers(-49, 49))
def test_sliding_windows_are_all_those_on_the_grid_that_hold_the_record_newest_first(timestamp, size, slide, offset):
    offset %= slide
    grid = [s for s in range(timestamp - size - slide, timestamp + slide + 1) if (s - offset) % slide == 0]
    expected = [(start, start + size) for start in reversed(grid) if start <= timestamp < start + size]
    assert spans(assign(SlidingEventTimeWindows(size, slide, offset), timestamp)) == expected


def test_processing_time_windows_go_by_the_clock():
    assert spans(assign(TumblingProcessingTimeWindows(10, 0), 5, Context(now=25))) == [(20, 30)]
    assert spans(assign(SlidingProcessingTimeWindows(10, 5, 0), 5, Context(now=27))) == [(25, 35), (20, 30)]


@pytest.mark.parametrize("assigner", [TumblingEventTimeWindows(10, 0), SlidingEventTimeWindows(10, 5, 0)])
def test_event_time_windows_refuse_a_record_without_timestamp(assigner):
    with pytest.raises(ValueError, match=r"'a record' has none: call data_stream.assign_timestamps_and_watermarks"):
        assign(assigner, MIN, element="a record")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TumblingEventTimeWindows(10, 10), r"abs\(offset\) < size, but got size 10 ms and offset 10 ms"),
        (lambda: TumblingEventTimeWindows(10, -10), r"abs\(offset\) < size"),
        (lambda: TumblingEventTimeWindows(0, 0), "size > 0"),
        (lambda: TumblingProcessingTimeWindows(10, 11), r"TumblingProcessingTimeWindows.*abs\(offset\) < size"),
        (lambda: SlidingEventTimeWindows(10, 5, 5), r"abs\(offset\) < slide"),
        (lambda: SlidingEventTimeWindows(10, 0, 0), "slide 0 ms"),
        (lambda: SlidingEventTimeWindows(0, 5, 0), "size > 0"),
        (lambda: SlidingProcessingTimeWindows(-1, 5, 0), "size > 0"),
        (lambda: EventTimeSessionWindows(0), "0 < size"),
        (lambda: ProcessingTimeSessionWindows(-1), "0 < size"),
        (lambda: CountTumblingWindowAssigner(0), "at least 1"),
        (lambda: CountSlidingWindowAssigner(1, 0), "at least 1"),
    ],
)
def test_impossible_sizes_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# -- the ways to make them -------------------------------------------------------------------------------------------

MADE = [
    (TumblingEventTimeWindows.of(Time.seconds(1)), "TumblingEventTimeWindows(1000, 0)"),
    (TumblingEventTimeWindows.of(Time.seconds(1), Time.milliseconds(5)), "TumblingEventTimeWindows(1000, 5)"),
    (
        TumblingProcessingTimeWindows.of(Time.days(1), Time.hours(-8)),
        "TumblingProcessingTimeWindows(86400000, -28800000)",
    ),
    (SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)), "SlidingEventTimeWindows(2000, 1000, 0)"),
    (
        SlidingProcessingTimeWindows.of(Time.seconds(2), Time.seconds(1), Time.milliseconds(5)),
        "SlidingProcessingTimeWindows(2000, 1000, 5)",
    ),
    (EventTimeSessionWindows.with_gap(Time.seconds(1)), "EventTimeSessionWindows(1000)"),
    (ProcessingTimeSessionWindows.with_gap(Time.seconds(1)), "ProcessingTimeSessionWindows(1000)"),
    (CountTumblingWindowAssigner.of(3), "CountTumblingWindowAssigner(3)"),
    (CountSlidingWindowAssigner.of(3, 1), "CountSlidingWindowAssigner(3, 1)"),
    (GlobalWindows.create(), "GlobalWindows()"),
]


@pytest.mark.parametrize(("assigner", "text"), MADE)
def test_assigners_look_as_in_pyflink(assigner, text):
    assert repr(assigner) == text


@pytest.mark.parametrize("size", [Time.seconds(1), Duration.of_seconds(1), 1000, "1 s"])
def test_a_size_is_a_time_or_whatever_stands_for_one(size):
    assert repr(TumblingEventTimeWindows.of(size)) == "TumblingEventTimeWindows(1000, 0)"


EVENT_TIME: set = {TumblingEventTimeWindows, SlidingEventTimeWindows, EventTimeSessionWindows}
TRIGGERS: dict = {
    TumblingEventTimeWindows: EventTimeTrigger,
    SlidingEventTimeWindows: EventTimeTrigger,
    EventTimeSessionWindows: EventTimeTrigger,
    TumblingProcessingTimeWindows: ProcessingTimeTrigger,
    SlidingProcessingTimeWindows: ProcessingTimeTrigger,
    ProcessingTimeSessionWindows: ProcessingTimeTrigger,
    CountTumblingWindowAssigner: CountTrigger,
    CountSlidingWindowAssigner: CountTrigger,
    GlobalWindows: NeverTrigger,
}


@pytest.mark.parametrize("assigner", [assigner for assigner, _ in MADE])
def test_every_assigner_has_a_default_trigger_a_serializer_and_a_time(assigner):
    assert type(assigner.get_default_trigger(None)) is TRIGGERS[type(assigner)]
    assert assigner.is_event_time() is (type(assigner) in EVENT_TIME)
    ((first, *_),) = [assign(assigner, 5)]
    stream = BytesIO()
    assigner.get_window_serializer().serialize(first, stream)
    stream.seek(0)
    assert assigner.get_window_serializer().deserialize(stream) == first


@pytest.mark.parametrize("assigner", [assigner for assigner, _ in MADE])
def test_assigners_and_their_triggers_can_be_pickled(assigner):
    assert repr(pickle.loads(pickle.dumps(assigner))) == repr(assigner)
    pickle.loads(pickle.dumps(assigner.get_default_trigger(None)))


# -- sessions --------------------------------------------------------------------------------------------------------


class GapOf(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element


def test_a_session_starts_with_its_record_and_lasts_for_the_gap():
    assert spans(assign(EventTimeSessionWindows(10), 7)) == [(7, 17)]
    assert spans(assign(ProcessingTimeSessionWindows(10), 7, Context(now=20))) == [(20, 30)]


def test_a_session_takes_a_record_without_timestamp():
    assert spans(assign(EventTimeSessionWindows(10), MIN)) == [(MIN, MIN + 10)]


def test_the_gap_may_depend_on_the_record():
    event, processing = (
        EventTimeSessionWindows.with_dynamic_gap(GapOf()),
        ProcessingTimeSessionWindows.with_dynamic_gap(GapOf()),
    )
    assert type(event) is DynamicEventTimeSessionWindows
    assert type(processing) is DynamicProcessingTimeSessionWindows
    assert type(DynamicEventTimeSessionWindows.with_dynamic_gap(GapOf())) is DynamicEventTimeSessionWindows
    assert spans(assign(event, 7, element=3)) == [(7, 10)]
    assert spans(assign(processing, 7, Context(now=20), element=4)) == [(20, 24)]
    assert (event.is_event_time(), processing.is_event_time()) == (True, False)


@pytest.mark.parametrize("gap", [0, -5])
def test_a_dynamic_gap_must_be_positive(gap):
    with pytest.raises(ValueError, match=f"GapOf returned {gap} ms"):
        assign(EventTimeSessionWindows.with_dynamic_gap(GapOf()), 7, element=gap)


def test_windows_that_overlap_or_touch_are_merged():
    callback = Callback()
    windows = [TimeWindow(20, 25), TimeWindow(0, 5), TimeWindow(5, 8), TimeWindow(22, 30), TimeWindow(40, 41)]
    EventTimeSessionWindows(5).merge_windows(windows, callback)
    assert callback.merged == [
        ([TimeWindow(0, 5), TimeWindow(5, 8)], TimeWindow(0, 8)),
        ([TimeWindow(20, 25), TimeWindow(22, 30)], TimeWindow(20, 30)),
    ]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 8)), max_size=15))
def test_merged_windows_are_the_unions_of_touching_intervals(intervals):
    windows = {TimeWindow(start, start + length) for start, length in intervals}
    callback = Callback()
    TimeWindow.merge_windows(windows, callback)
    # Touching counts: [0, 5) and [5, 8) share the point 5 if both are taken as closed
    covered = {point for item in windows for point in range(2 * item.start, 2 * item.end + 1)}
    runs = [point for point in covered if point - 1 not in covered]
    assert len(runs) == len(windows) - sum(len(sources) - 1 for sources, _ in callback.merged)
    for sources, merged in callback.merged:
        assert len(sources) > 1
        assert merged == TimeWindow(min(s.start for s in sources), max(s.end for s in sources))
        assert {2 * merged.start - 1, 2 * merged.end + 1}.isdisjoint(covered)


# -- counts ----------------------------------------------------------------------------------------------------------


def ids_of(assigner, records):
    context = Context()
    return [[item.id for item in assign(assigner, context=context)] for _ in range(records)]


def test_a_count_window_takes_so_many_records():
    assert ids_of(CountTumblingWindowAssigner(2), 5) == [[0], [0], [1], [1], [2]]


def test_sliding_count_windows_overlap_newest_first():
    assert ids_of(CountSlidingWindowAssigner(3, 1), 5) == [[0], [1, 0], [2, 1, 0], [3, 2, 1], [4, 3, 2]]
    assert ids_of(CountSlidingWindowAssigner(4, 2), 6) == [[0], [0], [1, 0], [1, 0], [2, 1], [2, 1]]


def test_records_between_sliding_count_windows_have_none():
    assert ids_of(CountSlidingWindowAssigner(1, 3), 7) == [[0], [], [], [1], [], [], [2]]


@given(st.integers(1, 6), st.integers(1, 6))
def test_sliding_count_windows_hold_size_records_each(size, slide):
    members: dict = {}
    for record, ids in enumerate(ids_of(CountSlidingWindowAssigner(size, slide), 30)):
        for id_ in ids:
            members.setdefault(id_, []).append(record)
    for item, records in members.items():
        expected = range(item * slide, item * slide + size)
        assert records == [record for record in expected if record < 30]


def test_all_names_exist():
    for name in vars(window)["__all__"]:
        assert hasattr(window, name)
