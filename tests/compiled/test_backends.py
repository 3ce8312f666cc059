"""Backends of users may extend the built-in ones: the compiled code asks their class for the current key."""

from __future__ import annotations

from typing import Any

import pytest
from tests.compiled.scenarios import Driven

from flintstream.common import Types
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from flintstream.runtime.operators.adapters import PlainFunction
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.operators.reduce import ReduceOperator
from flintstream.state.hash_map import HashMapStateBackend


class WithProperty(HashMapStateBackend):
    """Has a property in the place of the attribute."""

    asked: tuple[Any, ...] = ()

    @property
    def key(self):
        return self.asked[-1]

    @key.setter
    def key(self, value):
        self.asked = (*self.asked, value)


class WithHook(HashMapStateBackend):
    """Sees each attribute that is set."""

    asked: tuple[Any, ...] = ()

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "key":
            self.asked = (*self.asked, value)


class Counting(KeyedProcessFunction):
    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", max, Types.INT()))

    def process_element(self, value, ctx):
        self.value.update((self.value.value() or 0) + 1)
        self.map.put("last", value[1])
        self.total.add(value[1])
        yield ctx.get_current_key(), self.value.value(), self.map.get("last"), self.total.get()


@pytest.mark.parametrize("kind", [WithProperty, WithHook])
def test_a_backend_that_sees_each_key(kind):
    driven = Driven(KeyedProcessOperator(Counting(), lambda record: record[0]), state=kind())
    driven.operator.process([("a", 1), ("b", 2), ("a", 0)], None)
    assert driven.sink.log == [([("a", 1, 1, 1), ("b", 1, 2, 2), ("a", 2, 0, 1)], None)]
    assert driven.state.asked[1:] == ("a", "b", "a")


@pytest.mark.parametrize("kind", [WithProperty, WithHook])
def test_a_rolling_reduce_with_such_a_backend(kind):
    driven = Driven(ReduceOperator(PlainFunction("reduce", max), lambda record: record[0]), state=kind())
    driven.operator.process([("a", 1), ("b", 2), ("a", 0)], None)
    assert driven.sink.log == [([("a", 1), ("b", 2), ("a", 1)], None)]
    assert driven.state.asked[1:] == ("a", "b", "a")
