"""Collections that a program writes out, which must fit the type that it declares for them."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, Finding
from flintstream.common._types.base import TypeInformation
from flintstream.common._types.collected import collection_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.cli.checking.inference import Names

__all__ = ["check_literals"]


def check_literals(tree: ast.AST, names: Names) -> Iterator[Found]:
    """Yield a finding for each ``from_collection()`` of constants that do not fit their type."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "from_collection":
            called = names.resolve(node.func)
            title = "" if called is None else str(getattr(called.value, "__qualname__", ""))
            given = [*node.args, *(item.value for item in node.keywords if item.arg == "type_info")]
            if title == "StreamExecutionEnvironment.from_collection" and len(given) == 2:
                text = _misfit(given[0], given[1], names)
                if text:
                    yield node, Finding(node.lineno, ERROR, f"from_collection(): {text}")


def _misfit(collection: ast.AST, declared: ast.AST, names: Names) -> str | None:
    """Return why an element does not fit; None if all fit, or if that depends on what the program does."""
    kind = _type(declared, names)
    try:
        elements = ast.literal_eval(_follow(collection, names))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if kind is None or not isinstance(elements, (list, tuple)):
        return None
    convert = collection_type(kind).converter()
    if convert is None:
        return None
    for position, element in enumerate(elements):
        try:
            convert(element)
        except (TypeError, ValueError, OverflowError) as error:
            return f"element {position}, {element!r:.80}, does not fit: {error}"
    return None


def _type(node: ast.AST, names: Names) -> TypeInformation | None:
    """Return the type that calls of ``Types`` describe."""
    found = _value(node, names)
    return found if isinstance(found, TypeInformation) else None


def _value(node: ast.AST, names: Names) -> object:
    """Return the value of a type, a constant, or a list of them; None for anything else."""
    node = _follow(node, names)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, names) for item in node.elts]
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    called = names.resolve(node.func)
    if called is None or not inspect.isroutine(called.value) or not called.value.__qualname__.startswith("Types."):
        return None
    try:
        return called.value(*[_value(item, names) for item in node.args])
    except (TypeError, ValueError, AttributeError):
        return None


def _follow(node: ast.AST, names: Names) -> ast.AST:
    """Return the expression whose value a name has."""
    return (names.find_value(node) or node) if isinstance(node, ast.Name) else node
