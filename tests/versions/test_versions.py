"""One release of flintstream runs on all supported releases of Spark."""

from __future__ import annotations

import re

import pytest
from tests.versions.environments import CONNECT, ROOT, SPARKS, NoEnvironmentError, requirements
from tests.versions.runs import CHOICE, JOBS, LIMIT_SECONDS, PROGRAMS_PER_JOB, TOGETHER_CHOICE, run

from flintstream.cli.doctor import OLDEST_PYTHON
from flintstream.engine.spark.versions import OLDEST

OLDEST_SPARK, *_, NEWEST = SPARKS
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.parametrize("spark", [spark for spark in SPARKS if spark != NEWEST])
def test_programs_give_what_pyflink_gives_on_each_release_of_spark(spark):
    try:
        outcome = run(spark, CHOICE)
    except NoEnvironmentError as error:
        pytest.skip(f"Spark {spark}: {error}")
    assert (outcome.failed, outcome.passed) == (0, len(CHOICE)), outcome.output[-20000:]


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.parametrize("spark", CONNECT)
def test_programs_give_what_pyflink_gives_on_a_connect_server_of_each_release(spark):
    try:
        outcome = run(spark, TOGETHER_CHOICE, connect=True)
    except NoEnvironmentError as error:
        pytest.skip(f"Spark {spark}: {error}")
    assert (outcome.failed, outcome.passed) == (0, len(TOGETHER_CHOICE)), outcome.output[-20000:]


def test_the_choice_has_forty_programs():
    assert len(JOBS) * PROGRAMS_PER_JOB >= 40


@pytest.mark.parametrize("test", CHOICE)
def test_the_tests_of_the_choice_exist(test):
    path, name = test.partition("[")[0].split("::")
    assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_the_package_names_the_releases_that_are_tested():
    major, minor = NEWEST.split(".")
    # The oldest correction without known holes, which the page names too.
    bound = re.search(rf'"pyspark>=({OLDEST_SPARK}\.\d+),<{major}\.{int(minor) + 1}"', PROJECT)
    assert bound is not None
    page = (ROOT / "docs" / "reference" / "versions.md").read_text(encoding="utf-8")
    assert f"| {OLDEST_SPARK}, from {bound[1]} on |" in page
    assert tuple(map(int, OLDEST_SPARK.split("."))) == OLDEST
    pythons = sorted({python for supported in SPARKS.values() for python in supported})
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT) == pythons
    assert f'requires-python = ">={pythons[0]}"' in PROJECT
    assert tuple(map(int, pythons[0].split("."))) == OLDEST_PYTHON


def test_the_page_of_versions_has_the_same_table():
    page = (ROOT / "docs" / "reference" / "versions.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d\.\d)(?:, from [\d.]+ on)? \| ([\d., ]+) \|", page, re.MULTILINE))
    assert rows == {spark: ", ".join(sorted(pythons)) for spark, pythons in SPARKS.items()}


def test_an_environment_has_the_requirements_of_the_package():
    needed = requirements("4.0")
    assert needed[0] == "pyspark==4.0.*"
    assert {re.split(r"[<>=]", name)[0] for name in needed} >= {
        "click",
        "cloudpickle",
        "msgpack",
        "pandas",
        "rocksdict",
    }
