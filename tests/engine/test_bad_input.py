"""Mistakes of users and their messages. The tests compare the whole text, since users read it."""

from __future__ import annotations

import sys

import pytest

from flintstream.common import Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream.connectors.file_system import FileSource, StreamFormat
from flintstream.datastream.functions import KeyedProcessFunction, MapFunction, ProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import PlanError, UserCodeError


def failure_of(env, kind):
    """Execute, and return the exception with the explanation that caused it."""
    with pytest.raises(kind) as failure:
        env.execute()
    assert isinstance(failure.value.__cause__, UserCodeError)
    return str(failure.value), str(failure.value.__cause__).splitlines()[0]


def test_a_result_that_does_not_fit_the_declared_type(make_env):
    env = make_env()
    env.from_collection([1]).map(lambda n: ("word", str(n)), Types.TUPLE([Types.STRING(), Types.INT()])).name(
        "pair"
    ).print()
    message, where = failure_of(env, TypeError)
    assert "(declared output type: Tuple<String, Integer>)" in message or "declared output type" in message
    assert where == "operator 'pair', subtask 1 while processing ('word', '1')"


def test_none_where_the_type_forbids_it(make_env):
    env = make_env()
    env.from_collection([1]).map(lambda n: None, Types.INT()).name("nothing").print()
    message, where = failure_of(env, TypeError)
    assert "None" in message
    assert where == "operator 'nothing', subtask 1 while processing None"


@pytest.mark.on_spark
def test_a_number_out_of_range(make_env):
    env = make_env()
    env.from_collection([1]).map(lambda n: 2**31, Types.INT()).name("too big").print()
    message, where = failure_of(env, OverflowError)
    assert "2147483648" in message
    assert where == "operator 'too big', subtask 1 while processing 2147483648"


def test_an_element_of_a_collection_that_does_not_fit_its_type(make_env):
    with pytest.raises(TypeError, match=r"from_collection\(\): element 1, 'two', does not fit"):
        make_env().from_collection([1, "two"], Types.INT())


def test_a_key_selector_that_raises(make_env):
    env = make_env()
    env.from_collection([{"k": 1}, {"x": 2}]).key_by(lambda record: record["k"]).reduce(lambda a, b: a).print()
    message, where = failure_of(env, KeyError)
    assert message.startswith("'k'")
    assert where == "operator 'Collection Source -> key_by', subtask 1 while processing {'x': 2}"


def test_a_key_that_does_not_fit_its_declared_type(make_env):
    env = make_env()
    env.from_collection([1]).key_by(lambda n: "one", key_type=Types.INT()).reduce(lambda a, b: a).print()
    message, where = failure_of(env, TypeError)
    assert "'one'" in message
    assert where == "operator 'Collection Source -> key_by', subtask 1 while processing 1"


def test_a_flat_map_that_returns_no_iterable(make_env):
    env = make_env()
    env.from_collection([7]).flat_map(lambda n: None).name("flat").print()
    message, where = failure_of(env, TypeError)
    assert "NoneType" in message
    assert where == "operator 'flat', subtask 1 while processing 7"


def test_a_long_record_is_shortened(make_env):
    env = make_env()
    env.from_collection(["x" * 10_000]).map(lambda text: text.missing).name("attribute").print()
    _, where = failure_of(env, AttributeError)
    assert len(where) < 200
    assert where.endswith("...")


@pytest.mark.on_spark
def test_an_error_in_open_names_the_operator(make_env):
    class Broken(MapFunction):
        def open(self, runtime_context):
            raise ConnectionError("no database")

        def map(self, value):
            return value

    env = make_env()
    env.from_collection([1]).map(Broken()).name("lookup").print()
    message, where = failure_of(env, ConnectionError)
    assert message == "no database"
    assert where == "operator 'lookup', subtask 1"


def test_keyed_state_on_a_stream_that_is_not_keyed(make_env):
    class Stateful(MapFunction):
        def open(self, runtime_context):
            self.state = runtime_context.get_state(ValueStateDescriptor("s", Types.INT()))

        def map(self, value):
            return value

    env = make_env()
    env.from_collection([1]).map(Stateful()).print()
    message, _ = failure_of(env, Exception)
    assert message.startswith("This state is only accessible by functions executed on a KeyedStream.")


def test_timers_on_a_stream_that_is_not_keyed(make_env):
    class Timed(ProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(1)

    env = make_env()
    env.from_collection([1]).process(Timed()).print()
    message, _ = failure_of(env, Exception)
    assert "timers is only supported on a keyed stream." in message


@pytest.mark.on_spark
def test_an_error_that_cannot_be_pickled_still_says_everything(make_env):
    class StubbornError(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")

    def fail(value):
        raise StubbornError("this", "that")

    env = make_env()
    env.from_collection([5]).map(fail).name("stubborn").print()
    with pytest.raises(Exception, match="this and that") as failure:
        env.execute()
    assert "operator 'stubborn', subtask 1 while processing 5" in str(failure.value.__cause__)


def test_a_function_that_is_none(make_env):
    with pytest.raises(TypeError, match=r"The input of map\(\) must be a MapFunction or a callable, but got None"):
        make_env().from_collection([1]).map(None)


def test_a_program_without_a_sink_or_operator(make_env):
    env = make_env()
    env.from_collection([1])
    with pytest.raises(PlanError, match=r"No operators defined in streaming topology\. Cannot execute\."):
        env.execute()


def test_a_file_that_does_not_exist(make_env, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "nowhere.txt")).build()
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        make_env().read_text_file(str(tmp_path / "nowhere.txt"))


def test_a_source_that_is_none(make_env):
    with pytest.raises(TypeError, match=r"from_source\(\) needs a Source, but got str"):
        make_env().from_source("file.txt", WatermarkStrategy.no_watermarks(), "source")


class Stamp(TimestampAssigner):
    def __init__(self, stamps):
        self.stamps = stamps

    def extract_timestamp(self, value, record_timestamp):
        return self.stamps[value]


def stamped(env, stamps):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(stamps))
    return env.from_collection(list(range(len(stamps))), Types.INT()).assign_timestamps_and_watermarks(strategy)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timestamp()


