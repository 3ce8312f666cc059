"""``python -m tests.simulation``: run many seeds, or one with everything that happens in it."""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback

if os.environ.get("PYTHONHASHSEED") != "0":  # a seed must repeat: sets of texts must have the same order every time
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])  # noqa: S606

from tests.simulation.runner import prepare, simulate
from tests.simulation.world import Violation


def main() -> int:
    """Run what the command line says; returns 1 when a seed fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seed", type=int, help="run this seed only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what happens in it")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--failures", type=int, default=10, help="stop after so many failures")
    arguments = parser.parse_args()
    prepare()
    seeds = range(arguments.first, arguments.first + arguments.count * arguments.step, arguments.step)
    if arguments.seed is not None:
        seeds = range(arguments.seed, arguments.seed + 1)
    failed, done, started = 0, 0, time.perf_counter()
    for seed in seeds:
        if time.perf_counter() - started > arguments.seconds:
            break
        try:
            simulate(seed, print if arguments.verbose else None)
        except (Violation, Exception) as error:  # any error is a finding
            failed += 1
            print(f"seed {seed} fails: {type(error).__name__}: {error}", flush=True)
            if arguments.verbose:
                traceback.print_exc()
            if failed >= arguments.failures:
                break
        done += 1
    took = time.perf_counter() - started
    print(f"{done} seeds in {took:.1f} s ({done / took:.0f}/s), {failed} failed")
    if failed:
        print("replay one with: python -m tests.simulation --seed N -v")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
