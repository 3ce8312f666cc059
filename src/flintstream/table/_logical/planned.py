"""Plans of queries that are made again when settings of the session have changed, and where tables come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from flintstream.table._deep_stack import deep
from flintstream.table._logical.nodes import Scan
from flintstream.table._syntax.queries import TableName
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._expressions.expr import Column
    from flintstream.table._logical.nodes import Node


@dataclass(frozen=True)
class Written:
    """A query or INSERT as it was written."""

    sql: str
    catalog: str
    """The current catalog at that place of the program, for names that have none."""
    database: str
    columns: tuple[str, ...] = ()
    """Other names for the columns of a view, if it gives them any."""


@dataclass(frozen=True, eq=False)
class Elements:
    """Rows that the program holds, in the form that plans have for their types; it opens them as a stream."""

    columns: tuple[Column, ...]
    rows: list[tuple[object, ...]]

    def __call__(self, env: StreamExecutionEnvironment) -> DataStream:
        """Return the rows."""
        return env.from_collection(self.rows)


@dataclass(frozen=True, eq=False)
class Step:
    """A call of a method of the Table API, which a stored plan makes again."""

    of: Origin | None
    """Where the table comes from whose method it is; None if no plan can store that."""
    method: str
    arguments: Sequence[object]
    named: Mapping[str, object]


Origin: TypeAlias = "Written | Elements | Step"
"""Where a table comes from."""


@dataclass
class PlannedQuery:
    """A query with its plan: Flink reads time zones and other settings when a query is planned to run.

    >>> settings = {"zone": "UTC"}
    >>> query = PlannedQuery("UTC", settings.copy(), settings.copy, lambda: settings["zone"])
    >>> settings["zone"] = "Asia/Tokyo"
    >>> query.node()
    'Asia/Tokyo'
    """

    current: Node
    """The plan for ``settings``."""
    settings: object
    """What it depends on."""
    read_settings: Callable[[], object]
    """Returns the settings of now."""
    plan: Callable[[], Node]
    """Plans the query for the settings of now."""
    written: Written | None = None
    """Its text, if it has one."""

    def node(self) -> Node:
        """Return the plan for the settings of now."""
        settings = self.read_settings()
        if settings != self.settings:
            self.settings, self.current = settings, deep(self.plan)()
        return self.current


def describe_columns(columns: Iterable[Column]) -> str:
    """Return names and types of columns, for people."""
    return ", ".join(f"{column.name} {sql_name(column.type)}" for column in columns)


class Planned:
    """What has the plan of a query, which may follow the settings of the session."""

    _source: Node | PlannedQuery
    _made: Step | None = None
    """The last method that made it."""

    def __repr__(self) -> str:
        """Return the columns."""
        return f"{type(self).__name__}[{describe_columns(self._node.columns)}]"

    @property
    def _node(self) -> Node:
        return self._source.node() if isinstance(self._source, PlannedQuery) else self._source

    @property
    def _query(self) -> TableName:
        """The table as a query within an expression."""
        return TableName(None, (str(self),), {})

    @property
    def _origin(self) -> Origin | None:
        """Where it comes from; None if no plan can store that."""
        source = self._source
        if self._made is not None:
            return self._made
        if isinstance(source, PlannedQuery):
            return source.written
        return source.open if isinstance(source, Scan) and isinstance(source.open, Elements) else None
