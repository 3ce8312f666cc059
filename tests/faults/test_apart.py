"""The workers of a cluster without a shared disk see what they run, and nothing else in the hidden directories."""

from __future__ import annotations

import subprocess

import pytest
from tests.faults.apart import alone, refusal
from tests.standalone import Standalone


@pytest.mark.skipif(bool(refusal()), reason=refusal())
def test_a_checkout_within_a_hidden_directory_is_there_and_its_neighbours_are_not(tmp_path):
    hidden = tmp_path / "hidden"
    checkout, inner = hidden / "it's a checkout", hidden / "it's a checkout" / "inner"
    inner.mkdir(parents=True)
    (hidden / "other").mkdir()
    (inner / "file").write_text("text")
    show = ["sh", "-c", 'ls "$0"; cat "$1"', str(hidden), str(inner / "file")]
    command = [*alone([str(hidden)], [str(checkout), str(inner), "/usr"]), *show]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert (done.stdout, done.stderr) == ("it's a checkout\ntext", "")
    assert sorted(path.name for path in hidden.iterdir()) == ["it's a checkout", "other"]


@pytest.mark.spark
def test_a_cluster_whose_worker_ends_fails_at_once_with_the_words_of_its_log(tmp_path):
    around = ["sh", "-c", "echo there is no java here; exit 3"]
    with pytest.raises(AssertionError, match=r"ended with code 3(.|\n)*there is no java here"):
        Standalone(tmp_path / "cluster", workers=1, around=around)
