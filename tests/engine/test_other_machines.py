"""Executors that have nothing of the driver's machine: neither flintstream, nor the program, nor its packages.

The workers of a standalone cluster run in mount namespaces without the checkout, the packages of the driver and the
directory of the program. Their Python is a virtual environment without any package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import venv
import zipfile
from pathlib import Path
from shutil import ignore_patterns

import msgpack
import pytest
from tests.standalone import ROOT, Standalone, hiding

import flintstream
from flintstream.compiled import load
from flintstream.engine.spark.failures.spark_errors import explain
from flintstream.engine.spark.provision import executors, packing

SECONDS = 600
pytestmark = pytest.mark.timeout(2 * SECONDS)  # the machine may be slow and busy
RESTARTS = ["-D", "execution.checkpointing.interval=1 h"]  # with checkpoints, jobs restart without limit

PROGRAM = """
import sys
import helper
from pyflink.datastream import StreamExecutionEnvironment


def lazy(text):
    import lazily
    return lazily.late(text)


def compiled(_):
    import msgpack
    from flintstream.compiled import load
    return [load(name) is not None for name in ("exchange", "keyed")], msgpack.Packer.__module__


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([1, 2, 3]).map(helper.double).map(lazy)
with numbers.key_by(lambda text: text).reduce(lambda a, b: a).execute_and_collect() as found:
    print("FOUND", sorted(found))
with env.from_collection([1]).map(compiled).execute_and_collect() as found:
    print("COMPILED", *found)
"""
FOUND = "FOUND ['two 2!', 'two 4!', 'two 6!']"


class Elsewhere:
    """A cluster, a directory that its workers do not see, and a Python for them."""

    def __init__(self, cluster, hidden, python):
        self.cluster = cluster
        self.hidden = hidden
        self.python = python

    def run(self, *options, program="program.py", python=None, **environment):
        """Run a program as a user of the command does."""
        command = [sys.executable, "-m", "flintstream.cli", "run", "--master", self.cluster.url, "-p", "2"]
        return self.command([*command, *options, program], python=python, **environment)

    def command(self, command, python=None, **environment):
        dropped = ("PYSPARK", "SPARK", "PYTHON")
        env = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        env |= {"PYTHONPATH": str(ROOT / "src"), "SPARK_LOCAL_IP": "127.0.0.1"}
        env |= {"PYSPARK_PYTHON": str(python or self.python), "PYSPARK_DRIVER_PYTHON": sys.executable, **environment}
        return subprocess.run(  # noqa: S603 - our own programs
            command, cwd=self.hidden, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    def write(self, name, text):
        path = self.hidden / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A cluster of one worker."""
    hidden, there = tmp_path_factory.mktemp("driver"), tmp_path_factory.mktemp("there")
    venv.create(there / "venv", with_pip=False, symlinks=True)
    around = hiding(there / "kept", hidden)
    with Standalone(there / "cluster", workers=1, cores=2, around=around) as cluster:
        made = Elsewhere(cluster, hidden, there / "venv" / "bin" / "python")
        made.write("program.py", PROGRAM)
        made.write("helper.py", "from package import inner\n\ndef double(n):\n    return inner.text() + str(n * 2)\n")
        made.write("lazily.py", "def late(text):\n    return text + '!'\n")
        made.write("package/__init__.py", "")
        made.write("package/word.txt", "two ")
        made.write(
            "package/inner.py",
            "from pathlib import Path\n\ndef text():\n    return Path(__file__).with_name('word.txt').read_text()\n",
        )
        yield made


COMPILED = [load(name) is not None for name in ("exchange", "keyed")]
PURE = "in pure Python, which is slower, because compiled parts do not load there"


