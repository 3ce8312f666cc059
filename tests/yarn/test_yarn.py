"""Jobs run on YARN, however they are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.yarn.cluster import OF_SPARK, Cluster, NoClusterError
from tests.yarn.program import KEYS, RECORDS

from flintstream.engine.spark.session import UNIX_SOCKETS

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
PROGRAM = str(Path(__file__).with_name("program.py"))
BIN = Path(sys.executable).parent
COMMANDS = {
    "client": [str(BIN / "spark-submit"), "--master", "yarn"],
    "cluster": [str(BIN / "spark-submit"), "--master", "yarn", "--deploy-mode", "cluster"],
    "run": [str(BIN / "flintstream"), "run", "--master", "yarn", "-D", "flintstream.sticky-subtasks=true"],
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    try:
        cluster = Cluster(tmp_path_factory.mktemp("a-long-name-like-that-of-a-directory-of-yarn-on-a-real-cluster"))
    except NoClusterError as error:
        pytest.skip(f"no YARN cluster: {error}")
    yield cluster
    cluster.close()


def settings(directory):
    """Return the settings of a cluster whose administrator has installed Python, PySpark and flintstream."""
    python = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    conf = {
        "spark.yarn.jars": f"local:{OF_SPARK}/*",  # Spark would upload all of them for each job
        "spark.yarn.stagingDir": (directory / "staging").as_uri(),
        "spark.yarn.am.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.instances": "2",
        **{f"spark.executorEnv.{name}": value for name, value in python.items()},
        **{f"spark.yarn.appMasterEnv.{name}": value for name, value in python.items()},
    }
    return python, "".join(f"{key} {value}\n" for key, value in conf.items())


@pytest.mark.parametrize("way", COMMANDS)
def test_both_kinds_of_jobs_run_however_they_are_started(way, cluster, tmp_path):
    python, defaults = settings(tmp_path)
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    done = subprocess.run(  # noqa: S603
        [*COMMANDS[way], PROGRAM, str(tmp_path)],
        env={**os.environ, **python, **cluster.environment, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-10000:] + cluster.output()[-20000:]
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["words"] == [["be", 2], ["do", 1], ["not", 1], ["or", 1], ["to", 3]]
    assert results["sums"] == [[key, sum(range(key, RECORDS, KEYS))] for key in range(KEYS)]
    assert results["settings"]["spark.master"] == "yarn"
    assert results["settings"][UNIX_SOCKETS] == "false"
    assert (tmp_path / "failed").exists()
