"""Shrink a program as long as it is still wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.differential.facts import AmbiguousError, facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.differential.description import Program, Step


def shrink(program: Program, is_wrong: Callable[[Program], bool], tries: int) -> Program:
    """Return the smallest program found with ``tries`` tests of ``is_wrong``."""
    smaller = True
    while smaller and tries > 0:
        smaller = False
        for candidate in reductions(program):
            tries -= 1
            if is_wrong(candidate):
                program, smaller = candidate, True
                break
            if tries <= 0:
                break
    return program


def reductions(program: Program) -> Iterator[Program]:
    """Return the programs with one outcome that are smaller by one part, the smallest ones first."""
    for candidate in candidates(program):
        try:
            facts_of(candidate)
        except AmbiguousError:
            continue
        if candidate.steps:
            yield candidate


def candidates(program: Program) -> Iterator[Program]:
    """Return smaller programs, some of which may be invalid."""
    for position in reversed(range(len(program.steps))):
        if len(program.steps) > 1:
            yield without(program, position, below=True)
    for position in reversed(range(len(program.steps))):
        if program.steps[position].inputs:
            yield without(program, position, below=False)
    if program.parallelism > 1:
        steps = tuple(replace(step, parallelism=None) for step in program.steps)
        yield program.with_changes(parallelism=1, steps=steps)
    for position, step in enumerate(program.steps):
        for simpler in simpler_steps(step):
            yield program.with_changes(steps=(*program.steps[:position], simpler, *program.steps[position + 1 :]))


def without(program: Program, removed: int, *, below: bool) -> Program:
    """Remove a step, with all that depend on it (``below``), or connect those to its first input."""
    kept: list[Step] = []
    places: dict[int, int] = {}
    for position, step in enumerate(program.steps):
        if position == removed:
            if not below:
                places[position] = places[step.inputs[0]]
            continue
        if all(i in places for i in step.inputs):
            places[position] = len(kept)
            kept.append(replace(step, inputs=tuple(places[i] for i in step.inputs)))
    return program.with_changes(steps=tuple(kept))


def simpler_steps(step: Step) -> Iterator[Step]:
    """Return simpler versions of a step."""
    if step.parallelism is not None:
        yield replace(step, parallelism=None)
    if step.op == "collection":
        records = step.options["records"]
        half = len(records) // 2
        fewer = [records[:half], records[half:], *([*records[:i], *records[i + 1 :]] for i in range(len(records)))]
        for some in fewer[0 if half > 1 else 2 :]:
            yield replace(step, options={**step.options, "records": some})
    if step.op == "sequence" and step.options["count"] > 1:
        yield replace(step, options={**step.options, "count": step.options["count"] - 1})
    for name, value in step.options.items():
        if value is True:
            yield replace(step, options={**step.options, name: False})
        if name == "lateness" and value:
            yield replace(step, options={**step.options, name: 0})
