"""Plans that read a stream: its fields by name or position, or by a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common.typeinfo import RowTypeInfo, TupleTypeInfo
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._logical.nodes import Calc, Scan
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._operators.rows import key_at
from flintstream.table._operators.upserts import ChangelogNormalize
from flintstream.table._plan import edges
from flintstream.table._plan.stream_types import column_types
from flintstream.table._plan.translate import add_operator
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node

NAME = "Unregistered_DataStream"
_STAMP = "from_millis(t)"
_NO_STAMP = "no_timestamp()"


def of_stream(
    stream: DataStream,
    columns: Sequence[Column],
    kind: str = "",
    stamped: Sequence[Column] = (),
    key: Sequence[int] = (),
) -> Node:
    """Return the table of a stream.

    Args:
        stream: Its records are rows, tuples or single values.
        columns: The columns of the records.
        kind: The code of the kind of change, if records have one.
        stamped: Further columns that contain the timestamp of the record.
        key: The positions of the key, if updates come without the row that they replace.
    """
    wraps = not isinstance(stream.get_type(), (RowTypeInfo, TupleTypeInfo))
    plain = f"({edges.inward(columns[0].type, 'r')},)" if wraps else edges.tuples_of(columns)
    plain += "".join(f" + ({_STAMP},)" for _ in stamped) + (f" + ({kind},)" if kind else "")
    codes = edges.both(plain.replace(_STAMP, _NO_STAMP))[0], edges.both(plain)[1]

    def open_stream(_: StreamExecutionEnvironment) -> DataStream:
        tuples = add_operator(stream, "Tuples", GeneratedOperator(*codes))
        if not key:
            return tuples
        return tuples.key_by(key_at(key)).process(ChangelogNormalize()).name("ChangelogNormalize")

    return Scan((*columns, *stamped), NAME, open_stream, bool(kind))


def by_fields(stream: DataStream, fields: Sequence[s.Syntax]) -> Node:
    """Return the table of a stream with the fields that expressions name.

    If one of them is a field of the stream, all are found by name, and the others are new names by position otherwise.
    ``rowtime`` is the timestamp of the record, ``proctime`` the time of processing.

    Raises:
        SqlError: A field is unknown, or there are too many names.
    """
    own = [Column(column_kind.name, column_kind.type.nullable()) for column_kind in column_types(stream.get_type(), [])]
    names = [item.name for item in own]
    wanted = [_field(field) for field in fields]
    by_name = any(source in names for source, _, time in wanted if not time or source in names)
    stamp = Column("$timestamp", t.TimestampType(3))
    node = of_stream(stream, own, stamped=[stamp] if any(time == "ROWTIME" for *_, time in wanted) else ())
    parts: list[Expr] = []
    columns: list[Column] = []
    position = 0
    for source, name, time in wanted:
        if time == "ROWTIME":
            parts.append(Ref(stamp.type, len(own)))
            position += source in names
        elif time:
            raise SqlError(f"proctime of '{source}' is not supported here: declare it in a Schema, AS PROCTIME()")
        else:
            index = names.index(source) if source in names else -1 if by_name else position
            if not 0 <= index < len(own):
                raise SqlError(f"Field '{source}' not found in the stream{nearest(source, names)}")
            parts.append(Ref(own[index].type, index))
            position += 1
        columns.append(Column(name, parts[-1].type, time))
    return Calc(tuple(columns), node, tuple(parts))


def _field(syntax: s.Syntax) -> tuple[str, str, str]:
    """Return the field that an expression names, its new name, and ROWTIME or PROCTIME."""
    if isinstance(syntax, s.Alias):
        source, _, time = _field(syntax.argument)
        return source, syntax.names[0], time
    if isinstance(syntax, s.Apply) and syntax.function in {"ROWTIME", "PROCTIME"} and syntax.arguments:
        source, name, _ = _field(syntax.arguments[0])
        return source, name, syntax.function
    if isinstance(syntax, s.Name):
        return syntax.parts[-1], syntax.parts[-1], ""
    raise SqlError(f"from_data_stream() takes names of fields, such as col('a').alias('b'), but got {syntax!r}")


def physical(
    stream: DataStream, table: DeclaredTable, zone: str, kind: str = "", *, upserts: bool = False
) -> tuple[Node, list[str]]:
    """Return all columns of a stream in the types of a schema, and the names of the table's columns in order.

    Updates of ``upserts`` come without the row that they replace, which the primary key finds.

    Raises:
        SqlError: The stream lacks a column, or has another type.
    """
    own = column_types(stream.get_type(), [])
    declared = [item for item in table.columns if item.type is not None and item.metadata is None]
    stamps = [item for item in table.columns if item.metadata is not None]
    for stamp in stamps:
        if stamp.metadata != "rowtime":
            raise SqlError(f"column '{stamp.name}': a stream has no metadata '{stamp.metadata}', only 'rowtime'")
    stamped = [Column(stamp.name, stamp.type) for stamp in stamps if stamp.type is not None]
    names = [item.name for item in own]
    missing = [item for item in table.primary_key if item not in names] if upserts else []
    if missing:
        raise SqlError(f"Column '{missing[0]}' of the primary key is not in the stream{nearest(missing[0], names)}")
    node = of_stream(stream, own, kind, stamped, [names.index(item) for item in table.primary_key] if upserts else ())
    columns, parts = [], []
    chosen = {item.name for item in declared}
    for name, wanted in [
        *((c.name, c.type) for c in declared),
        *((c.name, c.type) for c in own if c.name not in chosen),
    ]:
        if name not in names:
            raise SqlError(f"Column '{name}' of the schema is not in the stream{nearest(name, names)}")
        index = names.index(name)
        made = cast(Ref(own[index].type, index), wanted, zone) if wanted is not None else None
        if made is None:
            raise SqlError(
                f"column '{name}': the stream has {sql_name(own[index].type)}, which is not the declared type"
            )
        columns.append(Column(name, wanted or made.type))
        parts.append(made)
    for i, column in enumerate(stamped):
        columns.append(column)
        parts.append(Ref(column.type, len(own) + i))
    written = [item.name for item in table.columns]
    order = written if declared else [*names, *written]
    return Calc(tuple(columns), node, tuple(parts)), order
