"""Faults at every step of thousands of jobs: no record is lost or repeated, and the tests would notice mistakes."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.simulation import fleet
from tests.simulation.mutations import MUTATIONS, mutated

SEEDS = 1_000
ALL_SEEDS = 10_000
SECONDS = 3_000
"""Ten times the duration of all seeds on two cores that have other work, too."""
SEEDS_OF_MISTAKES = 16_000
"""The number of seeds within which a mutation must be found; without one, all of them pass."""
PROCESSES = max(2, min(os.cpu_count() or 2, 4))

pytestmark = pytest.mark.timeout(3_600)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "seeds"), [(0, SEEDS), pytest.param(SEEDS, ALL_SEEDS - SEEDS, marks=pytest.mark.deep)]
)
def test_jobs_survive_their_faults(first, seeds, capfd):
    outcome = fleet.run_seeds(PROCESSES, first, seeds, SECONDS)
    with capfd.disabled():
        print(f"\nsimulation: {outcome.seeds} seeds, {outcome.seeds_per_second:.0f}/s in {PROCESSES} processes")
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.seeds == seeds, f"{outcome.seeds} passed in {SECONDS} s"


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mistake_replaces_code_that_exists(name):
    with mutated(name):
        pass


@pytest.mark.deep
def test_every_mistake_is_found(capfd):
    common = ["--mutations", "--count", str(SEEDS_OF_MISTAKES), "--part"]
    parts = [[*common, str(n), str(PROCESSES)] for n in range(PROCESSES)]
    output = fleet.run(PROCESSES, parts).output
    with capfd.disabled():
        print(f"\nsimulation: {output.count('found: ')} mistakes found, {output.count('MISSED: ')} missed")
    assert output.count("mistakes found") == PROCESSES, output
    assert "MISSED" not in output, output


@pytest.mark.slow
@pytest.mark.parametrize("seed", [27, 801])
def test_a_seed_repeats_to_the_last_step(seed):
    command = [*fleet.COMMAND, "--seed", str(seed), "-v"]
    first, second = (
        subprocess.run(  # noqa: S603 - our own command
            command, cwd=fleet.ROOT, env=fleet.environment(), capture_output=True, text=True, check=True
        )
        for _ in range(2)
    )
    assert first.stdout == second.stdout
    assert len(first.stdout.splitlines()) > 10
