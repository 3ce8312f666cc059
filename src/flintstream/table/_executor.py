"""What tables and statements ask of their environment: it runs plans, and knows what the program has declared."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common.types import _make_row
from flintstream.datastream._streams.collect import CloseableIterator as Collected
from flintstream.datastream._streams.collect import collect_into
from flintstream.datastream._streams.steps import add_collect_sink, transformation_of
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.tables import COLUMN_WIDTH, SYNC
from flintstream.table._errors import SinkNotFoundError, SqlError, TableNotFoundError
from flintstream.table._expressions.expr import Column
from flintstream.table._logical.sharing import expect
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._plan import edges
from flintstream.table._plan.changelogs.determinism import check_determinism
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.translate import (
    add_operator,
    stays_in_batches,
    stream_of_batches,
    translate,
)
from flintstream.table._session.session import Session
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.statements import Statements
from flintstream.table.schema import Schema
from flintstream.table.table_descriptor import TableDescriptor
from flintstream.table.table_result import TableResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.files.arrow_values import ArrowBatch
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.datastream._streams.collect import CollectQueueSink
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.recording import MakeTable, Recorded
    from flintstream.table._session.inserts import Insert


def path_of(text: str) -> tuple[str, ...]:
    """Return the parts of a name with dots, which may be in backquotes.

    Raises:
        SqlError: There are more than three parts, or one is empty.

    >>> path_of("db.`a.b`")
    ('db', 'a.b')
    """
    path = Tokens(text).path() if "`" in text else tuple(text.split("."))
    if len(path) > 3 or "" in path:
        raise SqlError(f"Invalid SQL identifier {text}.")
    return path


def _make_none(_: object) -> Recorded:
    raise TypeError("the executor has no environment")


class Executor:
    """Runs plans on an environment of streams."""

    def __init__(self, env: StreamExecutionEnvironment, session: Session | None = None) -> None:
        self.env = env
        self.session = session or Session(env)
        self.environment: object = None
        """The table environment, which sets itself."""
        self.make_table: MakeTable = _make_none
        """Makes a table of a plan; the environment sets it."""
        self.statements = Statements(self.session)

    def target(self, path_or_descriptor: str | TableDescriptor, rows: Node | None = None) -> tuple[str, ...]:
        """Return the full name of a table; one that is only described gets one, and without a schema that of the rows.

        Raises:
            TableNotFoundError: There is no table of this name.
        """
        catalog = self.session.catalog
        if isinstance(path_or_descriptor, TableDescriptor):
            schema = None
            if rows is not None:
                names, types = [column.name for column in rows.columns], [column.type for column in rows.columns]
                schema = Schema.new_builder().from_fields(names, types).build()
            return catalog.path(catalog.add_unnamed(path_or_descriptor._declare(schema)))
        path = path_of(path_or_descriptor)
        try:
            catalog.find(path)
        except TableNotFoundError as error:
            raise SinkNotFoundError(catalog.path(path), error) from None
        return catalog.path(path)

    def insert(self, inserts: Sequence[Insert], *, waits: bool = True) -> TableResult:
        """Run a job that inserts the rows of plans into tables, into all columns if none are named.

        Unless it ``waits``, it returns while the job runs, whatever ``table.dml-sync`` says.
        """

        def build() -> None:
            with self.session.own_parallelism():
                expect([narrow(insert.node) for insert in inserts], self.env)
                for insert in inserts:
                    self.session.insert(insert)

        names = [".".join(self.session.catalog.path(insert.name)) for insert in inserts]
        _, client = self.session.alone(build, f"insert-into_{', '.join(names)}", lasts=True)
        columns = [Column(name, t.DataTypes.BIGINT()) for name in names]
        results = [_make_row(tuple(column.name for column in columns), [-1] * len(columns))]
        made = TableResult(columns, results, client, writes=True)
        if waits and self.env._configuration.get(SYNC):
            made.wait()
        return made

    def execute(self, node: Node) -> TableResult:
        """Run a job that computes the rows of a plan."""

        def build() -> CollectQueueSink:
            return collect_into(partial(add_collect_sink, self.stream_of(node)))

        sink, client = self.session.alone(build, "collect")
        streaming = self.env._configuration.get(RUNTIME_MODE) != "BATCH"
        columns = node.columns if streaming else [Column(column.name, column.type) for column in node.columns]
        widest = self.env._configuration.get(COLUMN_WIDTH)
        return TableResult(
            columns, Collected(sink, client), client, streaming=streaming, widest=widest, zone=self.session.zone
        )

    def execute_in_batches(self, node: Node) -> Collected[ArrowBatch] | None:
        """Run a job that computes the rows of a plan in batches of Arrow; None if the plan needs rows."""
        plan = narrow(node)
        if not stays_in_batches(plan, self.env):
            return None

        def build() -> CollectQueueSink:
            with self.session.own_parallelism():
                return collect_into(partial(add_collect_sink, stream_of_batches(plan, self.env)))

        sink, client = self.session.alone(build, "collect")
        return Collected(sink, client)

    def stream_of(self, node: Node, *, timed: bool = False) -> DataStream:
        """Return the rows of a plan as a stream of ``Row``, if ``timed`` with the times of their rowtime column.

        Raises:
            SqlError: They need a time, and have several rowtime columns.
        """
        row = edges.rows_of(node.columns, changelog=node.changelog, precise=not timed)
        code = edges.at_rowtime(node.columns, row) if timed else edges.both(row)
        with self.session.own_parallelism():
            plan = narrow(node)
            expect([plan], self.env)
            check_determinism(self.session.settings, plan)
            rows = add_operator(translate(plan, self.env), "Rows", GeneratedOperator(*code))
        transformation_of(rows).output_type = None
        return rows
