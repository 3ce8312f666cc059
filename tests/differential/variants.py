"""Variants of a program with equal results: with more subtasks, and in the other mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.differential.facts import COMMUTATIVE, TIMED, AmbiguousError, facts_of

if TYPE_CHECKING:
    from tests.differential.description import Program, Step


def widened(program: Program) -> Program | None:
    """Return a program with two subtasks and an equal result; None if there is none."""
    if any(step.op == "partition" and step.options["how"] == "broadcast" for step in program.steps):
        return None
    # Timestamps are given before records go to several subtasks: their order would be lost.
    steps = tuple(replace(step, parallelism=1 if step.op == "stamp" else None) for step in program.steps)
    return if_clear(program.with_changes(parallelism=2, steps=steps))


def in_batch(program: Program) -> Program | None:
    """Return a streaming program in BATCH if it has to give the same; None otherwise."""
    batch, known = if_clear(program.with_changes(mode="BATCH")), facts_of(program)
    for step in program.steps:
        # In BATCH there are no running results, and timers that are registered by timers do not fire.
        if step.op in {"reduce", "rolling"} or step.options.get("again"):
            return None
        if depends_on_order(step) and not all(known[i].rising for i in step.inputs):
            return None
    return batch


def depends_on_order(step: Step) -> bool:
    """Return whether the result of a step may depend on the order of its input."""
    options = step.options
    if step.op == "window":
        return options["assigner"] not in TIMED or options["ordered"] or options["how"] not in COMMUTATIVE
    return step.op in {"keyed_map", "keyed_flat_map"} or options.get("ordered", False) or options.get("delete", False)


def if_clear(program: Program) -> Program | None:
    """Return a program that has one outcome; None otherwise."""
    try:
        facts_of(program)
    except AmbiguousError:
        return None
    return program
