"""A fragment in ``changes/`` becomes part of the changelog, above the sections of earlier releases."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FRAGMENT = "Widgets have colors."


@pytest.fixture
def project(tmp_path):
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src/flintstream").mkdir(parents=True)
    (tmp_path / "changes").mkdir()
    shutil.copy(ROOT / "changes/README.md", tmp_path / "changes")
    (tmp_path / "changes/+example.added.md").write_text(f"{FRAGMENT}\n", encoding="utf-8")
    return tmp_path


def test_a_draft_shows_the_fragment_and_changes_nothing(project):
    before = (project / "CHANGELOG.md").read_bytes()
    draft = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "Unreleased"],
        cwd=project,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert f"\n### Added\n\n- {FRAGMENT}\n" in draft
    assert (project / "CHANGELOG.md").read_bytes() == before
    assert (project / "changes/+example.added.md").exists()


def test_a_release_gets_a_section_above_the_earlier_ones(project):
    before = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "999.0.0", "--date", "2999-12-31"],
        cwd=project,
        check=True,
        capture_output=True,
        timeout=60,
    )
    after = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", before, re.MULTILINE)
    assert re.findall(r"^## (.+)$", after, re.MULTILINE) == ["999.0.0 (2999-12-31)", *headings]
    assert f"\n### Added\n\n- {FRAGMENT}\n" in after
    assert [path.name for path in (project / "changes").iterdir()] == ["README.md"]
