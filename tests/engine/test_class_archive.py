"""The archive of Spark's classes: one per java and pyspark, in a private directory; a damaged one is replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flintstream.engine.spark.jvm import class_archive
from flintstream.engine.spark.jvm import start as jvm_start
from flintstream.engine.spark.jvm.class_archive import SETTLED_SECONDS, UNUSED_SECONDS, ClassArchive
from flintstream.engine.spark.jvm.java_release import find_java
from flintstream.engine.spark.jvm.start import _start_jvm
from flintstream.errors import FlintstreamError

pytestmark = pytest.mark.slow


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "flintstream"


@pytest.fixture
def java(tmp_path):
    (tmp_path / "java").touch()
    return str(tmp_path / "java")


def of(java):
    archive = ClassArchive.of(java)
    assert archive is not None
    return archive


def target(options, name):
    (option,) = [option for option in options if name in option]
    return Path(option.partition("=")[2])


def write(path, content=b"\xf0\x0b\xab\xa8 classes", age=0.0):
    path.write_bytes(content)
    os.utime(path, (time.time() - age,) * 2)
    return path


def names(cache):
    return sorted(path.name for path in cache.iterdir())


def test_an_archive_is_used_once_it_is_complete(cache, java):
    archive = of(java)
    assert not archive.ready
    written = write(target(archive.to_write(), "ArchiveClassesAtExit"))
    assert not of(java).ready, "a JVM may still be writing it"
    write(written, age=2 * SETTLED_SECONDS)
    archive = of(java)
    assert archive.ready
    assert target(archive.to_read(), "SharedArchiveFile") == archive.path
    assert names(cache) == [archive.path.name]


def test_many_jvms_that_start_without_an_archive_leave_one(cache, java):
    for _ in range(15):
        write(target(of(java).to_write(), "ArchiveClassesAtExit"), age=2 * SETTLED_SECONDS)
    archive = of(java)
    write(target(archive.to_write(), "ArchiveClassesAtExit"), age=2 * SETTLED_SECONDS)  # it had started before
    assert of(java).ready
    assert names(cache) == [archive.path.name]


def test_archives_of_earlier_releases_do_not_pile_up(cache, java):
    path = of(java).path
    for pid in range(15):
        write(path.with_name(f"{path.name}.{pid}"), age=2 * SETTLED_SECONDS)
    assert of(java).ready
    assert names(cache) == [path.name]


def test_an_archive_that_a_killed_jvm_has_left_is_removed(cache, java):
    path = of(java).path
    write(path.with_name(f"{path.name}.new"), bytes(1000), age=2 * SETTLED_SECONDS)  # the header is written last
    assert not of(java).ready
    assert names(cache) == []
    write(path, bytes(1000))
    assert not of(java).ready


def test_archives_that_no_start_uses_are_removed(cache, java, tmp_path):
    path = write(of(java).path, age=2 * UNUSED_SECONDS)
    old, other = cache / "spark-0123.jsa", cache / "spark-4567.jsa"
    write(old, age=2 * UNUSED_SECONDS)
    write(other, age=0.5 * UNUSED_SECONDS)
    assert of(java).ready
    assert names(cache) == sorted([path.name, other.name])


def test_each_java_has_its_own_archive(cache, java, tmp_path):
    (tmp_path / "java17").touch()
    assert of(java).path != of(str(tmp_path / "java17")).path


@pytest.mark.promise("S15")
@pytest.mark.parametrize("umask", [0, 0o002, 0o277])
def test_the_cache_directory_is_private_whatever_the_umask_is(cache, java, umask, caplog):
    before = os.umask(umask)
    try:
        ClassArchive.of(java)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o755)  # as earlier releases left it
    assert ClassArchive.of(java) is not None
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert not caplog.records


@pytest.mark.parametrize("mode", [0o770, 0o775, 0o777])
def test_a_cache_directory_that_others_could_write_to_becomes_private_without_what_they_may_have_left(
    cache, java, mode, caplog
):
    path = of(java).path
    write(path)
    cache.chmod(mode)
    for _ in range(2):
        assert not of(java).ready
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    (told,) = [record.getMessage() for record in caplog.records]
    assert str(cache) in told


def foreign(cache, monkeypatch):
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)


@pytest.mark.promise("S15")
@pytest.mark.parametrize(
    "spoil",
    [
        foreign,
        lambda cache, _: (cache.rename(cache.with_name("elsewhere")), cache.symlink_to("elsewhere")),
    ],
    ids=["foreign", "link"],
)
def test_a_cache_directory_of_another_user_is_not_used(cache, java, spoil, monkeypatch, caplog):
    monkeypatch.setattr(class_archive, "_refused", set())
    write(of(java).path)
    spoil(cache, monkeypatch)
    for _ in range(2):
        assert ClassArchive.of(java) is None
    (told,) = [record.getMessage() for record in caplog.records]
    assert str(cache) in told


def test_without_a_writable_cache_there_is_no_archive(java, tmp_path, monkeypatch):
    (tmp_path / "cache").touch()  # a file where the directory should be
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert ClassArchive.of(java) is None


# -- starts ------------------------------------------------------------------------------------------------------------

JAVA = """#!{python}
import os, sys
with open("{log}", "a") as log:
    log.write("read " if any("SharedArchiveFile" in each for each in sys.argv) else "write ")
