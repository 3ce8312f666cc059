"""Adapters from what users pass to the API (callables, function objects, field positions) to what operators call."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from flintstream.common.types import _make_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.common.types import Row
    from flintstream.contracts.functions.process import KeyedProcessFunction


class PlainFunction:
    """A plain callable with the interface of a function object."""

    def __init__(self, method: str, call: Callable[..., Any]) -> None:
        """Make ``call`` the method named ``method``."""
        setattr(self, method, call)

    def open(self, runtime_context: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class Delegating:
    """Base of wrappers that open and close the user's function."""

    def __init__(self, function: Any) -> None:
        """Wrap ``function``."""
        self.function = function

    def open(self, runtime_context: Any) -> None:
        """Open the user's function."""
        self.function.open(runtime_context)

    def close(self) -> None:
        """Close the user's function."""
        self.function.close()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Do nothing: these functions cannot register timers."""


class KeyedMap(Delegating):
    """``map`` on a keyed stream: the function may use keyed state."""

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        """Map one record."""
        return (self.function.map(value),)


class KeyedFlatMap(Delegating):
    """``flat_map`` on a keyed stream: the function may use keyed state."""

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        """Flat-map one record."""
        return self.function.flat_map(value)  # type: ignore[no-any-return]


class KeyedFilter(Delegating):
    """``filter`` on a keyed stream: the function may use keyed state."""

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Keep or drop one record."""
        return (value,) if self.function.filter(value) else None


class RowWithKey:
    """Emits ``Row(f0=key, f1=value)``, which PyFlink's keyed streams hand to sinks and to operators without keys."""

    def open(self, runtime_context: object) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def on_timer(self, timestamp: int, ctx: object) -> None:
        """Do nothing: there are no timers."""

    def process_element(self, value: object, ctx: KeyedProcessFunction.Context) -> Iterable[Row]:
        """Add the key to a record."""
        return (_make_row(("f0", "f1"), [ctx.get_current_key(), value]),)


class Aggregation(enum.Enum):
    """The built-in rolling aggregations of a keyed stream."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MIN_BY = "min_by"
    MAX_BY = "max_by"


class FieldAggregation:
    """A reduce function for one field, or for whole records of a basic type (position 0)."""

    def __init__(self, aggregation: Aggregation, position: int | str) -> None:
        """Aggregate the field at ``position`` (a number, or the name of a row's field)."""
        self.aggregation = aggregation
        self.position = position

    def open(self, runtime_context: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _field(self, record: Any) -> Any:
        if isinstance(record, (tuple, list)) or hasattr(record, "_fields") or hasattr(record, "get_row_kind"):
            return record[self.position]
        if self.position == 0:
            return record
        raise TypeError(
            f"{self.aggregation.value}({self.position!r}) needs a record with fields (tuple, list or Row), "
            f"but got {type(record).__name__}: use position 0 for a basic type",
        )

    def _with_field(self, record: Any, value: Any) -> Any:
        if isinstance(record, tuple):
            items = list(record)
            items[int(self.position)] = value
            return tuple(items)
        if isinstance(record, list):
            items = list(record)
            items[int(self.position)] = value
            return items
        if hasattr(record, "get_row_kind"):
            import copy

            row = copy.deepcopy(record)
            row[self.position] = value
            return row
        return value

    def reduce(self, current: Any, record: Any) -> Any:
        """Combine the running record with the next one. On a tie, keep the first."""
        old, new = self._field(current), self._field(record)
        aggregation = self.aggregation
        if aggregation is Aggregation.SUM:
            return self._with_field(current, old + new)
        if aggregation is Aggregation.MIN:
            return self._with_field(current, new) if new < old else current
        if aggregation is Aggregation.MAX:
            return self._with_field(current, new) if new > old else current
        if aggregation is Aggregation.MIN_BY:
            return record if new < old else current
        return record if new > old else current
