"""An object with the methods of a window function is one, as in PyFlink."""

from __future__ import annotations

import pytest
from tests.datastream.inline import by_second_field, collect, make_env

from flintstream.common import Time, Types
from flintstream.datastream.functions import AllWindowFunction, ProcessWindowFunction, WindowFunction
from flintstream.datastream.window import GlobalWindows, TumblingEventTimeWindows

RECORDS = [("a", 1), ("b", 2), ("a", 3)]


class Processing(WindowFunction):
    """A program of a tutorial has this: the base class of apply(), and the method of process()."""

    def apply(self, key, window, inputs):
        raise AssertionError("process() calls the method process")

    def process(self, key, context, elements):
        yield key, context.window().start, len(list(elements))


class Applying(ProcessWindowFunction):
    def process(self, key, context, elements):
        raise AssertionError("apply() calls the method apply")

    def apply(self, key, window, inputs):
        yield key, window.start, len(list(inputs))


class WithoutBase:
    def __init__(self):
        self.opened = False

    def open(self, runtime_context):
        self.opened = True

    def close(self):
        pass

    def process(self, context, elements):
        assert self.opened
        yield len(list(elements))


def windows(mode):
    return by_second_field(make_env(mode), RECORDS).key_by(lambda r: r[0]).window(seconds())


def seconds():
    return TumblingEventTimeWindows.of(Time.seconds(1))


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_window_function_of_another_kind_is_called_by_the_operation(mode):
    expected = [("a", 0, 2), ("b", 0, 1)]
    assert sorted(collect(windows(mode).process(Processing()))) == expected
    assert sorted(collect(windows(mode).apply(Applying()))) == expected


def test_an_object_with_the_methods_is_a_window_function():
    stream = by_second_field(make_env(), RECORDS).window_all(seconds())
    assert collect(stream.process(WithoutBase(), Types.INT())) == [3]


class Nothing(WindowFunction):
    def apply(self, key, window, inputs):
        raise AssertionError("process() does not call apply()")


def test_a_window_function_without_the_method_matters_when_a_window_fires():
    stream = by_second_field(make_env(), RECORDS)
    with pytest.warns(UserWarning, match=r"process\(\) needs a ProcessAllWindowFunction, but got Nothing"):
        never = stream.window_all(GlobalWindows.create()).process(Nothing(), Types.INT())
    assert collect(never) == []
    with pytest.warns(UserWarning, match="has no method process"):
        fires = stream.window_all(seconds()).process(Nothing(), Types.INT())
    with pytest.raises(TypeError, match=r"calls a method process\(\), which Nothing does not have"):
        collect(fires)


@pytest.mark.parametrize("wrong", [AllWindowFunction, object(), lambda key, context, elements: [], Processing])
def test_what_lacks_the_methods_is_refused_when_the_program_is_built(wrong):
    with pytest.raises(TypeError, match=r"process\(\) needs a ProcessWindowFunction, but got"):
        windows("STREAMING").process(wrong)
