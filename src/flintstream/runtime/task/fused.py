"""Fusion of consecutive ``map``, ``filter`` and ``flat_map`` calls in a chain into one loop.

Each record goes through all functions before the next record does, as in a PyFlink chain, and no list is built between
two functions. Results are copied as if each function ran in a separate operator. The loop is generated for the sequence
of functions, unless there is the compiled module.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common._types.conversion import GENERATED
from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.errors import shorten
from flintstream.runtime.copies import ATOMS, copied
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.functions import FILTER, FLAT_MAP, MAP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.plan import ChainPlan
    from flintstream.runtime.task.channels import LocalChannel, NodeInput

_compiled = load("fused")

_CODE = {MAP: "{result} = {call}", FILTER: "if {call}:", FLAT_MAP: "for {result} in {call}:"}

# The most frequent results, tuples of numbers and strings, are recognized without calling `copied`.
_SETTLE = (
    "if type({result}) not in {settled} and not (type({result}) is tuple and all_atoms(map(type, {result}))): "
    "{result} = copied({result})"
)

LONGEST = 16
"""Most functions in one loop: CPython allows 20 nested loops."""


class Loop(NamedTuple):
    """The compiled code of a loop."""

    run: Any
    """Takes records and functions; returns how many records reached each function after the first."""
    places: Mapping[int, tuple[int, str]]
    """Maps a line number of the code to the stage that is called there, and to the variable that holds its record."""


@cache
def compiled(methods: tuple[str, ...], keepers: frozenset[int], *, stamped: bool) -> Loop:
    """Return the loop that calls these methods in sequence.

    Args:
        methods: The name of each stage's method.
        keepers: The stages whose function may still change a result after returning it, so that the loop copies it.
        stamped: Whether records have timestamps; each result then gets the timestamp of its record.
    """
    calls = ", ".join(f"f{stage}" for stage in range(len(methods)))
    lines = [
        f"def run(records, total, append, {'stamp, ' if stamped else ''}frozen, atoms, all_atoms, copied, {calls}):",
        "",  # becomes the line that initializes the counters, once they are known
        f"    for {'r, timestamp' if stamped else 'r'} in records:",
    ]
    places: dict[int, tuple[int, str]] = {}
    counters: list[str] = []
    record, indent = "r", "        "
    for stage, method in enumerate(methods):
        if stage and methods[stage - 1] != MAP:
            counters.append(f"n{stage}")
            lines.append(f"{indent}n{stage} += 1")
        elif stage:  # a map passes on as many records as it receives
            counters.append(counters[-1] if counters else "total")
        result = record if method == FILTER else f"r{stage}"
        lines.append(indent + _CODE[method].format(result=result, call=f"f{stage}({record})"))
        places[len(lines)] = stage, record
        if method != MAP:
            indent += "    "
        if stage in keepers:
            settled = "frozen" if set(methods[stage + 1 :]) <= {FILTER} else "atoms"
            lines.append(indent + _SETTLE.format(result=result, settled=settled))
            places[len(lines)] = stage, record
        record = result
    lines.append(f"{indent}append({record})")
    lines += [f"{indent}stamp(timestamp)"] if stamped else []
    lines.append(f"    return ({''.join(f'{counter}, ' for counter in counters)})")
    own = dict.fromkeys(counter for counter in counters if counter != "total")
    lines[1] = f"    {' = '.join(own)} = 0" if own else "    pass"
    names: dict[str, Any] = {}
    exec(compile("\n".join(lines), f"{GENERATED} loop>", "exec"), names)  # noqa: S102 - built here from the names alone
    return Loop(names["run"], places)


class FusedLoop:
    """One loop in place of several operators, each of which feeds only the next one."""

    can_be_cut = True

    def passes_blocks(self) -> bool:
        """Return False: the results differ from the records that come in."""
        return False

    def __init__(self, operators: Sequence[Any]) -> None:
        """Process the records of ``operators``, which are already wired up and still handle everything else."""
        self.operators = operators
        self.channels: list[LocalChannel] = [operator.output for operator in operators[:-1]]
        self.watch = operators[0].watch
        last = operators[-1]
        self.output = last.output
        keepers = frozenset(stage for stage, operator in enumerate(operators) if operator.keeps_results)
        self.methods = tuple(operator.method for operator in operators)
        self.mapped = next((stage for stage, method in enumerate(self.methods) if method != MAP), len(operators))
        """Number of functions after the first one that receive as many records as the first."""
        self.helpers = (last.frozen, ATOMS, ATOMS.issuperset, copied)
        self.compiled: Any = None
        if _compiled is not None:
            settled = [self._settled(stage) if stage in keepers else None for stage in range(len(operators))]
            self.compiled = _compiled.Loop(self.methods, settled, copied)
        self.plain = compiled(self.methods, keepers, stamped=False)
        self.stamped = compiled(self.methods, keepers, stamped=True)

    def _settled(self, stage: int) -> frozenset[type]:
        """Return the classes of results that are passed on without a copy, as in the generated loop."""
        return self.operators[-1].frozen if set(self.methods[stage + 1 :]) <= {FILTER} else ATOMS

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block through all functions."""
        calls = [getattr(operator.function, operator.method) for operator in self.operators]
        results: list[Any] = []
        stamps: list[int] | None = None
        self.watch.cursor = cursor = iter(values)
        try:
            if self.compiled is not None:
                stamps = None if timestamps is None else []
                formulas = [formula_of(call, 1) for call in calls]
                counts = self.compiled.run(cursor, timestamps, calls, formulas, results, stamps)[1:]
            elif timestamps is None:
                counts = self.plain.run(cursor, len(values), results.append, *self.helpers, *calls)
            else:
                stamps = []
                pairs = zip(cursor, timestamps, strict=False)
                counts = self.stamped.run(pairs, len(values), results.append, stamps.append, *self.helpers, *calls)
        except BaseException as error:
            raise self._failure(error) from error
        if self.watch.rest and self.compiled is None:
            counts = [n - len(self.watch.rest) if stage < self.mapped else n for stage, n in enumerate(counts)]
        for channel, count in zip(self.channels, counts, strict=True):
            channel.records += count
            channel.target.records += count
        if results:
            self.output.emit(results, stamps)

    def operator_at(self, frame: FrameType) -> Operator:
        """Return the operator whose function a frame of the loop calls, or which the loop has called."""
        if self.compiled is not None:
            return self.operators[self.compiled.stage]  # type: ignore[no-any-return]
        for loop in (self.plain, self.stamped):
            if frame.f_code is loop.run.__code__ and frame.f_lineno in loop.places:
                return self.operators[loop.places[frame.f_lineno][0]]  # type: ignore[no-any-return]
        return self.operators[0]  # type: ignore[no-any-return]

    def _failure(self, error: BaseException) -> OperatorFailure:
        """Return a failure that names the operator that raised ``error``, and its record."""
        if self.compiled is not None:
            own = self.operators[self.compiled.stage].context
            return OperatorFailure(own.name, own.subtask, error, shorten(self.compiled.record))
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
    """Replace runs of fusible operators in a chain with loops; the operators are already wired up."""
    out_of = [edge.source for edge in chain.local_edges] + [edge.source for edge in chain.outputs]
    into = [edge.target for edge in chain.local_edges] + [edge.target for edge in chain.inputs]
    follower: dict[int, int] = {}
    for edge in chain.local_edges:
        source: Any = operators[edge.source]
        alone = out_of.count(edge.source) == into.count(edge.target) == 1
        # Typed results must be converted before the next function sees them.
        if alone and edge.side_tag is None and source.declared_type is None:
            follower[edge.source] = edge.target
    fusible = {n for n, operator in operators.items() if operator.method is not None and not operator.side_outputs}
    begun: set[int] = set()
    for node in chain.nodes:  # in the order in which records go through them
        run: list[Any] = []
        at = node.id
        while at in fusible - begun and len(run) < LONGEST:
            run.append(operators[at])
            begun.add(at)
            at = follower.get(at, -1)
        if len(run) > 1:
            inputs[node.id, 0].process = FusedLoop(run).process
