"""A subscript gives the class itself: programs with and without subscripts are the same when they run."""

from __future__ import annotations

import copy
import inspect
import pickle
from abc import ABCMeta
from typing import Generic, TypeVar, get_type_hints

import cloudpickle
import pytest

import flintstream.datastream.functions as functions_module
import flintstream.datastream.state as state_module
import flintstream.datastream.window as window_module
from flintstream.common import (
    DeserializationSchema,
    SerializationSchema,
    TypeInformation,
    Types,
    WatermarkStrategy,
)
from flintstream.common._generic import Generic as OurGeneric
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import (
    AggregateFunction,
    DataStream,
    FilterFunction,
    KeyedProcessFunction,
    KeyedStream,
    MapFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from flintstream.datastream.functions import Function
from flintstream.datastream.state import ValueState, ValueStateDescriptor

T = TypeVar("T")

GENERIC = [
    member
    for module in (functions_module, state_module, window_module)
    for member in vars(module).values()
    if isinstance(member, type) and issubclass(member, OurGeneric)
]


@pytest.mark.parametrize("generic", [DataStream, KeyedStream, TypeInformation, WatermarkStrategy, OutputTag, *GENERIC])
def test_a_subscript_is_the_class(generic):
    assert generic[int] is generic
    assert generic[int, str] is generic


def test_many_classes_take_subscripts():
    assert len(GENERIC) > 40


def test_bases_are_those_of_a_program_without_subscripts():
    class Plain(MapFunction):
        def map(self, value):
            return value

    class Subscripted(MapFunction[int, int]):
        def map(self, value):
            return value

    assert Subscripted.__mro__[1:] == Plain.__mro__[1:]
    assert Subscripted.__bases__ == (MapFunction,)
    assert set(vars(Subscripted)) == set(vars(Plain))


def test_objects_have_no_other_attributes():
    assert vars(OutputTag[str]("late")) == vars(OutputTag("late"))
    assert pickle.dumps(ValueStateDescriptor[int]("n", Types.LONG())) == pickle.dumps(
        ValueStateDescriptor("n", Types.LONG())
    )


def test_classes_with_slots_keep_them():
    class Slim(ValueState[int]):
        __slots__ = ("kept",)

        def value(self):
            return self.kept

        def update(self, value):
            self.kept = value

        def clear(self):
            del self.kept

    assert not hasattr(Slim(), "__dict__")


def test_a_program_may_have_type_variables_of_its_own():
    class Mine(Generic[T], MapFunction):  # noqa: PYI059 - PyFlink accepts it
        def map(self, value: T) -> T:
            return value

    class Other(MapFunction[T, T], Generic[T]):
        def map(self, value: T) -> T:
            return value

    assert Mine[int]().map(1) == Other[int]().map(1) == 1


def test_functions_can_have_several_bases_and_a_metaclass():
    class Meta(ABCMeta):
        pass

    class Named:
        def __init__(self, name):
            super().__init__()
            self.name = name

    class Both(Named, MapFunction[int, int], FilterFunction[int], metaclass=Meta):
        def map(self, value):
            return value + 1

        def filter(self, value):
            return value > 0

    both = Both("b")
    assert isinstance(both, MapFunction)
    assert isinstance(both, FilterFunction)
    assert isinstance(both, Function)
    assert (both.name, both.map(1), both.filter(0)) == ("b", 2, False)


def test_what_is_abstract_stays_so():
    class Half(KeyedProcessFunction[str, int, int]):
        pass

    with pytest.raises(TypeError, match="process_element"):
        Half()  # type: ignore[abstract]


def test_classes_travel_by_value():
    class Mean(AggregateFunction[int, list[int], float]):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            return [*accumulator, value]

        def get_result(self, accumulator):
            return sum(accumulator) / len(accumulator)

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    mean = pickle.loads(cloudpickle.dumps(Mean()))
    assert isinstance(mean, AggregateFunction)
    assert mean.get_result(mean.add(3, mean.add(1, mean.create_accumulator()))) == 2


def test_classes_that_wrap_java_objects_take_subscripts():
    class Upper(SerializationSchema[str]):
        def serialize(self, element):
            return element.upper().encode()

    assert Upper().serialize("a") == b"A"
    assert DeserializationSchema[str] is DeserializationSchema


def test_annotations_can_be_evaluated():
    def step(stream: DataStream[int] | None, assigner: TimestampAssigner[int]) -> list[KeyedStream[str, int]]:
        raise NotImplementedError

    namespace = {"DataStream": DataStream, "KeyedStream": KeyedStream, "TimestampAssigner": TimestampAssigner}
    assert get_type_hints(step, namespace)["return"] == list[KeyedStream]


def test_types_are_copied_and_compared_as_before():
    assert copy.deepcopy(Types.LIST(Types.INT())) == Types.LIST(Types.INT())
    assert pickle.loads(pickle.dumps(Types.MAP(Types.INT(), Types.STRING()))) == Types.MAP(Types.INT(), Types.STRING())


def test_signatures_are_those_of_the_implementations():
    assert list(inspect.signature(DataStream.map).parameters) == ["self", "func", "output_type"]


def test_a_program_with_subscripts_runs():
    class Plus(MapFunction[int, int]):
        def map(self, value: int) -> int:
            return value + 1

    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    stream: DataStream[int] = env.from_collection([1, 2]).map(Plus())
    assert sorted(stream.execute_and_collect(limit=2)) == [2, 3]
