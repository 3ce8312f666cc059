"""Functions and methods of the Table API take the parameters of PyFlink 2.3.0, by position and by name."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.parity.parity import unaccepted
from tests.table.parameters import RECORDED

PARAMETERS = json.loads(RECORDED.read_text(encoding="utf-8"))
HERE = {"model_descriptor": "_stored.descriptors"}
"""Modules whose classes are in other ones."""
OTHERWISE = {f"types.{kind}TimestampType.to_sql_type": "dt" for kind in ("", "LocalZoned", "Zoned")}
"""What does not take them, and which it refuses: only PyFlink itself calls these."""


def find(name: str) -> Any:
    module, *parts = name.split(".")
    found: Any = import_module(f"flintstream.table.{HERE.get(module, module)}")
    for part in parts:
        found = getattr(found, part, None)
    return found


def test_methods_take_the_parameters_of_pyflink():
    refused = {name: unaccepted(found, theirs) for name, theirs in PARAMETERS.items() if callable(found := find(name))}
    assert {name: text for name, text in refused.items() if text} == OTHERWISE
    assert len(refused) > 600
