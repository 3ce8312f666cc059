"""Fusion of consecutive ``map``, ``filter`` and ``flat_map`` calls in a chain into one loop.

Each record goes through all functions before the next record does, as in a PyFlink chain, and no list is built between
two functions. Results are copied as if each function ran in a separate operator.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.errors import shorten
from flintstream.runtime.copies import ATOMS, copy_mutable
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.functions import FILTER, FLAT_MAP, MAP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.plan import ChainPlan
    from flintstream.runtime.task.channels import LocalChannel, NodeInput

_compiled = load("fused")

LONGEST = 16
"""Most functions in one loop."""


class PlainLoop:
    """Calls functions in sequence, each with the results of the previous one: the reference for the compiled loop."""

    def __init__(
        self, methods: Sequence[str], settled: Sequence[frozenset[type] | None], copy: Callable[[Any], Any]
    ) -> None:
        """Call these methods; where ``settled`` has classes, results of others are copied."""
        self.stage = 0
        """The function that was called last."""
        self.record: Any = None
        """What it was called with."""
        self._methods, self._classes_without_copy, self._copy = methods, settled, copy

    def run(
        self,
        cursor: Iterator[Any],
        timestamps: Sequence[int] | None,
        calls: Sequence[Callable[[Any], Any]],
        _formulas: Sequence[Any],
        results: list[Any],
        stamps: list[int] | None,
    ) -> list[int]:
        """Gather the results for the records at a cursor, and return how many records each function has received."""
        received = [0] * len(calls)
        pass_on: Callable[[Any], None] = results.append
        for stage in reversed(range(len(calls))):
            pass_on = self._link(stage, calls[stage], received, pass_on)
        for position, value in enumerate(cursor):
            pass_on(value)
            if timestamps is not None and stamps is not None:
                stamps += [timestamps[position]] * (len(results) - len(stamps))
        return received

    def _link(
        self, stage: int, call: Callable[[Any], Any], received: list[int], pass_on: Callable[[Any], None]
    ) -> Callable[[Any], None]:
        """Return a function that calls one stage with a record, and passes on what it returns."""
        method, settle = self._methods[stage], self._settler(stage)

        def take(record: Any) -> None:
            received[stage] += 1
            self.stage, self.record = stage, record
            result = call(record)
            if method == MAP:
                pass_on(settle(result))
            elif method == FLAT_MAP:
                for produced in result:
                    pass_on(settle(produced))
                    self.stage, self.record = stage, record  # the next result is still to be produced
            elif result:
                pass_on(record)

        return take

    def _settler(self, stage: int) -> Callable[[Any], Any]:
        """Return a function that returns a result in a form that the stage's function cannot change any more."""
        settled, copy = self._classes_without_copy[stage], self._copy

        def settle(result: Any) -> Any:
            kind = type(result)
            if settled is None or kind in settled or (kind is tuple and ATOMS.issuperset(map(type, result))):
                return result
            return copy(result)

        return settle


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
        self.interrupter = operators[0].interrupter
        last = operators[-1]
        self.output = last.output
        keeping = frozenset(stage for stage, operator in enumerate(operators) if operator.keeps_results)
        self.methods = tuple(operator.method for operator in operators)
        settled = [self._classes_without_copy(stage) if stage in keeping else None for stage in range(len(operators))]
        self.loop = (PlainLoop if _compiled is None else _compiled.Loop)(self.methods, settled, copy_mutable)

    def _classes_without_copy(self, stage: int) -> frozenset[type]:
        """Return the classes of results that are passed on without a copy."""
        return self.operators[-1].frozen if set(self.methods[stage + 1 :]) <= {FILTER} else ATOMS

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block through all functions."""
        calls = [getattr(operator.function, operator.method) for operator in self.operators]
        formulas = [formula_of(call, 1) for call in calls]
        results: list[Any] = []
        stamps: list[int] | None = None if timestamps is None else []
        self.interrupter.cursor = cursor = iter(values)
        try:
            counts = self.loop.run(cursor, timestamps, calls, formulas, results, stamps)[1:]
        except BaseException as error:
            own = self.operators[self.loop.stage].context
            raise OperatorFailure(own.name, own.subtask, error, shorten(self.loop.record)) from error
        for channel, count in zip(self.channels, counts, strict=True):
            channel.records += count
            channel.target.records += count
        if results:
            self.output.emit(results, stamps)

    def current_operator(self) -> Operator:
        """Return the operator whose function the loop has called last."""
        return self.operators[self.loop.stage]  # type: ignore[no-any-return]


def fuse(chain: ChainPlan, operators: Mapping[int, Operator], inputs: Mapping[tuple[int, int], NodeInput]) -> None:
    """Replace runs of fusible operators in a chain with loops; the operators are already wired up."""
    out_of = Counter([edge.source for edge in chain.local_edges] + [edge.source for edge in chain.outputs])
    into = Counter([edge.target for edge in chain.local_edges] + [edge.target for edge in chain.inputs])
    follower: dict[int, int] = {}
    for edge in chain.local_edges:
        source: Any = operators[edge.source]
        alone = out_of[edge.source] == into[edge.target] == 1
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
