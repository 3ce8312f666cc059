"""Comparison of PyFlink's names with ours, from which ``docs/reference/parity.md`` is made."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.parity.objects import section
from tests.parity.statuses import IMPOSSIBLE, JAVA, JAVA_OBJECT, NO_OPS, OTHERWISE
from tests.parity.surface import counts, names_of, surface

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = Path(__file__).with_name("names.json")
"""Names of PyFlink 2.3.0 and of the documentation of its releases 1.15 and later; facts only.

``seeds`` and ``2.3`` map module -> class -> member -> parameters. An optional parameter ends in ``?``, one
that must be named begins with ``=``; null means that it is not a method, or that its parameters are unknown.
"""

ELSEWHERE = ("pyflink.datastream.connectors", "pyflink.datastream.formats")
"""Listed on the page of connectors."""

CONNECTORS = (
    "pyflink.datastream.connectors.cassandra",
    "pyflink.datastream.connectors.dynamic_kafka",
    "pyflink.datastream.connectors.elasticsearch",
    "pyflink.datastream.connectors.file_system",
    "pyflink.datastream.connectors.hybrid_source",
    "pyflink.datastream.connectors.jdbc",
    "pyflink.datastream.connectors.kafka",
    "pyflink.datastream.connectors.kinesis",
    "pyflink.datastream.connectors.pulsar",
    "pyflink.datastream.connectors.rabbitmq",
    "pyflink.datastream.formats.avro",
    "pyflink.datastream.formats.csv",
    "pyflink.datastream.formats.json",
    "pyflink.datastream.formats.orc",
    "pyflink.datastream.formats.parquet",
)
"""Complete ones are also listed here."""


@dataclass(frozen=True)
class Name:
    """A name of PyFlink."""

    module: str
    path: str
    parameters: str | None
    in_docs: bool
    """The documentation of releases 1.15 and later, from which programs are written, has it."""
    in_release: bool
    """PyFlink 2.3 has it."""

    @property
    def full(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.path}"


@dataclass(frozen=True)
class Row:
    """A name and its status here."""

    name: Name
    status: str
    note: str = ""


@cache
def names() -> tuple[Name, ...]:
    """Return all names except those of formats and of most connectors."""
    content = json.loads(NAMES.read_text(encoding="utf-8"))
    documented = dict(_documented(content["seeds"]))
    found: dict[tuple[str, str], Name] = {}
    for module, classes in content["2.3"].items():
        for path, what in classes.items():
            call = what.get("init", what.get("call"))
            for member, parameters in {"": call, **what.get("members", {})}.items():
                full = f"{path}.{member}" if member else path
                found[module, full] = Name(module, full, parameters, full in documented, in_release=True)
    released = {name.path for name in found.values()}
    for full, (module, parameters) in documented.items():
        if full not in released:
            found[module, full] = Name(module, full, parameters, in_docs=True, in_release=False)
    wanted = (name for name in found.values() if name.path != "TYPE_CHECKING")  # of Python's typing
    return tuple(name for name in wanted if name.module in CONNECTORS or not name.module.startswith(ELSEWHERE))


def _documented(modules: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for module, classes in modules.items():
        for path, members in classes.items():
            yield path, (module, None)
            for member, parameters in members.items():
                yield f"{path}.{member}", (module, parameters)


def rows() -> list[Row]:
    """Return the status of every name."""
    return [Row(name, *status(name)) for name in names()]


def status(name: Name) -> tuple[str, str]:
    """Return the status of a name, and a note.

    ``missing`` and ``other parameters`` must not be on the page.
    """
    for path in _with_parents(name.path):
        if path in IMPOSSIBLE:
            return "impossible here", IMPOSSIBLE[path]
    if JAVA_OBJECT.search(name.path) and name.path not in NO_OPS:
        return "impossible here", JAVA
    try:
        ours = attrgetter(name.path)(import_module(name.module.replace("pyflink", "flintstream", 1)))
    except (ImportError, AttributeError):
        return "missing", ""
    for path in _with_parents(name.path):
        if path in OTHERWISE:
            return "supported", OTHERWISE[path]
    if name.parameters is not None and (refused := unaccepted(ours, name.parameters)):
        return "other parameters", refused
    for path in _with_parents(name.path):
        if path in NO_OPS:
            return "no-op", NO_OPS[path]
    return "supported", ""


def _with_parents(path: str) -> Iterator[str]:
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length])


def unaccepted(ours: Any, theirs: str) -> str:
    """Return the parameters of PyFlink that ours does not accept; an empty text if it accepts all of them."""
    try:
        parameters = [p for p in inspect.signature(ours).parameters.values() if p.name not in {"self", "cls"}]
    except (TypeError, ValueError):
        return ""
    kinds = inspect.Parameter
    named = {p.name: p for p in parameters}
    takes_any = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    takes_all = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
    positional = [p for p in parameters if p.kind in {kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD}]
    given = theirs.split()
    for place, text in enumerate(given):
        name = text.strip("=?*")
        if text.startswith("**"):
            if not takes_all:
                return text
        elif text.startswith("*"):
            if not takes_any:
                return text
        elif name not in named and not takes_all:
            return name
        elif (
            not text.startswith("=") and not takes_any and (place >= len(positional) or positional[place].name != name)
        ):
            return f"{name} as parameter {place + 1}"
        elif text.endswith("?") and name in named and named[name].default is kinds.empty:
            return f"{name} left out"
    asked = {text.strip("=?*") for text in given}
    more = [p.name for p in positional if p.default is kinds.empty and p.name not in asked]
    return f"without {more[0]}" if more else ""


def share(found: list[Row], *, release: bool) -> tuple[int, int]:
    """Return the number of supported names and no-ops in the documentation or the release, and of all names."""
    of = [row for row in found if (row.name.in_release if release else row.name.in_docs)]
    return sum(row.status in {"supported", "no-op"} for row in of), len(of)


def import_surface() -> list[str]:
    """Return the lines of the page about the names that can be imported."""
    ours, elsewhere, stand_ins = counts()
    total = ours + elsewhere + stand_ins
    return [
        f"* Names that programs can import from the {len(surface())} modules of PyFlink 1.13 to 2.3: all {total}.",
        f"  {ours} belong to the module itself, {elsewhere} are re-exports, such as `Duration` in",
        f"  `pyflink.common.watermark_strategy`; {stand_ins} are stand-ins, and using one raises an error with the",
        "  alternative.",
    ]


def page() -> str:
    """Return the page."""
    found = rows()
    docs, release = share(found, release=False), share(found, release=True)
    lines = [
        "# Parity with PyFlink",
        "",
        "This page lists what differs from PyFlink's API. `python -m tests.parity` generates it, and a test keeps it",
        "current.",
        f"The connectors and formats that it includes are {', '.join(f'`{name}`' for name in CONNECTORS)}.",
        "",
        f"* Names in the documentation of PyFlink 1.15 and later: {docs[0]} of {docs[1]} exist.",
        f"* Names of PyFlink 2.3: {release[0]} of {release[1]} exist ({release[0] / release[1]:.1%}).",
        "",
        *import_surface(),
        "",
        "All names that are not listed below are supported. A *no-op* is accepted and has no effect, because nothing",
        "here depends on it.",
    ]
    for module in dict.fromkeys(row.name.module for row in found):
        of_module = [row for row in found if row.name.module == module]
        other = [row for row in of_module if row.note]
        supported = sum(row.status == "supported" for row in of_module)
        lines += ["", f"## {module}", "", f"{supported} of {len(of_module)} names are supported."]
        if other:
            lines += ["", "| name | status | note |", "|---|---|---|"]
            lines += [f"| `{row.name.path}` | {row.status} | {row.note} |" for row in other]
    lines += ["", *section()]
    lines += [
        "",
        "## Names by module",
        "",
        "The number of names that each module has had since 1.13, and the stand-ins among them.",
        "",
        "| module | own names | re-exports | stand-ins |",
        "|---|---|---|---|",
    ]
    for module in surface():
        ours, elsewhere, absent = names_of(module)
        lines.append(f"| `{module}` | {len(ours)} | {len(elsewhere)} | {' '.join(f'`{name}`' for name in absent)} |")
    return "\n".join(lines) + "\n"
