"""``python -m tests.corpus.upstream CHECKOUT``: run PyFlink's own tests from a checkout of Flink, and note them.

They are those of the Table API, or with ``--part dataframe`` those of ``pyflink.dataframe``. The checkout stays as it
is. ``--engine spark`` runs them on Spark; the results in ``results.json`` and ``dataframe.json`` are those of inline.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[3]
PARTS = {"table": "results.json", "dataframe": "dataframe.json"}
"""The packages whose tests run, and the files with their results."""
JAVA = re.compile(
    r"_j_|_get_j_|get_gateway\(|jvm|java|Py4J|json_plan|CustomExtractor|CustomAssigner|asSerializableString",
    re.IGNORECASE,
)
"""What a test contains that takes objects of Java, classes of Flink's test jars, or its plans as JSON."""
ERRORS = re.compile(r"Py4JJavaError|java_error")
"""What tests call errors that are also raised here, without Java."""
RANDOM = re.compile(r"'[0-9a-f]{100}'")
"""The values of a source of random texts in messages."""
NO_JVM = "flintstream has no Flink JVM"
"""What the error of a test says whose helper takes objects of Java."""
RUNS, JAVA_NEEDED = "runs", "needs Java"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.upstream", description=__doc__)
    parser.add_argument("checkout", type=Path, help="of Flink, with flink-python in it")
    parser.add_argument("--engine", default="inline", choices=["inline", "spark"])
    parser.add_argument("--only", default="", help="tests with this in their name, as for pytest -k")
    parser.add_argument("--part", default="table", choices=list(PARTS))
    given = parser.parse_args()
    folder = given.checkout / "flink-python" / "pyflink" / given.part / "tests"
    java = {name for path in sorted(folder.glob("test_*.py")) for name in _of_java(path)}
    found = _run(folder, given.part, given.engine, given.only)
    for name, result in found.items():
        file, *_, test = name.split("::")
        if result != RUNS and (f"{file}::{test}" in java or NO_JVM in result):
            found[name] = JAVA_NEEDED
    counts = Counter(result if result in {RUNS, JAVA_NEEDED} else "fails" for result in found.values())
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    if given.engine == "inline" and not given.only:
        Path(__file__).with_name(PARTS[given.part]).write_text(
            json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8"
        )
    return 0


def _of_java(path: Path) -> set[str]:
    """Return the tests of a file that touch Java, in their bodies or those of ``setUp``."""
    source = path.read_text(encoding="utf-8")
    found = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef):
            continue
        methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
        for method in methods:
            text = ast.get_source_segment(source, method) or ""
            if path.parts[-3] == "dataframe":
                text = ERRORS.sub("", text)
            if method.name.startswith("test_") and JAVA.search(text):
                found.add(f"{path.name}::{method.name}")
    return found


def _run(folder: Path, part: str, engine: str, only: str) -> dict[str, str]:
    """Return what became of each test: that it runs, or the first line of its error."""
    options = ["-p", "tests.corpus.upstream.plugin", "-p", "no:cacheprovider", "-o", "addopts=", "-q", "--tb=line"]
    options += ["--continue-on-collection-errors", "--import-mode=importlib", "-k", only]
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory, "report.xml")
        environment = {**os.environ, "UPSTREAM_TESTS": str(folder), "UPSTREAM_ENGINE": engine, "UPSTREAM_PART": part}
        environment["PYTHONPATH"] = str(ROOT)
        command = [sys.executable, "-m", "pytest", *options, f"--rootdir={directory}", f"--junitxml={report}"]
        subprocess.run([*command, str(folder)], env=environment, cwd=directory, check=False)  # noqa: S603 - our own
        cases = ET.parse(report).iter("testcase")  # noqa: S314 - pytest wrote it
        return {_name(case): _result(case) for case in cases}


def _name(case: ET.Element) -> str:
    """Return the file, the class and the name of a test."""
    parts = (case.get("classname") or "").split(".")
    start = next((i for i, part in enumerate(parts) if part.startswith("test_")), 0)
    return f"{parts[start]}.py::{'::'.join([*parts[start + 1 :], case.get('name') or ''])}"


def _result(case: ET.Element) -> str:
    for child in case:
        if child.tag in {"failure", "error"}:
            return RANDOM.sub("'...'", child.get("message") or "").partition("\n")[0][:120]
        if child.tag == "skipped":
            return f"skipped: {child.get('message')}"
    return RUNS


if __name__ == "__main__":
    sys.exit(main())
