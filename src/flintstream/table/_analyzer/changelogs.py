"""The table functions TO_CHANGELOG and FROM_CHANGELOG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, nearest
from flintstream.table._expressions.expr import Column
from flintstream.table._plan.changelogs.nodes import OPERATIONS, FromChangelog, ToChangelog
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import TEXTS, sql_name

if TYPE_CHECKING:
    from flintstream.table._logical.nodes import Node
    from flintstream.table._syntax import queries as q

_ARGUMENTS = ("INPUT", "OP", "OP_MAPPING", "UID")
_VALID = "[INSERT, UPDATE_AFTER, UPDATE_BEFORE, DELETE]"


def convert_changes(node: Node, call: q.Changelog, *, batch: bool) -> Node:
    """Return the plan of a call, whose input is planned.

    Raises:
        SqlError: An argument is wrong.
    """
    if batch:
        raise SqlError(f"{call.function}{at(call.place)} is only there in STREAMING mode: a batch has no changes")
    if call.partition:
        raise SqlError(
            f"Only tables with set semantics may be partitioned. Invalid PARTITION BY clause of table function "
            f"'{call.function}'{at(call.place)}"
        )
    mapping = _mapping(call)
    return _to_changelog(node, call, mapping) if call.function == "TO_CHANGELOG" else _from(node, call, mapping)


def _mapping(call: q.Changelog) -> list[tuple[str, str]]:
    """Return the pairs of texts of ``op_mapping``, the keys of which may list several."""
    found: list[tuple[str, str]] = []
    for i, (name, value) in enumerate(call.arguments):
        if name and name not in _ARGUMENTS:
            raise SqlError(f"{call.function}{at(call.place)} has no argument {name.lower()}{nearest(name, _ARGUMENTS)}")
        if name == "UID" or (not name and i):
            continue
        given = value.arguments if isinstance(value, s.Apply) and value.function == "MAP" else ()
        texts = [item.value for item in given if isinstance(item, s.Value) and isinstance(item.value, str)]
        if not given or len(texts) < len(given):
            raise SqlError(f"{call.function}{at(call.place)}: op_mapping must be a MAP of literal texts, but not NULL")
        for keys, meaning in zip(texts[::2], texts[1::2], strict=True):
            found += [(key.strip(), meaning) for key in keys.split(",")]
    return found


def _check_operation(call: q.Changelog, name: str) -> int:
    if name not in OPERATIONS:
        raise SqlError(
            f"Invalid target mapping for argument 'op_mapping'. Unknown change operation: '{name}'. Valid values are: "
            f"{_VALID}.{at(call.place)}"
        )
    return OPERATIONS.index(name)


def _to_changelog(node: Node, call: q.Changelog, mapping: list[tuple[str, str]]) -> Node:
    name = call.column or "op"
    if any(column.name == name for column in node.columns):
        raise SqlError(f"Field names must be unique. Found duplicates: [{name}]{at(call.place)}: name it with op =>")
    names: list[str | None] = [None, None, None, None] if mapping else list(OPERATIONS)
    for operation, text in mapping:
        names[_check_operation(call, operation)] = text
    return ToChangelog((Column(name, t.VarCharType(t.MAX_LENGTH)), *node.columns), node, tuple(names))


def _from(node: Node, call: q.Changelog, mapping: list[tuple[str, str]]) -> Node:
    if node.changelog:
        raise SqlError(f"FROM_CHANGELOG{at(call.place)} reads insertions, but its input has changes already")
    name = call.column or "op"
    position = next((i for i, column in enumerate(node.columns) if column.name == name), None)
    if position is None:
        raise SqlError(f"The op column '{name}' does not exist in the input schema.{at(call.place)}")
    kind = node.columns[position].type
    if not isinstance(kind, TEXTS):
        raise SqlError(f"The op column '{name}' must be of STRING type, but was '{sql_name(kind)}'.{at(call.place)}")
    pairs = mapping or [(operation, operation) for operation in OPERATIONS]
    kinds = {code: _check_operation(call, operation) for code, operation in pairs}
    if OPERATIONS.index("UPDATE_AFTER") in kinds.values() and OPERATIONS.index("UPDATE_BEFORE") not in kinds.values():
        raise SqlError(
            "The 'op_mapping' must include UPDATE_BEFORE for retract mode. Upsert mode (without UPDATE_BEFORE) is not "
            f"supported in this version.{at(call.place)}"
        )
    columns = (*node.columns[:position], *node.columns[position + 1 :])
    return FromChangelog(columns, node, position, tuple(kinds.items()))
