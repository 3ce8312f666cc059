"""Some inputs of every target; and each way of handling an input badly is noticed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from tests.fuzz import fleet, guard
from tests.fuzz.mutate import deeply, mutated_tree
from tests.fuzz.target import ACCEPTED, EQUAL, REFUSED, Target, Violation
from tests.fuzz.targets import TARGETS

from flintstream.errors import FlintstreamError

pytestmark = pytest.mark.slow


def run(saved, *arguments):
    command = [sys.executable, "-m", "tests.fuzz", "--saved", str(saved), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    failed = re.findall(r"^  FAILED .*\n(?:    .*\n)*", done.stdout, re.MULTILINE)
    assert done.returncode == 0, "".join(failed)[-5000:] or done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.promise("S29")
def test_inputs_of_every_target_are_accepted_as_they_are_or_refused_in_words(tmp_path):
    output = run(tmp_path, "--count", "1000", "--seed", "1")
    assert all(f"\n{name} " in output for name in TARGETS)


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_many_inputs_are_accepted_as_they_are_or_refused_in_words(tmp_path):
    run(tmp_path, "--count", "30000", "--seed", "2")


def test_a_seed_gives_the_same_inputs():
    def inputs(directory):
        target = TARGETS["json"](directory)
        return [target.input(fleet.seeded(3, "json", number), number) for number in range(50)]

    assert inputs(Path()) == inputs(Path())
    assert len(set(inputs(Path()))) > 40


class Handling(Target):
    """Handles each input as the input says."""

    name = "handling"

    def valid(self):
        return [b"equal"]

    def input(self, random, number):
        return INPUTS[number]

    def check(self, data):
        return getattr(self, data.decode())()

    def equal(self):
        return EQUAL

    def accepted(self):
        return ACCEPTED

    def refused(self):
        raise FlintstreamError("no")

    def foreign(self):
        return dict[str, str]()["missing"]

    def without_words(self):
        raise FlintstreamError

    def wrong(self):
        raise Violation("other contents")

    def hangs(self):
        while True:
            pass

    def takes_memory(self):
        try:
            return bytes(guard.MEMORY * 4)
        except MemoryError:
            raise FlintstreamError("not enough") from None

    def dies(self):
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    def leaves(self):
        os._exit(3)

    def writes_elsewhere(self):
        (self.directory.parent / "elsewhere").write_text("x")

    def writes_elsewhere_by_another_way(self):
        (self.directory / ".." / ".." / "x").mkdir()

    def runs_code(self):
        import pickle

        return pickle.loads(b"cos\ngetpid\n.")


INPUTS = [
    *(b"equal", b"accepted", b"refused", b"foreign", b"without_words", b"wrong", b"hangs", b"takes_memory", b"dies"),
    *(b"leaves", b"writes_elsewhere", b"writes_elsewhere_by_another_way", b"runs_code", b"accepted"),
]


def test_every_way_of_handling_an_input_badly_is_a_failure_that_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 1)
    tally = fleet.fuzz(Handling, 0, 0, len(INPUTS), tmp_path)
    failed = {INPUTS[failure.number].decode() for failure in tally.failures}
    good = {"equal", "accepted", "refused"}
    assert failed == {item.decode() for item in INPUTS} - good
    assert tally.inputs == len(INPUTS)
    assert {name: tally.outcomes[name] for name in (EQUAL, ACCEPTED, REFUSED)} == {EQUAL: 1, ACCEPTED: 2, REFUSED: 1}
    assert tally.outcomes["hung"] == 1
    for failure in tally.failures:
        assert Path(failure.file).read_bytes() == INPUTS[failure.number]


def test_what_a_library_of_others_is_known_to_do_is_counted_and_no_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 1)
    monkeypatch.setattr(Handling, "of_libraries", frozenset({"hung"}))
    tally = fleet.fuzz(Handling, 0, 0, len(INPUTS), tmp_path)
    failed = {INPUTS[failure.number].decode() for failure in tally.failures}
    assert "hangs" not in failed
    assert {"dies", "leaves"} <= failed
    assert tally.outcomes["hung"] == 1


def test_deeply_nested_inputs_can_be_made_and_are_read_within_the_limit():
    limit = sys.getrecursionlimit()
    tree: list[object] = []
    for _ in range(2 * limit):
        tree = [tree]
    with pytest.raises(RecursionError):
        mutated_tree(Random(1), tree)
    with deeply():
        mutated_tree(Random(1), tree)
    assert sys.getrecursionlimit() == limit