@pytest.mark.parametrize("bad", [None, "now"])
def test_a_timestamp_that_is_no_number(make_env, bad):
    env = make_env()
    stamped(env, [5, bad, 7]).map(lambda i: i).print()
    message, where = failure_of(env, TypeError)
    told = f"the result of a TimestampAssigner must be an integer in ms, but got {bad!r} of type"
    assert message.startswith(told)
    assert where == "operator 'Timestamps/Watermarks', subtask 1 while processing 1"


def test_a_timestamp_assigner_that_raises_a_type_error_names_its_record(make_env):
    env = make_env()
    stamped(env, [5, 6]).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(None))
    ).print()
    message, where = failure_of(env, TypeError)
    assert "not subscriptable" in message
    assert where == "operator 'Timestamps/Watermarks', subtask 1 while processing 0"


def test_a_timestamp_with_a_fraction_is_cut(make_env):
    env = make_env()
    assert stamped(env, [1.5, 2, 3.9]).process(Times()).execute_and_collect(limit=9) == [1, 2, 3]


class Timer(KeyedProcessFunction):
    def __init__(self, time):
        self.time = time

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(self.time)
        return []

    def on_timer(self, timestamp, ctx):
        yield timestamp


def test_a_timer_whose_time_is_no_number(make_env):
    env = make_env()
    env.from_collection(["a"]).key_by(lambda s: s).process(Timer("soon")).name("timed").print()
    message, where = failure_of(env, TypeError)
    assert message.startswith("the time of a timer must be an integer in ms, but got 'soon' of type str")
    assert where == "operator 'timed', subtask 1 while processing 'a'"


def test_the_time_of_a_timer_is_cut_to_whole_milliseconds(make_env):
    env = make_env()
    fired = env.from_collection(["a"]).key_by(lambda s: s).process(Timer(12.7))
    assert fired.execute_and_collect(limit=9) == [12]


def test_a_generator_that_is_to_be_sent_on(make_env):
    def parts(line):
        yield from line.split()

    env = make_env(2)
    env.from_collection(["a b"]).rebalance().map(parts).name("parts").rebalance().map(str).print()
    message, where = failure_of(env, TypeError)
    assert "use a function that yields with flat_map() or process()" in message
    assert where.startswith("operator 'parts', subtask ")


def test_what_is_refused_while_the_program_is_built(make_inline_env):
    env = make_inline_env()
    numbers = env.from_collection([1], Types.INT()).map(lambda i: i, Types.INT()).name("numbers")
    words = numbers.map(str, Types.STRING()).name("words")
    with pytest.raises(ValueError, match=r"different types: 'numbers' has .*, 'words' has .*Map one"):
        numbers.union(words)
    with pytest.raises(ValueError, match="uid hash of operator 'words' must have 32 hexadecimal digits, but got 'zz'"):
        words.set_uid_hash("zz")
    with pytest.raises(TypeError, match=r"slot_sharing_group\(\) of operator 'words' needs a name .* but got 42"):
        words.slot_sharing_group(42)
    with pytest.raises(ValueError, match="must be greater than 0, but got 0"):
        words.execute_and_collect(limit=0)
    with pytest.raises(TypeError, match=r"for_bounded_out_of_orderness\(\) needs a Duration.* but got 5"):
        WatermarkStrategy.for_bounded_out_of_orderness(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"with_idleness\(\) needs a Duration.* but got '1 s'"):
        WatermarkStrategy.for_monotonous_timestamps().with_idleness("1 s")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"window_all\(\) need a WindowAssigner.* but got 5"):
        numbers.window_all(5)


@pytest.mark.on_spark
def test_a_function_that_ends_the_process_fails_like_any_other(make_env):
    env = make_env()
    env.from_collection([1]).map(lambda _: sys.exit(3)).name("ends").print()
    message, where = failure_of(env, RuntimeError)
    assert message.startswith("the function called sys.exit(3)")
    assert "ends" in where


def test_streams_and_environments_are_no_part_of_functions(make_inline_env):
    env = make_inline_env()
    numbers = env.from_collection([1])
    with pytest.raises(TypeError, match=r"variable 'env' .*a StreamExecutionEnvironment cannot be used inside a"):
        numbers.map(lambda _: env.get_parallelism())
    with pytest.raises(TypeError, match=r"variable 'numbers' .*a DataStream cannot be used inside a function"):
        numbers.filter(lambda _: numbers)


def test_a_class_in_the_place_of_its_object(make_inline_env):
    class Same(MapFunction):
        def map(self, value):
            return value

    with pytest.raises(TypeError, match=r"must be an object: Same\(...\), but got the class itself"):
        make_inline_env().from_collection([1]).map(Same)


def test_names_are_texts(make_inline_env):
    stream = make_inline_env().from_collection([1]).map(lambda i: i)
    with pytest.raises(TypeError, match="The name of operator 'Map' must be a str, but got None"):
        stream.name(None)
    with pytest.raises(TypeError, match=r"print\(\) must be a str, but got 5"):
        stream.print(5)
