"""Which parts of a program run whatever its arguments and data."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reach"]

MAIN = "__name__ == '__main__'"
JOB = re.compile(r"\.wait\(|\bexecute\([^()]*\)\.print\(|\benv\w*\.execute\(")
"""What waits for the end of a job."""
WATERMARKS = {
    "assign_timestamps_and_watermarks", "for_bounded_out_of_orderness", "for_generator", "for_monotonous_timestamps",
    "trigger",
}  # fmt: skip
"""What lets windows of event time fire before a job ends: watermarks, or an own trigger."""


SOURCES = {"add_source", "create_catalog", "for_connector", "from_descriptor", "from_source", "register_catalog"}
"""What may read without an end, beside connectors that a statement names."""
CONNECTOR = re.compile(r"'connector'\s*=\s*'([\w-]+)'")
BOUNDED = {"blackhole", "filesystem", "jdbc", "print"}
"""Connectors whose tables have an end, or cannot be read."""
LIBRARIES = {*sys.stdlib_module_names, "numpy", "pandas", "pyarrow", "pyflink"}


class Reach:
    """The lines of a program that run in each of its runs. What fails there is an error, elsewhere it may not run."""

    def __init__(self, tree: ast.Module) -> None:
        """Follow the names of functions and classes from the top of the program on."""
        self._nodes: set[int] = set()
        self._ends = _ends_always(tree)
        idle = set() if _windows_fire(tree) else {id(inner) for node in tree.body for inner in _of_windows(node)}
        self._owners = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and id(node) not in idle
        }
        self._follow(tree.body)

    def certain(self, node: ast.AST) -> bool:
        """Tell whether a node runs in each run."""
        return id(node) in self._nodes

    def _follow(self, body: list[ast.stmt]) -> None:
        waiting = [body]
        while waiting:
            for node in _walk_certain(waiting.pop(), jobs_end=self._ends):
                self._nodes.add(id(node))
                name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
                owner = self._owners.get(name)
                if owner is not None and id(owner.body) not in self._nodes:
                    self._nodes.add(id(owner.body))
                    waiting.append(owner.body)
                    if isinstance(owner, ast.ClassDef):  # the engine calls its methods, and data takes each branch
                        self._nodes |= {id(inner) for inner in ast.walk(owner)}


def _windows_fire(tree: ast.Module) -> bool:
    """Tell whether windows may fire: without watermarks, those of event time wait for an end that topics lack."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    unbounded = any(name.startswith(("FlinkKafkaConsumer", "KafkaSource")) for name in names)
    return not unbounded or bool(names & WATERMARKS) or any("ProcessingTime" in name for name in names)


def _ends_always(tree: ast.Module) -> bool:
    """Tell whether all jobs of a program end: their elements stand in it, and no other module can add a source."""
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = ["." if node.level else node.module or ""]
        if any(name.partition(".")[0] not in LIBRARIES for name in modules):
            return False
        if isinstance(node, ast.Attribute) and node.attr in SOURCES:
            return False
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "connector" in node.value:
            named = CONNECTOR.findall(node.value)
            if not named or not {*named} <= BOUNDED:
                return False
    return True


def _of_windows(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield a class of functions for windows, and what it contains."""
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    if any(ast.unparse(base).partition("[")[0].endswith("WindowFunction") for base in bases):
        yield from ast.walk(node)


def _walk_certain(body: list[ast.stmt], *, jobs_end: bool) -> Iterator[ast.AST]:
    for statement in body:
        yield statement
        if not jobs_end and isinstance(statement, (ast.Expr, ast.Assign)) and JOB.search(ast.unparse(statement)):
            yield from _expressions(statement)
            return  # the job may never end
        if isinstance(statement, ast.If):
            yield from ast.walk(statement.test)
            if ast.unparse(statement.test) == MAIN:
                yield from _walk_certain(statement.body, jobs_end=jobs_end)
            elif _ends(statement.body) or _ends(statement.orelse):
                return  # what follows is a branch, too
        elif isinstance(statement, ast.Try):
            if not any(_handles_api(handler) for handler in statement.handlers):
                yield from _walk_certain(statement.body, jobs_end=jobs_end)
            yield from _walk_certain(statement.finalbody, jobs_end=jobs_end)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            for item in statement.items:
                yield from ast.walk(item)
            yield from _walk_certain(statement.body, jobs_end=jobs_end)
        elif isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Match)):
            yield from ast.walk(statement.iter if isinstance(statement, (ast.For, ast.AsyncFor)) else statement)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in statement.decorator_list:
                yield from ast.walk(decorator)
        elif isinstance(statement, ast.ClassDef):
            yield from (node for base in [*statement.bases, *statement.decorator_list] for node in ast.walk(base))
        else:
            yield from _expressions(statement)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a statement evaluates, without the branches of its expressions and the bodies of its lambdas."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, (ast.IfExp, ast.BoolOp)):
            yield from ast.walk(child.test if isinstance(child, ast.IfExp) else child.values[0])
        elif not isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from _expressions(child)


def _ends(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    exits = isinstance(last, ast.Expr) and ast.unparse(last).startswith(("sys.exit(", "exit(", "quit("))
    return exits or isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _handles_api(handler: ast.ExceptHandler) -> bool:
    """Tell whether a program has another way after an error of its API."""
    caught = "" if handler.type is None else ast.unparse(handler.type)
    named = any(
        name in caught for name in ("ImportError", "ModuleNotFound", "AttributeError", "TypeError", "NameError")
    )
    broad = not caught or caught in {"Exception", "BaseException"}
    return named or (
        broad and all(isinstance(step, (ast.Pass, ast.Assign, ast.Import, ast.ImportFrom)) for step in handler.body)
    )
