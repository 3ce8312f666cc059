"""Public names of streams, states, windows, functions and connectors have examples, all of which run."""

from __future__ import annotations

from doctest import NORMALIZE_WHITESPACE, DocTestRunner

from tests.documentation.examples import of_methods_elsewhere, without_example

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
    (example,) = [each for each in of_methods_elsewhere() if each.name.endswith("TimeWindow.cover")]
    assert DocTestRunner(verbose=False).run(example, out=lambda text: None).failed == 1


def test_a_name_that_loses_its_example_is_noticed(monkeypatch):
    monkeypatch.setattr("tests.documentation.examples.MODULES", ("flintstream.datastream.state",))
    assert not list(without_example())
    monkeypatch.setattr(MapState, "__doc__", "A map per key.")
    assert {"MapState", "MapState.put"} <= set(without_example())
