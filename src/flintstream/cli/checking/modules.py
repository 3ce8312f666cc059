"""Modules of the program itself: what they import from pyflink runs with the program."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import Finding
from flintstream.cli.checking.names import check_imports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flintstream.cli.checking.finding import Found

__all__ = ["check_modules"]

HIGHEST = 3
"""The directories above that of a program in which a module of it may be."""


def check_modules(tree: ast.Module, file: Path) -> Iterator[Found]:
    """Yield a finding at each import of a module beside the program that imports what pyflink does not have here."""
    seen = {file.resolve()}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for name in _list_modules(node):
            for module in _find_files(name, file):
                for found in _check_imported(module, seen):
                    text = f"{module.name}, line {found.line}: {found.text}"
                    yield node, Finding(node.lineno, found.kind, text)


def _list_modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if node.module and not node.level else []


def _find_files(name: str, program: Path) -> Iterator[Path]:
    """Yield the file of a module, in the directory of the program or in one above it."""
    for directory in [*program.resolve().parents][:HIGHEST]:
        file = directory.joinpath(*name.split(".")).with_suffix(".py")
        if file.is_file():
            yield file
            return
        if (directory / ".git").exists():
            return


def _check_imported(module: Path, seen: set[Path]) -> Iterator[Finding]:
    """Yield the findings of imports that run as soon as a module is imported."""
    if module in seen:
        return
    seen.add(module)
    with suppress(SyntaxError, ValueError, OSError):
        tree = ast.parse(module.read_bytes(), str(module))
        always = {id(node) for node in tree.body}
        yield from (finding for node, finding in check_imports(tree) if id(node) in always)
