"""No test waits for what cannot happen any more."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.waiting import wait_for


def test_waiting_for_a_process_that_has_ended_fails_with_the_end_of_its_log(tmp_path):
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-Ic", "print('no such disk'); exit(4)"], stdout=log)
    with pytest.raises(AssertionError, match=rf"process {process.pid} ended with code 4(.|\n)*no such disk"):
        wait_for(lambda: False, processes=[process], log=tmp_path / "log")


def test_what_a_process_has_done_before_its_end_counts(tmp_path):
    process = subprocess.Popen([sys.executable, "-Ic", "open('done', 'w')"], cwd=tmp_path)
    wait_for((tmp_path / "done").exists, processes=[process])
    process.wait()
    wait_for((tmp_path / "done").exists, processes=[process])


def test_a_condition_that_takes_too_long_fails_with_what_was_seen(tmp_path):
    (tmp_path / "log").write_text("busy\n")
    with pytest.raises(AssertionError, match=r"not in 0\.01 s: \[\](.|\n)*busy"):
        wait_for(list, seconds=0.01, log=tmp_path / "log")
