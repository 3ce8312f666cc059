"""The names of ``pyflink.dataframe``, read from Flink's main branch at the commits that ``upstream_names.json`` has."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import flintstream.dataframe as pf

UPSTREAM = json.loads(Path(__file__).with_name("upstream_names.json").read_text(encoding="utf-8"))
ONLY_HERE = {"complete", "embed", "from_spark"}
METHODS_ONLY_HERE = {"describe", "explain", "show", "to_arrow", "to_duckdb", "to_polars", "to_spark"}


def test_every_name_of_upstream_is_here_and_no_other_one_is_but_those_that_the_reference_lists():
    assert set(pf.__all__) - ONLY_HERE == set(UPSTREAM["pyflink.dataframe"])
    assert set(pf.__all__) >= ONLY_HERE


def test_every_method_of_upstream_is_here_and_no_other_one_is_but_those_that_the_reference_lists():
    found = {name for name in dir(pf.DataFrame) if not name.startswith("_")}
    assert found - METHODS_ONLY_HERE == {name for name in UPSTREAM["DataFrame"] if not name.startswith("_")}
    assert found >= METHODS_ONLY_HERE
    assert all(hasattr(pf.DataFrame, name) for name in UPSTREAM["DataFrame"])
    assert {name for name in dir(pf.GroupedDataFrame) if not name.startswith("_")} == set(UPSTREAM["GroupedDataFrame"])


def test_join_asof_has_the_parameters_of_upstream():
    assert list(inspect.signature(pf.DataFrame.join_asof).parameters)[1:] == UPSTREAM["join_asof"]


def without_example(names):
    """Return the public names, and those of their methods, whose text shows no example."""
    found = []
    for name in names:
        given = getattr(pf, name)
        methods = [item for item in dir(given) if not item.startswith("_")] if inspect.isclass(given) else []
        texts = {f"{name}.{item}": getattr(given, item).__doc__ for item in methods}
        texts[name] = given.__doc__
        found += [item for item, text in texts.items() if ">>> " not in (text or "")]
    return found


def test_every_name_and_method_has_a_text_with_an_example():
    assert not without_example(set(pf.__all__) - {name for name in pf.__all__ if name.isupper()})


def test_a_method_without_an_example_is_noticed(monkeypatch):
    monkeypatch.setattr(pf.DataFrame.limit, "__doc__", "Return other rows.")
    assert without_example(["DataFrame"]) == ["DataFrame.limit"]


def test_the_reference_names_all_that_is_only_here():
    page = Path(__file__).parents[2] / "docs" / "reference" / "dataframe.md"
    text = page.read_text(encoding="utf-8")
    missing = {name for name in ONLY_HERE | METHODS_ONLY_HERE if f"`{name}`" not in text and f"`{name}()`" not in text}
    assert not missing
