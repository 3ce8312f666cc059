from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import flintstream

EXAMPLE = Path(__file__).parents[2] / "examples" / "word_count.py"
COUNTS = {"(a,3)", "(stream,3)", "(words,2)", "(batch,2)", "(the,2)", "(and,2)", "(on,2)", "(of,2)", "(is,2)"}


def run_example(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", "-p", "1", EXAMPLE, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.spark
def test_the_built_in_text_is_counted_and_printed():
    done = run_example()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 13
    assert {line for line in lines if not line.endswith(",1)")} == COUNTS


@pytest.mark.spark
def test_words_of_files_are_counted_into_a_file(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("to be or\nnot to be")
    (tmp_path / "in" / "b.txt").write_text("be")
    done = run_example("--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (written,) = (tmp_path / "out").iterdir()
    assert written.name.startswith("words-")
    assert sorted(written.read_text().splitlines()) == ["(be,3)", "(not,1)", "(or,1)", "(to,2)"]
