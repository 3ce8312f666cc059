"""Python files, archives, packages and interpreters of a program are available in the workers."""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkFiles

from flintstream.compat import pyflink
from flintstream.datastream import MapFunction, StreamExecutionEnvironment
from flintstream.engine.connect.dependencies import check_archive
from flintstream.engine.spark.provision import dependencies, packing
from flintstream.errors import FlintstreamError


def zip_of(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return str(path)


def wheel_of(directory, name, code):
    """Write a minimal wheel."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", code)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def results(stream):
    with stream.execute_and_collect() as found:
        return sorted(found)


class ReadAtOpen(MapFunction):
    def __init__(self, path):
        self.path = path

    def open(self, runtime_context):
        with open(self.path, encoding="utf-8") as file:  # noqa: PTH123 - relative to the worker's directory
            self.text = file.read()

    def map(self, value):
        return f"{value} {self.text}"


@pytest.mark.spark
def test_files_of_an_archive_are_found_by_a_relative_path(make_spark_env, tmp_path):
    env = make_spark_env(2)
    env.add_python_archive(zip_of(tmp_path / "data.zip", inner__text_dot_txt="by its name"))
    env.add_python_archive(zip_of(tmp_path / "more.zip", text_dot_txt="by a given name"), "given")
    numbers = env.from_collection([1, 2])
    named = numbers.map(ReadAtOpen("data.zip/inner/text.txt"))
    assert results(named.union(numbers.map(ReadAtOpen("given/text.txt")))) == [
        "1 by a given name",
        "1 by its name",
        "2 by a given name",
        "2 by its name",
    ]


@pytest.mark.spark
def test_a_program_without_archives_keeps_its_directory(make_spark_env, tmp_path):
    env = make_spark_env()
    env.add_python_archive(zip_of(tmp_path / "other.zip", text_dot_txt="x"))
    assert results(env.from_collection([1]).map(ReadAtOpen("other.zip/text.txt"))) == ["1 x"]
    there = make_spark_env().from_collection([1]).map(lambda _: os.getcwd())  # noqa: PTH109
    assert results(there) == [os.getcwd()]  # noqa: PTH109


@pytest.mark.spark
def test_packages_of_a_requirements_file_are_installed(make_spark_env, tmp_path):
    wheel_of(tmp_path, "flintstream_test_package", "ANSWER = 42")
    (tmp_path / "requirements.txt").write_text("flintstream_test_package==1.0\n")
    env = make_spark_env()
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path))

    def answer(value):
        import flintstream_test_package  # type: ignore[import-not-found]

        return value + flintstream_test_package.ANSWER

    assert results(env.from_collection([1]).map(answer)) == [43]


@pytest.mark.spark
def test_what_pip_cannot_install_is_an_error_that_tells_why(make_spark_env, tmp_path):
    (tmp_path / "requirements.txt").write_text("flintstream_no_such_package==1.0\n")
    env = make_spark_env()
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path))
    env.from_collection([1]).print()
    with pytest.raises(FlintstreamError, match=r"pip cannot install the requirements: .*flintstream_no_such_package"):
        env.execute()


@pytest.mark.spark
def test_workers_run_the_interpreter_that_was_set(make_spark_env, tmp_path):
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nFLINTSTREAM_TEST_MARK=set exec "{sys.executable}" "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    env = make_spark_env()
    env.set_python_executable(str(wrapper))
    assert results(env.from_collection([1]).map(lambda _: os.environ.get("FLINTSTREAM_TEST_MARK", ""))) == ["set"]
    plain = make_spark_env().from_collection([1]).map(lambda _: os.environ.get("FLINTSTREAM_TEST_MARK", ""))
    assert results(plain) == [""]


@pytest.mark.promise("S16")
def test_packages_are_not_taken_from_a_directory_that_another_user_prepared(tmp_path, monkeypatch):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(packing, "_directories", [])
    prepared = tmp_path / f"flintstream-packages-{os.getuid()}-{os.getpid()}"  # the name in earlier releases
    digest = hashlib.sha256(b"").hexdigest()[:12]
    prepared.mkdir()
    (prepared / f"packages-{digest}.zip").write_text("hostile")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess((), 0))
    archive = dependencies.install_requirements(str(requirements), "")
    assert archive.read_bytes() != b"hostile"
    assert stat.S_IMODE(archive.parent.stat().st_mode) == 0o700
    assert archive.parent != prepared
    shutil.rmtree(packing._directories[0])


def test_archives_that_cannot_be_unpacked_are_refused(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(FileNotFoundError, match="no_such"):
        env.add_python_archive(str(tmp_path / "no_such.zip"))
    (tmp_path / "a.rar").touch()
    with pytest.raises(ValueError, match=r"\.zip, \.jar.*\.tar\.gz"):
        env.add_python_archive(str(tmp_path / "a.rar"))
    (tmp_path / "a.zip").touch()
    with pytest.raises(ValueError, match="is not a valid directory name"):
        env.add_python_archive(str(tmp_path / "a.zip"), "../a")
    env.add_python_archive(str(tmp_path / "a.zip"), "here")
    with pytest.raises(ValueError, match="already unpacked in 'here'"):
        env.add_python_archive(str(tmp_path / "a.zip"), "here")


def test_requirements_that_are_not_there_are_refused(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(FileNotFoundError, match=r"requirements\.txt"):
        env.set_python_requirements(str(tmp_path / "requirements.txt"))


def test_files_and_directories_of_the_option_are_shipped(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("ONE = 1")
    shipped = []
    monkeypatch.setattr(dependencies, "_ship_file", lambda context, path: shipped.append(path))
    monkeypatch.setattr(dependencies, "prepare_context", lambda context: context)
    context = SimpleNamespace(pythonExec="python3")
    assert dependencies.with_dependencies(context, {"python.files": f"{tmp_path / 'one.py'},{tmp_path}"}) is context
    assert shipped == [str(tmp_path / "one.py"), str(tmp_path)]


def test_the_inline_engine_has_no_workers_to_bring_anything_to(make_inline_env, tmp_path):
    env = make_inline_env()
    env.add_python_archive(zip_of(tmp_path / "data.zip", text_dot_txt="x"))
    env.from_collection([1]).print()
    with pytest.raises(FlintstreamError, match=r"python\.archives.*inline engine"):
        env.execute()


@pytest.mark.spark
def test_modules_beside_the_program_are_found_by_key_selectors_too(make_spark_env, tmp_path, monkeypatch):
    (tmp_path / "beside_the_program.py").write_text(
        "from pyflink.common import Types\n\ndef parity(n):\n    return n % 2\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    pyflink.install()
    try:
        parity = importlib.import_module("beside_the_program").parity
        keyed = make_spark_env(2).from_collection([1, 2, 3, 4]).key_by(lambda n: parity(n))  # noqa: PLW0108
        assert results(keyed.reduce(lambda a, b: a + b)) == [1, 2, 4, 6]
    finally:
        pyflink.uninstall()


def test_the_inline_engine_is_fine_with_the_interpreter_that_it_has(make_inline_env):
    env = make_inline_env()
    env.set_python_executable(sys.executable)
    assert results(env.from_collection([1, 2])) == [1, 2]
    env.set_python_executable("another-python")
    with pytest.raises(FlintstreamError, match=r"python\.executable.*inline engine"):
        results(env.from_collection([1, 2]))


@pytest.mark.spark
@pytest.mark.parametrize("suffix", [".tar.gz", ".tgz", ".tar", ".data"])
def test_tar_archives_are_unpacked(make_spark_env, tmp_path, suffix):
    (tmp_path / "text.txt").write_text("unpacked")
    with tarfile.open(tmp_path / f"data{suffix}", "w" if suffix == ".tar" else "w:gz") as archive:
        archive.add(tmp_path / "text.txt", "text.txt")
    archives = {"python.archives": f"{tmp_path}/data{suffix}#of{suffix}"}
    env = make_spark_env(1, archives)
    assert results(env.from_collection([1]).map(ReadAtOpen(f"of{suffix}/text.txt"))) == ["1 unpacked"]


@pytest.mark.spark
def test_a_file_that_is_no_archive_is_refused(make_spark_env, tmp_path):
    (tmp_path / "data.bin").write_text("text")
    env = make_spark_env(1, {"python.archives": f"{tmp_path}/data.bin#data"})
    with pytest.raises(FlintstreamError, match=r"data\.bin is neither a zip nor a tar archive"):
        results(env.from_collection([1]))


def tar_of(path, **members):
    """Write a tar archive of texts, and of links ("-> target") and hard links ("=> target")."""
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name.format(root=path.parent))
            kind, _, target = content.format(root=path.parent).partition(" ")
            if kind in {"->", "=>"}:
                member.type, member.linkname = (tarfile.SYMTYPE if kind == "->" else tarfile.LNKTYPE), target
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content.encode()))
    return str(path)


HOSTILE = {
    "parent.zip": {"../escaped": "x"},
    "far.zip": {"a/../../../../../../../../../../{root}/escaped": "x"},
    "parent.jar": {"../escaped": "x"},
    "parent.tar": {"../escaped": "x"},
    "parent.tar.gz": {"../escaped": "x"},
    "link.tar": {"link": "-> {root}", "link/escaped": "x"},
    "link.tar.gz": {"link": "-> {root}", "link/escaped": "x"},
    "hard.tar": {"link": "=> {root}/precious", "inner": "x"},
    "hard.tar.gz": {"link": "=> {root}/precious", "link2": "=> ../../../precious"},
    "damaged.zip": {},
    "damaged.tar.gz": {},
}


def write_hostile(directory):
    for name, members in HOSTILE.items():
        path = directory / name
        if not members:
            path.write_bytes(b"damaged" * 100)
        elif path.suffix in {".zip", ".jar"}:
            with zipfile.ZipFile(path, "w") as archive:
                for member, content in members.items():
                    archive.writestr(member.format(root=directory), content)
        else:
            tar_of(path, **members)


@pytest.mark.promise("S18")
@pytest.mark.spark
def test_an_archive_whose_members_lead_out_of_its_directory_is_refused_and_writes_nothing_there(
    make_spark_env, tmp_path
):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    write_hostile(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for name in HOSTILE:
        env = make_spark_env(1, {"python.archives": f"{tmp_path / name}#of-{name}"})
        for _ in range(2):  # Spark itself takes the second attempt for done
            with pytest.raises(FlintstreamError, match=rf"^Spark cannot unpack .*/{re.escape(name)}: .") as refused:
                results(env.from_collection([1]))
            assert "\n" not in str(refused.value)
            assert "Exception" not in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before
    assert precious.read_text() == "mine"
    assert results(make_spark_env(1).from_collection([1])) == [1], "other jobs of the session run"
    unpacked = Path(SparkFiles.getRootDirectory())
    assert not [*unpacked.rglob("escaped"), *unpacked.parent.glob("escaped"), *unpacked.parent.parent.glob("escaped")]


@pytest.mark.spark
def test_absolute_names_in_an_archive_are_below_its_directory(make_spark_env, tmp_path):
    tar_of(tmp_path / "abs.tar.gz", **{"{root}/escaped": "by tar"})
    with zipfile.ZipFile(tmp_path / "abs.zip", "w") as archive:
        archive.writestr(f"{tmp_path}/escaped", "by zip")
    env = make_spark_env(1)
    for name in ("abs.tar.gz", "abs.zip"):
        env.add_python_archive(str(tmp_path / name), f"of-{name}")
    numbers = env.from_collection([1])
    read = [numbers.map(ReadAtOpen(f"of-{name}{tmp_path}/escaped")) for name in ("abs.tar.gz", "abs.zip")]
    assert results(read[0].union(read[1])) == ["1 by tar", "1 by zip"]
    assert not (tmp_path / "escaped").exists()


@pytest.mark.promise("S18")
@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_whose_members_lead_out_of_its_directory_is_not_sent_to_a_server_of_spark_connect(name, tmp_path):
    write_hostile(tmp_path)
    with pytest.raises(FlintstreamError, match=rf"^Spark cannot unpack its {re.escape(name)}: .") as refused:
        check_archive(str(tmp_path / name), f"its {name}")
    assert "\n" not in str(refused.value)


def test_links_within_an_archive_and_absolute_names_are_sent_to_a_server_of_spark_connect(tmp_path):
    members = {"venv/lib/a.txt": "x", "venv/lib64": "-> lib", "venv/b.txt": "-> ../venv/lib/a.txt", "/abs.txt": "x"}
    check_archive(tar_of(tmp_path / "inner.tar.gz", **members), "it")
    check_archive(zip_of(tmp_path / "inner.zip", a__b_dot_txt="x"), "it")
