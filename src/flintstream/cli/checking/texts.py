"""The texts that a program gives to names."""

from __future__ import annotations

import ast

__all__ = ["UNKNOWN", "Texts"]

UNKNOWN = "flintstream_unknown"
"""What stands for a value that only a run of the program knows, in a literal of SQL."""


class Texts:
    """The texts that a program gives to names, in each of its functions and at module level."""

    def __init__(self, tree: ast.Module) -> None:
        self._scopes: dict[int, list[int]] = {}
        """By the id of a node, the ids of the functions around it, innermost first."""
        self._named: dict[tuple[int, str], list[ast.expr | None]] = {}
        self._returned: dict[str, list[tuple[ast.expr | None, ast.AST]]] = {}
        self._enter(tree, [0], "")

    def _enter(self, node: ast.AST, scopes: list[int], function: str) -> None:
        for child in ast.iter_child_nodes(node):
            self._scopes[id(child)] = scopes
            if isinstance(child, ast.Assign):
                for target in child.targets:
                    if isinstance(target, ast.Name):
                        self._named.setdefault((scopes[0], target.id), []).append(child.value)
            elif isinstance(child, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For)):
                if isinstance(child.target, ast.Name):
                    self._named.setdefault((scopes[0], child.target.id), []).append(None)
            elif isinstance(child, ast.arg):
                self._named.setdefault((scopes[0], child.arg), []).append(None)
            elif isinstance(child, ast.Return):
                self._returned.setdefault(function, []).append((child.value, child))
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._enter(child, [id(child), *scopes], child.name)
            elif isinstance(child, ast.Lambda):
                self._enter(child, [id(child), *scopes], "")
            else:
                self._enter(child, scopes, function)

    def value_of(self, name: ast.Name) -> ast.expr | None:
        """Return the only expression that a name gets, or None."""
        for scope in self._scopes.get(id(name), [0]):
            values = self._named.get((scope, name.id))
            if values is not None:
                return values[0] if len(values) == 1 else None
        return None

    def of(self, node: ast.expr | None, depth: int = 8) -> str | None:
        """Return the text that an expression has whenever it runs, or None."""
        if node is None or depth == 0:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name):
            return self.of(self.value_of(node), depth - 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            returned = self._returned.get(node.func.id, [])
            return self.of(returned[0][0], depth - 1) if len(returned) == 1 else None
        if isinstance(node, ast.JoinedStr):
            return self._of_parts(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.of(node.left, depth), self.of(node.right, depth)
            return None if left is None or right is None else left + right
        return None

    def _of_parts(self, node: ast.JoinedStr, depth: int) -> str | None:
        """Return the text of an f-string. Values that are not known may stand in literals of SQL only."""
        whole = ""
        for part in node.values:
            text = self.of(part.value if isinstance(part, ast.FormattedValue) else part, depth)
            if text is None and whole.count("'") % 2 == 0:
                return None
            rooted = "/" if whole.endswith("file://") else ""
            whole += rooted + UNKNOWN if text is None else text
        return whole
