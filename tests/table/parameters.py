# mypy: disable-error-code="import-not-found,import-untyped"
"""``PYTHONPATH=. PYTHON_OF_PYFLINK -m tests.table.parameters``: note the parameters of the Table API of real PyFlink.

``parameters.json`` maps functions and methods to their parameters, in the form of :mod:`tests.parity.parity`.
"""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECORDED = Path(__file__).with_suffix(".json")
MODULES = (
    "catalog", "data_view", "descriptors", "environment_settings", "expression", "expressions", "model_descriptor",
    "module", "schema", "statement_set", "table", "table_config", "table_descriptor", "table_environment",
    "table_pipeline", "table_result", "table_schema", "types", "udf", "window", "compiled_plan", "plan_reference",
)  # fmt: skip


SIGNS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "="}


def functions_of(package: str) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the public functions and methods of the modules, with their names."""
    for name in MODULES:
        module = import_module(f"{package}.{name}")
        for public in sorted(item for item in vars(module) if not item.startswith("_")):
            found = getattr(module, public)
            if getattr(found, "__module__", "") != module.__name__:
                continue
            if inspect.isfunction(found):
                yield f"{name}.{public}", found
            elif inspect.isclass(found):
                for member in sorted(item for item in dir(found) if not item.startswith("_")):
                    static = inspect.getattr_static(found, member)
                    method = getattr(static, "__func__", static)
                    if inspect.isfunction(method):
                        yield f"{name}.{public}.{member}", method


def parameters_of(function: Callable[..., object]) -> str:
    """Return the parameters of a function."""
    texts = []
    for item in inspect.signature(function).parameters.values():
        sign = SIGNS.get(item.kind.name, "")
        if item.name not in {"self", "cls"}:
            texts.append(f"{sign}{item.name}{'' if item.default is item.empty else '?'}")
    return " ".join(texts)


def main() -> None:
    """Record."""
    found = {name: parameters_of(function) for name, function in functions_of("pyflink.table")}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{len(found)} functions")


if __name__ == "__main__":
    main()