if {fails}:
    os.abort()
with open(os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"] + ".part", "wb") as info:
    info.write((7).to_bytes(4, "big") + (6).to_bytes(4, "big") + b"secret")
os.rename(info.name, os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"])
"""


@pytest.fixture
def start(cache, tmp_path):
    """Return a function that starts a JVM, which fails on a condition, and the kinds of the last starts."""

    def started(fails):
        java, log = tmp_path / "bin" / "java", tmp_path / "log"
        java.parent.mkdir(exist_ok=True)
        java.write_text(JAVA.format(python=sys.executable, log=log, fails=fails))
        java.chmod(0o755)
        os.utime(java, (0, 0))
        archive = of(str(java))
        if not archive.ready:
            write(archive.path)
        log.write_text("")
        try:
            port, secret, process = _start_jvm(str(java), {})
            process.communicate()
            assert (port, secret) == (7, "secret")
        finally:
            kinds[:] = log.read_text().split()
        return archive

    kinds: list[str] = []
    return started, kinds


ON_READING = 'any("SharedArchiveFile" in each for each in sys.argv)'


def test_a_damaged_archive_is_deleted_and_the_jvm_starts_without_it(start, caplog, capfd):
    run, kinds = start
    archive = run(ON_READING)
    assert kinds == ["read", "write"]
    assert not archive.ready
    (told,) = [record.getMessage() for record in caplog.records]
    assert str(archive.path) in told
    assert "exit code -6" in told


def test_a_jvm_that_hangs_on_a_damaged_archive_is_started_without_it(start, caplog, capfd, monkeypatch):
    monkeypatch.setattr(jvm_start, "SECONDS_WITH_ARCHIVE", 2.0)
    run, kinds = start
    archive = run(f"{ON_READING} and __import__('time').sleep(300)")
    assert kinds == ["read", "write"]
    assert not archive.ready
    (told,) = [record.getMessage() for record in caplog.records]
    assert str(archive.path) in told
    assert "not ready after 2.0 s" in told


def test_a_jvm_that_fails_without_the_archive_as_well_keeps_it(start, caplog, capfd):
    run, kinds = start
    with pytest.raises(FlintstreamError, match=r"did not start \(exit code -6\)"):
        run("True")
    assert kinds == ["read", "write"]
    assert run("False").ready
    assert kinds == ["read"]
    assert not caplog.records


PROGRAM = """
import logging
logging.basicConfig()
from flintstream.engine.spark.session import spark_context
print(spark_context({"spark.master": "local[1]"}).parallelize([1, 2], 1).sum())
"""


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_starts_with_a_damaged_archive(cache, tmp_path):
    def run():
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "3"
        return done.stderr

    archive = of(find_java())
    new = target(archive.to_write(), "ArchiveClassesAtExit")
    run()
    end = time.monotonic() + 300
    while not new.exists() or not any(new.read_bytes()[:4]):  # written when the JVM ends, after its driver
        assert time.monotonic() < end
        time.sleep(0.1)
    data = bytearray(new.read_bytes())
    half = len(data) // 4
    data[half : 3 * half] = bytes(byte ^ 0x55 for byte in data[half : 3 * half])
    new.unlink()
    write(archive.path, bytes(data))
    assert str(archive.path) in run()
    assert not archive.path.exists()
