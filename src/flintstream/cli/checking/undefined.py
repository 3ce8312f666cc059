"""Names that a program uses and never sets."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, Finding
from flintstream.cli.checking.inference import names_of_star

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found

__all__ = ["check_undefined"]

SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
OF_MODULES = {
    "__file__",
    "__name__",
    "__doc__",
    "__spec__",
    "__annotations__",
    "__builtins__",
    "__package__",
    "__path__",
}


def check_undefined(tree: ast.Module) -> Iterator[Found]:
    """Yield a finding for each name that nothing in the program sets, whatever the scope."""
    known = {*dir(builtins), *OF_MODULES, "__class__", "__module__", "__qualname__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            brought = names_of_star(node)
            if brought is None:
                return  # anything may come from there
            known |= brought
        known |= _names_set(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"exec", "globals", "locals", "vars"}:
            return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
            yield node, Finding(node.lineno, ERROR, f"the name '{node.id}' is not defined")
    yield from _early(tree)


def _early(tree: ast.Module) -> Iterator[Found]:
    """Yield a finding for each statement of the program that uses a name before anything sets it."""
    later: dict[str, int] = {}
    for node in ast.walk(tree):
        for name in _names_set(node):
            later[name] = min(later.get(name, _line(node)), _line(node))
    for statement in tree.body:
        if not isinstance(statement, (ast.Expr, ast.Assign)) or any(
            isinstance(node, SCOPES) for node in ast.walk(statement)
        ):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                first = later.get(node.id, 0)
                if first > (statement.end_lineno or 0) and not hasattr(builtins, node.id):
                    yield node, Finding(node.lineno, ERROR, f"the name '{node.id}' is not set before line {first}")


def _line(node: ast.AST) -> int:
    """Return the line of a node; 0 if it has none."""
    return int(getattr(node, "lineno", 0))


def _names_set(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        return {node.name}
    if isinstance(node, ast.MatchMapping) and node.rest:
        return {node.rest}
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return set(node.names)
    return {str(node.name.id)} if hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias) else set()
