"""Methods of a program's functions with other parameters than those that are passed."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, Finding
from flintstream.cli.checking.inference import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.cli.checking.inference import Names

__all__ = ["check_overrides"]


def check_overrides(tree: ast.Module, names: Names) -> Iterator[Found]:
    """Yield a finding for each method that cannot be called as flintstream, and PyFlink, call it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for base in node.bases:
            known = names.resolve(base)
            if known is None or known.instance or not isinstance(known.value, type) or not is_ours(known.value):
                continue
            for method in node.body:
                if (
                    isinstance(method, ast.FunctionDef)
                    and not method.name.startswith("_")
                    and not method.decorator_list
                ):
                    text = _misfit(method, inspect.getattr_static(known.value, method.name, None))
                    if text:
                        yield method, Finding(method.lineno, ERROR, f"{node.name}.{method.name}() {text}")


def _misfit(method: ast.FunctionDef, theirs: object) -> str | None:
    if not inspect.isfunction(theirs):
        return None
    passed = list(inspect.signature(theirs).parameters.values())
    if any(one.kind is not one.POSITIONAL_OR_KEYWORD or one.default is not one.empty for one in passed):
        return None
    given = method.args
    most = len(given.posonlyargs) + len(given.args)
    least = most - len(given.defaults)
    if least <= len(passed) and (given.vararg or len(passed) <= most):
        return None
    return f"has {least} parameters and is called with {len(passed)}: {', '.join(one.name for one in passed)}"
