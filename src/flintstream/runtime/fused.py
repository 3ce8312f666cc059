"""Runs of ``map``, ``filter`` and ``flat_map`` in a chain, as one loop that is compiled for their sequence.

A record goes through all of the functions before the next one does, as in a chain of PyFlink. What one function makes
and the next one takes at once needs no list. Nor does it need a snapshot, as long as nothing of it is part of what
comes out at the end, which is kept while the function that made it may change it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.errors import shorten
from flintstream.runtime.failure import GENERATED, OperatorFailure
from flintstream.runtime.operators import FILTER, FLAT_MAP, MAP, FilterOperator, FlatMapOperator, MapOperator
from flintstream.runtime.snapshot import ATOMS, is_frozen, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.runtime.operator import Operator
    from flintstream.runtime.plan import ChainPlan
    from flintstream.runtime.wiring import LocalChannel, NodeInput

FUSIBLE = {MapOperator, FilterOperator, FlatMapOperator}

_CODE = {MAP: "{result} = {call}", FILTER: "if {call}:", FLAT_MAP: "for {result} in {call}:"}


class Loop(NamedTuple):
    """Compiled code."""

    run: Any
    """Takes records and functions; returns how many records reached each function after the first."""
    places: Mapping[int, tuple[int, str]]
    """By number of a line of it: whose function is called there, and the variable that has its record."""


@cache
def compiled(kinds: tuple[str, ...], *, keeper: int | None, stamped: bool) -> Loop:
    """Return the loop for functions of these kinds.

    Args:
        kinds: What each is.
        keeper: The last function that may go on to change what it has returned, so that snapshots are needed; the
            results of the others are their own.
        stamped: Whether records have timestamps; the results have those of their records, then.
    """
    calls = ", ".join(f"f{stage}" for stage in range(len(kinds)))
    lines = [
        f"def run(records, total, append, {'stamp, ' if stamped else ''}frozen, simple, is_frozen, snapshot, {calls}):",
        "",  # where the counters are set, once they are known
        f"    for {'r, timestamp' if stamped else 'r'} in records:",
    ]
    places: dict[int, tuple[int, str]] = {}
    counters: list[str] = []
    record, indent, settled = "r", "        ", ""
    for stage, kind in enumerate(kinds):
        if stage and kinds[stage - 1] != MAP:
            counters.append(f"n{stage}")
            lines.append(f"{indent}n{stage} += 1")
        elif stage:  # as many as before
            counters.append(counters[-1] if counters else "total")
        result = record if kind == FILTER else f"r{stage}"
        lines.append(indent + _CODE[kind].format(result=result, call=f"f{stage}({record})"))
        places[len(lines)] = stage, record
        record = result
        if kind != MAP:
            indent += "    "
        if stage == keeper and MAP in kinds[stage + 1 :]:
            # What is made of it may hold parts of it. Most are tuples of numbers and texts, which need no copy: that
            # they are is found out in the end, and only if the result does not tell.
            lines.append(f"{indent}if type({record}) not in simple: {record} = snapshot({record})")
            places[len(lines)] = stage, record
            settled = f" or type({record}) is not tuple or is_frozen({record})"
    kept = record if keeper is None else f"{record} if type({record}) in frozen{settled} else snapshot({record})"
    lines.append(f"{indent}append({kept})")
    places[len(lines)] = len(kinds) - 1, record
    lines += [f"{indent}stamp(timestamp)"] if stamped else []
    lines.append(f"    return ({''.join(f'{counter}, ' for counter in counters)})")
    own = dict.fromkeys(counter for counter in counters if counter != "total")
    lines[1] = f"    {' = '.join(own)} = 0" if own else "    pass"
    names: dict[str, Any] = {}
    exec(compile("\n".join(lines), f"{GENERATED} loop>", "exec"), names)  # noqa: S102 - built here from kinds alone
    return Loop(names["run"], places)


class FusedLoop:
    """Does what several operators, each of which is followed by the next one alone, would do in turn."""

    def __init__(self, operators: Sequence[Any]) -> None:
        """Stand for ``operators``; they are wired up, and stay responsible for all else than records."""
        self.operators = operators
        self.channels: list[LocalChannel] = [operator.output for operator in operators[:-1]]
        last = operators[-1]
        self.output = last.output
        keeper = max((stage for stage, operator in enumerate(operators) if operator.keeps_results), default=None)
        self.kinds = tuple(operator.kind for operator in operators)
        self.surroundings = (last.frozen, ATOMS | {tuple}, is_frozen, snapshot)
        self.plain = compiled(self.kinds, keeper=keeper, stamped=False)
        self.stamped = compiled(self.kinds, keeper=keeper, stamped=True)

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block through all functions."""
        calls = [getattr(operator.function, operator.kind) for operator in self.operators]
        results: list[Any] = []
        stamps: list[int] | None = None
        try:
            if timestamps is None:
                counts = self.plain.run(values, len(values), results.append, *self.surroundings, *calls)
            else:
                stamps = []
                pairs = zip(values, timestamps, strict=True)
                counts = self.stamped.run(pairs, len(values), results.append, stamps.append, *self.surroundings, *calls)
        except Exception as error:
            raise self._failure(error) from error
        for channel, count in zip(self.channels, counts, strict=True):
            channel.records += count
            channel.target.records += count
        if results:
            self.output.emit(results, stamps)

    def _failure(self, error: BaseException) -> OperatorFailure:
        """Give an exception the operator that it comes from, and the record."""
        own = self.operators[0].context
        trace = error.__traceback__
        while trace is not None:
            for loop in (self.plain, self.stamped):
                if trace.tb_frame.f_code is loop.run.__code__ and trace.tb_lineno in loop.places:
                    stage, name = loop.places[trace.tb_lineno]
                    own = self.operators[stage].context
                    return OperatorFailure(own.name, own.subtask, error, shorten(trace.tb_frame.f_locals[name]))
            trace = trace.tb_next
        return OperatorFailure(own.name, own.subtask, error, None)


def fuse(chain: ChainPlan, operators: Mapping[int, Operator], inputs: Mapping[tuple[int, int], NodeInput]) -> None:
    """Let loops process what comes into runs of a chain, of which the operators are wired up."""
    out_of = [edge.source for edge in chain.local_edges] + [edge.source for edge in chain.outputs]
    into = [edge.target for edge in chain.local_edges] + [edge.target for edge in chain.inputs]
    follower: dict[int, int] = {}
    for edge in chain.local_edges:
        source: Any = operators[edge.source]
        alone = out_of.count(edge.source) == into.count(edge.target) == 1
        # Results that have a type are brought to it before the next function sees them.
        if alone and edge.side_tag is None and source.declared_type is None:
            follower[edge.source] = edge.target
    fusible = {number for number, operator in operators.items() if type(operator) in FUSIBLE}
    begun: set[int] = set()
    for node in chain.nodes:  # in the order in which records go through them
        run, at = [], node.id
        while at in fusible - begun:
            run.append(operators[at])
            begun.add(at)
            at = follower.get(at, -1)
        if len(run) > 1:
            inputs[node.id, 0].process = FusedLoop(run).process
