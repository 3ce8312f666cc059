"""Functions whose attributes or output behave in another way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import NOTE, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found

__all__ = ["check_functions"]

PER_RECORD = {
    "accumulate",
    "filter",
    "flat_map",
    "flat_map1",
    "flat_map2",
    "map",
    "map1",
    "map2",
    "on_timer",
    "process",
    "process_broadcast_element",
    "process_element",
    "process_element1",
    "process_element2",
    "reduce",
}


def check_functions(tree: ast.AST) -> Iterator[Found]:
    """Yield a note for each method that runs per record and keeps values in attributes, or prints."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or not any("Function" in ast.unparse(base) for base in node.bases):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name in PER_RECORD:
                yield from _find_stored_values(node, method)
                yield from _find_prints(node, method)


def _find_stored_values(owner: ast.ClassDef, method: ast.FunctionDef) -> Iterator[Found]:
    for node in ast.walk(method):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            continue
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield (
                    node,
                    Finding(
                        node.lineno,
                        NOTE,
                        f"{owner.name}.{method.name}() keeps 'self.{target.attr}' between records: as in PyFlink, "
                        "checkpoints do not contain it; here it is also lost when the Python worker ends. Keep lasting "
                        "values in state",
                    ),
                )


def _find_prints(owner: ast.ClassDef, method: ast.FunctionDef) -> Iterator[Found]:
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield (
                node,
                Finding(
                    node.lineno,
                    NOTE,
                    f"{owner.name}.{method.name}() prints: the output goes to the standard error of the workers",
                ),
            )
            return
