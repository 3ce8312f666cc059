"""The same jobs on classic Spark and on Spark Connect, in turn: empty epochs, records per second, latency.

    python -m benchmarks.connect [--seconds 10] [--rounds 3] [--only epoch,latency,keyed-count-10k] [--save]

Both have two cores of this machine. The server of Spark Connect starts before the first job and stays for all, and a
classic session starts with each job, so rates are without start-up: the difference of a run with few records and one
with many. With more rounds, the figure is the median. *Without resident tasks*, a classic session also runs each epoch
as a job of Spark.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.connect_server import TOKEN, running_server

from benchmarks.beats import Beats
from benchmarks.engines import ENGINES, REPOSITORY, RUNNERS
from benchmarks.latency import PEERS, WARM_UP_SECONDS, cuts_of
from benchmarks.latency import measure as measure_latency
from benchmarks.measure import FEW, Limits, run_once
from benchmarks.measure import measure as measure_rate
from benchmarks.process import RunError, timed
from benchmarks.report import machine
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LATENCY_RATE = 1000.0
RATES = ("keyed-count-10k", "tumbling-windows")
"""The workloads whose rates are compared."""
MEASURED = ("epoch", *RATES, "latency")
RESULTS = REPOSITORY / "benchmarks" / "results" / "connect.json"
TIMEOUT = 600


@dataclass(frozen=True)
class Variant:
    """A way to run jobs."""

    name: str
    master: str = "local[2]"
    settings: dict[str, str] = field(default_factory=dict)


def variants(address: str) -> list[Variant]:
    """Return the ways to compare, with the address of a server."""
    return [
        Variant("classic"),
        Variant("without resident tasks", settings={"flintstream.resident-tasks": "false"}),
        Variant("Connect", address),
    ]


@contextmanager
def server() -> Iterator[str]:
    """Start a server whose token the jobs find in their environment; yield its address."""
    with running_server() as found:
        os.environ[TOKEN] = found.token
        try:
            yield found.address
        finally:
            del os.environ[TOKEN]


def measure(what: str, variant: Variant, seconds: float) -> dict[str, float]:
    """Measure one thing once.

    Raises:
        RunError: A run failed, took too long, or its results were wrong.
    """
    if what == "epoch":
        return _measure_epoch(variant, seconds)
    if what == "latency":
        beats = Beats(LATENCY_RATE, WARM_UP_SECONDS + seconds)
        settings = {"flintstream.master": variant.master, **variant.settings}
        found = measure_latency(PEERS["flintstream"], sys.executable, beats, 1000, settings)
        if not found.keeps_up:
            raise RunError(f"{found.in_time:,} of {found.expected:,} records were emitted in time")
        cuts = cuts_of(found.emitted)
        return {"p50": cuts[0], "p99": cuts[3]}
    workload, engine = WORKLOADS[what], replace(ENGINES["flintstream"], master=variant.master)
    workload = replace(workload, settings={**workload.settings, "configuration": variant.settings})
    run_once(workload, engine, sys.executable, FEW, TIMEOUT)  # what only the first job of a server costs
    outcome = measure_rate(workload, engine, sys.executable, Limits(seconds, TIMEOUT))
    if outcome.problem:
        raise RunError(outcome.problem)
    return {"rate": outcome.rate}


def _measure_epoch(variant: Variant, seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="epochs-", ignore_cleanup_errors=True) as directory:
        settings = json.dumps(variant.settings)
        command = [sys.executable, str(RUNNERS / "empty_epochs.py"), variant.master, str(seconds), settings]
        timed(command, ENGINES["flintstream"].variables(sys.executable), directory, seconds + TIMEOUT)
        lines = Path(directory, "log").read_text().splitlines()
        found: dict[str, float] = json.loads(next(line for line in lines if line.startswith('{"epochs"')))
        return found


def main() -> None:
    """Measure and print; keep a whole series if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="least duration of a run that counts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(MEASURED), help=f"comma-separated, of {', '.join(MEASURED)}")
    parser.add_argument("--save", action="store_true", help="keep the results for the documentation")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(MEASURED):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(MEASURED)}")
    if options.save and chosen != [*MEASURED]:
        parser.error("--save needs a whole series, so leave --only out")
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    failed = False
    with server() as address:
        for what in chosen:
            for number in range(options.rounds):
                for variant in variants(address):
                    try:
                        figures = measure(what, variant, options.seconds)
                    except RunError as error:
                        print(f"{what}, {variant.name}: {error}", file=sys.stderr, flush=True)
                        failed = True
                        continue
                    found.setdefault(what, {}).setdefault(variant.name, []).append(figures)
                    text = ", ".join(f"{name} {value:,.0f}" for name, value in figures.items())
                    print(f"{what}, {variant.name}, round {number + 1}: {text}", flush=True)
    if failed:
        sys.exit(1)
    if options.save:
        outcomes = {what: {name: medians(runs) for name, runs in by_name.items()} for what, by_name in found.items()}
        about = {"rounds": options.rounds, "seconds": options.seconds, "load": round(os.getloadavg()[2], 1)}
        content = {"machine": machine(), **about, "outcomes": outcomes}
        RESULTS.write_text(json.dumps(content, indent=1) + "\n")


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure.

    >>> medians([{"ms": 3.04}, {"ms": 9.0}, {"ms": 4.0}])
    {'ms': 4.0}
    """
    return {name: round(statistics.median(run[name] for run in runs), 1) for name in runs[0]}


def compared(series: Mapping[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    """Return what a saved series is, and the columns and rows of its table."""
    variants = list(series["outcomes"]["epoch"])
    titles = {"epoch": "empty epoch, ms", "latency": "latency, p50 and p99, ms"}
    rows = [
        [
            titles.get(what) or f"{WORKLOADS[what].title}, records per second",
            *(
                ", ".join(f"{value:,.0f}" for figure, value in outcomes.get(name, {}).items() if figure != "epochs")
                or "-"
                for name in variants
            ),
        ]
        for what, outcomes in series["outcomes"].items()
    ]
    count = "one run" if series["rounds"] == 1 else f"medians of {series['rounds']} runs"
    where, runs = series["machine"], f"{count} of {series['seconds']:g} s and more"
    about = f"`python -m benchmarks.connect`; {where['date']}, {where['cores']} cores, {runs}:"
    return about, ["", *variants], rows


if __name__ == "__main__":
    main()
