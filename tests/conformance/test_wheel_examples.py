"""The examples that come with PyFlink print on flintstream, unchanged, what they print on Flink."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.conformance import examples

import flintstream

pytestmark = pytest.mark.slow

DIRECTORY = examples.find()
SOURCE = Path(flintstream.__file__).parents[1]


@pytest.mark.spark
@pytest.mark.skipif(
    DIRECTORY is None,
    reason="the example scripts come with apache-flink only (725 MB): install it or set PYFLINK_EXAMPLES",
)
@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_example_prints_what_it_prints_on_flink(name):
    assert DIRECTORY is not None
    command = [sys.executable, "-m", "flintstream.cli", "run", str(DIRECTORY / f"{name}.py")]
    assert examples.run(command, import_from=SOURCE) == examples.recorded_lines(name)


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_every_example_is_recorded(name):
    assert examples.recorded_lines(name)
