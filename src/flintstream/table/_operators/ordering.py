"""The order of rows: several columns, each ascending or descending, None first or last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common.types import Row as PythonRow
from flintstream.table._expressions.codegen import Source, compile_source

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


def _code_of_key(columns: Sequence[Sorted]) -> Source:
    """Return the code of a flat key: for each column, whether it is None, and a value."""
    lines, names = [], dict[str, object](Descending=Descending)
    for i, column in enumerate(columns):
        value = f"v{i}"
        lines += [f"{value}, n{i} = r[{column.index}], 1", f"if {value} is None: {value}, n{i} = 0, "]
        lines[-1] += "0" if column.none_first else "2"
        if column.key is not None:
            names[f"key{i}"] = column.key
            lines += [f"else: {value} = key{i}({value})"]
        if column.descending:
            lines += [f"if {value}.__class__ is int: {value} = -{value}"]
            lines += [f"elif n{i} == 1: {value} = Descending({value})"]
    result = "".join(f"n{i}, v{i}, " for i in range(len(columns)))
    return Source("\n    ".join(["def run(r):", *lines, f"return ({result})"]), names, ())


class RowOrder:
    """Returns what to sort rows by.

    >>> order = RowOrder([Sorted(0, True, False), Sorted(1)])
    >>> sorted([(1, "b"), (None, "x"), (2, "c"), (1, None)], key=order)
    [(2, 'c'), (1, None), (1, 'b'), (None, 'x')]
    """

    def __init__(self, columns: Sequence[Sorted]) -> None:
        """Take the columns, the most significant one first."""
        self.columns = [(item.index, item.descending, item.none_first, item.key) for item in columns]
        """The same, for a loop that compares rows itself."""
        self._source = _code_of_key(columns)
        self._run: Callable[[Row], Row] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_run": None}

    def __call__(self, row: Row) -> Row:
        """Return a key of the row."""
        return self.code()(row)

    def code(self) -> Callable[[Row], Row]:
        """Return the compiled function, for loops that call it for each row."""
        if self._run is None:
            self._run = compile_source(self._source)
        return self._run
