"""What the expressions of a program are, as far as the annotations of flintstream tell."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace

__all__ = ["Known", "Names", "class_of", "is_ours", "lacks", "names_of_star"]

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
PUBLIC = (
    "pyflink.common",
    "pyflink.datastream",
    "pyflink.datastream.functions",
    "pyflink.datastream.state",
    "pyflink.table",
)


@dataclass(frozen=True)
class Known:
    """A class, function or module itself, or an instance of the class."""

    value: object
    instance: bool = False
    told: bool = False
    """Whether only an annotation of the program tells, which may be wrong."""


class Names:
    """The names of a program, by the scope in which they are assigned."""

    def __init__(self, tree: ast.Module) -> None:
        """Read all assignments."""
        self._outer: dict[int, Scope | None] = {id(tree): None}
        self._scope_of: dict[int, Scope] = {}
        self._bound: dict[tuple[int, str], list[tuple[int, ast.AST | None, bool]]] = {}
        self._busy: set[int] = set()
        self.decorated: dict[str, list[ast.FunctionDef]] = {}
        """Functions with decorators, by name."""
        self._class_of: dict[int, ast.ClassDef] = {}
        for owner in ast.walk(tree):
            if isinstance(owner, ast.ClassDef):
                self._class_of |= {id(node): owner for node in ast.walk(owner)}
        self._read(tree, tree, nested=False)

    def resolve(self, node: ast.AST) -> Known | None:
        """Return what an expression is, or None if that depends on what the program does."""
        if id(node) in self._busy:
            return None
        self._busy.add(id(node))
        try:
            if isinstance(node, ast.Name):
                return self._name(node)
            if isinstance(node, ast.Attribute):
                return self._attribute(node)
            if isinstance(node, ast.Call):
                return self._of_call(node)
            return None
        finally:
            self._busy.discard(id(node))

    def find_value(self, node: ast.Name) -> ast.AST | None:
        """Return the expression whose value a name has, or None if that depends on what the program does."""
        last = self._bound_before(node)
        return last[0][1] if len(last) == 1 else None

    def _of_program(self, node: ast.FunctionDef) -> Known | None:
        """Return what a function of the program returns."""
        returned = [step for step in ast.walk(node) if isinstance(step, ast.Return)]
        one = len(returned) == 1 and self._scope_of.get(id(returned[0])) is node and returned[0].value is not None
        known = self.resolve(returned[0].value) if one else None  # type: ignore[arg-type]  # not None: looked at
        return known or (_instance(self.resolve(node.returns)) if node.returns is not None else None)

    def _read(self, node: ast.AST, scope: Scope, *, nested: bool) -> None:
        for child in ast.iter_child_nodes(node):
            self._scope_of[id(child)] = scope
            self._bind(child, scope, nested=nested)
            inner: Scope = scope
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = child
                self._outer[id(child)] = scope
                for argument in ast.walk(child.args):
                    if isinstance(argument, ast.arg):
                        self._scope_of[id(argument)] = child
                        self._bound.setdefault((id(child), argument.arg), []).append((0, argument, False))
            elif isinstance(
                child, (ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
            ):
                for name in ast.walk(child):  # they have scopes of their own; their names are not known outside
                    target = name.arg if isinstance(name, ast.arg) else _name_set(name)
                    if target is not None:
                        self._bound.setdefault((id(scope), target), []).append((0, None, True))
            branch = isinstance(
                child, (ast.If, ast.For, ast.While, ast.Try, ast.AsyncFor, ast.ExceptHandler, ast.Match)
            )
            main = isinstance(child, ast.If) and ast.unparse(child.test) == "__name__ == '__main__'"
            self._read(child, inner, nested=inner is scope and (nested or (branch and not main)))

    def _bind(self, node: ast.AST, scope: Scope, *, nested: bool) -> None:
        line = getattr(node, "end_lineno", 0) or 0
        found: list[tuple[str, ast.AST | None]] = []
        if isinstance(node, ast.Import):
            found = [((alias.asname or alias.name).partition(".")[0], node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(alias.asname or alias.name, node) for alias in node.names if alias.name != "*"]
            if any(alias.name == "*" for alias in node.names):
                found = [(name, node) for name in names_of_star(node) or ()]
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found = [(node.targets[0].id, node.value)]
        elif isinstance(node, ast.Assign):
            found = [
                (name.id, None) for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
            ]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
            found = [(node.name, node if plain else None)]
            if isinstance(node, ast.FunctionDef) and not plain:
                self.decorated.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found = [(node.name, None)]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor, ast.NamedExpr, ast.withitem)):
            target = node.optional_vars if isinstance(node, ast.withitem) else node.target
            found = (
                [] if target is None else [(name.id, None) for name in ast.walk(target) if isinstance(name, ast.Name)]
            )
        for name, value in found:
            self._bound.setdefault((id(scope), name), []).append((line, value, nested))

    def _name(self, node: ast.Name) -> Known | None:
        values = {self._value(value, node.id) for _, value, _ in self._bound_before(node)}
        return values.pop() if len(values) == 1 else None

    def _bound_before(self, node: ast.Name) -> list[tuple[int, ast.AST | None, bool]]:
        """Return the assignments that may have given a name its value: the last one, unless some are in branches."""
        scope: Scope | None = self._scope_of.get(id(node))
        line = node.lineno
        while scope is not None:
            bound = self._bound.get((id(scope), node.id), [])
            before = [one for one in bound if one[0] < line or one[0] == 0]
            if before:
                return before[-1:] if not any(nested or not at for at, _, nested in before) else before
            if bound:
                return []
            scope, line = self._outer[id(scope)], sys.maxsize
        return []

    def _value(self, value: ast.AST | None, name: str) -> Known | None:
        if isinstance(value, ast.ImportFrom) and not value.level and (value.module or "").startswith("pyflink"):
            wanted = [alias.name for alias in value.names if (alias.asname or alias.name) == name]
            return _member(_module(value.module or ""), wanted[0] if wanted else name)
        if isinstance(value, ast.Import):
            aliased = [alias.name for alias in value.names if alias.asname == name and alias.name.startswith("pyflink")]
            return _module(aliased[0]) if aliased else None
        if isinstance(value, ast.FunctionDef):
            return Known(value)
        if isinstance(value, ast.arg):
            return self._parameter(value)
        return None if value is None else self.resolve(value)

    def _parameter(self, node: ast.arg) -> Known | None:
        """Return what flintstream passes to a method of its classes, or else the class of the annotation."""
        method, owner = self._scope_of[id(node)], self._class_of.get(id(node))
        annotated = None if node.annotation is None else _instance(self.resolve(node.annotation))
        if owner is None or not isinstance(method, ast.FunctionDef) or method not in owner.body:
            return annotated
        position = [argument.arg for argument in method.args.args].index(node.arg) if node in method.args.args else 0
        for base in owner.bases if position else ():
            known = self.resolve(base)
            theirs = getattr(known.value, method.name, None) if known and isinstance(known.value, type) else None
            if inspect.isfunction(theirs):
                passed = list(inspect.signature(theirs).parameters.values())
                found = class_of(theirs, passed[position].annotation) if position < len(passed) else None
                return annotated if found is None else Known(found, instance=True)
        return annotated

    def _attribute(self, node: ast.Attribute) -> Known | None:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._of_self(node)
        owner = self.resolve(node.value)
        return None if owner is None else _member(owner, node.attr)

    def _of_self(self, node: ast.Attribute) -> Known | None:
        """Return what the methods of a class assign to an attribute, beside None."""
        owner = self._class_of.get(id(node))
        assigned = [
            step.value
            for step in (ast.walk(owner) if owner else ())
            if isinstance(step, (ast.Assign, ast.AnnAssign)) and step.value is not None
            for target in (step.targets if isinstance(step, ast.Assign) else [step.target])
            if ast.unparse(target) == ast.unparse(node)
        ]
        values = [value for value in assigned if not (isinstance(value, ast.Constant) and value.value is None)]
        return self.resolve(values[0]) if len(values) == 1 else None

    def _of_call(self, node: ast.Call) -> Known | None:
        called = self.resolve(node.func)
        if called is None or called.instance:
            return None
        if isinstance(called.value, ast.FunctionDef):
            return self._of_program(called.value)
        if isinstance(called.value, type):
            return Known(called.value, instance=True) if is_ours(called.value) else None
        receiver = self.resolve(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if not inspect.isroutine(called.value) or not is_ours(called.value):
            return None
        text = getattr(called.value, "__annotations__", {}).get("return")
        if text == "Self":
            return None if receiver is None else Known(receiver.value, instance=True, told=receiver.told)
        found = class_of(called.value, text)
        return None if found is None else Known(found, instance=True, told=called.told)


def _instance(known: Known | None) -> Known | None:
    if known is None or not isinstance(known.value, type) or not is_ours(known.value):
        return None
    return Known(known.value, instance=True, told=True)


def names_of_star(node: ast.ImportFrom) -> set[str] | None:
    """Return the names that a star import brings, if its module is one of pyflink."""
    found = _module(node.module or "") if not node.level and (node.module or "").startswith("pyflink") else None
    if found is None:
        return None
    public = (name for name in dir(found.value) if not name.startswith("_"))
    return set(getattr(found.value, "__all__", None) or public)


def _targets(node: ast.AST) -> list[str]:
    return [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]


def _name_set(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None


def _module(name: str) -> Known | None:
    try:
        return Known(import_module(name))
    except (AttributeError, ImportError):  # the check of imports reports it
        return None


def _member(owner: Known | None, name: str) -> Known | None:
    if owner is None:
        return None
    try:
        value = getattr(owner.value, name)
    except (AttributeError, ImportError):  # the check of imports reports it
        return None
    if isinstance(value, type) or inspect.isroutine(value) or inspect.ismodule(value):
        return Known(value, told=owner.told)
    return None


def is_ours(value: object) -> bool:
    """Tell whether a class or function is part of flintstream."""
    return str(getattr(value, "__module__", "")).startswith(("flintstream.", "pyflink."))


def class_of(function: object, text: object) -> type | None:
    """Return the class that an annotation of a function names, if it names one of flintstream and nothing else."""
    if isinstance(text, type):
        return text if is_ours(text) else None
    plain = re.fullmatch(r"'?([A-Z][\w.]*)(\[.*\])?'?", str(text))
    if plain is None:
        return None
    places = [SimpleNamespace(**getattr(inspect.unwrap(function), "__globals__", {}))]  # type: ignore[arg-type]
    first, *others = plain[1].split(".")
    for place in [*places, *(sys.modules[name] for name in PUBLIC if name in sys.modules)]:
        found = _look_up(place, first)
        for name in others:
            found = getattr(found, name, None)
        if isinstance(found, type) and is_ours(found):
            return found
    return None


def _look_up(place: object, name: str) -> object:
    """Return what a module has, or loads by name; None if there is nothing."""
    try:
        return getattr(place, name, None)
    except ImportError:  # the check of imports reports it
        return None


def lacks(kind: type, name: str) -> bool:
    """Tell whether instances of a class cannot have an attribute."""
    if hasattr(kind, name) or not is_ours(kind) or hasattr(kind, "__getattr__"):
        return False
    for base in kind.__mro__[:-1]:
        if not is_ours(base) and base.__module__ != "typing":
            return False
        if name in getattr(base, "__annotations__", {}) or name in getattr(base, "__slots__", ()):
            return False
        try:
            source = inspect.getsource(base)
        except (OSError, TypeError):
            return False
        if re.search(rf"\bself\.{re.escape(name)}\b", source):
            return False
    return True
