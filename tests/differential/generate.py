"""The hypothesis strategy of programs. Steps with more than one outcome are left out; see ``facts.py``."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.differential.description import Mode, Program, Step
from tests.differential.facts import TIMED, UNTYPED, AmbiguousError, Facts, after, is_ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Choose = Callable[[Sequence[Any]], Any]

MODES: tuple[Mode, ...] = ("STREAMING", "BATCH")
FORMS = (UNTYPED, "TUPLE", "ROW", "NAMED")
MEMORIES = ("value", "list", "map", "reducing", "aggregating")
MOVES = ("rebalance", "shuffle", "rescale", "broadcast", "forward", "custom")
ALWAYS = ("map", "flat_map", "filter", "process", "holes", "stamp", "partition", "keyed_process")
TWO_INPUTS = ("union", "co_map", "co_flat_map", "co_process", "keyed_broadcast")
WRITTEN = (None, None, "lambda", "function", "partial", "callable")
LOOSE: dict[str, dict[str, tuple[str | None, ...]]] = {
    "collection": {
        "TUPLE": (None, None, "other", "list"),
        "ROW": (None, None, "other"),
        "NAMED": (None, None, "other"),
    },
    "map": {"TUPLE": (None, None, "other", "list")},
}
"""Deviations from the type that PyFlink accepts with functions in threads."""
ASSIGNERS = (None, None, "none", "text", "generator", "fails", "nothing")
MOST_STEPS = 7


IMPORTS = frozenset({"sequence", "stamp", "process", "side", "window", "keyed_process"})
"""Steps with a name that several modules have."""


class Maker:
    """A partial program."""

    def __init__(self, choose: Choose, modes: Sequence[Mode], parallelism: Sequence[int]) -> None:
        """Start a program; ``choose`` chooses one of several values, of which the first is the simplest."""
        self.choose = choose
        self.program = Program(choose(modes), choose(parallelism), ())
        self.facts: list[Facts] = []
        self.times = [2 * i - 15 for i in range(50)]
        # One number, because a permutation would be a choice for each position.
        random.Random(choose(range(1000))).shuffle(self.times)
        for _ in range(choose((1, 2))):
            self.add_source()
        for _ in range(choose(range(1, MOST_STEPS + 1))):
            self.add_any_step()

    def pick(self, *choices: Any) -> Any:
        """Choose one of several values."""
        return self.choose(choices)

    def add(self, op: str, inputs: tuple[int, ...] = (), **options: Any) -> bool:
        """Add a step, unless it would have more than one outcome."""
        parallelism = self.pick(None, 1, 2) if self.program.parallelism > 1 and op != "collection" else None
        if op == "stamp" and self.facts[inputs[0]].parallelism == 1:
            # Without this, few streams would keep their order.
            parallelism = self.pick(1, 2, None) if self.program.parallelism > 1 else None
        if op in IMPORTS:
            options["imports"] = self.choose(range(5))
        if op == "without_holes":
            parallelism = self.program.steps[inputs[0]].parallelism
        step = Step(op, inputs, options, parallelism)
        steps = (*self.program.steps, step)
        try:
            facts = after(self.program, step, len(self.facts), [self.facts[i] for i in inputs])
        except AmbiguousError:
            return False
        self.program = self.program.with_changes(steps=steps)
        self.facts.append(facts)
        return True

    def add_source(self) -> None:
        """Add a source, mostly with timestamps."""
        form = self.pick(*FORMS)
        if self.pick(True, True, True, False):
            keys = ("a", "b", "c") if form != UNTYPED else self.pick(("a", "b", "c"), ("a", 1, None))
            numbers = [*range(-3, 40), *[None] * (3 * (form == UNTYPED))]
            count = self.pick(4, 6, 9, 2, 0)
            records = [(self.pick(*keys), self.pick(*numbers)) for _ in range(count)]
            times = [self.times.pop() for _ in records]
            if self.pick(True, False):
                times.sort()
            rows = [[key, number, time] for (key, number), time in zip(records, times, strict=True)]
            self.add("collection", form=form, records=rows, loose=self.pick(*LOOSE["collection"].get(form, (None,))))
        else:
            count = self.pick(4, 7, 12, 1)
            self.add(
                "sequence",
                form=form,
                count=count,
                step=self.pick(10, 2, -6),
                single=self.pick(True, False),
                assigner=self.pick(*ASSIGNERS),
            )
        if self.pick(True, True, True, False):
            self.add_step("stamp", len(self.facts) - 1, [])

    def add_any_step(self) -> None:
        """Add a step on one of the streams, mostly on the last one."""
        free = [i for i, facts in enumerate(self.facts) if not facts.holes]
        first = free[-1] if self.pick(True, True, False) else self.pick(*free)
        facts, batch = self.facts[first], self.program.mode == "BATCH"
        others = [i for i in free if i != first]
        ordered, timed = is_ordered(self.program, facts, "key"), facts.stamps != "none"
        ops = [*ALWAYS]
        # Steps that are not always possible are chosen more often when they are.
        ops += ["window"] * (4 * timed + ordered)
        ops += ["keyed_map", "keyed_flat_map", "reduce", "keyed_process"] * ordered
        ops += ["rolling", "rolling"] * (ordered and not facts.nulls)
        ops += ["reduce"] * batch
        ops += [*TWO_INPUTS, "co_process", *["broadcast"] * batch] * bool(others)
        self.add_step(self.pick(*ops), first, others)

    def add_step(self, op: str, first: int, others: list[int]) -> None:
        """Add a step on a stream with random options."""
        facts = self.facts[first]
        if op in {*TWO_INPUTS, "broadcast"}:
            if op == "union":
                others = [i for i in others if self.facts[i].form == facts.form]
            if others:
                self.add(op, (first, self.pick(*others)), **self.options_for(op, facts))
            return
        added = self.add(op, (first,), **self.options_for(op, facts))
        if added and op == "holes":
            self.add("without_holes", (len(self.facts) - 1,))
        made = self.facts[-1]
        if added and made.side and self.pick(True, False):
            self.add("side", (len(self.facts) - 1,), form=facts.form if made.side == "empty" else made.form)

    def options_for(self, op: str, facts: Facts) -> dict[str, Any]:
        """Draw the options of a step."""
        pick = self.pick
        if op in {"holes", "union"}:
            return {}
        if op == "filter":
            return {"written": pick(*WRITTEN)}
        if op == "stamp":
            return {"strategy": pick("monotonous", "bounded", "none"), "idle": pick(False, False, True)}
        if op == "partition":
            return {"how": pick(*MOVES), "form": facts.form, "written": pick(*WRITTEN)}
        form = pick(facts.form, *FORMS)
        if op == "map":
            hows = ["same", "shift", "rekey", "later", *["null"] * (form == UNTYPED)]
            return {
                "how": pick(*hows),
                "form": form,
                "written": pick(*WRITTEN),
                "loose": pick(*LOOSE["map"].get(form, (None,))),
            }
        if op == "flat_map":
            return {"how": pick("same", "twice", "some"), "form": form, "written": pick(*WRITTEN)}
        if op == "process":
            # With functions in threads, PyFlink gives results of a timer in the same chain the time of the last record.
            return {"form": form, "side": pick(False, True), "timestamps": facts.field == "unique"}
        if op in {"co_map", "co_flat_map", "broadcast"}:
            return {"form": form}
        return {**self.key(op, facts), **self.keyed_options(op, facts, form)}

    def key(self, op: str, facts: Facts) -> dict[str, Any]:
        """Draw the key of a stream."""
        selects = ["key", "key", "key", "key", "parity", "pair", *["all"] * (op == "window")]
        select = self.pick(*selects)
        typed = facts.form != UNTYPED and select in {"key", "parity"}
        self.ordered = is_ordered(self.program, facts, select)
        return {"select": select, "typed_key": typed and self.pick(True, False), "written": self.pick(*WRITTEN)}

    def keyed_options(self, op: str, facts: Facts, form: str) -> dict[str, Any]:
        """Draw the options of a step on a keyed stream."""
        pick, ordered, batch = self.pick, self.ordered, self.program.mode == "BATCH"
        hows = ("sum", "max", "min", *("last", "digest") * ordered)
        if op == "reduce":
            return {"how": pick(*hows), "form": facts.form}
        if op == "rolling":
            return {"how": pick("sum", "min", "max", "min_by", "max_by")}
        if op == "window":
            return self.window_options(facts, form, hows)
        memory = pick(*MEMORIES)
        if op in {"keyed_map", "keyed_flat_map"}:
            return {"memory": memory, "form": form}
        told = ordered and pick(True, False)
        delay = pick(0, 5, 30)
        if op == "keyed_process":
            delay = pick(delay, None)
            emit = delay is None or pick(False, True)
            return {
                "memory": memory,
                "form": form,
                "ordered": told,
                "emit": emit,
                "delay": delay,
                "delete": ordered and delay is not None and pick(False, True),
                "again": delay is not None and pick(False, True),
                "clear": delay is not None and pick(False, True),
                "side": emit and pick(False, False, True),
            }
        if op == "keyed_broadcast":
            return {"memory": memory, "form": form, "delay": delay, "emit": batch and pick(False, True)}
        shared = batch and facts.stamps == "unique" and pick(False, True)
        return {
            "memory": memory,
            "form": form,
            "delay": delay,
            "ordered": told,
            "shared": shared,
            "clear": pick(False, True),
        }

    def window_options(self, facts: Facts, form: str, hows: tuple[str, ...]) -> dict[str, Any]:
        """Draw a window and its operation."""
        pick, ordered = self.pick, self.ordered
        joined = self.program.mode == "STREAMING" and not (facts.rising and ordered)
        kinds = ["tumbling", "sliding", *["session"] * (not joined)] * (facts.stamps != "none")
        kinds += ["count", "global"] * ordered
        kind = pick(*kinds) if kinds else "tumbling"
        functions = ["reduce", "aggregate", "process", "reduce+process", "aggregate+process"]
        function = pick(*functions)
        size, slide = pick(10, 4, 25), None
        if kind in {"count", "global"}:
            size, slide = pick(2, 1, 3), pick(None, 1, 2) if kind == "count" else None
        elif kind == "sliding":
            slide = pick(5, 3, 12)
        elif kind == "tumbling":
            slide = pick(None, 2)
        return {
            "assigner": kind,
            "size": size,
            "slide": slide,
            "purge": kind == "global" and pick(True, False),
            "function": function,
            "how": pick(*hows),
            "ordered": ordered and pick(True, False),
            "counting": function.endswith("process") and pick(False, True),
            "lateness": pick(0, 7) if kind in TIMED else 0,
            "late": kind in TIMED and pick(False, False, True),
            "input": facts.form,
            "form": facts.form if function == "reduce" else form,
        }


@st.composite
def programs(draw: Any, modes: tuple[Mode, ...] = MODES, parallelism: tuple[int, ...] = (1, 2)) -> Program:
    """Draw programs with one outcome."""
    return Maker(lambda choices: draw(st.sampled_from(choices)), modes, parallelism).program


def random_programs(
    count: int, seed: int, modes: tuple[Mode, ...] = MODES, parallelism: tuple[int, ...] = (1, 2)
) -> list[Program]:
    """Return ``count`` different programs, the same ones for the same seed.

    They differ more from each other than those that hypothesis derives from its earlier examples.
    """
    chance = random.Random(seed)
    found: dict[str, Program] = {}
    while len(found) < count:
        program = Maker(chance.choice, modes, parallelism).program
        found[str(program)] = program
    return list(found.values())
