"""Programs that these tests run in their own process have no use for a JVM that starts early."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_jvm_starts_early(monkeypatch):
    monkeypatch.setattr("flintstream.engine.spark.session.begin", lambda *_: None)
