"""A source of numbers; mirrors ``pyflink.datastream.connectors.number_seq``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.typeinfo import Types
from flintstream.connectors.number_sequence import NumberReader, NumberSplit
from flintstream.connectors.source import Source, StaticEnumerator
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source[int]):
    """Emits the numbers from ``start`` to ``end``, inclusive, distributed to the subtasks.

    Each subtask emits its share in order. With parallelism 1 that is the whole sequence. The stream has the type
    ``Types.LONG()``.

    >>> from flintstream.connectors.source import Fetch
    >>> source = NumberSequenceSource(1, 5)
    >>> [list(source.create_reader().read(split, Fetch())) for split in source.create_enumerator(2).discover()]
    [[[1, 2, 3]], [[4, 5]]]

    Raises:
        TypeError: A bound is not an int.
        PlanError: ``start`` is larger than ``end``, or a bound has more than 64 bits.
    """

    def __init__(self, start: int, end: int) -> None:
        bounds: dict[str, object] = {"start": start, "end": end}
        for name, value in bounds.items():
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} of a NumberSequenceSource must be an int, got {value!r}")
            if not -(2**63) <= value < 2**63:
                raise PlanError(f"{name} of a NumberSequenceSource must be a 64-bit number, got {value}")
        if start > end:
            raise PlanError(f"a NumberSequenceSource must not end ({end}) before it starts ({start})")
        self._start = start
        self._end = end

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records.

        >>> NumberSequenceSource(1, 5).produced_type
        Long
        """
        return Types.LONG()

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator of one split per subtask, or fewer if there are fewer numbers."""
        share, more = divmod(self._end - self._start + 1, parallelism)
        splits: list[NumberSplit] = []
        first = self._start
        for index in range(parallelism):
            size = share + (index < more)
            if size:
                splits.append(NumberSplit(str(index), first, first + size - 1))
                first += size
        return StaticEnumerator(splits)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return NumberReader()
