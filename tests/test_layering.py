"""The layers of the code: a module imports only from its own layer and from lower ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.structure import RANKS, code_of, layer_of, upward, within

SOURCE = Path(__file__).parents[1] / "src"

# The same within the runtime; modules of the package itself are below its subpackages. Types may point upward here.
ROOMS = ("operators", "windows", "exchange", "state_log", "task")

# These name modules of higher layers in texts: the public names of classes, an option that is called like a package,
# and the row formats that common exports.
NAMES_UPWARD = {
    "flintstream.checkpoint.moved",
    "flintstream.common",
    "flintstream.contracts.functions",
    "flintstream.contracts.output_tag",
    "flintstream.contracts.state",
    "flintstream.contracts.timers",
    "flintstream.contracts.window",
    "flintstream.options.execution",
}

PYSPARK_ONLY_IN = ("flintstream.engine.spark", "flintstream.engine.connect", "flintstream.engine.frames")
JVM_ONLY_IN = "flintstream.engine.spark.jvm"
JVM_ATTRIBUTES = {"_jvm", "_jsc", "_gateway", "_jsparkSession", "_jdf", "_jrdd", "_jconf", "_jschema"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Imports(ast.NodeVisitor):
    """Collect (imported module, line), also within functions, with the names of submodules resolved."""

    def __init__(self, path: Path) -> None:
        self.module = module_name(path)
        self.package = self.module if path.name == "__init__.py" else self.module.rpartition(".")[0]
        self.found: list[tuple[str, int]] = []
        self.visit(ast.parse(path.read_text(encoding="utf-8")))

    def add(self, target: str, line: int) -> None:
        self.found.append((target, line))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parents = self.package.split(".")
            kept = parents[: len(parents) - node.level + 1]
            base = ".".join([*kept, base] if base else kept)
        for alias in node.names:
            target = f"{base}.{alias.name}"
            is_module = (SOURCE / Path(*target.split("."))).with_suffix(".py").exists() or (
                SOURCE / Path(*target.split("."))
            ).is_dir()
            self.add(target if is_module else base, node.lineno)


def violations(path: Path) -> list[str]:
    imports = Imports(path)
    module = imports.module
    wrong = []
    for target, line in imports.found:
        top = target.partition(".")[0]
        if top == "py4j" and not within(module, JVM_ONLY_IN):
            wrong.append(f"{path}:{line}: py4j outside {JVM_ONLY_IN}")
        elif top == "pyspark" and not any(within(module, package) for package in PYSPARK_ONLY_IN):
            wrong.append(f"{path}:{line}: pyspark outside {PYSPARK_ONLY_IN}")
        elif top == "flintstream" and upward(module, target):
            wrong.append(f"{path}:{line}: {module} ({RANKS[layer_of(module)]}) imports {target}")
    return list(dict.fromkeys(wrong))


def jvm_uses(path: Path) -> list[str]:
    if within(module_name(path), JVM_ONLY_IN):
        return []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path}:{node.lineno}: .{node.attr} outside {JVM_ONLY_IN}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in JVM_ATTRIBUTES
    ]


MODULES = sorted(SOURCE.rglob("*.py"))


def test_every_import_points_to_the_same_or_a_lower_layer():
    assert [message for path in MODULES for message in violations(path)] == []
    assert code_of().upward() == []


def test_imports_by_name_point_downward_too():
    named = code_of().upward_names()
    assert {module for module, _ in named} == NAMES_UPWARD
    assert [name for module, name in named if module == "flintstream.common"] == ["flintstream.datastream.formats."]


def room_of(module: str) -> int:
    parts = module.split(".")
    return ROOMS.index(parts[2]) if len(parts) > 3 and parts[2] in ROOMS else -1


def test_rooms_of_the_runtime_import_downward():
    within_runtime = [
        item
        for item in code_of().imports
        if within(item.importer, "flintstream.runtime") and within(item.imported, "flintstream.runtime")
    ]
    assert len({room_of(item.importer) for item in within_runtime}) == len(ROOMS) + 1
    assert [
        item for item in within_runtime if room_of(item.imported) > room_of(item.importer) and not item.for_types
    ] == []


def test_only_one_package_reaches_the_jvm():
    assert [message for path in MODULES for message in jvm_uses(path)] == []


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("flintstream.common.types", "flintstream.datastream.functions"),
        ("flintstream.runtime.operators.base", "flintstream.graph.plan"),
        ("flintstream.runtime.operators.base", "flintstream.datastream.data_stream"),
        ("flintstream.state.hashmap", "flintstream.runtime.operators.base"),
        ("flintstream.metrics.metricbase", "flintstream.common.types"),
    ],
)
def test_the_table_refuses_what_design_forbids(module: str, target: str):
    assert upward(module, target)


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("flintstream.runtime.operators.base", "flintstream.contracts.functions"),
        ("flintstream.contracts.functions", "flintstream.contracts.state"),
        ("flintstream.graph.plan", "flintstream.runtime.operators.base"),
        ("flintstream.datastream.data_stream", "flintstream.graph.plan"),
    ],
)
def test_the_table_allows_what_design_needs(module: str, target: str):
    assert not upward(module, target)


def test_a_relative_import_and_a_jvm_attribute_are_seen(tmp_path, monkeypatch):
    package = tmp_path / "flintstream" / "state"
    package.mkdir(parents=True)
    (tmp_path / "flintstream" / "engine").mkdir()
    bad = package / "bad.py"
    bad.write_text("from ..engine import x\nimport pyspark.sql\n\ndef f(sc):\n    import py4j\n    return sc._jvm\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert [message.rsplit(":", 1)[0][-1] for message in violations(bad)] == ["1", "2", "5"]
    assert len(jvm_uses(bad)) == 1
