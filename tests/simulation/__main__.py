"""``python -m tests.simulation``: run many seeds, or one with a trace of all its events."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
import traceback

if os.environ.get("PYTHONHASHSEED") != "0":  # a seed must repeat, even the order of sets of texts
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])  # noqa: S606

from tests.simulation import fleet
from tests.simulation.mutations import MUTATIONS, mutated
from tests.simulation.runner import prepare, simulate
from tests.simulation.world import Crash, Violation


def find_mutations(names: list[str], seeds: range) -> int:
    """Run seeds with each mutation of the code until one fails; return 1 if a mutation is not found."""
    missed = 0
    for name in names:
        started = time.perf_counter()
        with mutated(name):
            found = next(((seed, error) for seed in seeds if (error := failure(seed)) is not None), None)
        took = time.perf_counter() - started
        if found is None:
            missed += 1
            print(f"MISSED: {name} ({took:.1f} s)", flush=True)
        elif isinstance(found[1].__cause__ or found[1], AttributeError | TypeError):
            missed += 1  # the mutation does not fit the code, so any test would notice it
            print(f"MISSED: {name}, which fails itself: {found[1]!r}", flush=True)
        else:
            print(f"found: {name}, by seed {found[0]} ({took:.1f} s): {found[1]!r:.160}", flush=True)
    print(f"{len(names) - missed} of {len(names)} mistakes found")
    return 1 if missed else 0


def failure(seed: int, *, verbose: bool = False) -> BaseException | None:
    """Return the failure of a seed, None if it passes."""
    try:
        simulate(seed, print if verbose else None)
    except (Crash, Violation, Exception) as error:  # noqa: BLE001 - any error is a finding
        return error
    return None


def run(seeds: range, seconds: float, most_failures: int) -> int:
    """Run seeds; return 1 if one fails."""
    failed, done, started, cpu = 0, 0, time.perf_counter(), time.process_time()
    gc.disable()  # a run leaves little garbage, and looking for it takes a tenth of the time
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for seed in seeds:
        if failed >= most_failures or time.perf_counter() - started > seconds:
            break
        if not done % 100:
            gc.collect()
        try:
            error = failure(seed)
        except KeyboardInterrupt:
            break
        done += 1
        if error is not None:
            failed += 1
            print(f"seed {seed} fails: {type(error).__name__}: {error}", flush=True)
    took = time.perf_counter() - started
    cpu = time.process_time() - cpu
    print(f"{done} seeds in {took:.1f} s ({done / took:.0f}/s, {cpu:.1f} s of CPU time), {failed} failed")
    if failed:
        print("replay one with: make simulate SEED=<number>, or python -m tests.simulation --seed <number> -v")
    return 1 if failed else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seed", type=int, help="run this seed only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what happens in it")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=20_000, help="how many seeds")
    parser.add_argument("--step", type=int, default=1, help="from one seed to the next")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--failures", type=int, default=10, help="stop after this many failures")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--mutations", action="store_true", help="check that every mistake of a list is found")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="which part of the mistakes, of how many")
    arguments = parser.parse_args()
    if arguments.jobs > 1:
        outcome = fleet.run_seeds(arguments.jobs, arguments.first, arguments.count, arguments.seconds)
        print(outcome.output, end="")
        print(f"{outcome.seeds} seeds in all, {outcome.seeds_per_second:.0f}/s, {len(outcome.failures)} failed")
        return 1 if outcome.failures else 0
    prepare()
    seeds = range(arguments.first, arguments.first + arguments.count * arguments.step, arguments.step)
    if arguments.mutations:
        part, parts = arguments.part
        return find_mutations(list(MUTATIONS)[part::parts], seeds)
    if arguments.seed is None:
        return run(seeds, arguments.seconds, arguments.failures)
    error = failure(arguments.seed, verbose=arguments.verbose)
    if error is not None:
        if arguments.verbose:
            traceback.print_exception(error)
        print(f"seed {arguments.seed} fails: {type(error).__name__}: {error}")
        return 1
    print(f"seed {arguments.seed} passes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
