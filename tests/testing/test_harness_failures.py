"""What pytest shows of a test with a harness that fails: lines of the test and of its functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

TEST = """
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.testing.harness import KeyedHarness

class Inverse(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield 1 // value

def inverses():
    return KeyedHarness(lambda numbers: numbers.key_by(lambda n: n).process(Inverse()))

def test_it():
    with inverses() as harness:
        {call}
"""


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("harness.process_element(0)", ["yield 1 // value", "ZeroDivisionError: integer division or modulo by zero"]),
        ("harness.set_processing_time(-1)", ["ValueError: processing time cannot go back: it is 0, but got -1"]),
        ("assert harness.snapshot() is None", ["assert <Snapshot of", "'KEYED PROCESS'", " at 0 ms> is None"]),
    ],
)
def test_a_test_that_fails_shows_its_own_lines_and_neither_ours_nor_bytes(tmp_path, call, shown):
    (tmp_path / "test_inverse.py").write_text(TEST.replace("{call}", call))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "test_inverse.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
    assert f">           {call}" in done.stdout, done.stdout  # pytest keeps how far the line is indented
    assert [text for text in shown if text not in done.stdout] == []
    assert "src/flintstream" not in done.stdout
    assert "\\x00" not in done.stdout
    assert "1 failed" in done.stdout
