"""Run programs on flintstream, and compare outcomes."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import cloudpickle
from tests.conformance import harness, ours
from tests.conformance.harness import Run
from tests.differential.facts import facts_of

with ours.alias():
    from tests.differential import build, functions, keyed_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conformance.registry import Ordering
    from tests.differential.description import Program

# Like in a user's script, the functions are not in a module that a worker could import.
for module in (build, functions, keyed_functions):
    cloudpickle.register_pickle_by_value(sys.modules[module.__name__])

OPERATIONS = frozenset(build.BUILDERS)

Outcome = list[dict[str, list[str]]]
"""The text and the ``repr`` of the values of every result, as in the golden files of the conformance programs."""

# No watermark comes before the end of the input.
CONFIG = {"pipeline.auto-watermark-interval": "10 h"}
ORDERINGS: dict[str, Ordering] = {"total": "exact", "key": "per_key", "none": "multiset"}


def run(program: Program, engine: str) -> Outcome:
    """Run a program on an engine of flintstream."""
    return run_together([program], engine)[0]


def run_together(programs: Sequence[Program], engine: str) -> list[Outcome]:
    """Run programs of the same mode and parallelism in one job."""
    with ours.alias():
        env = ours.make_environment(engine, Run(programs[0].mode, programs[0].parallelism), CONFIG)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the TimestampAssigner of source")
            streams = [build.build(env, program) for program in programs]
        # A sink with one subtask gets the records of each sender in their order.
        env.set_parallelism(1)
        collects = [[ours.collector(stream) for stream in some] for some in streams]
        env.execute("random programs")
        return [[dict(zip(("text", "values"), collect(), strict=True)) for collect in some] for some in collects]


def difference(program: Program, expected: Outcome, actual: Outcome, *, ordered: bool = True) -> str:
    """Return the difference of two outcomes as a diff; empty if they are equal."""
    found = []
    facts = facts_of(program)
    for position, one, other in zip(program.results(), expected, actual, strict=True):
        ordering: Ordering = ORDERINGS[facts[position].order] if ordered else "multiset"
        diff = harness.difference(one["text"], other["text"], ordering)
        diff = diff or harness.difference(one["values"], other["values"], "multiset")
        if diff:
            found.append(f"step {position}, compared as {ordering}:\n{diff}")
    return "\n".join(found)
