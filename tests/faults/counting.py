"""Count numbers by key, and check in the output that each counted once, in any order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flintstream.common import Types
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor

if TYPE_CHECKING:
    from collections.abc import Iterable


class Count(KeyedProcessFunction):
    """Emit each number with the count of its key so far."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        seen = (self.seen.value() or 0) + 1
        self.seen.update(seen)
        yield f"{value} {seen}"


def counted(lines: Iterable[str]) -> list[tuple[int, int]]:
    """Return the numbers and counts in lines."""
    return [(int(number), int(seen)) for number, seen in map(str.split, lines)]


def check(found: list[tuple[int, int]], records: int, keys: int) -> None:
    """Check that the numbers below ``records``, with their remainders as keys, appear once, and were counted once.

    Raises:
        AssertionError: They are not.
    """
    numbers = Counter(number for number, _ in found)
    counts = Counter((number % keys, seen) for number, seen in found)
    wrong = [number for number in range(records) if numbers[number] != 1]
    miscounted = [(key, n) for key in range(keys) for n in range(1, records // keys + 1) if counts[key, n] != 1]
    if wrong or miscounted or len(found) != records:
        raise AssertionError(f"{len(found)} records, not once: {wrong[:5]}, counts not once: {miscounted[:5]}")
