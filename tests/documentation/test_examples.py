"""Public names of streams, states, windows and connectors get examples, and none loses its own."""

from __future__ import annotations

from tests.documentation.examples import without_example

MOST = 222
"""How many names still have none. This number only falls."""


def test_names_without_an_example_become_fewer():
    found = list(without_example())
    print(*found, sep="\n")
    assert len(found) <= MOST, "a new name needs an example in its docstring"
    assert len(found) == MOST, f"there are fewer than before: write {len(found)} as MOST"


def test_an_example_is_one_of_the_name(monkeypatch):
    monkeypatch.setattr("tests.documentation.examples.MODULES", ("flintstream.datastream.state",))
    found = set(without_example())
    assert "ReadOnlyBroadcastState" in found
    assert not {"MapState", "MapState.put", "StateTtlConfig"} & found
