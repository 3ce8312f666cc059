"""Random programs give equal results on both engines, at each parallelism, and in both modes where required."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.differential import facts, generate, running, variants
from tests.differential.description import Program, Step, from_json
from tests.differential.generate import programs
from tests.differential.shrink import reductions, shrink

pytestmark = pytest.mark.filterwarnings("ignore:the TimestampAssigner of source")
FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "0"))
MORE = os.environ.get("DIFFERENTIAL_EXAMPLES")


def examples(usual):
    """Return settings for this many examples, the same in every run; random ones if more are requested."""
    count = int(MORE) if MORE else usual
    checks = list(HealthCheck)
    return settings(
        max_examples=count, derandomize=not MORE, database=None, deadline=None, suppress_health_check=checks
    )


def batched(items, size):
    return [items[first : first + size] for first in range(0, len(items), size)]


def assert_same(program, expected, actual, *, ordered=True):
    assert running.difference(program, expected, actual, ordered=ordered) == "", str(program)


@pytest.mark.spark
@pytest.mark.timeout(0 if MORE else 600)
@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("mode", generate.MODES)
def test_engines_agree(mode, parallelism):
    def on_spark(program):
        return running.difference(program, running.run(program, "inline"), running.run(program, "spark"))

    # Each Spark job takes time, whatever the number of programs in it.
    todo = generate.random_programs(int(MORE or 12), SEED, (mode,), (parallelism,))
    for some in batched(todo, 12):
        outcomes = running.run_together(some, "spark")
        for program, outcome in zip(some, outcomes, strict=True):
            if running.difference(program, running.run(program, "inline"), outcome):
                smallest = shrink(program, on_spark, 50)
                pytest.fail(f"{smallest}\n{on_spark(smallest)}")


@pytest.mark.slow
@pytest.mark.timeout(0 if MORE else 600)
@examples(80)
@given(programs(parallelism=(1,)))
def test_parallelism_does_not_matter(program):
    wide = variants.widened(program)
    if wide is not None:
        assert_same(wide, running.run(program, "inline"), running.run(wide, "inline"))


@pytest.mark.slow
@pytest.mark.timeout(0 if MORE else 600)
@examples(80)
@given(programs(modes=("STREAMING",)))
def test_modes_agree(program):
    batch = variants.in_batch(program)
    if batch is not None:
        assert_same(program, running.run(program, "inline"), running.run(batch, "inline"), ordered=False)


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_programs_that_were_found_give_what_pyflink_gives(path, engine):
    content = json.loads(path.read_text(encoding="utf-8"))
    program = from_json(content["program"])
    assert_same(program, content["outcome"], running.run(program, engine))


def test_every_operation_is_tried():
    made = generate.random_programs(300, 0)
    tried = Counter(step.op for program in made for step in program.steps)
    assert set(tried) == running.OPERATIONS
    assert min(tried.values()) >= 5
    windows = Counter(step.options["assigner"] for program in made for step in program.steps if step.op == "window")
    assert set(windows) == {"tumbling", "sliding", "session", "count", "global"}
    assert sum(variants.widened(program) is not None for program in made if program.parallelism == 1) > 20
    assert sum(variants.in_batch(program) is not None for program in made if program.mode == "STREAMING") > 20


def test_programs_are_drawn_as_people_write_them():
    made = generate.random_programs(300, 0)

    def drawn(name, *ops):
        return {step.options[name] for program in made for step in program.steps if step.op in ops}

    assert drawn("assigner", "sequence") == set(generate.ASSIGNERS)
    for op, forms in generate.LOOSE.items():
        assert drawn("loose", op) == {way for ways in forms.values() for way in ways}
    assert drawn("imports", "stamp", "window") == set(range(5))
    for op in ("map", "flat_map", "filter", "partition", "reduce"):
        assert drawn("written", op) == set(generate.WRITTEN)


def source(*records, form="TUPLE"):
    return Step("collection", (), {"form": form, "records": [list(record) for record in records]})


def running_total(position, parallelism=None):
    options = {"select": "key", "typed_key": True, "how": "sum"}
    return Step("rolling", (position,), options, parallelism)


def test_a_running_total_of_records_in_any_order_is_ambiguous():
    records = source(("a", 1, 1), ("a", 2, 3))
    facts.facts_of(Program("STREAMING", 2, (records, running_total(0))))
    spread = Step("map", (0,), {"how": "same", "form": "TUPLE"})
    with pytest.raises(facts.AmbiguousError, match="any order"):
        facts.facts_of(Program("STREAMING", 2, (records, spread, running_total(1))))
    facts.facts_of(Program("STREAMING", 1, (records, spread, running_total(1))))


def test_records_without_timestamps_have_no_order_in_batch():
    records = source(("a", 1, 1), ("a", 2, 3))
    stamp = Step("stamp", (0,), {"strategy": "none", "idle": False})
    with pytest.raises(facts.AmbiguousError, match="first record"):
        facts.facts_of(Program("BATCH", 1, (records, running_total(0))))
    facts.facts_of(Program("BATCH", 1, (records, stamp, running_total(1))))


def test_a_difference_is_told_with_the_step_and_the_records():
    program = Program("STREAMING", 1, (source(("a", 1, 1)),))
    outcome = running.run(program, "inline")
    assert outcome == [{"text": ["(a,1,1)"], "values": ["('a', 1, 1)"]}]
    assert "step 0" in running.difference(program, outcome, [{"text": ["(a,2,1)"], "values": ["('a', 2, 1)"]}])


def test_a_program_is_made_as_small_as_what_is_wrong_with_it():
    steps = (
        source(("a", 1, 1), ("b", 4, 3), ("a", 2, 5)),
        Step("map", (0,), {"how": "shift", "form": "TUPLE"}),
        Step("filter", (1,)),
        Step("map", (0,), {"how": "same", "form": "TUPLE"}),
    )

    def is_wrong(program):
        return any(record[0] == "b" for record in program.steps[0].options["records"]) and any(
            step.op == "filter" for step in program.steps
        )

    smallest = shrink(Program("STREAMING", 2, steps), is_wrong, 200)
    assert smallest == Program("STREAMING", 1, (source(("b", 4, 3)), Step("filter", (0,))))
    assert all(len(program.steps) <= 2 for program in reductions(smallest))
