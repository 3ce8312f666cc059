"""Comparison of the objects that PyFlink passes to user code with ours, attribute by attribute."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path

from tests.conformance.harness import Run
from tests.conformance.ours import alias, make_environment
from tests.parity.statuses import NOT_HANDED_OUT

RECORDED = Path(__file__).with_name("handed_out.json")
"""By object and attribute: ``method`` or ``value``, and the mode of PyFlink if only one has it. See ``record.py``."""

Attributes = dict[str, dict[str, str]]


@cache
def recorded() -> Attributes:
    """Return the attributes of PyFlink's objects."""
    found: Attributes = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


@cache
def ours() -> Attributes:
    """Return the attributes of ours."""
    with alias(), redirect_stdout(StringIO()) as printed:
        programs = import_module("tests.parity.handed_out")
        found: Attributes = programs.everything(lambda: make_environment("inline", Run("STREAMING", 1)))
    if "Error" in printed.getvalue():
        raise AssertionError(printed.getvalue())
    return found


def absent() -> dict[str, list[str]]:
    """Return the attributes that only PyFlink's objects have, each with its objects."""
    found: dict[str, list[str]] = {}
    for name, attributes in recorded().items():
        for attribute, what in attributes.items():
            if ours()[name].get(attribute) != what.partition(",")[0]:
                found.setdefault(attribute, []).append(name)
    return dict(sorted(found.items()))


def section() -> list[str]:
    """Return the part of the page about them."""
    count = sum(map(len, recorded().values()))
    gone = absent()
    lines = [
        "## Objects that user code receives",
        "",
        f"PyFlink's process and thread mode pass {len(recorded())} kinds of objects to functions and programs (states,",
        f"contexts, timer services, streams, iterators, types). Of their {count} public attributes,",
        f"{count - sum(map(len, gone.values()))} exist here. The others:",
        "",
        "| attribute | of | reason |",
        "|---|---|---|",
    ]
    for attribute, names in gone.items():
        told = ", ".join(f"`{name}`" for name in names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
        lines.append(f"| `{attribute}` | {told} | {NOT_HANDED_OUT.get(attribute, 'MISSING')} |")
    return lines
