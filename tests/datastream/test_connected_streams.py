"""Two connected streams: functions, shared state, timers, both modes."""

from __future__ import annotations

import pytest
from tests.datastream.inline import (
    MODES,
    NO_WATERMARKS,
    SHORT_EPOCHS,
    by_second_field,
    collect,
    make_env,
    move_every_epoch,
)
from tests.engine.sources import PacedSource

from flintstream.common import Configuration, Encoder, Row, Types
from flintstream.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    OutputTag,
)
from flintstream.datastream.connectors.file_system import FileSink
from flintstream.datastream.state import ListStateDescriptor, ValueStateDescriptor
from flintstream.errors import notes

anywhere = pytest.mark.parametrize(("mode", "parallelism"), [(mode, p) for mode in MODES for p in (1, 2)])


class OddOrLong(CoMapFunction):
    def map1(self, value):
        return value if value % 2 else None

    def map2(self, value):
        return value if len(value) > 1 else None


@anywhere
def test_a_co_map_drops_none(mode, parallelism):
    env = make_env(mode, parallelism)
    connected = env.from_collection([1, 2, 3, 0]).connect(env.from_collection(["a", "bb", "", "ccc"]))
    assert sorted(map(str, collect(connected.map(OddOrLong())))) == ["1", "3", "bb", "ccc"]


class Twice(CoFlatMapFunction):
    def flat_map1(self, value):
        yield value
        yield value

    def flat_map2(self, value):
        return None if value == "none" else [] if value == "empty" else [value]


@anywhere
def test_a_co_flat_map_may_return_none(mode, parallelism):
    env = make_env(mode, parallelism)
    connected = env.from_collection([1, 2]).connect(env.from_collection(["none", "a", "empty"]))
    assert sorted(map(str, collect(connected.flat_map(Twice())))) == ["1", "1", "2", "2", "a"]


class Stamps(CoProcessFunction):
    def process_element1(self, value, ctx):
        return [("first", value[0], ctx.timestamp())]

    def process_element2(self, value, ctx):
        return [("second", value, ctx.timestamp())]


@anywhere
def test_a_co_process_function_sees_the_timestamps_of_both_streams(mode, parallelism):
    env = make_env(mode, parallelism)
    first = by_second_field(env, [("a", 5), ("b", 7)])
    connected = first.connect(env.from_collection(["x"]))
    expected = [("first", "a", 5), ("first", "b", 7), ("second", "x", -(2**63))]
    assert sorted(collect(connected.process(Stamps()))) == expected


