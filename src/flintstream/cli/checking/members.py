"""Uses of flintstream's classes that raise an error as soon as they run."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, Finding
from flintstream.cli.checking.inference import class_of, is_ours, lacks
from flintstream.table._errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.cli.checking.inference import Known, Names

__all__ = ["check_members"]

VALUES = {"Configuration", "Duration", "TypeInformation", "WatermarkStrategy"}
"""Classes that flintstream does not accept another class for."""

TEXTS = {f"Table.{name}" for name in ("alias", "group_by", "order_by", "select")}
"""Methods that took all columns in one text, before Flink 1.15."""

WINDOW_FUNCTIONS = {
    "WindowedStream.apply": "WindowFunction",
    "WindowedStream.process": "ProcessWindowFunction",
    "AllWindowedStream.apply": "AllWindowFunction",
    "AllWindowedStream.process": "ProcessAllWindowFunction",
}
"""Methods that take no plain function."""

NAMESPACES = {"DataTypes", "Types"}


def check_members(tree: ast.Module, names: Names) -> Iterator[Found]:
    """Yield a finding for each attribute that does not exist, and for arguments that do not fit."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and not node.attr.startswith(("__", "_j_"))
        ):
            owner = names.resolve(node.value)
            text = None if owner is None else _find_missing(owner, node.attr)
            if owner is not None and text:
                yield node, Finding(node.end_lineno or node.lineno, _kind(owner), text)
        elif isinstance(node, ast.Call):
            called = names.resolve(node.func)
            if called is not None and is_ours(called.value):
                for text in _arguments(node, called, names, classes):
                    yield node, Finding(node.lineno, _kind(called), text)
    yield from _views(tree, names)


def _kind(known: Known) -> str:
    return NOTE if known.told else ERROR


def _find_missing(owner: Known, name: str) -> str | None:
    if inspect.isfunction(owner.value) and is_ours(owner.value) and not hasattr(owner.value, name):
        return f"'{owner.value.__name__}' is a function of {owner.value.__module__} here: it has no attribute '{name}'"
    kind = owner.value
    if not isinstance(kind, type) or hasattr(type(kind), name) or not lacks(kind, name):
        return None
    known = [item for item in dir(kind) if not item.startswith("_")]
    return f"'{kind.__name__}' has no attribute '{name}'{nearest(name, known)}"


def _arguments(node: ast.Call, called: Known, names: Names, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    title = str(getattr(called.value, "__qualname__", called.value))
    if called.instance:
        if isinstance(called.value, type) and not _is_callable(called.value):
            yield f"a {called.value.__name__} cannot be called"
        return
    first = node.args[0] if node.args else None
    if title in NAMESPACES:
        yield f"{title}() is not a type: its methods return types, as {title}.INT()"
    elif title in TEXTS and any(isinstance(text := _constant(one), str) and "," in text for one in node.args):
        yield f"{title}() takes one column per argument, not all in one string"
    elif title.endswith(".from_data_stream") and any(isinstance(one, (ast.List, ast.Tuple)) for one in node.args):
        yield f"{title}() takes a Schema, or columns as arguments, not in a list"
    elif title in WINDOW_FUNCTIONS and isinstance(first, ast.Lambda):
        yield f"{title}() needs a {WINDOW_FUNCTIONS[title]}, not a function"
    elif title.endswith(".read_text_file") and _constant(first) == "":
        yield "the path is empty"
    elif isinstance(made := _aggregate(node, title), ast.Call):
        owner = classes.get(ast.unparse(made.func))
        bases = [] if owner is None else [ast.unparse(base) for base in owner.bases]
        if owner is not None and set(bases) <= {"AggregateFunction", "TableAggregateFunction"}:
            defined = {step.name for step in owner.body if isinstance(step, ast.FunctionDef)}
            if "get_result_type" not in defined:
                yield f"{title}() has no result_type, and {owner.name} no get_result_type()"
    if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
        return
    yield from _misfits(node, called, title, names)


def _is_callable(kind: type) -> bool:
    """Tell whether instances of a class may be called; the class itself always can."""
    return any(name in vars(base) for base in kind.__mro__[:-1] for name in ("__call__", "__getattr__"))


def _aggregate(node: ast.Call, title: str) -> ast.expr | None:
    """Return the function that a call takes without a result type, if it may be an aggregate function."""
    if title in {"udaf", "udtaf"} and len(node.args) + len(node.keywords) == 1:
        return node.args[0] if node.args else None
    registered = title.endswith((".create_temporary_function", ".create_temporary_system_function"))
    return node.args[1] if registered and len(node.args) == 2 else None


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else ...


def _misfits(node: ast.Call, called: Known, title: str, names: Names) -> Iterator[str]:
    function = called.value
    own = _self(node.func, names) if isinstance(node.func, ast.Attribute) else []
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]  # a class or a routine
    except (TypeError, ValueError):
        return
    try:
        bound = signature.bind(*own, *node.args, **{str(one.arg): one.value for one in node.keywords})
    except TypeError as error:
        yield f"{title}(): {error}"
        return
    routine = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]  # of this very class
    for name, value in bound.arguments.items():
        wanted = class_of(routine, signature.parameters[name].annotation)
        if not isinstance(value, ast.AST) or wanted is None or wanted.__name__ not in VALUES:
            continue
        given = names.resolve(value)
        if isinstance(value, ast.Constant) and value.value is None:
            yield f"{title}(): {name} is None, not a {wanted.__name__}"
        elif given is not None and given.instance and not given.told and _is_another(given.value, wanted):
            yield f"{title}(): {name} is a {getattr(given.value, '__name__', given.value)}, not a {wanted.__name__}"


def _self(node: ast.Attribute, names: Names) -> list[str]:
    owner = names.resolve(node.value)
    if owner is None or not owner.instance:
        return []
    static = inspect.getattr_static(owner.value, node.attr, None)
    return [] if isinstance(static, (staticmethod, classmethod)) else ["self"]


def _is_another(given: object, wanted: type) -> bool:
    return isinstance(given, type) and is_ours(given) and not issubclass(given, wanted)


def _views(tree: ast.Module, names: Names) -> Iterator[Found]:
    """Yield a finding for each second view of a name, if the program drops none."""
    seen: set[object] = set()
    for statement in tree.body:
        for node in ast.walk(statement) if isinstance(statement, (ast.Expr, ast.Assign)) else ():
            if isinstance(node, ast.Attribute) and node.attr.startswith("drop_"):
                return
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                name = _constant(node.args[0])
                if (
                    node.func.attr == "create_temporary_view"
                    and isinstance(name, str)
                    and names.resolve(node.func.value)
                ):
                    if name in seen:
                        yield node, Finding(node.lineno, ERROR, f"the view '{name}' exists already: drop it first")
                    seen.add(name)
