"""What a connector of tables provides, and what it gets to know about a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar

from flintstream.table.changelog_mode import ChangelogMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.sink import Sink
    from flintstream.connectors.source import Source
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._operators.lookups import Lookup

INSERTIONS, UPSERTS, CHANGES = ChangelogMode.insert_only(), ChangelogMode.upsert(), ChangelogMode.all()


class Records(Enum):
    """What a record of a source or sink is.

    >>> [form.name for form in Records]
    ['TUPLES', 'ROWS', 'LISTS', 'TEXTS', 'ANY']
    """

    TUPLES = auto()
    """A tuple of the columns. Unless there are insertions only, the kind of change follows: 0 for an insertion, 1 and 2
    for a row before and after an update, 3 for a deletion. A ``TIMESTAMP_LTZ`` is a ``datetime`` in UTC without a zone.
    """
    ROWS = auto()
    """A ``Row`` of the columns, with its kind. A ``TIMESTAMP_LTZ`` is an ``Instant``."""
    LISTS = auto()
    """Of a source: any number of tuples together, in a tuple."""
    TEXTS = auto()
    """Of a sink: the row as Java shows it."""
    ANY = auto()
    """Of a sink: anything, as the sink does not look at it."""


@dataclass(frozen=True)
class ConnectorTable:
    """A table as its connector sees it: the columns that are read or written, and what the program declares.

    >>> from flintstream.table import DataTypes
    >>> from flintstream.table._expressions.expr import Column
    >>> from flintstream.table.connectors import Options
    >>> options = Options("prices", {"connector": "shop"})
    >>> table = ConnectorTable("prices", [Column("item", DataTypes.STRING())], options, primary_key=["item"])
    >>> table.names, [str(kind) for kind in table.types]
    (['item'], ['VARCHAR'])
    """

    name: str
    columns: Sequence[Column]
    """Those that the connector reads or writes, not computed ones. Each has a ``name`` and a ``type``."""
    options: Options
    """The options of ``WITH``. One that the connector does not read is refused as unknown."""
    primary_key: Sequence[str] = ()
    partitions: Sequence[str] = ()
    """The columns of ``PARTITIONED BY``."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """The keys of metadata columns, by column."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def types(self) -> list[DataType]:
        """The types of the columns."""
        return [column.type for column in self.columns]


@dataclass(frozen=True)
class TableSource:
    """How a table is read. What is left out, the connector does not do.

    >>> from flintstream.connectors.collection import CollectionSource
    >>> TableSource(CollectionSource([("tea", 3)])).changes == INSERTIONS
    True
    """

    source: Source | None
    """Reads all rows; None for a table that only a lookup join can read."""
    records: Records = Records.TUPLES
    changes: ChangelogMode = INSERTIONS
    """The kinds of changes that records have. Of ``UPSERTS``, the primary key finds the rows that they replace."""
    with_columns: Callable[[frozenset[str]], Source] | None = None
    """Returns the source for a query that reads only some columns, by name; the others may be None in its records."""
    with_condition: Callable[[Expr], TableSource | None] | None = None
    """Returns how to read fewer rows: those for which a condition on the columns does not hold may be left out, as it
    is checked again. None if the connector cannot leave out any.
    """
    check: Callable[[], None] | None = None
    """Raises an error if there is nothing to read; called when a query that reads the table starts."""
    lookup: Callable[[Sequence[int]], Lookup] | None = None
    """Returns what finds rows by the columns at some positions."""
    batches: Callable[[Sequence[str], int], Source] | None = None
    """Returns the source of some columns as batches of Arrow, of up to a number of rows; in the types of the table."""


@dataclass(frozen=True)
class TableSink:
    """How a table is written.

    >>> from flintstream.testing import CollectSink
    >>> TableSink(CollectSink(), changes=UPSERTS).records
    <Records.TUPLES: 1>
    """

    sink: Sink
    records: Records = Records.TUPLES
    changes: ChangelogMode = INSERTIONS
    """The kinds of changes that the sink takes. With ``UPSERTS``, it gets the changes of a primary key in their order,
    without the rows that are replaced.
    """
    parallelism: int | None = None
    """The number of subtasks; None for that of the query."""
    overwriting: Callable[[], Sink] | None = None
    """Returns the sink of ``INSERT OVERWRITE``."""
    keyed: bool = False
    """Whether all rows of a primary key go to one subtask, even if there are insertions only."""
    any_changes: bool = False
    """Whether the sink works without the rows that are replaced, and needs the changes of a primary key in order."""
    batches: Callable[[], Sink] | None = None
    """Returns the sink that takes batches of Arrow with the columns of the table."""


class TableConnector:
    """What ``'connector' = '...'`` names; a subclass is made without arguments.

    >>> class Nothing(TableConnector):
    ...     pass
    >>> Nothing().looks_at_data
    False
    """

    looks_at_data: ClassVar[bool] = False
    """Whether the data must be there to say how it is read, so that ``flintstream check`` does not ask."""


class SourceConnector(TableConnector, ABC):
    """A connector of tables that can be read.

    >>> from flintstream.connectors.collection import CollectionSource
    >>> from flintstream.table.connectors import Options
    >>> class Letters(SourceConnector):
    ...     def source(self, table):
    ...         return TableSource(CollectionSource([(letter,) for letter in table.options.required("text")]))
    >>> Letters().source(ConnectorTable("letters", [], Options("letters", {"text": "ab"}))).records
    <Records.TUPLES: 1>
    """

    def metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of the metadata that columns can read, by key. A column of another type is cast.

        >>> from flintstream.table.connectors import Options
        >>> class Silent(SourceConnector):
        ...     def source(self, table):
        ...         raise NotImplementedError
        >>> Silent().metadata(ConnectorTable("t", [], Options("t", {})))
        {}
        """
        return {}

    @abstractmethod
    def source(self, table: ConnectorTable) -> TableSource:
        """Return how a table is read.

        Raises:
            SqlError: An option is missing or wrong.
        """


class SinkConnector(TableConnector, ABC):
    """A connector of tables that can be written.

    >>> from flintstream.table.connectors import Options
    >>> from flintstream.testing import CollectSink
    >>> class Collected(SinkConnector):
    ...     def sink(self, table):
    ...         return TableSink(CollectSink())
    >>> Collected().sink(ConnectorTable("out", [], Options("out", {}))).parallelism is None
    True
    """

    def written_metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of the metadata that columns can write, by key. A column of another type is cast.

        >>> from flintstream.table.connectors import Options
        >>> class Deaf(SinkConnector):
        ...     def sink(self, table):
        ...         raise NotImplementedError
        >>> Deaf().written_metadata(ConnectorTable("t", [], Options("t", {})))
        {}
        """
        return {}

    @abstractmethod
    def sink(self, table: ConnectorTable) -> TableSink:
        """Return how a table is written.

        Raises:
            SqlError: An option is missing or wrong.
        """
