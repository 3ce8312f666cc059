"""The layers of the code, and measures of its structure.

``python -m tests.structure [CHECKOUT]`` prints them, with ``-v`` the imports as well. Its figures are those of
``tests/structure.json``, which only improve: ``--lower`` writes them down after they have.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parents[1]
FIGURES = Path(__file__).with_name("structure.json")

# Lowest first: one layer for each package. A module imports from its own package and from those above it in this list.
LAYERS = (
    "compiled",
    "errors",
    "channels",
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
    "dataframe",
    "testing",
    "compat",
    "sql_gateway",
    "rest",
    "cli",
)
# The same within packages, by module or subpackage.
ROOMS = {
    "coordinator": (
        "program", "registry", "asking", "signals", "restart", "job", "engine", "pace", "requests", "vertices",
        "checkpointing", "monitoring", "subtasks", "rescaling", "autoscaler", "enumerators", "sources", "attempt",
        "coordinator", "control", "descriptors", "client",
    ),
    "datastream": (
        "_settings", "functions", "state", "output_tag", "timerservice", "time_domain", "time_characteristic",
        "execution_mode", "checkpointing_mode", "externalized_checkpoint_retention", "slot_sharing_group", "window",
        "async_retry_predicates", "async_retry_strategies", "checkpoint_storage", "checkpoint_config",
        "_state_backends", "_older_state_backends", "state_backend", "utils", "connectors", "formats", "_environment",
        "_streams", "data_stream", "async_data_stream", "stream_execution_environment",
    ),
    "engine.spark": (
        "placement", "acknowledgements", "versions", "columns", "sockets", "worker_lines", "log_place", "job_log",
        "submitted",
        "connect", "python_path", "failures", "shipping", "jvm", "early_daemon", "slots", "provision", "worker",
        "daemon", "early_daemon_process", "resident", "session", "tasks", "engine", "ahead",
    ),
    "runtime": (
        "times", "copies", "keys", "frozen", "selectors", "failure", "logs", "main_module", "process_setup",
        "block_interrupter", "partitioners", "plan", "exchange", "protocol", "epoch", "block_size", "operators",
        "windows", "state_log", "task",
    ),
    "table": (
        "result_kind", "explain_detail", "changelog_mode", "sql_dialect", "types", "data_view", "_errors",
        "_deep_stack", "_types", "_syntax", "_methods", "expression", "_functions", "serializers", "udf",
        "_expressions", "_operators", "_logical", "_catalog", "_connectors", "_plan", "_analyzer",
        "_session", "connectors", "_sql", "schema", "_factories", "expressions", "table_schema", "resolved_expression",
        "_stored", "catalog", "module", "descriptors", "table_descriptor", "window", "_steps", "_compiled", "_results",
        "table_result",
        "table_config", "environment_settings", "_executor", "compiled_plan", "plan_reference",
        "table_pipeline", "table", "statement_set",
        "_declarations", "_catalogs", "_plans", "table_environment", "_owners", "_unopened", "_submitting",
    ),
}  # fmt: skip
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


@cache
def code_of(checkout: Path = HERE) -> Code:
    """Return the code of a checkout, read once."""
    return Code(checkout)


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
        for item in self.imports:
            if for_types or not item.for_types:
                edges[item.importer].add(item.imported)
        return sorted((sorted(group) for group in _components(edges) if len(group) > 1), key=len, reverse=True)

    def rooms(self, package: str) -> set[str]:
        """Return the modules and subpackages of a package."""
        base = f"flintstream.{package}."
        return {module.removeprefix(base).partition(".")[0] for module in self.trees if module.startswith(base)}

    def back_arrows(self, package: str) -> dict[tuple[str, str], list[Import]]:
        """Return the imports at run time from a room of a package to a higher one, by the two rooms.

        Rooms that :data:`ROOMS` does not name are the lowest.
        """
        base = f"flintstream.{package}."
        ranks = {room: rank for rank, room in enumerate(ROOMS[package])}
        found: dict[tuple[str, str], list[Import]] = {}
        for item in self.imports:
            if item.importer.startswith(base) and item.imported.startswith(base) and not item.for_types:
                rooms = tuple(name.removeprefix(base).partition(".")[0] for name in (item.importer, item.imported))
                if ranks.get(rooms[1], -1) > ranks.get(rooms[0], -1):
                    found.setdefault(rooms, []).append(item)  # type: ignore[arg-type]
        return found

    def room_circles(self, package: str) -> list[list[str]]:
        """Return the groups of rooms of a package that import each other, for types as well."""
        base = f"flintstream.{package}."
        edges: dict[str, set[str]] = {room: set() for room in self.rooms(package)}
        for item in self.imports:
            if item.importer.startswith(base) and item.imported.startswith(base):
                importer, imported = (
                    name.removeprefix(base).partition(".")[0] for name in (item.importer, item.imported)
                )
                edges[importer].add(imported)
        return sorted((sorted(group) for group in _components(edges) if len(group) > 1), key=len, reverse=True)

    def figures(self) -> dict[str, int]:
        """Return the measures that only improve, by what they count."""
        at_run_time, with_types = self.circles(for_types=False), self.circles(for_types=True)
        return {
            "modules in circles at run time": sum(map(len, at_run_time)),
            "modules in the largest circle at run time": max(map(len, at_run_time), default=0),
            "modules in circles, imports for types included": sum(map(len, with_types)),
            "modules in the largest circle, imports for types included": max(map(len, with_types), default=0),
            **{f"arrows back in {package}": len(self.back_arrows(package)) for package in ROOMS},
            **{f"rooms in circles in {package}": sum(map(len, self.room_circles(package))) for package in ROOMS},
            "imports within functions": len(self.function_imports()),
            **{f"Any in {package}": count for package, count in sorted(self.anys().items()) if package},
            "private members of other packages": len(self.foreign_private_members()),
            "noqa": self.noqas().total(),
            "folders with more than 20 files": sum(count > 20 for count in self.files_per_folder().values()),
            "files with more than 400 lines": sum(count > 400 for count in self.lines().values()),
            "lines of the longest file": max(self.lines().values()),
        }

    def lines(self) -> dict[str, int]:
        """Return the number of lines of each module."""
        return {module: path.read_text("utf-8").count("\n") for module, path in self.paths.items()}

    def files_per_folder(self) -> Counter[str]:
        """Return the number of modules of each package."""
        return Counter(
            path.parent.relative_to(self.source).as_posix()
            for path in self.paths.values()
            if path.name != "__init__.py"
        )

    def upward(self) -> list[Import]:
        """Return the imports from higher layers, also within functions and for types."""
        return [item for item in self.imports if upward(item.importer, item.imported)]

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
        return [item for item in self.imports if item.in_function]

    def anys(self) -> Counter[str]:
        """Return the number of uses of ``Any`` in each package."""
        return Counter(
            _package_of(module)
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == "Any"
        )

    def foreign_private_members(self) -> list[tuple[str, str, int]]:
        """Return (module, private member, line) for the members that only other packages define."""
        defined: dict[str, set[str]] = {}
        for module, tree in self.trees.items():
            for node in ast.walk(tree):
                names: list[str] = []
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    names = [node.name]
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    names = [node.attr]
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names = [node.id]
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # of __slots__
                    names = [node.value]
                for name in names:
                    if name.startswith("_") and not name.startswith("__") and name not in NAMED:
                        defined.setdefault(name, set()).add(_package_of(module))
        return [
            (module, node.attr, node.lineno)
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            if (packages := defined.get(node.attr)) and _package_of(module) not in packages
        ]

    def noqas(self) -> Counter[str]:
        """Return how often each rule of the linter is switched off."""
        texts = (path.read_text(encoding="utf-8") for path in self.paths.values())
        return Counter(
            rule.strip()
            for text in texts
            for rules in re.findall(r"# noqa: ([A-Z0-9, ]+)", text)
            for rule in rules.split(",")
        )


NAMED = {"_replace", "_fields", "_field_names"}
"""Members of named tuples and rows."""


def _package_of(module: str) -> str:
    return [*module.split("."), ""][1]


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
    parser = argparse.ArgumentParser(prog="python -m tests.structure", description="Measures of the code's structure.")
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the imports and circles as well")
    parser.add_argument("--lower", action="store_true", help=f"write the figures to {FIGURES.name}, if none has risen")
    options = parser.parse_args()
    code = Code(options.checkout)
    figures = code.figures()
    print(f"modules: {len(code.trees)}, lines: {sum(code.lines().values())}")
    print(f"imports that run upward: {len(code.upward())}")
    print("files per folder:", ", ".join(f"{name} {count}" for name, count in code.files_per_folder().most_common(12)))
    for for_types, what in ((False, "at run time"), (True, "for types too")):
        circles = code.circles(for_types=for_types)
        print(f"circles of imports, {what}: {[len(circle) for circle in circles]}")
        if options.verbose:
            for circle in circles:
                print("   ", *circle)
    for package in ROOMS:
        arrows = code.back_arrows(package)
        print(f"arrows back in {package}: {len(arrows)}", *(f"{a}->{b}" for a, b in arrows if options.verbose))
        circles = code.room_circles(package)
        print(f"rooms in circles in {package}: {sum(map(len, circles))}", *(circles if options.verbose else ()))
    print(f"imports within functions: {len(code.function_imports())}")
    anys = code.anys()
    print(f"Any: {anys.total()}:", ", ".join(f"{name} {count}" for name, count in anys.most_common()))
    members = code.foreign_private_members()
    print(f"private members of other packages: {len(members)}")
    if options.verbose:
        for name, uses in Counter(f"{module} {member}" for module, member, _ in members).most_common():
            print(f"    {name} {uses}")
    noqas = code.noqas()
    print(f"noqa: {noqas.total()}:", ", ".join(f"{name} {count}" for name, count in noqas.most_common()))
    for name in ("files with more than 400 lines", "lines of the longest file"):
        print(f"{name}: {figures[name]}")
    if options.lower:
        lower(figures)


def risen(figures: dict[str, int], written: dict[str, int]) -> list[str]:
    """Return the figures that are worse than those written down."""
    return [
        f"{name}: {figures[name]}, was {written.get(name, 0)}"
        for name in figures
        if figures[name] > written.get(name, 0)
    ]


def lower(figures: dict[str, int]) -> None:
    """Write the figures down.

    Raises:
        SystemExit: One has risen.
    """
    written = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else figures
    if worse := risen(figures, written):
        sys.exit("these have risen, so improve them first: " + "; ".join(worse))
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
