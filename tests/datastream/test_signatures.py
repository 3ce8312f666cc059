"""The API has PyFlink's names and parameters; the table comes from PyFlink 2.3.0."""

from __future__ import annotations

import enum
import inspect
import json
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

TABLE = json.loads((Path(__file__).parent / "pyflink_2_3_signatures.json").read_text(encoding="utf-8"))
CLASSES = [(module, name) for module, classes in TABLE.items() for name in classes]


def parameters(function):
    """Parameter names without self; an optional one ends in a question mark."""
    return [
        name + ("?" if parameter.default is not inspect.Parameter.empty else "")
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    ]


@pytest.mark.parametrize(("module", "name"), CLASSES)
def test_methods_take_the_parameters_that_they_take_in_pyflink(module, name):
    cls = attrgetter(name)(import_module(f"flintstream.datastream.{module}"))
    for method, expected in TABLE[module][name].items():
        ours = parameters(cls if method == "__init__" else getattr(cls, method))
        theirs = expected.split()
        # A parameter may be optional here that is required there, and more optional ones may follow.
        assert [p.rstrip("?") for p in ours[: len(theirs)]] == [p.rstrip("?") for p in theirs], method
        assert all(p.endswith("?") for p in ours[len(theirs) :]), method
        assert not any(t.endswith("?") and not o.endswith("?") for o, t in zip(ours, theirs, strict=False)), method


@pytest.mark.parametrize("module", TABLE)
def test_what_has_a_dot_in_its_name_is_nested(module):
    for name in TABLE[module]:
        cls = attrgetter(name)(import_module(f"flintstream.datastream.{module}"))
        assert isinstance(cls, (type, enum.EnumMeta)), name