def test_results_carry_the_timestamp_of_their_record_and_may_go_to_side_outputs():
    tag = OutputTag("side")

    class Split(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield value[0]
            yield tag, value[0].upper()

        def process_element2(self, value, ctx):
            yield tag, value

    env = make_env()
    split = by_second_field(env, [("a", 5), ("b", 7)]).connect(env.from_collection([1])).process(Split())
    side = split.get_side_output(tag).map(str)
    assert sorted(collect(split.union(side))) == ["1", "A", "B", "a", "b"]


class Matches(KeyedCoProcessFunction):
    """Join both streams: each record with all earlier ones of the other side and the same key."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", None))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", None))

    def process_element1(self, value, ctx):
        self.left.add(value)
        return [(ctx.get_current_key(), value, other) for other in self.right.get()]

    def process_element2(self, value, ctx):
        self.right.add(value)
        return [(ctx.get_current_key(), other, value) for other in self.left.get()]


@anywhere
def test_keyed_connected_streams_share_the_state_of_a_key(mode, parallelism):
    env = make_env(mode, parallelism)
    left = env.from_collection(range(40)).key_by(lambda v: v % 4, Types.LONG())
    right = env.from_collection([str(n) for n in range(8)]).key_by(lambda v: int(v) % 4, Types.LONG())
    results = collect(left.connect(right).process(Matches()))
    assert sorted(results) == sorted((n % 4, n, str(m)) for n in range(40) for m in range(8) if n % 4 == m % 4)


@anywhere
def test_streams_are_keyed_after_they_are_connected(mode, parallelism):
    env = make_env(mode, parallelism)
    # The separate keys of both sides no longer count
    connected = env.from_collection([1, 2, 3]).key_by(lambda v: 0).connect(env.from_collection(["a", "bb", "cc"]))
    results = collect(connected.key_by(lambda v: v, len).process(Matches()))
    assert sorted(results) == [(1, 1, "a"), (2, 2, "bb"), (2, 2, "cc")]


@anywhere
@pytest.mark.parametrize("key", [list, dict.fromkeys], ids=["list", "dict"])
def test_keys_that_are_not_hashable_meet_their_equals_of_the_other_stream(mode, parallelism, key):
    env = make_env(mode, parallelism)
    left = env.from_collection(["ab", "cd"]).key_by(key)
    right = env.from_collection([("a", "b"), ("x", "y")]).key_by(key)
    assert collect(left.connect(right).process(Matches())) == [(key("ab"), "ab", ("a", "b"))]


class Order(KeyedCoProcessFunction):
    """Record the order of a key's records, and emit it at the end."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", None))

    def process_element1(self, value, ctx):
        self.seen.add(value)
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.seen.add(value)
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.time_domain().name, list(self.seen.get())


@pytest.mark.parametrize("parallelism", [1, 2])
def test_in_batch_mode_both_inputs_of_a_key_come_in_the_order_of_their_timestamps(parallelism):
    env = make_env("BATCH", parallelism)
    left = by_second_field(env, [("a", 9), ("b", 2), ("a", 1), ("a", 5)]).key_by(lambda v: v[0])
    right = by_second_field(env, [("a", 7), ("a", 3), ("c", 1)]).key_by(lambda v: v[0])
    assert sorted(collect(left.connect(right).process(Order()))) == [
        ("a", 1000, "EVENT_TIME", [("a", 1), ("a", 3), ("a", 5), ("a", 7), ("a", 9)]),
        ("b", 1000, "EVENT_TIME", [("b", 2)]),
        ("c", 1000, "EVENT_TIME", [("c", 1)]),
    ]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_timer_of_either_stream_fires_once_for_the_key(parallelism):
    env = make_env("STREAMING", parallelism)
    left = by_second_field(env, [("a", 1), ("b", 2)]).key_by(lambda v: v[0])
    right = by_second_field(env, [("a", 3)]).key_by(lambda v: v[0])
    results = [(key, len(seen)) for key, _, _, seen in collect(left.connect(right).process(Order()))]
    assert sorted(results) == [("a", 2), ("b", 1)]


class CountBoth(CoMapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map1(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value()

    map2 = map1


@pytest.mark.parametrize("moving", [False, True], ids=["same worker", "new workers"])
def test_state_of_connected_streams_lasts_over_many_epochs(moving, monkeypatch):
    if moving:
        move_every_epoch(monkeypatch)
    env = make_env("STREAMING", 2, SHORT_EPOCHS)
    left = env.from_source(PacedSource(20, 0.01), NO_WATERMARKS, "left").key_by(lambda v: v % 2)
    right = env.from_source(PacedSource(10, 0.01), NO_WATERMARKS, "right").key_by(lambda v: v % 2)
    with left.connect(right).map(CountBoth()).execute_and_collect() as results:
        counts = list(results)
        epochs = results._client.get_accumulators().result()["numEpochs"]
    assert sorted(counts) == sorted([*range(1, 16)] * 2)
    assert epochs > 3


class Plain(CoProcessFunction):
    def process_element1(self, value, ctx):
        return [value]

    def process_element2(self, value, ctx):
        return [value]


@anywhere
def test_a_function_without_on_timer_runs_on_keyed_streams(mode, parallelism):
    env = make_env(mode, parallelism)
    connected = env.from_collection([1]).connect(env.from_collection([2])).key_by(lambda v: v, lambda v: v)
    assert sorted(collect(connected.process(Plain()))) == [1, 2]


@anywhere
def test_when_one_side_is_keyed_the_function_gets_its_keys_as_well(mode, parallelism):
    env = make_env(mode, parallelism)
    connected = env.from_collection([1, 2]).key_by(lambda v: -v).connect(env.from_collection([3]))
    assert sorted(map(repr, collect(connected.process(Plain())))) == ["3", "Row(f0=-1, f1=1)", "Row(f0=-2, f1=2)"]
    connected = env.from_collection([3]).connect(env.from_collection([1, 2]).key_by(lambda v: -v))
    assert sorted(map(repr, collect(connected.process(Plain())))) == ["3", "Row(f0=-1, f1=1)", "Row(f0=-2, f1=2)"]


@anywhere
def test_the_records_of_a_keyed_stream_are_collected_with_their_keys(mode, parallelism):
    env = make_env(mode, parallelism)
    numbers = env.from_collection([1, 2], Types.INT())
    keyed = numbers.key_by(str, Types.STRING())
    rows = sorted(collect(keyed), key=lambda row: row.f1)
    assert rows == [Row(f0="1", f1=1), Row(f0="2", f1=2)]
    assert sorted(collect(keyed.union(numbers))) == [1, 1, 2, 2]


@anywhere
def test_an_option_leaves_the_keys_out(mode, parallelism):
    env = make_env(mode, parallelism)
    env.configure(Configuration.from_dict({"flintstream.keyed-stream.rows-with-keys": "false"}))
    keyed = env.from_collection([1, 2]).key_by(lambda v: -v)
    assert sorted(collect(keyed)) == [1, 2]
    assert sorted(collect(keyed.connect(env.from_collection([3])).process(Plain()))) == [1, 2, 3]


def test_a_sink_writes_the_keys_as_well(tmp_path):
    env = make_env("STREAMING", 1)
    keyed = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda v: v[1], Types.INT()
    )
    keyed.sink_to(FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build())
    env.execute()
    assert [file.read_text() for file in tmp_path.rglob("*") if file.is_file()] == ["+I[1, (a,1)]\n"]


@anywhere
def test_a_stream_can_be_connected_with_itself(mode, parallelism):
    env = make_env(mode, parallelism)
    stream = env.from_collection([1, 2])
    assert sorted(collect(stream.connect(stream).process(Plain()))) == [1, 1, 2, 2]


def test_what_a_function_keeps_and_changes_does_not_change_what_it_emitted():
    class Keeps(CoProcessFunction):
        def open(self, runtime_context):
            self.all = []

        def process_element1(self, value, ctx):
            self.all.append(value)
            yield self.all

        def process_element2(self, value, ctx):
            return []

    env = make_env()
    stream = env.from_collection([1, 2]).connect(env.from_collection([0])).process(Keeps())
    assert sorted(collect(stream)) == [[1], [1, 2]]


def test_an_exception_names_the_record_of_the_second_stream():
    class Inverse(CoMapFunction):
        def map1(self, value):
            return value

        def map2(self, value):
            return 1 / value

    env = make_env()
    stream = env.from_collection([0]).connect(env.from_collection([1, 0])).map(Inverse())
    with pytest.raises(ZeroDivisionError) as failure:
        collect(stream)
    assert notes(failure.value) == ["in operator 'Co-Map', subtask 1 while processing 0"]


def test_state_needs_both_streams_keyed():
    env = make_env()
    stream = env.from_collection([0]).key_by(lambda v: v).connect(env.from_collection([1])).map(CountBoth())
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collect(stream)


def test_timers_need_both_streams_keyed():
    class Sets(CoProcessFunction):
        def process_element1(self, value, ctx):
            ctx.timer_service().register_event_time_timer(1)

        def process_element2(self, value, ctx):
            return []

    env = make_env()
    stream = env.from_collection([0]).connect(env.from_collection([1])).process(Sets())
    with pytest.raises(Exception, match="only supported on a keyed stream"):
        collect(stream)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda c: c.map(len), "must be a CoMapFunction, but got <built-in function len>"),
        (lambda c: c.map(Twice()), "must be a CoMapFunction, .* of type Twice"),
        (lambda c: c.flat_map(OddOrLong()), "must be a CoFlatMapFunction, .* of type OddOrLong"),
        (lambda c: c.process(OddOrLong()), "must be a CoProcessFunction or KeyedCoProcessFunction, .* OddOrLong"),
        (lambda c: c.process(Matches()), "KeyedCoProcessFunction Matches needs both streams keyed"),
        (lambda c: c.process(Plain(), "INT"), "output_type must be a TypeInformation .* 'INT'"),
        (lambda c: c.key_by("f0", len), "key_selector .* got 'f0'"),
        (lambda c: c.stream1.connect(7), "needs a DataStream or a BroadcastStream, but got 7"),
    ],
)
def test_wrong_arguments_are_type_errors_that_say_what_was_given(operation, message):
    env = make_env()
    connected = env.from_collection([1]).connect(env.from_collection([2]))
    with pytest.raises(TypeError, match=message):
        operation(connected)


def test_the_key_types_of_both_streams_must_be_the_same():
    env = make_env()
    left = env.from_collection([1]).key_by(lambda v: v, Types.LONG())
    right = env.from_collection(["a"]).key_by(lambda v: v, Types.STRING())
    with pytest.raises(TypeError, match=r"must be the same, but they are .*Long.* and .*String"):
        left.connect(right).process(Matches())
