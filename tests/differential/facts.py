"""The programs with only one outcome, derived from facts about each stream, step by step.

The outcome may depend on chance, and the program is refused, for these reasons:

* After an exchange, records of different senders arrive in any order. In STREAMING a keyed function may depend on the
  order only if all records of a key come from one sender, in an order that is known itself. In BATCH the records of a
  key are sorted by timestamp, so that these must be different from each other.
* The two inputs of a function have no common order, except keyed ones in BATCH. So state that both sides share
  may be emitted only when a timer fires, at the end of all input.
* There are no watermarks before the end of the input: the programs run with an interval of hours. So no record is
  late, and timers fire in the order of their times, and in any order for equal times.

The module imports only the standard library and the description.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tests.differential.description import Program, Step

TIMED = frozenset({"tumbling", "sliding", "session"})
COMMUTATIVE = ("sum", "max", "min")
UNTYPED = "tuple"

Order = Literal["total", "key", "none"]
Times = Literal["unique", "key", "ties", "none"]


class AmbiguousError(Exception):
    """A program has more than one outcome, or none."""


@dataclass(frozen=True)
class Facts:
    """The known facts about a stream.

    ``order``: of the records; ``key``: among those with the same key field, which all come from one subtask.
    ``field``, ``stamps``: whether the times in the records, and their timestamps, are different from each other;
    ``key``: among the records with the same key field. ``none``: there are no timestamps.
    ``rising_field``, ``rising``: whether these never fall along the records of a key.
    """

    form: str
    parallelism: int
    order: Order = "none"
    field: Times = "ties"
    stamps: Times = "none"
    rising_field: bool = False
    rising: bool = False
    origins: frozenset[int] = frozenset()
    nulls: bool = False
    holes: bool = False
    side: str | None = None


def facts_of(program: Program) -> list[Facts]:
    """Return the facts about the stream of each step.

    Raises:
        AmbiguousError: The program has no outcome, or more than one.
    """
    known: list[Facts] = []
    times = [record[2] for step in program.steps if step.op == "collection" for record in step.options["records"]]
    # Even times are those of sequences.
    need(len(set(times)) == len(times) and all(time % 2 for time in times), "equal times in sources")
    for position, step in enumerate(program.steps):
        if any(i >= position for i in step.inputs):
            raise AmbiguousError("an input that comes later")
        known.append(after(program, step, position, [known[i] for i in step.inputs]))
    need(not any(known[position].holes for position in program.results()), "None for a record at a sink")
    return known


def after(program: Program, step: Step, position: int, inputs: list[Facts]) -> Facts:
    """Return the facts after one step; see :func:`facts_of`."""
    options = step.options
    if any(facts.holes for facts in inputs):
        # PyFlink cannot pass None from one operator to another, nor to a sink: the two must be chained.
        alone = step.op == "without_holes" and inputs[0].parallelism == program.parallelism_of(step)
        need(alone, "a function that does not expect None for a record")
    if options.get("typed_key") and (inputs[0].form == UNTYPED or options["select"] not in {"key", "parity"}):
        raise AmbiguousError("a type for keys of another one")
    parallelism = program.parallelism_of(step)
    if step.op in SOURCES:
        return source(program, step, position, parallelism)
    first = inputs[0]
    if step.op == "side":
        need(program.mode == "STREAMING" or first.stamps == "none", "a timestamp that PyFlink loses")
        return taken_aside(first, options)
    if step.op in STATELESS:
        return STATELESS[step.op](moved(first, parallelism), options)
    if step.op == "partition":
        return partitioned(first, options, parallelism)
    if step.op in {"union", "co_map", "co_flat_map"}:
        return together(step, inputs, parallelism)
    if step.op in {"reduce", "rolling", "keyed_map", "keyed_flat_map"}:
        return running(program, step, first, parallelism)
    if step.op == "window":
        return windowed(program, options, first, parallelism)
    return timed(program, step, inputs, parallelism)


def need(condition: bool, why: str) -> None:
    """Raise AmbiguousError unless ``condition`` holds."""
    if not condition:
        raise AmbiguousError(why)


# Sources and functions without state


def source(program: Program, step: Step, position: int, parallelism: int) -> Facts:
    """Return the facts about a source: all its times are different, also from those of other sources."""
    options = step.options
    facts = Facts(options["form"], parallelism, "total", "unique", origins=frozenset({position}))
    if step.op == "sequence":
        single = options["single"] or program.parallelism == 1
        rising = options["step"] > 0
        order: Order = "total" if single and parallelism == 1 else "none"
        # Only one sequence can have times that collections do not have.
        origins = frozenset({-1})
        return replace(facts, order=order, rising_field=rising and order == "total", origins=origins)
    times = [record[2] for record in options["records"]]
    keys_and_numbers = [field for record in options["records"] for field in record[:2]]
    nulls = options["form"] == UNTYPED and None in keys_and_numbers
    return replace(facts, rising_field=times == sorted(times), nulls=nulls)


def moved(facts: Facts, parallelism: int) -> Facts:
    """Return the facts after an edge without keys: records stay in their subtask if the parallelism is the same."""
    keeps = parallelism in {1, facts.parallelism}
    facts = replace(facts, parallelism=parallelism, side=None)
    return facts if keeps else unordered(facts)


def unordered(facts: Facts) -> Facts:
    """Drop the facts about the order."""
    return replace(facts, order="none", rising=False, rising_field=False)


def stamped(facts: Facts, options: dict[str, Any]) -> Facts:
    return replace(facts, stamps=facts.field, rising=facts.rising_field)


def mapped(facts: Facts, options: dict[str, Any]) -> Facts:
    how = options["how"]
    if how == "rekey":
        facts = of_other_keys(facts)
    if how == "later" and facts.field == "unique":
        # No longer different from those of other sources.
        facts = replace(facts, field="key")
    return in_form(facts, options, nulls=facts.nulls or how == "null")


def of_other_keys(facts: Facts) -> Facts:
    """Drop the facts about records with the same key."""
    rising = facts.order == "total"
    return replace(
        facts,
        order="none" if facts.order == "key" else facts.order,
        field=without_key(facts.field),
        stamps=without_key(facts.stamps),
        # Records that rise along each key alone need not rise along other keys.
        rising=rising and facts.rising and facts.stamps == "unique",
        rising_field=rising and facts.rising_field and facts.field == "unique",
    )


def without_key(times: Times) -> Times:
    return "ties" if times == "key" else times


def in_form(facts: Facts, options: dict[str, Any], *, nulls: bool | None = None) -> Facts:
    """Return the facts about newly created records: typed ones have no None."""
    form = options["form"]
    any_null = facts.nulls if nulls is None else nulls
    # Different keys can become the same text: "None" and None.
    if form != UNTYPED and facts.form == UNTYPED:
        facts = of_other_keys(facts)
    return replace(facts, form=form, nulls=any_null and form == UNTYPED)


def flat_mapped(facts: Facts, options: dict[str, Any]) -> Facts:
    facts = in_form(facts, options)
    return tied(facts) if options["how"] == "twice" else facts


def tied(facts: Facts) -> Facts:
    """Return the facts when several records can have the time of one."""
    return replace(facts, field="ties", stamps="none" if facts.stamps == "none" else "ties")


def filtered(facts: Facts, options: dict[str, Any]) -> Facts:
    return facts


def with_holes(facts: Facts, options: dict[str, Any]) -> Facts:
    # Records pass a function without a declared type unchanged: rows, and tuples.
    need(facts.form in {UNTYPED, "TUPLE"}, "rows without a type")
    return replace(facts, holes=True, form=UNTYPED)


def without_holes(facts: Facts, options: dict[str, Any]) -> Facts:
    return replace(facts, holes=False)


def processed(facts: Facts, options: dict[str, Any]) -> Facts:
    return replace(in_form(facts, options, nulls=False), side="same" if options["side"] else None)


def taken_aside(facts: Facts, options: dict[str, Any]) -> Facts:
    need(facts.side is not None, "no side output")
    if facts.side == "empty":
        return replace(facts, form=options["form"], side=None)
    need(facts.form == options["form"], "a side output of another form")
    return replace(facts, side=None)


def partitioned(facts: Facts, options: dict[str, Any], parallelism: int) -> Facts:
    """Return the facts after an exchange without keys."""
    need(facts.form == options["form"], "a partitioner does not change records")
    how = options["how"]
    need(how != "forward" or facts.parallelism == parallelism, "forward needs the same parallelism")
    if facts.parallelism == parallelism == 1 or how == "forward":
        return replace(facts, side=None)
    facts = replace(unordered(facts), parallelism=parallelism, side=None)
    return tied(facts) if how == "broadcast" and parallelism > 1 else facts


def together(step: Step, inputs: list[Facts], parallelism: int) -> Facts:
    """Return the common facts about two streams."""
    one, other = inputs
    forms = {one.form, other.form}
    stamps: Times
    if "none" in {one.stamps, other.stamps}:
        stamps = "none"
    else:
        apart = one.stamps == other.stamps == "unique" and not one.origins & other.origins
        stamps = "unique" if apart else "ties"
    apart = one.field == other.field == "unique" and not one.origins & other.origins
    facts = Facts(
        one.form,
        parallelism,
        field="unique" if apart else "ties",
        stamps=stamps,
        origins=one.origins | other.origins,
        nulls=one.nulls or other.nulls,
    )
    if step.op == "union":
        need(len(forms) == 1, "a union of streams of different types")
        need(one.parallelism == other.parallelism, "a union that PyFlink cannot key")
        return replace(facts, parallelism=one.parallelism)
    if step.op == "co_flat_map":
        facts = tied(facts)
    return in_form(facts, step.options)


# Keyed functions


def is_ordered(program: Program, facts: Facts, select: str) -> bool:
    """Return whether the records of a key reach a keyed function in a known order."""
    of_key = select in {"key", "pair"}
    if program.mode == "BATCH":
        return facts.stamps == "unique" or (facts.stamps == "key" and of_key)
    return facts.order == "total" or (facts.order == "key" and of_key)


def per_record(program: Program, facts: Facts, select: str, parallelism: int) -> Facts:
    """Return the facts about results that each belong to one record."""
    if program.mode == "STREAMING" and facts.order == "total" and parallelism == 1:
        order: Order = "total"
    else:
        order = "key" if select == "key" and is_ordered(program, facts, select) else "none"
    rising = order != "none" and (facts.rising or program.mode == "BATCH")
    rising_field = order != "none" and facts.rising_field and (facts.rising or program.mode == "STREAMING")
    return replace(facts, parallelism=parallelism, order=order, rising=rising, rising_field=rising_field, side=None)


def running(program: Program, step: Step, facts: Facts, parallelism: int) -> Facts:
    """Return the facts after a function that emits a result for each record, except in BATCH."""
    options, select = step.options, step.options["select"]
    reduces = step.op in {"reduce", "rolling"}
    commutes = reduces and options["how"] in COMMUTATIVE
    if program.mode == "STREAMING" or not commutes:
        need(is_ordered(program, facts, select), "a running result of records in any order")
    if step.op == "rolling":
        need(not facts.nulls, "None cannot be added up")
        need(is_ordered(program, facts, select), "the other fields are those of the first record")
    if reduces and options.get("form", facts.form) != facts.form:
        raise AmbiguousError("reducing does not change the form")
    if not reduces:
        return in_form(per_record(program, facts, select, parallelism), options)
    if program.mode == "STREAMING":
        found = per_record(program, facts, select, parallelism)
        # The time is that of one of the records, not always of the last.
        return replace(found, field="ties", rising_field=False)
    of_key = select == "key"
    return Facts(
        facts.form,
        parallelism,
        order="key" if of_key else "none",
        field="key" if of_key else "ties",
        origins=facts.origins,
        nulls=facts.nulls,
    )


def of_timers(facts: Facts, options: dict[str, Any], parallelism: int, *, alone: bool = True) -> Facts:
    """Return the facts about results of timers, optionally with results for each record."""
    # Different keys can become the same text.
    of_key = options["select"] == "key" and (options["form"] == UNTYPED or facts.form != UNTYPED)
    times: Times = "key" if of_key and alone else "ties"
    return Facts(
        options["form"],
        parallelism,
        order="key" if of_key else "none",
        field=times,
        stamps=times if alone or facts.stamps != "none" else "none",
        rising=of_key and alone,
        rising_field=of_key and alone,
        origins=facts.origins,
        nulls=facts.nulls and options["form"] == UNTYPED,
    )


def windowed(program: Program, options: dict[str, Any], facts: Facts, parallelism: int) -> Facts:
    """Return the facts after windows."""
    kind, select = options["assigner"], options["select"]
    function = options["function"]
    need(options["input"] == facts.form, "another form of the input")
    need(function != "reduce" or options["form"] == facts.form, "reducing does not change the form")
    need(kind != "count" or select != "all", "there are no count windows of all")
    ordered = is_ordered(program, facts, select)
    reduces = function.partition("+")[0] != "process"
    depends = options["ordered"] or kind not in TIMED or (reduces and options["how"] not in COMMUTATIVE)
    need(ordered or not depends, "windows of records in any order")
    if kind not in TIMED:
        need(not options["late"] and not options["lateness"], "nothing is late to a window without a time")
        found = in_form(per_record(program, facts, select, parallelism), options)
        return replace(tied(found) if kind == "count" else found, field="ties", rising_field=False)
    need(facts.stamps != "none", "windows need timestamps")
    if kind == "session":
        # PyFlink loses one of two sessions that a record joins, and does not define which elements come first.
        in_order = facts.rising if program.mode == "STREAMING" else facts.stamps != "none"
        need(in_order and (ordered or program.mode == "BATCH"), "sessions that may be joined")
    found = of_timers(facts, options, parallelism)
    if function in {"reduce", "aggregate"}:
        found = replace(found, field="ties", rising_field=False)
        if select != "key":
            found = replace(found, order="none")
    return replace(found, side="empty" if options["late"] else None)


def timed(program: Program, step: Step, inputs: list[Facts], parallelism: int) -> Facts:
    """Return the facts after functions with timers."""
    options, first = step.options, inputs[0]
    if step.op == "broadcast":
        need(program.mode == "BATCH", "rules and records come in any order")
        facts = in_form(moved(first, parallelism), options)
        return replace(unordered(facts), nulls=False)
    select = options["select"]
    ordered = all(is_ordered(program, facts, select) for facts in inputs)
    if step.op == "keyed_process":
        need(ordered or not (options["ordered"] or options["delete"]), "it tells the order, which is open")
        need(options["emit"] or options["delay"] is not None, "it has no results")
        if options["delay"] is None:
            found = in_form(per_record(program, first, select, parallelism), options)
        else:
            found = of_timers(first, options, parallelism, alone=not options["emit"])
        if not ordered and options["emit"]:
            found = unordered(found)
        return replace(
            found, nulls=first.nulls and options["form"] == UNTYPED, side="same" if options["side"] else None
        )
    if step.op == "keyed_broadcast":
        need(not options["emit"] or program.mode == "BATCH", "rules and records come in any order")
        found = of_timers(first, options, parallelism, alone=not options["emit"])
        known = is_ordered(program, first, select) or not options["emit"]
        return found if known else unordered(found)
    need(ordered or not options["ordered"], "it tells the order, which is open")
    need(len({facts.form for facts in inputs}) == 1 or not options["typed_key"], "different types of the key")
    found = of_timers(first, options, parallelism, alone=not options["shared"])
    if options["shared"]:
        apart = all(facts.stamps == "unique" for facts in inputs) and not inputs[0].origins & inputs[1].origins
        need(program.mode == "BATCH" and apart, "two inputs come in any order")
    nulls = any(facts.nulls for facts in inputs) and options["form"] == UNTYPED
    if len({facts.form == UNTYPED for facts in inputs}) > 1:
        found = of_other_keys(unordered(found))
    return replace(found, origins=inputs[0].origins | inputs[1].origins, nulls=nulls)


SOURCES = frozenset({"collection", "sequence"})
STATELESS = {
    "stamp": stamped,
    "map": mapped,
    "flat_map": flat_mapped,
    "filter": filtered,
    "holes": with_holes,
    "without_holes": without_holes,
    "process": processed,
}
