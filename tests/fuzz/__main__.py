"""``python -m tests.fuzz``: read damaged and forged inputs of every kind, and report what was not handled well."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

if os.environ.get("PYTHONHASHSEED") != "0":  # a seed must repeat, even the order of sets of texts
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.fuzz", *sys.argv[1:]])  # noqa: S606

from tests.fuzz import fleet, guard
from tests.fuzz.target import ACCEPTED, EQUAL, REFUSED
from tests.fuzz.targets import TARGETS


def shares(names: list[str], count: int) -> dict[str, int]:
    """Return how many of ``count`` inputs each target gets."""
    total = sum(TARGETS[name].share for name in names)
    return {name: -(-count * TARGETS[name].share // total) for name in names}


def replay(path: Path) -> int:
    """Check the input in a file whose name begins with that of its target."""
    target_name = path.name.rsplit("-", 2)[0]
    with tempfile.TemporaryDirectory(prefix="flintstream-fuzz-") as name:
        inside = Path(name, "inside")
        inside.mkdir()
        data = path.read_bytes()
        tempfile.tempdir = os.fspath(inside)
        target = TARGETS[target_name](inside)
        target.corpus  # noqa: B018 - made without limits
        guard.limit()
        report = fleet.checked(target, data, Path(name))
        tempfile.tempdir = None
    print(f"{target_name}: {report['outcome']}\n{report.get('what', '')}")
    return 1 if "what" in report else 0


def run(names: list[str], count: int, seed: int, saved: Path, per_target: int | None) -> int:
    """Check inputs of all targets; return 1 if one was not handled well."""
    started, total, failures = time.perf_counter(), 0, 0
    header = f"{'target':<18} {'valid':>6} {'inputs':>8} {'equal':>8} {'accepted':>9} {'refused':>8} {'failed':>7}"
    print(f"seed {seed}\n{header}", flush=True)
    for name, share in shares(names, count).items():
        tally = fleet.fuzz(TARGETS[name], seed, 0, share if per_target is None else per_target, saved)
        kinds = tally.outcomes
        failed = len(tally.failures)
        print(
            f"{name:<18} {tally.valid:>6,} {tally.inputs:>8,} {kinds[EQUAL]:>8,} {kinds[ACCEPTED]:>9,} "
            f"{kinds[REFUSED]:>8,} {failed:>7,}",
            flush=True,
        )
        for failure in tally.failures:
            print(
                f"  FAILED {failure.target} {failure.number}, see {failure.file}\n    "
                + failure.what[-1500:].replace("\n", "\n    ")
            )
        total += tally.inputs
        failures += failed
    print(f"{total:,} inputs in {time.perf_counter() - started:.0f} s, {failures} failed")
    if failures:
        print("repeat one with: python -m tests.fuzz --replay FILE")
    return 1 if failures else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=100_000, help="inputs in all")
    parser.add_argument("--each", type=int, help="inputs of each target, instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="these targets, separated by commas")
    parser.add_argument("--saved", type=Path, default=Path(".fuzz"), help="the directory for inputs that failed")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check the input in a file")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if arguments.replay is not None:
        return replay(arguments.replay)
    names = [name for name in arguments.only.split(",") if name] or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    return run(names, arguments.count, arguments.seed, arguments.saved.absolute(), arguments.each)


if __name__ == "__main__":
    sys.exit(main())
