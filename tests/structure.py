"""The layers of the code, and measures of its structure.

``python -m tests.structure [CHECKOUT]`` prints them, with ``-v`` the imports as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parents[1]

# Lowest first: one layer for each package. A module imports from its own package and from those above it in this list.
LAYERS = (
    "compiled",
    "errors",
    "metrics",
    "options",
    "common",
    "contracts",
    "storage",
    "checkpoint",
    "state",
    "connectors",
    "runtime",
    "graph",
    "coordinator",
    "reporters",
    "engine",
    "savepoint",
    "datastream",
    "table",
    "testing",
    "compat",
    "rest",
    "cli",
)
RANKS = {"flintstream": 0, **{f"flintstream.{package}": rank for rank, package in enumerate(LAYERS, 1)}}


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def layer_of(module: str) -> str:
    return max((prefix for prefix in RANKS if within(module, prefix)), key=len)


def upward(module: str, target: str) -> bool:
    """Whether importing ``target`` from ``module`` violates the layers."""
    mine, other = layer_of(module), layer_of(target)
    return RANKS[other] > RANKS[mine]


class Import(NamedTuple):
    """An import of one module of the package by another."""

    importer: str
    imported: str
    line: int
    in_function: bool
    for_types: bool


class Code:
    """The modules below ``src`` of a checkout, and their imports of each other."""

    def __init__(self, checkout: Path = HERE) -> None:
        self.source = checkout / "src"
        self.trees = {
            self._name(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(self.source.rglob("*.py"))
        }
        self.paths = {self._name(path): path for path in sorted(self.source.rglob("*.py"))}
        self.imports = [found for module in self.trees for found in self._imports_of(module)]

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.source).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _imports_of(self, module: str) -> list[Import]:
        found: list[Import] = []

        def walk(node: ast.AST, *, in_function: bool, for_types: bool) -> None:
            for child in ast.iter_child_nodes(node):
                targets: list[str] = []
                if isinstance(child, ast.Import):
                    targets = [alias.name for alias in child.names]
                elif isinstance(child, ast.ImportFrom) and not child.level and child.module:
                    for alias in child.names:
                        inner = f"{child.module}.{alias.name}"
                        targets.append(inner if inner in self.trees else child.module)
                found.extend(
                    Import(module, target, child.lineno, in_function, for_types)  # type: ignore[attr-defined]
                    for target in dict.fromkeys(targets)
                    if target in self.trees and target != module
                )
                typing_only = (
                    isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"
                )
                walk(
                    child,
                    in_function=in_function or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)),
                    for_types=for_types or typing_only,
                )

        walk(self.trees[module], in_function=False, for_types=False)
        return found

    def circles(self, *, for_types: bool) -> list[list[str]]:
        """Return the groups of modules that import each other, also within functions, largest first."""
        edges: dict[str, set[str]] = {module: set() for module in self.trees}
        for each in self.imports:
            if for_types or not each.for_types:
                edges[each.importer].add(each.imported)
        return sorted((sorted(group) for group in _components(edges) if len(group) > 1), key=len, reverse=True)

    def files_per_folder(self) -> Counter[str]:
        """Return the number of modules of each package."""
        return Counter(
            path.parent.relative_to(self.source).as_posix()
            for path in self.paths.values()
            if path.name != "__init__.py"
        )

    def upward(self) -> list[Import]:
        """Return the imports from higher layers, also within functions and for types."""
        return [each for each in self.imports if upward(each.importer, each.imported)]

    def upward_names(self) -> list[tuple[str, str]]:
        """Return (module, name of a module of a higher layer) for the texts that are such names, or begin one."""
        return [
            (module, node.value)
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("flintstream.")
            if any(within(other, node.value.rstrip(".")) for other in self.trees) and upward(module, node.value)
        ]

    def function_imports(self) -> list[Import]:
        """Return the imports within functions."""
        return [each for each in self.imports if each.in_function]

    def anys(self) -> Counter[str]:
        """Return the number of uses of ``Any`` in each package."""
        return Counter(
            [*module.split("."), ""][1]
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == "Any"
        )

    def noqas(self) -> Counter[str]:
        """Return how often each rule of the linter is switched off."""
        texts = (path.read_text(encoding="utf-8") for path in self.paths.values())
        return Counter(
            rule.strip()
            for text in texts
            for rules in re.findall(r"# noqa: ([A-Z0-9, ]+)", text)
            for rule in rules.split(",")
        )


def _components(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges[node]:
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group: set[str] = set()
            while node not in group:
                group.add(stack.pop())
            found.append(group)

    sys.setrecursionlimit(10_000)
    for node in edges:
        if node not in index:
            visit(node)
    return found


def main() -> None:
    """Print all measures of a checkout."""
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    code = Code(Path(*arguments) if arguments else HERE)
    print(f"modules: {len(code.trees)}")
    print(f"imports that run upward: {len(code.upward())}")
    if "-v" in sys.argv:
        for each in code.upward():
            print(f"    {each.importer}:{each.line}: {each.imported}")
    print("files per folder:", ", ".join(f"{name} {count}" for name, count in code.files_per_folder().most_common(12)))
    for for_types, what in ((False, "at run time"), (True, "for types too")):
        circles = code.circles(for_types=for_types)
        print(f"circles of imports, {what}: {[len(circle) for circle in circles]}")
        if "-v" in sys.argv:
            for circle in circles:
                print("   ", *circle)
    print(f"imports within functions: {len(code.function_imports())}")
    anys = code.anys()
    print(f"Any: {anys.total()}:", ", ".join(f"{name} {count}" for name, count in anys.most_common()))
    noqas = code.noqas()
    print(f"noqa: {noqas.total()}:", ", ".join(f"{name} {count}" for name, count in noqas.most_common()))


if __name__ == "__main__":
    main()
