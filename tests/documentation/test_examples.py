"""Public names have examples, all of which run."""

from __future__ import annotations

from doctest import NORMALIZE_WHITESPACE, DocTestRunner

from tests.documentation.examples import of_methods_elsewhere, public_names, without_example

from flintstream.datastream.data_stream import DataStream
from flintstream.datastream.state import MapState
from flintstream.datastream.window import TimeWindow


def test_every_public_name_has_an_example():
    assert not list(without_example()), "a new name needs an example in its docstring"


def test_examples_of_methods_run_wherever_their_class_is_published():
    runner = DocTestRunner(optionflags=NORMALIZE_WHITESPACE)
    found = [runner.run(example).failed for example in of_methods_elsewhere()]
    assert len(found) >= 20
    assert not any(found)


def test_an_example_that_fails_is_noticed(monkeypatch):
    monkeypatch.setattr(TimeWindow.cover, "__doc__", ">>> TimeWindow(0, 5).cover(TimeWindow(8, 10)).start\n7\n")
    (example,) = [item for item in of_methods_elsewhere() if item.name.endswith("TimeWindow.cover")]
    assert DocTestRunner(verbose=False).run(example, out=lambda text: None).failed == 1


def test_a_name_that_loses_its_example_is_noticed(monkeypatch):
    monkeypatch.setattr(MapState, "__doc__", "A map per key.")
    assert {"datastream.state.MapState", "datastream.state.MapState.put"} <= set(without_example())


def test_a_method_of_a_base_without_an_entry_counts(monkeypatch):
    monkeypatch.setattr(DataStream.uid, "__doc__", "Set an ID.")
    assert "datastream.DataStream.uid" in set(without_example())


def test_every_module_of_pyflink_and_of_the_reference_is_looked_at():
    modules = {module for module, _ in public_names()}
    assert len(modules) >= 60
    assert {"flintstream.common.serializer", "flintstream.table.window", "flintstream.savepoint"} <= modules
