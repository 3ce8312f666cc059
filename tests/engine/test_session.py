"""Where the settings of a Spark context come from, and which of them win."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.spark.session import DEFAULTS, default_parallelism, resolve_settings
from flintstream.engine.spark.slots import DAEMON
from flintstream.engine.spark.submitted import defaults_file, flags

ROOT = Path(__file__).parents[2]


def test_what_spark_was_told_goes_before_the_job_and_that_before_our_defaults():
    own = {"spark.app.name": "job", "spark.ui.enabled": "true", "spark.executor.memory": "1g"}
    conf = resolve_settings(own, {"spark.app.name": "operator", "spark.executor.memory": "1g"})
    assert conf["spark.app.name"] == "operator"
    assert conf["spark.ui.enabled"] == "true"
    assert conf["spark.locality.wait"] == DEFAULTS["spark.locality.wait"]


@pytest.mark.parametrize(
    ("master", "made"),
    [
        (None, "local[*,4]"),
        ("local[2]", "local[2,4]"),
        ("local[2,1]", "local[2,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("spark://host:7077", "spark://host:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_local_master_runs_failed_tasks_again_as_clusters_do(master, made):
    conf = resolve_settings({}, {} if master is None else {"spark.master": master})
    assert conf["spark.master"] == made
    assert ("spark.driver.host" in conf) == made.startswith("local")


@pytest.mark.parametrize(
    ("master", "sticky", "expected"),
    [("local[1]", None, DAEMON), ("local[1]", False, None), ("yarn", None, None), ("yarn", True, DAEMON)],
)
def test_subtasks_stay_in_their_process_on_a_local_master_unless_the_option_says_otherwise(master, sticky, expected):
    assert resolve_settings({"spark.master": master}, {}, sticky).get("spark.python.daemon.module") == expected


def test_flags_of_spark_submit_are_settings():
    arguments = (
        "--master=yarn --name 'two words' -c spark.a=b=c --conf=spark.d= --queue q --py-files x.zip pyspark-shell"
    )
    assert flags({"PYSPARK_SUBMIT_ARGS": arguments}) == {
        "spark.master": "yarn",
        "spark.app.name": "two words",
        "spark.a": "b=c",
        "spark.d": "",
        "spark.yarn.queue": "q",
    }
    assert flags({}) == {}


def test_the_file_of_defaults_is_read_as_spark_reads_it(tmp_path):
    text = "# a comment\n! another\n\nspark.master   yarn\nspark.a=b\nspark.c : d e\nspark.flag\nother x\n"
    (tmp_path / "spark-defaults.conf").write_text(text)
    expected = {"spark.master": "yarn", "spark.a": "b", "spark.c": "d e", "spark.flag": ""}
    assert defaults_file({"SPARK_CONF_DIR": str(tmp_path)}) == expected
    (tmp_path / "home" / "conf").mkdir(parents=True)
    (tmp_path / "spark-defaults.conf").rename(tmp_path / "home" / "conf" / "spark-defaults.conf")
    assert defaults_file({"SPARK_HOME": str(tmp_path / "home")}) == expected
    assert defaults_file({"SPARK_CONF_DIR": str(tmp_path)}) == {}
    assert defaults_file({}) == {}


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, None),
        ({"flintstream.master": "local"}, 1),
        ({"spark.master": "local[3]"}, 3),
        ({"flintstream.master": "local[5,2]"}, 5),
        ({"spark.master": "yarn", "spark.default.parallelism": "40"}, 40),
    ],
)
def test_the_default_parallelism_is_that_of_the_master(configuration, expected, monkeypatch):
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("flintstream.engine.spark.session._active_context", lambda: None)
    assert default_parallelism(configuration) == expected


def test_a_plan_that_is_only_shown_starts_no_cluster(monkeypatch):
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("flintstream.engine.spark.session._active_context", lambda: None)
    monkeypatch.setattr("flintstream.engine.spark.session._start_context", lambda _: pytest.fail("started"))
    env = StreamExecutionEnvironment.get_execution_environment({"spark.master": "spark://127.0.0.2:1"})
    env.from_collection([1]).print()
    assert json.loads(env.get_execution_plan())["nodes"]


PROGRAM = """
import json, logging, sys
logging.basicConfig()
from pyflink.datastream import StreamExecutionEnvironment
from flintstream.common import Configuration
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"spark.app.name": "job"}))
steps = env.from_collection([1, 2]).rebalance().map(lambda x: x + 1)
found = list(steps.execute_and_collect())
again = list(env.from_collection([1, 2]).map(lambda x: x + 1).execute_and_collect())
plan = json.loads(env.get_execution_plan()) if steps.print() else None
from pyspark import SparkContext
context = SparkContext._active_spark_context
keys = ("spark.master", "spark.app.name", "spark.ui.enabled", "spark.eventLog.dir")
parallelism = max(node["parallelism"] for node in plan["nodes"])
conf = [context.getConf().get(key) for key in keys]
print("SEEN", json.dumps([sorted(found), conf, context.pythonExec, parallelism]))
"""


def run(command, tmp_path, **environment):
    program = tmp_path / "program.py"
    program.write_text("from flintstream.compat.pyflink import install\ninstall()\n" + PROGRAM)
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": paths, "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    done = subprocess.run(  # noqa: S603
        [*command, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("SEEN "))
    found, conf, python, parallelism = json.loads(line.removeprefix("SEEN "))
    assert found == [2, 3]
    printed = done.stdout + done.stderr  # spark-submit prints the program's errors to standard output
    warned = printed.count("spark.app.name=job of the job is not used: Spark was started with ")
    assert warned == (conf[1] != "job"), printed
    return conf, python, parallelism


@pytest.mark.deep
@pytest.mark.spark
@pytest.mark.timeout(400)
def test_the_default_parallelism_waits_for_the_executors_of_a_new_cluster(tmp_path):
    """Two executors of two cores each."""
    home = str(Path(pyspark.__file__).parent)
    arguments = "--master local-cluster[2,2,512] --conf spark.executor.memory=512m pyspark-shell"
    *_, parallelism = run([sys.executable], tmp_path, SPARK_HOME=home, PYSPARK_SUBMIT_ARGS=arguments)
    assert parallelism == 4


@pytest.mark.spark
def test_settings_of_spark_submit_hold(tmp_path):
    submit = Path(sys.executable).with_name("spark-submit")
    flags = ["--master", "local[3]", "--name", "submitted", "--conf", "spark.ui.enabled=true"]
    conf, used, parallelism = run([str(submit), *flags, "--conf", f"spark.pyspark.python={sys.executable}"], tmp_path)
    assert conf == ["local[3,4]", "submitted", "true", None]
    assert used == sys.executable
    assert parallelism == 3


@pytest.mark.spark
def test_settings_of_the_environment_hold(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.app.name named\nspark.master local[7]\n")
    arguments = "--master local[2] --conf spark.ui.enabled=true pyspark-shell"
    conf, _, parallelism = run([sys.executable], tmp_path, SPARK_CONF_DIR=str(tmp_path), PYSPARK_SUBMIT_ARGS=arguments)
    assert conf == ["local[2,4]", "named", "true", None]
    assert parallelism == 2
