"""One job on a real cluster whose processes are killed; ``make faults`` runs any number of rounds."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.faults.rounds import Round, run_round

pytestmark = [pytest.mark.spark, pytest.mark.kills, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    "plan",
    [
        Round(0, "local", "rocksdb", True, (("worker", 0.3), ("tree", 0.5)), (2, 3, 1)),
        pytest.param(
            Round(2, "local", "hashmap", False, (("jvm", 0.3), ("daemon", 0.5), ("jvm", 0.1)), (2, 1)),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            Round(1, "cluster", "hashmap", False, (("executor", 0.3), ("driver", 0.5)), (2, 1, 3)),
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["local", "jvm", "cluster"],
)
def test_results_are_there_once_whatever_is_killed(plan):
    killed = Counter({name.removesuffix(" after the end"): number for name, number in run_round(plan).items()})
    assert killed == Counter(victim for victim, _ in plan.kills)
