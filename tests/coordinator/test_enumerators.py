"""Enumerators of sources, as the coordinator calls them."""

from __future__ import annotations

import inspect

from flintstream.connectors.source import SplitEnumerator
from flintstream.coordinator.enumerators import NamedEnumerator


def test_every_call_reaches_the_enumerator_of_the_source():
    wanted = {name for name, _ in inspect.getmembers(SplitEnumerator, inspect.isfunction) if not name.startswith("_")}
    assert wanted <= vars(NamedEnumerator).keys()
