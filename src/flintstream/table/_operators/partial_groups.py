"""Groups within a block, before its rows go to the subtasks of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.operators.base import Operator
from flintstream.table._expressions.aggregation.blocks import totals
from flintstream.table._operators.rows import key_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table._expressions.aggregation.code import Aggregation
    from flintstream.table._operators.rows import Row

DENSE = 0.25
"""The share of groups among the rows of a block up to which combining pays."""
SKIPPED = 15
"""How many blocks stay as they are after one that has more groups."""


class PartialGroups(Operator):
    """Combines the rows of each group of a block, so that a key with many rows costs its subtask one for each block.

    Results are rows as they are or, where combining pays, (key..., state of the group). No element of a row may be a
    list, which is what states are.
    """

    groups_records = True

    def __init__(self, aggregation: Aggregation, keys: int, key: Callable[[Row], object]) -> None:
        """Take the code, the number of columns that are the key, and the key of a row."""
        self.aggregation, self.keys, self.key = aggregation, keys, key
        self._skip = 0

    def open(self) -> None:
        """Compile the code."""
        code = self.aggregation.compile_code(totals(self.aggregation, changelog=False))
        self._start, self._total = code["start"], code["total"]

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {name: value for name, value in self.__dict__.items() if name not in {"_start", "_total"}}

    def process(self, values: list[Row], timestamps: list[int] | None) -> None:
        """Process a block."""
        results = self._combine(values)
        self.output.emit(results, None if timestamps is None else [max(timestamps)] * len(results))

    def _combine(self, values: list[Row]) -> list[Row]:
        if self._skip:
            self._skip -= 1
            return values
        groups: dict[object, list[Row]] = {}
        key, count = self.key, self.keys
        for row in values:
            groups.setdefault(key(row), []).append(row)
        if count and len(groups) > DENSE * len(values):
            self._skip = SKIPPED
            return values
        results: list[Row] = []
        for name, rows in groups.items():
            group = self._start()
            self._total(rows, group)
            results.append((*key_columns(name, count), group))
        return results
