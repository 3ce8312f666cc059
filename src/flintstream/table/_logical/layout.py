"""What the state of a step depends on, as a text: state of a step with another text does not fit."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types.columns import DataType
from flintstream.table._deep_stack import deep
from flintstream.table._expressions.expr import Column
from flintstream.table._logical.nodes import Node

if TYPE_CHECKING:
    from collections.abc import Iterable

_LEFT_OUT = frozenset({"columns", "place", "ttl_ms", "ttls_ms", "by_block"})
"""Members that state does not depend on; the columns that matter are those of the inputs."""


@deep
def layout_of(node: Node) -> str:
    """Return the layout of the state of a step: its kind, the types of its inputs, and what it computes.

    It does not depend on names of columns, on what its inputs do, or on what becomes of its results.
    """
    inputs = [f"{_columns(item.columns)}{'*' if item.changelog else ''}" for item in node.inputs or (node,)]
    return f"{type(node).__name__}({'; '.join(inputs)}){_members(node)}"


def _columns(columns: Iterable[Column]) -> str:
    return ", ".join(f"{column.type} {column.time}".rstrip() for column in columns)


def _members(value: object) -> str:
    names: Iterable[str] = getattr(value, "__dataclass_fields__", ())
    found = [(name, getattr(value, name)) for name in names]
    return "".join(f" {name}={_text(item)}" for name, item in found if name not in _LEFT_OUT and item is not None)


def _text(value: object) -> str:
    if isinstance(value, (Node, Column)):
        return _columns([value] if isinstance(value, Column) else value.columns)
    if value is None or isinstance(value, (str, bytes, int, float, DataType)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"[{', '.join(sorted(map(_text, value)))}]"
    if isinstance(value, partial):
        return f"{_text(value.func)}{_text(value.args)}"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({_members(value).strip()})"
    return getattr(value, "__qualname__", type(value).__qualname__)
