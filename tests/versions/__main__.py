"""Run all conformance programs on each release of Spark: ``python -m tests.versions [--choice] [RELEASE ...]``.

With ``--minutes``, what has not ended by then is ended. That is no failure; a line says which releases are concerned.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.versions.environments import SPARKS, NoEnvironmentError, python_of
from tests.versions.runs import CHOICE, all_programs, run

WITHOUT_LIMIT = 60.0 * 24


def main() -> int:
    """Print a line for each release; return 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", default=list(SPARKS), metavar="RELEASE", help=", ".join(SPARKS))
    parser.add_argument("--choice", action="store_true", help="only what continuous integration runs")
    parser.add_argument("--minutes", type=float, help="end after these")
    given = parser.parse_args()
    begun = time.monotonic()
    tests = list(CHOICE) if given.choice else all_programs()
    wrong = 0
    for spark in given.releases:
        left = (given.minutes or WITHOUT_LIMIT) * 60 - (time.monotonic() - begun)
        try:
            outcome = run(spark, tests, left)
        except (NoEnvironmentError, TimeoutError) as error:
            print(f"Spark {spark}: skipped: {error}", flush=True)
            continue
        wrong += outcome.failed
        print(
            f"Spark {spark}, {python_of(spark)}: {outcome.passed} tests passed, {outcome.failed} failed, "
            f"{outcome.seconds:.0f} s",
            flush=True,
        )
        if outcome.failed:
            print(outcome.output)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
