"""The order of rows: several columns, each ascending or descending, None first or last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common.types import Row as PythonRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._operators.rows import Row


class Descending:
    """A value in the reverse order."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Return whether the values are equal."""
        return isinstance(other, Descending) and bool(self.value == other.value)

    def __lt__(self, other: Descending) -> bool:
        """Return whether the other value is less."""
        return bool(other.value < self.value)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Sorted:
    """A column that rows are sorted by. None comes first if ascending unless the statement says otherwise."""

    index: int
    descending: bool = False
    none_first: bool = True
    key: Callable[[object], object] | None = None
    """What values are compared by, if not by themselves."""


def key_of_parts(value: object) -> object:
    """Return what a ROW or an ARRAY is compared by: its parts from left to right, None first.

    >>> key_of_parts([None, [2]])
    ((0, 0), (1, ((1, 2),)))
    """
    if not isinstance(value, (list, PythonRow)):
        return value
    return tuple((0, 0) if part is None else (1, key_of_parts(part)) for part in value)


class RowOrder:
    """Returns what to sort rows by.

    >>> order = RowOrder([Sorted(0, True, False), Sorted(1)])
    >>> sorted([(1, "b"), (None, "x"), (2, "c"), (1, None)], key=order)
    [(2, 'c'), (1, None), (1, 'b'), (None, 'x')]
    """

    def __init__(self, columns: Sequence[Sorted]) -> None:
        """Take the columns, the most significant one first."""
        self.columns = tuple(
            (column.index, column.descending, 0 if column.none_first else 2, column.key) for column in columns
        )

    def __call__(self, row: Row) -> Row:
        """Return a key of the row."""
        found: list[tuple[int, object]] = []
        for index, descending, none, key in self.columns:
            value = row[index]
            if value is None:
                found.append((none, 0))
            else:
                if key is not None:
                    value = key(value)
                found.append((1, Descending(value) if descending else value))
        return tuple(found)
