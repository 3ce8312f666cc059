"""A fresh environment for each test, in one process."""

from __future__ import annotations

import pytest

import flintstream.dataframe as pf


def start(mode):
    pf.set_table_environment(None)
    pf.config._buffered.clear()
    pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", mode).set("parallelism.default", "2")
    return pf.get_or_create_table_environment()


@pytest.fixture
def batch():
    """A batch environment."""
    yield start("batch")
    pf.set_table_environment(None)
    pf.config._buffered.clear()


@pytest.fixture
def streaming():
    """A streaming environment."""
    yield start("streaming")
    pf.set_table_environment(None)
    pf.config._buffered.clear()
