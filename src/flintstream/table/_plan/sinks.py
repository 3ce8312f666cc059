"""What comes between a query and its sink: checks of NOT NULL, and the order of the changes of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.codegen import Source
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.types import is_nullable
from flintstream.table._operators.rows import RowFunction
from flintstream.table._operators.upserts import NullCheck, SinkMaterializer
from flintstream.table._plan.settings import state_ttl_ms
from flintstream.table._plan.translate import GeneratedOperator, then
from flintstream.table._plan.upsert_keys import upsert_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.datastream import DataStream
    from flintstream.table._catalog.catalog import DeclaredTable
    from flintstream.table._catalog.session import Session
    from flintstream.table._expressions.expr import Column
    from flintstream.table._plan.nodes import Node

MATERIALIZE = "table.exec.sink.upsert-materialize"
NOT_NULL = "table.exec.sink.not-null-enforcer"


def _setting(session: Session, key: str, known: Sequence[str]) -> str:
    found = session.env._configuration.to_dict().get(key, known[0]).upper()  # noqa: SLF001 - a layer of this package
    if found not in known:
        raise SqlError(f"the option '{key}' has no value '{found}'{nearest(found, known)}")
    return found


def without_nulls(
    session: Session, stream: DataStream, node: Node, name: str, table: DeclaredTable, columns: Sequence[Column]
) -> DataStream:
    """Return the rows of a query that a sink takes.

    A row with None in a column that is NOT NULL fails the job, or is left out, as an option says.
    """
    strict = [
        i
        for i, (own, wanted) in enumerate(zip(node.columns, columns, strict=True))
        if is_nullable(own.type) and (not is_nullable(wanted.type) or wanted.name in table.primary_key)
    ]
    if not strict:
        return stream
    drops = _setting(session, NOT_NULL, ("ERROR", "DROP")) == "DROP"
    check = NullCheck(name, [each.name for each in columns], strict)
    condition = " or ".join(f"r[{i}] is None" for i in strict)
    codes = []
    for stamped in (False, True):
        lines = [
            "def run(records, append, stamp):" if stamped else "def run(records, append):",
            "    for r, t in records:" if stamped else "    for r in records:",
            f"        if {condition}: {'continue' if drops else 'refuse(r)'}",
            "        append(r)",
            *(["        stamp(t)"] if stamped else []),
        ]
        codes.append(Source("\n".join(lines), {"refuse": check}, ()))
    return then(stream, "ConstraintEnforcer", GeneratedOperator(*codes))


def in_order(
    session: Session, stream: DataStream, node: Node, table: DeclaredTable, columns: Sequence[Column]
) -> DataStream:
    """Return the changes of a query for a sink that keeps the newest row of each primary key.

    If the query's changes come in order by other columns, all rows of a key are kept in state.
    """
    if not node.changelog or not table.primary_key:
        return stream
    names = [each.name for each in columns]
    key = [names.index(each) for each in table.primary_key]
    mode = _setting(session, MATERIALIZE, ("AUTO", "NONE", "FORCE"))
    ordered = any(each <= set(key) for each in upsert_keys(node))
    parallelism = table.options.get("sink.parallelism")
    if mode == "NONE" or (mode == "AUTO" and ordered):
        return stream if parallelism is None else stream.key_by(_key(columns, key))
    made = stream.key_by(_key(columns, key)).process(SinkMaterializer(state_ttl_ms(session))).name("SinkMaterializer")
    return made if parallelism is None else made.set_parallelism(int(parallelism))


def _key(columns: Sequence[Column], positions: Sequence[int]) -> RowFunction:
    return RowFunction([Ref(columns[i].type, i) for i in positions])
