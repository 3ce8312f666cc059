"""Calls that have no effect here, or reach for Java."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, Finding
from flintstream.cli.checking.inference import lacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.cli.checking.inference import Names

__all__ = ["check_calls"]

NO_EFFECT = {
    "add_jars": "jars have no effect: connectors need none, and flintstream warns once",
    "add_classpaths": "class paths have no effect: flintstream has no Flink JVM",
    "add_jar": "jars have no effect: connectors need none, and flintstream warns once",
}
OTHERS = {
    "get_gateway": "flintstream has no Flink JVM: use the Python API for what this reaches",
    "get_j_stream_execution_environment": "flintstream has no Flink JVM",
}


def check_calls(tree: ast.AST, names: Names) -> Iterator[Found]:
    """Yield a finding for each call or attribute that means Java."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "py4j":
            yield node, Finding(node.lineno, NOTE, "py4j reaches Spark's JVM here: Flink's classes are not in it")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_j_"):
            owner = names.resolve(node.value)
            if owner is not None and isinstance(owner.value, type) and not lacks(owner.value, node.attr):
                continue
            yield (
                node,
                Finding(
                    node.lineno,
                    ERROR if owner and not owner.told else NOTE,
                    f"'{node.attr}' is a Java object in PyFlink: flintstream has no Flink JVM",
                ),
            )
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in NO_EFFECT:
            yield node, Finding(node.lineno, NOTE, f"{name}(): {NO_EFFECT[name]}")
        if name in OTHERS:
            yield node, Finding(node.lineno, NOTE, f"{name}(): {OTHERS[name]}")
