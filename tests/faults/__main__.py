"""``python -m tests.faults``: kill processes of jobs on Spark, round after round."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.faults.rounds import Round, RoundError, cells, run_round


def main() -> int:
    """Run the command line; return 1 if a round fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seed", type=int, help="run the round of this seed only")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rounds", type=int, default=50, help="how many rounds")
    parser.add_argument("--matrix", type=int, metavar="KILLS", help="instead, so many kills in each cell of the matrix")
    parser.add_argument("--only", default="", help="only the cells whose description contains all of these words")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what happens in them")
    arguments = parser.parse_args()
    first, count = (arguments.first, arguments.rounds) if arguments.seed is None else (arguments.seed, 1)
    plans = [Round.of(seed) for seed in range(first, first + count)]
    if arguments.matrix:
        words = arguments.only.split()
        plans = [plan for plan in cells(arguments.matrix) if all(word in str(plan) for word in words)]
    killed: Counter[str] = Counter()
    failed = 0
    for plan in plans:
        began = time.monotonic()

        def say(what: str, began: float = began) -> None:
            if arguments.verbose:
                print(f"  {time.monotonic() - began:6.2f} s  {what}", flush=True)

        print(plan, flush=True)
        try:
            now = run_round(plan, say)
        except RoundError as error:
            failed += 1
            print(f"  FAILED: {error}", flush=True)
            if not arguments.matrix:
                print(f"  repeat it with: make faults SEED={plan.seed}", flush=True)
        else:
            killed += now
            print(f"  passed in {time.monotonic() - began:.1f} s, killed {dict(now)}", flush=True)
    print(f"{len(plans)} rounds, {failed} failed, killed: {dict(sorted(killed.items()))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
