"""What makes the start of Spark short: a JVM that starts early, and imports that are left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from py4j.protocol import INPUT_CONVERTER

from flintstream.engine.spark import session, versions
from flintstream.engine.spark.jvm import start
from flintstream.engine.spark.jvm.class_archive import ClassArchive
from flintstream.engine.spark.jvm.converters import Converter, avoid_numpy
from flintstream.engine.spark.jvm.java_release import find_java
from flintstream.engine.spark.python_path import prefer_package

COUNTS = """
import os, sys
from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment

configuration = Configuration()
for each in sys.argv[1:]:
    key, _, value = each.partition("=")
    if "." in key:
        configuration.set_string(key, value)
    else:
        os.environ[key] = value
env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
env.from_collection([1, 2]).map(lambda n: (n, os.environ.get("SEEN"))).print()
env.execute("counts")

from flintstream.engine.spark.jvm import start
from pyspark import SparkContext
print("same" if SparkContext._gateway.proc.pid in first else "another", len(start._early), file=sys.stderr)
"""

COMMAND = """
import sys
from flintstream.engine.spark.jvm import start
begin, first = start.begin, []
def noted(*arguments):
    begin(*arguments)
    first.extend(each.process.pid for each in start._early)
    __import__("builtins").first = first
from flintstream.engine.spark import session
session.begin = noted
from flintstream.cli import main
main(prog_name="flintstream")
"""


@pytest.fixture
def installed(tmp_path):
    home = tmp_path / "packages" / "pyspark"
    (home / "python" / "lib").mkdir(parents=True)
    (home / "__init__.py").touch()
    return home


def archives(home):
    return [f"{home}/python/lib/pyspark.zip", f"{home}/python/lib/py4j-0-src.zip"]


def test_workers_import_the_installed_package_and_not_its_source_in_an_archive(installed):
    jar = str(installed / "jars" / "spark-core_2.13-4.3.0.jar")
    source, java = archives(installed)
    others = [
        "",
        "/elsewhere",
        f"{installed}/jars/graphframes.jar",
        f"{installed}/python/lib/own.zip",
        str(installed.parent),
    ]
    path = [source, java, jar, *others]
    prefer_package(path, str(installed))
    assert path == [*others, java], "no package has py4j"
    (installed.parent / "py4j").mkdir()
    (installed.parent / "py4j" / "__init__.py").touch()
    prefer_package(path, str(installed))
    assert path == others


@pytest.mark.spark
def test_workers_do_not_read_the_directories_of_archives(make_spark_env):
    env = make_spark_env(1)
    (entries,) = env.from_collection([1]).map(lambda _: [*sys.path, *sys.path_importer_cache]).execute_and_collect()
    assert not [entry for entry in entries if entry.endswith((".jar", "pyspark.zip", "-src.zip"))]


def test_workers_import_from_the_archives_of_another_spark(installed, tmp_path):
    other = tmp_path / "other" / "pyspark"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    for path in (
        [*archives(installed), str(other.parent), str(installed.parent)],  # another package would come first
        [*archives(installed), "/elsewhere"],  # the package is not in the path
    ):
        given = list(path)
        prefer_package(given, str(installed))
        assert given == path
    (installed / "__init__.py").unlink()  # not installed with pip
    given = [*archives(installed), str(installed.parent)]
    prefer_package(given, str(installed))
    prefer_package(given, None)
    assert given[:2] == archives(installed)


def test_the_version_and_the_home_of_pyspark_are_known_without_importing_it():
    code = (
        "import sys; from flintstream.engine.spark import versions as v; "
        "print(v.version(), v.spark_home(), v.release(), 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    home = Path(pyspark.__file__).parent
    assert done.stdout.strip() == f"{pyspark.__version__} {home} {versions.release()} False"


def test_values_of_numpy_reach_the_jvm_as_before_and_others_do_not_import_it():
    numpy = pytest.importorskip("numpy")
    avoid_numpy()
    avoid_numpy()  # a second time, it changes nothing
    ours = [item for item in INPUT_CONVERTER if isinstance(item, Converter)]
    assert len(ours) == 2
    assert not any(own.can_convert(value) for own in ours for value in (1, "a", True, [1], {"a": 1}, None))
    assert any(own.can_convert(numpy.int64(1)) for own in ours)
    assert any(own.can_convert(numpy.zeros(3)) for own in ours)


@pytest.mark.parametrize(
    ("given", "starts"),
    [
        ({}, True),
        ({"flintstream.master": "local[1]", "spark.ui.enabled": "true"}, True),
        ({"flintstream.master": "spark://127.0.0.1:1"}, False),
        ({"flintstream.master": "local-cluster[1,1,512]"}, False),
        ({"spark.jars": "one.jar"}, False),
        ({"spark.driver.extraJavaOptions": "-Dx=1"}, True),
        ({"spark.driver.extraClassPath": "one.jar"}, False),
    ],
)
def test_a_jvm_starts_early_if_no_setting_needs_another_one(monkeypatch, given, starts):
    begun = []
    monkeypatch.setattr(session, "begin", lambda conf, variables: begun.append((conf, variables)))
    monkeypatch.setattr(session, "_directories", [])
    session.start_early(given)
    assert bool(begun) is starts


@pytest.mark.parametrize(
    ("asked", "job", "begins"),
    [
        ({}, {}, False),
        ({"spark.driver.memory": "600m"}, {}, True),
        ({"spark.driver.memory": "600m"}, {"spark.driver.memory": "600m"}, True),
    ],
)
def test_a_program_that_gets_a_context_that_was_set_aside_has_no_other_jvm(monkeypatch, asked, job, begins):
    jvms: list[str] = []
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, sys.executable)
    monkeypatch.setattr(session, "begin", lambda *_: jvms.append("early"))
    monkeypatch.setattr(session, "give_up", jvms.clear)
    monkeypatch.setattr(session, "_directories", [])
    monkeypatch.setattr(session, "_prepared", [("context", "gateway", session._wanted_settings({}))])
    monkeypatch.setattr(session, "show", lambda *_: None)
    monkeypatch.setattr(session, "forget", lambda _: None)
    monkeypatch.setattr(session, "is_alive", lambda _: True)
    session.start_early(asked)
    assert bool(jvms) is begins
    found: Any = session._take_prepared(job)
    assert found == (None if job else "context")
    assert jvms == (["early"] if job else [])


class Gateway:
    """Notes that it was shut down, and may fail."""

    def __init__(self, fails=False):
        self.fails, self.ended = fails, False

    def shutdown(self):
        self.ended = True
        if self.fails:
            raise ConnectionError


def test_the_process_ends_the_gateways_of_its_jvms_even_if_one_is_gone(monkeypatch):
    gateways = [Gateway(), Gateway(fails=True), Gateway()]
    monkeypatch.setattr(start, "_gateways", list(gateways))
    start._leave()
    assert [gateway.ended for gateway in gateways] == [True] * 3
    assert start._gateways == []


def test_the_gateway_stays_while_a_job_that_nothing_waits_for_runs(monkeypatch):
    gateway = Gateway()
    monkeypatch.setattr(start, "_gateways", [gateway])
    monkeypatch.setattr("flintstream.coordinator.client._unfinished", {object()})
    start._leave()
    assert not gateway.ended


def test_a_forked_process_leaves_the_gateway_to_its_parent(monkeypatch):
    gateway = Gateway()
    monkeypatch.setattr(start, "_gateways", [gateway])
    monkeypatch.setattr(start, "_early", [])
    start._leave_to_parent()  # runs in the child
    start._leave()
    assert not gateway.ended


def test_no_jvm_starts_early_under_spark_submit_or_with_another_spark(monkeypatch):
    monkeypatch.setattr(session, "begin", lambda *_: pytest.fail("started"))
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR"):
        with monkeypatch.context() as variables:
            variables.setenv(name, "1")
            session.start_early({})


@pytest.mark.spark
@pytest.mark.parametrize(
    ("arguments", "shown", "jvm"),
    [
        ([], "(1, None)", "same 0"),
        (["flintstream.master=local[1]"], "(1, None)", "same 0"),
        (["SEEN=here"], "(1, 'here')", "another 0"),  # workers have the variables that the program sets
        (["spark.driver.memory=600m"], "(1, None)", "another 0"),
    ],
)
def test_a_job_takes_the_jvm_that_has_started_early_only_if_it_is_as_the_job_needs_it(tmp_path, arguments, shown, jvm):
    archive = ClassArchive.of(find_java())
    if archive is None or not archive.ready:
        pytest.skip("there is no archive of Spark's classes yet")
    program = tmp_path / "counts.py"
    program.write_text(COUNTS)
    run = [sys.executable, "-c", COMMAND, "run", str(program), *arguments]
    variables = {key: value for key, value in os.environ.items() if key != "SEEN"}
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=variables)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    assert jvm in done.stderr
