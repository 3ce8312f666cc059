"""Jobs on Spark Connect whose client, server, executors and workers are killed, each at a random moment."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.connect_server import NoServerError, find_server
from tests.faults.connect import ConnectCourse, rounds
from tests.faults.rounds import run_round

pytest.importorskip("grpc", reason="the extra 'connect' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.kills]

LOCAL = ("worker", "jvm", "driver")


def killed(place, victims, kills, seed):
    """Run rounds with so many kills of each process while the job runs; return how many hit one."""
    try:
        find_server()
    except NoServerError as error:
        pytest.skip(str(error))
    found: Counter[str] = Counter()
    for plan in rounds(dict.fromkeys(victims, kills), place, 9, seed):
        found += run_round(plan, kind=ConnectCourse)
    print(f"killed at {place}: {dict(found)}")  # a nightly run shows it
    return found


@pytest.mark.parametrize(("place", "victims"), [("connect", LOCAL), ("connect-cluster", ("executor",))])
@pytest.mark.timeout(1800)
def test_results_are_there_once_whatever_is_killed(place, victims):
    assert killed(place, victims, 3, 0) == dict.fromkeys(victims, 3)


@pytest.mark.parametrize(("place", "victims"), [("connect", LOCAL), ("connect-cluster", ("executor",))])
@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_results_are_there_once_after_twenty_kills_of_each_process(place, victims):
    assert killed(place, victims, 20, 100) == dict.fromkeys(victims, 20)
