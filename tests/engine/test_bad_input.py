"""What users get wrong, and what they are told. The whole text is tested: it is what they read."""

from __future__ import annotations

import pytest

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream.connectors.file_system import FileSource, StreamFormat
from flintstream.datastream.functions import MapFunction, ProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import PlanError, UserCodeError


def failure_of(env, kind):
    """Execute, and return the exception with the explanation it was caused by."""
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
    assert where == "operator 'Collection Source', subtask 1 while processing {'x': 2}"


def test_a_key_that_does_not_fit_its_declared_type(make_env):
    env = make_env()
    env.from_collection([1]).key_by(lambda n: "one", key_type=Types.INT()).reduce(lambda a, b: a).print()
    message, where = failure_of(env, TypeError)
    assert "'one'" in message
    assert where == "operator 'Collection Source', subtask 1 while processing 1"


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
