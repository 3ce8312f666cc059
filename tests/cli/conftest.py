"""What all tests of the command line need."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_jvm_starts_early(monkeypatch):
    """Programs that these tests run in their own process have no use for it."""
    monkeypatch.setattr("flintstream.engine.spark.session.begin", lambda *_: None)


@pytest.fixture(autouse=True)
def lists_wait_for_slow_machines(monkeypatch):
    monkeypatch.setattr("flintstream.coordinator.asking.ALL_SECONDS", 30.0)
