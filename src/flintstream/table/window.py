"""Windows of groups; mirrors ``pyflink.table.window``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import syntax_of

if TYPE_CHECKING:
    from flintstream.table.expression import Expression

__all__ = [
    "GroupWindow",
    "Over",
    "OverWindow",
    "OverWindowPartitioned",
    "OverWindowPartitionedOrdered",
    "OverWindowPartitionedOrderedPreceding",
    "Session",
    "SessionWithGap",
    "SessionWithGapOnTime",
    "Slide",
    "SlideWithSize",
    "SlideWithSizeAndSlide",
    "SlideWithSizeAndSlideOnTime",
    "Tumble",
    "TumbleWithSize",
    "TumbleWithSizeOnTime",
]


@dataclass(frozen=True)
class GroupWindow:
    """A window with a name: ``Table.window()`` takes it.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Tumble
    >>> window = Tumble.over(lit(10).minutes).on(col("time")).alias("w")
    >>> isinstance(window, GroupWindow)
    True
    """

    _kind: str
    _sizes: tuple[Expression, ...]
    """As SQL writes them: of HOP the slide, then the size."""
    _time: Expression
    _name: str

    def _call(self) -> s.Apply:
        """Return the window as SQL has it in GROUP BY."""
        time = syntax_of(self._time)
        if not isinstance(time, s.Name):
            raise SqlError(f"the window '{self._name}' needs a time attribute in on(), but got {self._time!r}")
        return s.Apply(None, self._kind, (time, *(syntax_of(size) for size in self._sizes)))


@dataclass(frozen=True)
class _OnTime:
    _kind: str
    _sizes: tuple[Expression, ...]
    _time: Expression

    def alias(self, alias: str) -> GroupWindow:
        """Give the window a name, by which ``group_by()`` and ``select()`` refer to it."""
        return GroupWindow(self._kind, self._sizes, self._time, alias)


class TumbleWithSizeOnTime(_OnTime):
    """A tumbling window that needs a name.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Tumble
    >>> type(Tumble.over(lit(10).minutes).on(col("time")).alias("w")).__name__
    'GroupWindow'
    """


class SlideWithSizeAndSlideOnTime(_OnTime):
    """A sliding window that needs a name.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Slide
    >>> type(Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("time")).alias("w")).__name__
    'GroupWindow'
    """


class SessionWithGapOnTime(_OnTime):
    """A session window that needs a name.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Session
    >>> type(Session.with_gap(lit(10).minutes).on(col("time")).alias("w")).__name__
    'GroupWindow'
    """


@dataclass(frozen=True)
class TumbleWithSize:
    """A tumbling window that needs a time attribute.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Tumble
    >>> type(Tumble.over(lit(10).minutes).on(col("time"))).__name__
    'TumbleWithSizeOnTime'
    """

    _size: Expression

    def on(self, time_field: Expression) -> TumbleWithSizeOnTime:
        """Set the time attribute."""
        return TumbleWithSizeOnTime("TUMBLE", (self._size,), time_field)


class Tumble:
    """Windows of a fixed size, one after the other.

    >>> from flintstream.table.expressions import col, lit
    >>> window = Tumble.over(lit(10).minutes).on(col("ts")).alias("w")
    """

    @classmethod
    def over(cls, size: Expression) -> TumbleWithSize:
        """Set the size: a time such as ``lit(10).minutes``, or a number of rows such as ``lit(10).rows``."""
        return TumbleWithSize(size)


@dataclass(frozen=True)
class SlideWithSizeAndSlide:
    """A sliding window that needs a time attribute.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Slide
    >>> type(Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("time"))).__name__
    'SlideWithSizeAndSlideOnTime'
    """

    _size: Expression
    _slide: Expression

    def on(self, time_field: Expression) -> SlideWithSizeAndSlideOnTime:
        """Set the time attribute."""
        return SlideWithSizeAndSlideOnTime("HOP", (self._slide, self._size), time_field)


@dataclass(frozen=True)
class SlideWithSize:
    """A sliding window that needs its slide.

    >>> from flintstream.table.expressions import lit
    >>> from flintstream.table.window import Slide
    >>> type(Slide.over(lit(10).minutes).every(lit(5).minutes)).__name__
    'SlideWithSizeAndSlide'
    """

    _size: Expression

    def every(self, slide: Expression) -> SlideWithSizeAndSlide:
        """Set how far apart windows begin."""
        return SlideWithSizeAndSlide(self._size, slide)


class Slide:
    """Windows of a fixed size that overlap.

    >>> from flintstream.table.expressions import col, lit
    >>> type(Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("time")).alias("w")).__name__
    'GroupWindow'
    """

    @classmethod
    def over(cls, size: Expression) -> SlideWithSize:
        """Set the size: a time or a number of rows."""
        return SlideWithSize(size)


@dataclass(frozen=True)
class SessionWithGap:
    """A session window that needs a time attribute.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Session
    >>> type(Session.with_gap(lit(10).minutes).on(col("time"))).__name__
    'SessionWithGapOnTime'
    """

    _gap: Expression

    def on(self, time_field: Expression) -> SessionWithGapOnTime:
        """Set the time attribute."""
        return SessionWithGapOnTime("SESSION", (self._gap,), time_field)


class Session:
    """Windows that end after a time without rows.

    >>> from flintstream.table.expressions import col, lit
    >>> type(Session.with_gap(lit(10).minutes).on(col("time")).alias("w")).__name__
    'GroupWindow'
    """

    @classmethod
    def with_gap(cls, gap: Expression) -> SessionWithGap:
        """Set the time without rows."""
        return SessionWithGap(gap)


# -- windows over the rows around each row -----------------------------------------------------------------------------


@dataclass(frozen=True)
class OverWindow:
    """The rows around each row, with a name: ``Table.over_window()`` takes it.

    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.window import Over
    >>> isinstance(Over.order_by(col("time")).alias("w"), OverWindow)
    True
    """

    _partition: tuple[Expression, ...]
    _order: Expression
    _preceding: Expression | None
    _following: Expression | None
    _name: str


@dataclass(frozen=True)
class _Ordered:
    _partition: tuple[Expression, ...]
    _order: Expression
    _preceding: Expression | None = None
    _following: Expression | None = None

    def alias(self, alias: str) -> OverWindow:
        """Give the window a name, by which ``over()`` refers to it."""
        return OverWindow(self._partition, self._order, self._preceding, self._following, alias)


class OverWindowPartitionedOrderedPreceding(_Ordered):
    """The rows before each row, which need a name.

    >>> from flintstream.table.expressions import CURRENT_ROW, col, lit
    >>> from flintstream.table.window import Over
    >>> last = Over.partition_by(col("name")).order_by(col("time")).preceding(lit(5).rows).following(CURRENT_ROW)
    >>> type(last.alias("w")).__name__
    'OverWindow'
    """

    def following(self, following: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Set the end: ``CURRENT_ROW`` or ``CURRENT_RANGE``."""
        return OverWindowPartitionedOrderedPreceding(self._partition, self._order, self._preceding, following)


