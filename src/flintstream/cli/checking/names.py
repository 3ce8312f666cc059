"""Names that a program imports from pyflink."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, Finding
from flintstream.compat._stand_ins import refusal
from flintstream.errors import MissingDependencyError
from flintstream.table._errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found

__all__ = ["check_imports"]

PACKAGES = {
    "pyflink.datastream.connectors.cassandra": ("cassandra", "cassandra"),
    "pyflink.datastream.connectors.elasticsearch": ("urllib3", "elasticsearch"),
    "pyflink.datastream.connectors.kafka": ("confluent_kafka", "kafka"),
    "pyflink.datastream.connectors.kinesis": ("boto3", "aws"),
    "pyflink.datastream.connectors.pulsar": ("pulsar", "pulsar"),
    "pyflink.datastream.connectors.rabbitmq": ("pika", "rabbitmq"),
    "pyflink.datastream.formats.avro": ("fastavro", "avro"),
    "pyflink.datastream.formats.orc": ("pyarrow", "orc"),
    "pyflink.datastream.formats.parquet": ("pyarrow", "parquet"),
    "pyflink.table": ("sqlglot", "table"),
}
"""What modules need when a program runs: a package, and the extra of flintstream that brings it."""


def check_imports(tree: ast.AST) -> Iterator[Found]:
    """Yield a finding for each name of pyflink that cannot be imported, or can be imported but not used.

    Flintstream must serve ``import pyflink``.
    """
    optional = {id(item) for tried in ast.walk(tree) if isinstance(tried, ast.Try) for item in ast.walk(tried)}
    for node in ast.walk(tree):
        kind = NOTE if id(node) in optional else ERROR  # after "try: import", a program has another way
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_pyflink(alias.name):
                    yield from _module(node, kind, alias.name)
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_pyflink(node.module or ""):
            yield from _names(node, kind)


def _is_pyflink(module: str) -> bool:
    return module.partition(".")[0] == "pyflink"


def _module(node: ast.stmt, kind: str, name: str) -> Iterator[Found]:
    try:
        import_module(name)
    except ImportError as error:
        yield node, Finding(node.lineno, kind, str(error))
    else:
        yield from _packages(node, kind, [name])


def _packages(node: ast.stmt, kind: str, modules: list[str]) -> Iterator[Found]:
    needed = {PACKAGES[module] for module in modules if module in PACKAGES}
    needed |= {PACKAGES["pyflink.table"] for module in modules if module.startswith("pyflink.table.")}
    for package, extra in sorted(needed):
        if find_spec(package) is None:
            missing = MissingDependencyError(
                package.replace("_", "-"), extra=extra, purpose=f"this import of '{modules[0]}'"
            )
            yield node, Finding(node.lineno, kind, str(missing))


def _names(node: ast.ImportFrom, kind: str) -> Iterator[Found]:
    name = node.module or ""
    try:
        module = import_module(name)
    except ImportError as error:
        yield node, Finding(node.lineno, kind, str(error))
        return
    yield from _packages(node, kind, [name, *(f"{name}.{alias.name}" for alias in node.names)])
    for alias in node.names:
        if alias.name == "*":
            continue
        try:
            value = getattr(module, alias.name)
        except MissingDependencyError as error:
            yield node, Finding(node.lineno, kind, str(error))
        except (AttributeError, ImportError) as error:
            if isinstance(error, AttributeError):
                known = [item for item in dir(module) if not item.startswith("_")]
                text = f"'{alias.name}' is not in {name}{nearest(alias.name, known)}"
            else:
                text = str(error)
            yield node, Finding(node.lineno, kind, text)
        else:
            refused = refusal(value)
            if refused is not None:
                yield node, Finding(node.lineno, kind, refused)
