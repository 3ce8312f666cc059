"""Compiled parts of the packages that executors get: which are sent, and what runs where they do not load."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from flintstream.compiled import PURE_PYTHON, load
from flintstream.engine.spark.provision import executors, packing

VERSIONS = {"flintstream": "1.2.3", "msgpack": "1.1"}
KEYED, MSGPACK = "flintstream.compiled._base", "msgpack._cmsgpack"
AVAILABLE = load("keyed") is not None and MSGPACK in packing.compiled_modules(["msgpack"])
pytestmark = pytest.mark.skipif(not AVAILABLE, reason="this installation has no compiled modules to send")

CODE = """
import sys
from pathlib import Path
import msgpack
from flintstream.compiled import load
import flintstream.datastream, flintstream.state.heap_states as states
compiled = states.Access.__module__ == "flintstream.compiled._state"
print(load("keyed") is not None, load("rows") is not None, msgpack.Packer.__module__, compiled)
print(msgpack.unpackb(msgpack.packb([1])), {Path(load("rows").__file__).suffix} if load("rows") else "")
"""

SENTENCE = "in pure Python, which is slower, because compiled parts do not load there"


@pytest.fixture
def unpacked(tmp_path):
    """Return the directory that an executor makes of the archive."""
    shutil.unpack_archive(packing.package_archive(VERSIONS), tmp_path / "packages")
    return tmp_path / "packages"


def module(unpacked, name):
    return unpacked / (name.replace(".", "/") + packing.SUFFIX)


def said(unpacked, code=CODE):
    """Return what a Python says that has no packages but those of the archive."""
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-S", "-c", code], cwd=unpacked.parent, env={"PYTHONPATH": str(unpacked)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()[0]


def reasons(unpacked, suffix=packing.SUFFIX):
    """Return why modules do not load, as the task on the executors finds it."""
    source = Path(executors.__file__).read_text()
    task = source[source.index("def _load(") :]
    return eval(said(unpacked, f"{task}\nprint(_load({(KEYED, MSGPACK)!r}, {suffix!r})[1])"))  # noqa: S307 - our own


def test_the_archive_has_the_compiled_modules_of_this_python(unpacked):
    assert said(unpacked) == "True True msgpack._cmsgpack True"
    assert reasons(unpacked) == {}
    names = packing.compiled_modules(VERSIONS)
    assert {KEYED, MSGPACK} <= set(names)
    assert sorted(map(str, unpacked.rglob("*.so"))) == sorted(str(module(unpacked, name)) for name in names)


def test_executors_compile_none_of_the_modules(unpacked):
    before = sorted(unpacked.rglob("*.pyc"))
    said(unpacked)
    assert sorted(unpacked.rglob("*.pyc")) == before


def test_the_variable_for_pure_python_leaves_them_out(monkeypatch):
    monkeypatch.setenv(PURE_PYTHON, "1")
    assert packing.compiled_modules(VERSIONS) == []
    assert not [name for name in zipfile.ZipFile(packing.package_archive(VERSIONS)).namelist() if ".so" in name]


def test_modules_of_another_python_are_neither_sent_nor_loaded(unpacked, monkeypatch):
    for name in packing.compiled_modules(VERSIONS):
        path = module(unpacked, name)
        path.rename(path.with_name(path.name.replace(packing.SUFFIX, ".cpython-39-other.so")))
    assert said(unpacked) == "False False msgpack.fallback False"
    other = ".cpython-39-other.so"
    assert set(reasons(unpacked, other).values()) == {f"its Python loads *{packing.SUFFIX}, not *{other}"}
    monkeypatch.setattr(packing, "SUFFIX", other)
    assert packing.compiled_modules(VERSIONS) == []


@pytest.mark.parametrize("name", [KEYED, MSGPACK])
@pytest.mark.parametrize("damage", ["empty", "no library", "newer C library"])
@pytest.mark.skipif(sys.platform != "linux", reason="the damages are those of Linux")
def test_a_module_that_does_not_load_leaves_the_others(unpacked, name, damage):
    path = module(unpacked, name)
    data = path.read_bytes()
    if damage == "newer C library":
        if b"\0GLIBC_2.2.5\0" not in data:
            pytest.skip("the module is not made for glibc on x86-64")
        path.write_bytes(data.replace(b"\0GLIBC_2.2.5\0", b"\0GLIBC_9.9.9\0"))
    else:
        path.write_bytes(b"" if damage == "empty" else b"no library" * 100)
    keyed = name != KEYED
    assert said(unpacked) == f"{keyed} True msgpack.{'_cmsgpack' if name == KEYED else 'fallback'} {keyed}"
    (found,) = reasons(unpacked).items()
    assert found[0] == name
    assert {"empty": "too short", "no library": "invalid ELF header"}.get(damage, "GLIBC_9.9.9' not found") in found[1]


class Context:
    """A cluster whose executors have no flintstream, and load no compiled modules for the given reasons."""

    master = "spark://host:7077"
    pythonExec = "python"  # noqa: N815 - as in Spark
    defaultParallelism = 2  # noqa: N815

    def __init__(self, application, reasons, monkeypatch):
        self.applicationId = application
        self.environment = {}
        self.archives = []
        self.tried = []
        self.reasons = reasons
        monkeypatch.setattr(executors, "program_archive", lambda: None)
        monkeypatch.setattr(executors, "_answers", self.answers)

    def addArchive(self, path):  # noqa: N802
        self.archives.append(path)

    def answers(self, context, function, *arguments):
        if function is executors._look:
            return [("first", dict.fromkeys((*arguments[0], *arguments[1])))] * 2
        self.tried.append((context.environment["PYTHONPATH"], arguments))
        return [("first", {}), ("second", self.reasons), ("third", self.reasons)]


def test_executors_try_the_modules_once_and_one_warning_says_which_do_not_load(monkeypatch, caplog):
    context = Context("tried once", {KEYED: "no such C library", MSGPACK: "?"}, monkeypatch)
    for _ in range(2):
        prepared = executors.prepare_context(context)
    (archive,) = context.archives
    path, _, target = archive.partition("#")
    assert target == Path(path).stem
    assert prepared.environment["PYTHONPATH"] == f"./{target}"
    assert "PYTHONPATH" not in context.environment
    ((paths, (modules, suffix)),) = context.tried
    assert paths == f"./{target}"
    assert {KEYED, MSGPACK} <= set(modules)
    assert suffix == packing.SUFFIX
    assert caplog.text.count(SENTENCE) == 1
    assert (
        f"run flintstream and msgpack {SENTENCE} (host second: no such C library): run 'pip install fl" in caplog.text
    )


def test_nothing_is_said_where_all_modules_load(monkeypatch, caplog):
    executors.prepare_context(Context("loads", {}, monkeypatch))
    assert not caplog.text


def test_nothing_is_tried_without_compiled_modules(monkeypatch, caplog):
    monkeypatch.setenv(PURE_PYTHON, "1")
    context = Context("nothing to try", {KEYED: "?"}, monkeypatch)
    executors.prepare_context(context)
    assert context.archives
    assert not context.tried
    assert not caplog.text