class OverWindowPartitionedOrdered(_Ordered):
    """An order of rows, which needs a name; all rows up to the current one count.

    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Over
    >>> ordered = Over.partition_by(col("name")).order_by(col("time"))
    >>> type(ordered.alias("w")).__name__, type(ordered.preceding(lit(10).minutes)).__name__
    ('OverWindow', 'OverWindowPartitionedOrderedPreceding')
    """

    def preceding(self, preceding: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Set the begin: a time such as ``lit(5).minutes``, rows such as ``lit(5).rows``, or ``UNBOUNDED_RANGE``."""
        return OverWindowPartitionedOrderedPreceding(self._partition, self._order, preceding)


@dataclass(frozen=True)
class OverWindowPartitioned:
    """Rows with equal keys, which need an order.

    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.window import Over
    >>> type(Over.partition_by(col("name")).order_by(col("time"))).__name__
    'OverWindowPartitionedOrdered'
    """

    _partition: tuple[Expression, ...]

    def order_by(self, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Set the order, which is a time attribute."""
        return OverWindowPartitionedOrdered(self._partition, order_by)


class Over:
    """The rows around each row.

    >>> from flintstream.table.expressions import UNBOUNDED_ROW, col
    >>> window = Over.partition_by(col("k")).order_by(col("ts")).preceding(UNBOUNDED_ROW).alias("w")
    """

    @classmethod
    def order_by(cls, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Set the order, which is a time attribute; all rows are in one partition."""
        return OverWindowPartitionedOrdered((), order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression) -> OverWindowPartitioned:
        """Set the keys: only rows with equal ones are seen together."""
        return OverWindowPartitioned(partition_by)
