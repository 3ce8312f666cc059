"""The cost of a record does not rise: instructions of flintstream's own code, the same on every machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from benchmarks.work import per_record
from benchmarks.workloads import WORKLOADS
from tests.conformance.ours import alias

from flintstream.compiled import PURE_PYTHON, load

pytestmark = pytest.mark.slow

INSTRUCTIONS = {
    "keyed-count-100": 11,
    "keyed-count-10k": 11,
    "keyed-count-1m": 11,
    "keyed-count-durable": 40,
    "tumbling-windows": 11,
    "sliding-windows": 67,
    "session-windows": 10,
    "timers": 12,
    "map-state": 11,
    "list-state": 11,
    "connect": 11,
    "broadcast": 24,
    "stateless": 2,
    "word-count": 11,
    "json": 2,
}
"""Counted with Python 3.11 and compiled modules (``python -m benchmarks.work``). Less is better: enter the new figure
then."""

IN_PYTHON = """
keyed-count-100 229
keyed-count-10k 276
keyed-count-1m 346
keyed-count-durable 430
tumbling-windows 218
sliding-windows 462
session-windows 200
timers 546
map-state 331
list-state 241
connect 382
broadcast 141
stateless 471
word-count 340
json 259
"""
"""The same without compiled modules: plain Python, written once for both."""

TOLERANCE = 1.05 if sys.version_info[:2] == (3, 11) else 1.3


def test_every_workload_is_counted():
    assert INSTRUCTIONS.keys() == figures(IN_PYTHON).keys() == WORKLOADS.keys()


def figures(text: str) -> dict[str, float]:
    return {name: float(number) for name, number in (line.split() for line in text.split("\n") if line)}


def test_a_record_costs_no_more_instructions_without_compiled_modules():
    environment = {**os.environ, PURE_PYTHON: "1"}
    command = [sys.executable, "-m", "benchmarks.work"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    counted = figures(done.stdout)
    assert {name: counted[name] for name, most in figures(IN_PYTHON).items() if counted[name] >= most * TOLERANCE} == {}


@pytest.mark.skipif(load("keyed") is None, reason="there are no compiled modules here")
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_record_costs_no_more_instructions_than_it_did(name):
    with alias():
        assert per_record(WORKLOADS[name]) < INSTRUCTIONS[name] * TOLERANCE