def succeeded(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert FOUND in done.stdout
    assert f"COMPILED ({COMPILED}, '{msgpack.Packer.__module__}')" in done.stdout
    assert PURE not in done.stderr


def failed_with(done, sentence):
    """Check that a job ended with one sentence, without a stack trace of Java."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "\tat " not in done.stderr, "Java's stack traces say no more"
    assert "Traceback" not in done.stderr


@pytest.mark.deep
@pytest.mark.spark
def test_flintstream_and_the_modules_of_the_program_reach_executors(elsewhere):
    succeeded(elsewhere.run())


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_submit_sends_them_too(elsewhere):
    submit = Path(sys.executable).with_name("spark-submit")
    program = elsewhere.hidden / "submitted.py"
    program.write_text("from flintstream.compat.pyflink import install\ninstall()\n" + PROGRAM)
    done = elsewhere.command([str(submit), "--master", elsewhere.cluster.url, str(program)])
    succeeded(done)


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.skipif(not all(COMPILED), reason="this installation has no compiled modules to send")
def test_executors_run_in_pure_python_what_does_not_load_there(elsewhere):
    source = elsewhere.hidden / "source"
    shutil.copytree(Path(flintstream.__file__).parent, source / "flintstream", ignore=ignore_patterns("__pycache__"))
    (source / "flintstream" / "compiled" / f"_keyed{packing.SUFFIX}").write_bytes(b"no library" * 100)
    done = elsewhere.run(PYTHONPATH=str(source))
    assert FOUND in done.stdout, done.stdout + done.stderr
    assert "COMPILED ([True, False]" in done.stdout
    assert done.stderr.count(PURE) == 1


@pytest.mark.spark
@pytest.mark.nightly
def test_files_of_spark_reach_executors(elsewhere):
    with zipfile.ZipFile(elsewhere.hidden / "sent.zip", "w") as archive:
        archive.writestr("sent_module.py", "NUMBER = 40\n")
    with tarfile.open(elsewhere.hidden / "data.tar.gz", "w:gz") as archive:
        archive.add(elsewhere.write("text.txt", "two"), "text.txt")
    elsewhere.write(
        "files.py",
        """
        from pyflink.datastream import StreamExecutionEnvironment

        def read(n):
            import sent_module
            from pyspark import SparkFiles
            with open(SparkFiles.get("data/text.txt")) as file:
                return f"{n + sent_module.NUMBER} {file.read()}"

        env = StreamExecutionEnvironment.get_execution_environment()
        with env.from_collection([1, 2]).map(read).execute_and_collect() as found:
            print("FOUND", sorted(found))
        """,
    )
    settings = ["-D", "spark.submit.pyFiles=sent.zip", "-D", f"spark.archives={elsewhere.hidden}/data.tar.gz#data"]
    done = elsewhere.run(*settings, program="files.py")
    assert "FOUND ['41 two', '42 two']" in done.stdout, done.stderr


@pytest.mark.spark
@pytest.mark.nightly
def test_an_environment_in_an_archive_runs_the_tasks(elsewhere):
    """The archive is what venv-pack and conda-pack write: bin/python, which may be a link, and lib."""
    base = elsewhere.hidden / "packed"
    venv.create(base, with_pip=False, symlinks=True)
    (next((base / "lib").glob("python*")) / "site-packages" / "only_packed.py").write_text("HERE = True\n")
    with tarfile.open(elsewhere.hidden / "packed.tar.gz", "w:gz") as archive:
        archive.add(base, ".")
    elsewhere.write(
        "packed.py",
        """
        import sys
        from pyflink.datastream import StreamExecutionEnvironment

        def where(n):
            import only_packed
            return sys.executable.endswith("/environment/bin/python")

        env = StreamExecutionEnvironment.get_execution_environment()
        with env.from_collection([1]).map(where).execute_and_collect() as found:
            print("FOUND", list(found))
        """,
    )
    options = ["-pyarch", "packed.tar.gz#environment", "-pyexec", "environment/bin/python"]
    done = elsewhere.run(*options, program="packed.py")
    assert "FOUND [True]" in done.stdout, done.stdout + done.stderr
    archives = ["-D", f"spark.archives={elsewhere.hidden}/packed.tar.gz#environment"]
    done = elsewhere.run(*archives, program="packed.py", python="./environment/bin/python")
    assert "FOUND [True]" in done.stdout, done.stdout + done.stderr


@pytest.mark.spark
@pytest.mark.nightly
def test_an_interpreter_that_is_missing_ends_the_job_with_one_sentence(elsewhere):
    done = elsewhere.run(*RESTARTS, python="/no/python")
    failed_with(done, "Error: the executors cannot run the Python interpreter '/no/python' (No such file or directory)")
    assert done.stderr.count("restarts in") == 2


@pytest.mark.spark
@pytest.mark.nightly
def test_a_program_that_is_no_interpreter_ends_the_job_with_one_sentence(elsewhere):
    failed_with(elsewhere.run(*RESTARTS, python="/bin/false"), "Error: the executors' Python does not start")


@pytest.mark.spark
@pytest.mark.nightly
def test_a_module_that_is_missing_ends_the_job_with_one_sentence(elsewhere):
    elsewhere.write(
        "missing.py",
        """
        import numpy
        from pyflink.datastream import StreamExecutionEnvironment

        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).map(lambda n: int(numpy.int64(n))).print()
        env.execute()
        """,
    )
    failed_with(elsewhere.run(*RESTARTS, program="missing.py"), "Error: the executors do not have the module 'numpy'")


@pytest.mark.spark
@pytest.mark.nightly
def test_a_daemon_that_needs_flintstream_says_so(elsewhere):
    done = elsewhere.run(*RESTARTS, "-D", "flintstream.sticky-subtasks=true")
    failed_with(done, "Error: the executors' Python does not have flintstream")


@pytest.mark.spark
@pytest.mark.nightly
def test_another_version_of_flintstream_ends_the_job_at_once(elsewhere, tmp_path):
    other = tmp_path / "venv"
    venv.create(other, with_pip=False, symlinks=True)
    packages = next((other / "lib").glob("python*")) / "site-packages"
    (packages / "flintstream").mkdir()
    (packages / "flintstream" / "__init__.py").write_text('__version__ = "0.0.0.1"\n')
    done = elsewhere.run(*RESTARTS, python=other / "bin" / "python")
    failed_with(done, "have flintstream 0.0.0.1 and the driver has ")
    assert "restarts in" not in done.stderr


# -- without a cluster -------------------------------------------------------------------------------------------------


def test_errors_of_spark_become_sentences():
    other = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.10 than that in driver: 3.11, PySpark"
    assert str(explain(RuntimeError(other))).startswith("the executors have Python 3.10 and the driver has 3.11: set ")
    missing = "Traceback ...\nModuleNotFoundError: No module named 'numpy.linalg'\n SQLSTATE"
    assert "the module 'numpy.linalg'" in str(explain(RuntimeError(missing)))
    daemon = "Error from python worker:\n  /bin/python: No module named pyspark\nPYTHONPATH was:\n  /x"
    assert "does not find pyspark" in str(explain(RuntimeError(daemon)))
    assert explain(RuntimeError("Lost executor 3: it was killed")) is None
    old = (
        "Error from python worker:\n  Traceback (most recent call last):\n  ImportError: too old\nPYTHONPATH was:\n  /x"
    )
    assert str(explain(RuntimeError(old))).startswith(
        "the executors' Python does not start (ImportError: too old): set "
    )
    ended = "java.lang.NullPointerException\n\tat java.base/x\n\tat org.apache.spark.api.python.PythonWorkerFactory.c("
    assert "(it ended without an error message)" in str(explain(RuntimeError(ended)))


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({"pyspark": "4.3.9", "flintstream": "1.0", "cloudpickle": "3.9"}, None),
        ({"pyspark": "4.3.0", "flintstream": None, "cloudpickle": None}, None),
        ({"pyspark": "4.2.1"}, "have pyspark 4.2.1 and the driver has 4.3.0"),
        ({"flintstream": "1.0.1"}, "have flintstream 1.0.1 and the driver has 1.0"),
        ({"cloudpickle": "2.2"}, "have cloudpickle 2.2 and the driver has 3.1"),
    ],
)
def test_versions_that_do_not_fit_are_named(there, expected):
    found = executors.misfit({"pyspark": "4.3.0", "flintstream": "1.0", "cloudpickle": "3.1"}, there)
    assert (found or "").partition(":")[0] == (expected or "")


def test_modules_of_the_program_are_those_beside_it(tmp_path, monkeypatch):
    (tmp_path / "flintstream_test_package" / "__pycache__").mkdir(parents=True)
    (tmp_path / "flintstream_test_package" / "__init__.py").write_text("from flintstream_test_single import x")
    (tmp_path / "flintstream_test_package" / "__pycache__" / "x.pyc").touch()
    (tmp_path / "flintstream_test_package" / "data.txt").write_text("data")
    (tmp_path / "flintstream_test_single.py").write_text("import json, pyspark\nx = 1\n")
    (tmp_path / "flintstream_test_other.py").write_text("never imported")
    (tmp_path / "script.py").write_text("def f():\n    import flintstream_test_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script.py"), raising=False)
    own = packing.own_modules()
    ours = {name: path for name, path in own.items() if name.startswith("flintstream_test")}
    assert ours == {
        "flintstream_test_package": tmp_path / "flintstream_test_package",
        "flintstream_test_single": tmp_path / "flintstream_test_single.py",
    }
    assert not own.keys() & {"json", "pyspark", "pytest", "flintstream"}
    monkeypatch.setattr(packing, "own_modules", lambda: ours)
    archive = str(packing.program_archive())
    assert zipfile.ZipFile(archive).namelist() == [
        "flintstream_test_package/__init__.py",
        "flintstream_test_package/data.txt",
        "flintstream_test_single.py",
    ]
    assert str(packing.program_archive()) == archive
    (tmp_path / "flintstream_test_single.py").write_text("x = 2\n")
    assert str(packing.program_archive()) != archive


def test_a_directory_of_data_is_not_sent_as_a_module(tmp_path, monkeypatch, caplog):
    (tmp_path / "flintstream_test_large.py").write_text("x = 1\n")
    monkeypatch.setattr(packing, "LARGEST_PROGRAM", 3)
    monkeypatch.setattr(packing, "own_modules", lambda: {"large": tmp_path / "flintstream_test_large.py"})
    assert packing.program_archive() is None
    assert "send what the tasks need with --pyFiles" in caplog.text


def test_flintstream_runs_from_the_archive_that_executors_get(tmp_path):
    unpacked = tmp_path / "unpacked"
    archive = packing.package_archive({"flintstream": "1.2.3", "cloudpickle": "3.0", "msgpack": "1.1"})
    shutil.unpack_archive(archive, unpacked)
    code = (
        "import sys, flintstream, msgpack, flintstream.runtime.failure as failure, flintstream.datastream as found\n"
        "print(flintstream.__version__, msgpack.unpackb(msgpack.packb([1])), found.__file__)\n"
        "from flintstream.compat.pyflink import install; install(); import pyflink.datastream\n"
        "print(failure._PACKAGE == failure.OperatorFailure.__init__.__code__.co_filename[: len(failure._PACKAGE)])\n"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(unpacked)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    version, *_, file = done.stdout.splitlines()[0].split()
    assert version == "1.2.3", done.stderr
    assert file.startswith(str(unpacked))
    assert done.stdout.splitlines()[1] == "True"
