"""What all tests of the REST interface need."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def lists_wait_for_slow_machines(monkeypatch):
    monkeypatch.setattr("flintstream.coordinator.asking.ALL_SECONDS", 30.0)
