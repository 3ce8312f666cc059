"""Run all conformance programs on each release of Spark.

    python -m tests.versions [--choice] [--connect] [RELEASE ...]

With ``--minutes``, what has not ended by then is ended. That is no failure; a line says which releases are concerned.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.versions.environments import CONNECT, SPARKS, NoEnvironmentError, python_of
from tests.versions.runs import CHOICE, TOGETHER, TOGETHER_CHOICE, all_programs, run

WITHOUT_LIMIT = 60.0 * 24


def main() -> int:
    """Print a line for each release; return 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", default=list(SPARKS), metavar="RELEASE", help=", ".join(SPARKS))
    parser.add_argument("--choice", action="store_true", help="only what continuous integration runs")
    parser.add_argument("--connect", action="store_true", help="on Spark Connect servers, programs that share a job")
    parser.add_argument("--minutes", type=float, help="end after these")
    given = parser.parse_args()
    begun = time.monotonic()
    if given.connect:
        tests = list(TOGETHER_CHOICE) if given.choice else [TOGETHER]
    else:
        tests = list(CHOICE) if given.choice else all_programs()
    wrong = 0
    for spark in (release for release in given.releases if release in CONNECT or not given.connect):
        left = (given.minutes or WITHOUT_LIMIT) * 60 - (time.monotonic() - begun)
        try:
            outcome = run(spark, tests, left, connect=given.connect)
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
