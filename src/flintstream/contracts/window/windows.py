"""The kinds of windows, and their serializers."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.common.constants import MAX_LONG_VALUE
from flintstream.common.serializer import TypeSerializer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import BytesIO

    from typing_extensions import Self

    from flintstream.contracts.window.base import MergingWindowAssigner


class Window(ABC):
    """A finite group of the records of one key. Windows are hashable and compare by content.

    >>> from flintstream.datastream.window import CountWindow, TimeWindow
    >>> TimeWindow(0, 10).max_timestamp(), CountWindow(3).max_timestamp() == 2**63 - 1
    (9, True)
    >>> len({TimeWindow(0, 10), TimeWindow(0, 10), TimeWindow(10, 20)})
    2
    """

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the last timestamp (ms) that belongs to the window."""


class TimeWindow(tuple[int, int], Window):
    """The span of time from ``start`` (inclusive) to ``end`` (exclusive), in ms. Immutable and ordered.

    >>> TimeWindow(0, 10).max_timestamp()
    9
    """

    # A tuple, because windows are parts of state keys: every record hashes one, and a tuple runs no Python code for it.
    __slots__ = ()

    def __new__(cls, start: int, end: int) -> Self:
        """Make the window from ``start`` to ``end``, both in ms."""
        return super().__new__(cls, (start, end))

    start = property(itemgetter(0), doc="The first timestamp (ms) that belongs to the window.")
    end = property(itemgetter(1), doc="The first timestamp (ms) after the window.")

    def max_timestamp(self) -> int:
        """Return the last timestamp (ms) that belongs to the window."""
        return self[1] - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Tell whether the windows overlap or touch.

        >>> TimeWindow(0, 5).intersects(TimeWindow(5, 10))
        True
        """
        return self[0] <= other[1] and other[0] <= self[1]

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that contains both windows.

        >>> TimeWindow(0, 5).cover(TimeWindow(8, 10))
        TimeWindow(start=0, end=10)
        """
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return the start (ms) of the tumbling window of a timestamp, which may be negative.

        >>> TimeWindow.get_window_start_with_offset(-1, 0, 10)
        -10
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Call ``callback`` with each group of windows that overlap or touch, and the window that covers them.

        >>> from flintstream.datastream.window import MergingWindowAssigner
        >>> class Shown(MergingWindowAssigner.MergeCallback):
        ...     def merge(self, to_be_merged, merge_result):
        ...         print(sorted(to_be_merged), "become", merge_result)
        >>> TimeWindow.merge_windows([TimeWindow(3, 9), TimeWindow(20, 25), TimeWindow(0, 5)], Shown())
        [TimeWindow(start=0, end=5), TimeWindow(start=3, end=9)] become TimeWindow(start=0, end=9)
        """
        group: set[TimeWindow] = set()
        covering: TimeWindow | None = None
        for window in sorted(windows):
            if covering is not None and covering.intersects(window):
                covering = covering.cover(window)
                group.add(window)
                continue
            if covering is not None and len(group) > 1:
                callback.merge(group, covering)
            covering, group = window, {window}
        if covering is not None and len(group) > 1:
            callback.merge(group, covering)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __copied__(self) -> TimeWindow:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, (self.start, self.end)

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(tuple[int], Window):
    """A numbered group of records, without a time.

    >>> CountWindow(3).id
    3
    """

    __slots__ = ()  # a tuple for the same reason as TimeWindow

    def __new__(cls, id: int) -> Self:
        """Make the window with the number ``id``."""
        return super().__new__(cls, (id,))

    id = property(itemgetter(0), doc="The number of the window.")

    def max_timestamp(self) -> int:
        """Return ``Long.MAX_VALUE``: time never ends the window."""
        return MAX_LONG_VALUE

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __copied__(self) -> CountWindow:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, (self.id,)

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The single window of all records of a key.

    >>> GlobalWindow.get() == GlobalWindow.get()
    True
    """

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """Return the window."""
        return _GLOBAL_WINDOW

    def max_timestamp(self) -> int:
        """Return ``Long.MAX_VALUE``: time never ends the window."""
        return MAX_LONG_VALUE

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


_GLOBAL_WINDOW = GlobalWindow()


def _read_bounds(stream: BytesIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError(f"a window takes {size} bytes, but only {len(data)} are left")
    return data


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """A serializer that writes start and end as big-endian 64-bit numbers.

    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> TimeWindowSerializer().serialize(TimeWindow(0, 10), stream)
    >>> stream.getvalue().hex(" ", 8)
    '0000000000000000 000000000000000a'
    >>> TimeWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    TimeWindow(start=0, end=10)
    """

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        """Write a window."""
        stream.write(struct.pack(">qq", element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        """Read a window."""
        return TimeWindow(*struct.unpack(">qq", _read_bounds(stream, 16)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """A serializer that writes the id as a big-endian 64-bit number.

    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> CountWindowSerializer().serialize(CountWindow(258), stream)
    >>> stream.getvalue().hex()
    '0000000000000102'
    >>> CountWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    CountWindow(id=258)
    """

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        """Write a window."""
        stream.write(struct.pack(">q", element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        """Read a window."""
        return CountWindow(*struct.unpack(">q", _read_bounds(stream, 8)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """A serializer that writes one zero byte, because there is only one global window.

    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> GlobalWindowSerializer().serialize(GlobalWindow.get(), stream)
    >>> stream.getvalue().hex()
    '00'
    >>> GlobalWindowSerializer().deserialize(BytesIO(stream.getvalue()))
    GlobalWindow
    """

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        """Write the window."""
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        """Read the window."""
        _read_bounds(stream, 1)
        return GlobalWindow.get()
