"""What can be said of the Containerfile without a registry of images: its files, extras, settings and command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from flintstream.options.config_file import read_config
from flintstream.options.table import check_values, unknown_keys

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "deploy" / "container"
TEXT = (PLACE / "Containerfile").read_text(encoding="utf-8")


def instructions():
    """Return (instruction, rest) of each line, with continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", TEXT)
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def given(name):
    return [rest for instruction, rest in instructions() if instruction == name]


def copied():
    words = [[word for word in shlex.split(rest) if not word.startswith("--")] for rest in given("COPY")]
    return {source for *sources, _ in words for source in sources}


def test_it_has_only_instructions_that_containers_know():
    known = {"FROM", "ARG", "COPY", "RUN", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"}
    assert {instruction for instruction, _ in instructions()} <= known
    assert instructions()[0][0] == "FROM"
    for run in given("RUN"):
        subprocess.run(["/bin/sh", "-n", "-c", run], check=True)  # noqa: S603 - only parses it


def test_it_copies_files_that_exist_and_all_that_a_build_reads():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert [source for source in copied() if not (ROOT / source).exists()] == []
    read = {"pyproject.toml", "constraints.txt", project["project"]["readme"], *project["project"]["license-files"]}
    read |= {package.split("/")[0] for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    assert read <= copied()
    extras = next(rest.removeprefix("EXTRAS=") for rest in given("ARG") if rest.startswith("EXTRAS="))
    assert set(extras.split(",")) <= project["project"]["optional-dependencies"].keys()


def test_its_settings_are_ones_that_there_are():
    settings = {key: setting.value for key, setting in read_config(PLACE / "config.yaml").items()}
    assert settings["flintstream.metrics.prometheus.port"] == given("EXPOSE")[0] == "9249"
    assert settings["execution.checkpointing.dir"].startswith(f"file://{given('VOLUME')[0]}/")
    check_values(settings)
    assert unknown_keys(settings) == {}


def test_no_step_runs_as_root_when_a_job_runs():
    names = [instruction for instruction, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert given("USER") == ["flintstream"]


@pytest.mark.slow
def test_its_command_runs_a_program_with_its_settings(tmp_path):
    program, *command = eval(given("ENTRYPOINT")[0])  # noqa: S307 - a list of our own
    assert program == "flintstream"
    text = (PLACE / "config.yaml").read_text(encoding="utf-8").replace("/var/lib/flintstream", str(tmp_path))
    text = text.replace("9249", "0").replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - the one in the image
    (tmp_path / "config.yaml").write_text(f"{text}\nflintstream.engine: inline\n")
    words = [sys.executable, "-m", "flintstream.cli", *command, str(ROOT / "examples" / "word_count.py")]
    settings = {"FLINK_CONF_DIR": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(  # noqa: S603
        words, env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    assert "(stream,3)" in done.stdout
