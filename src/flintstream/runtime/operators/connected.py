"""Operators on two connected streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.operators.adapters import Delegating
from flintstream.runtime.operators.functions import ProcessOperator
from flintstream.runtime.operators.keyed import KeyedProcessOperator, frozen_selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flintstream.runtime.operators.base import OperatorContext, Output


class CoMap(Delegating):
    """A ``CoMapFunction`` with the interface of a co-process function. Unlike in ``map``, None means no result."""

    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Map a record of the first stream."""
        result = self.function.map1(value)
        return None if result is None else (result,)

    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Map a record of the second stream."""
        result = self.function.map2(value)
        return None if result is None else (result,)


class CoFlatMap(Delegating):
    """A ``CoFlatMapFunction`` with the interface of a co-process function."""

    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Flat-map a record of the first stream."""
        return self.function.flat_map1(value)  # type: ignore[no-any-return]

    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Flat-map a record of the second stream."""
        return self.function.flat_map2(value)  # type: ignore[no-any-return]


class CoProcess(Delegating):
    """A ``CoProcessFunction`` on two keyed streams, with an ``on_timer``."""

    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Process a record of the first stream."""
        return self.function.process_element1(value, ctx)  # type: ignore[no-any-return]

    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Process a record of the second stream."""
        return self.function.process_element2(value, ctx)  # type: ignore[no-any-return]


class CoProcessOperator(ProcessOperator):
    """``map``, ``flat_map`` and ``process`` on two connected streams that are not both keyed."""

    alternates = True

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the first stream."""
        self.call_each(self.function.process_element1, self.ctx, values, timestamps)

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the second stream."""
        self.call_each(self.function.process_element2, self.ctx, values, timestamps)


class KeyedCoProcessOperator(KeyedProcessOperator):
    """``map``, ``flat_map`` and ``process`` on two connected keyed streams, which share a key's state and timers."""

    def __init__(self, function: Any, selector1: Callable[[Any], Any], selector2: Callable[[Any], Any]) -> None:
        """Take the user's function and the key selector of each stream."""
        super().__init__(function, selector1)
        self.selector2 = selector2

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Start with keys that are not frozen."""
        super().setup(context, output, side_outputs)
        self.key2 = self.selector2

    def freeze_keys(self) -> None:
        """Freeze the keys of both streams from now on."""
        super().freeze_keys()
        self.key2 = frozen_selector(self.selector2)

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the first stream."""
        self.call_each_keyed(self.function.process_element1, self.key, values, timestamps)

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block of the second stream."""
        self.call_each_keyed(self.function.process_element2, self.key2, values, timestamps)
