"""What can be said of the files for Kubernetes without a cluster: Spark reads the command and the templates of pods."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ROOT / "deploy" / "kubernetes"
GIVEN = {"API_SERVER": "https://127.0.0.1:6443", "IMAGE": "registry/flintstream", "CHECKPOINTS": "s3://bucket/c"}


def submitted(tmp_path, *arguments):
    """Return the arguments that the script passes to spark-submit."""
    stub = tmp_path / "spark-submit"
    stub.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n')
    stub.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **GIVEN}
    done = subprocess.run(  # noqa: S603 - our own script
        ["/bin/sh", str(FILES / "submit.sh"), *arguments], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def copied():
    """Return (source, target) of every file that the image copies."""
    lines = (FILES / "Dockerfile").read_text().splitlines()
    words = [shlex.split(line)[1:] for line in lines if line.startswith("COPY ")]
    return [(source, target) for *sources, target in words for source in sources]


def test_the_image_copies_files_that_exist():
    missing = [source for source, _ in copied() if not (ROOT / source).exists()]
    assert copied()
    assert missing == []


def test_the_image_has_all_that_a_build_of_the_package_reads():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    read = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    read |= {package.split("/")[0] for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    assert read <= {source for source, target in copied() if target.startswith("/opt/flintstream/")}
    extras = re.search(r"ARG EXTRAS=(\S+)", (FILES / "Dockerfile").read_text())
    assert extras is not None
    assert set(extras[1].split(",")) <= project["project"]["optional-dependencies"].keys()


def test_the_command_names_files_of_the_image(tmp_path):
    program = next(word for word in submitted(tmp_path, "x.py") if word.startswith("local://"))
    assert program.removeprefix("local:///opt/flintstream/") == "flintstream_run.py"
    assert ("deploy/flintstream_run.py", "/opt/flintstream/") in copied()
    assert "/opt/flintstream/examples/word_count.py" in (FILES / "submit.sh").read_text()
    assert ("examples", "/opt/flintstream/examples") in copied()


def test_the_command_line_is_one_of_flintstream(tmp_path):
    arguments = submitted(tmp_path, "job.py", "--input", "x")
    ours = arguments[arguments.index("run") :]
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, str(ROOT / "deploy" / "flintstream_run.py"), *ours], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "the script job.py does not exist" in done.stderr, "all options before it are accepted"


@pytest.fixture(scope="module")
def spark():
    """Spark's classes, in the JVM of a local session."""
    from flintstream.engine.spark.session import spark_context

    return Spark(spark_context({"flintstream.master": "local[2]"})._jvm)


class Spark:
    def __init__(self, jvm):
        self.jvm = jvm
        self.converters = jvm.scala.jdk.javaapi.CollectionConverters

    def singleton(self, name):
        return getattr(getattr(self.jvm, f"{name}$"), "MODULE$")

    def parsed(self, arguments):
        given = self.jvm.java.util.ArrayList()
        for argument in arguments:
            given.add(argument)
        empty = self.singleton("scala.collection.immutable.Map").empty()
        return self.jvm.org.apache.spark.deploy.SparkSubmitArguments(self.converters.asScala(given).toSeq(), empty)

    def listed(self, sequence):
        return list(self.converters.asJava(sequence))


@pytest.mark.spark
def test_spark_parses_the_command(spark, tmp_path):
    arguments = spark.parsed(submitted(tmp_path, "job.py", "--input", "x"))
    assert arguments.master() == f"k8s://{GIVEN['API_SERVER']}"
    assert arguments.deployMode() == "cluster"
    assert arguments.isPython()
    assert spark.listed(arguments.childArgs())[-3:] == ["job.py", "--input", "x"]
    nothing = spark.singleton("scala.None")
    prepared = spark.jvm.org.apache.spark.deploy.SparkSubmit().prepareSubmitEnvironment(arguments, nothing)
    assert prepared._4() == "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication"
    assert "local:///opt/flintstream/flintstream_run.py" in spark.listed(prepared._1())
    conf = prepared._3()
    assert conf.get("spark.kubernetes.container.image") == GIVEN["IMAGE"]
    for role in ("driver", "executor"):
        assert Path(conf.get(f"spark.kubernetes.{role}.podTemplateFile")).samefile(FILES / f"{role}.yaml")


@pytest.mark.spark
@pytest.mark.parametrize("role", ["driver", "executor"])
def test_spark_reads_the_template_of_a_pod(spark, tmp_path, role):
    arguments = submitted(tmp_path, "job.py")
    (setting,) = (word for word in arguments if word.startswith(f"spark.kubernetes.{role}.podTemplateContainerName="))
    name = setting.partition("=")[2]
    client = spark.jvm.io.fabric8.kubernetes.client.KubernetesClientBuilder().build()
    try:
        pod = spark.singleton("org.apache.spark.deploy.k8s.KubernetesUtils").loadPodFromTemplate(
            client,
            str(FILES / f"{role}.yaml"),
            spark.singleton("scala.Option").apply(name),
            spark.jvm.org.apache.spark.SparkConf(False),
        )
    finally:
        client.close()
    assert pod.container().getName() == name
    assert pod.container().getEnvFrom().get(0).getSecretRef().getName() == "flintstream-storage"
    assert re.findall(r"additionalProperties=\{[^}]+\}", pod.toString()) == [], "fields that Kubernetes does not have"
