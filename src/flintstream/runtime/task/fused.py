"""Fusion of consecutive ``map``, ``filter`` and ``flat_map`` calls in a chain into one loop.

Each record goes through all functions before the next record does, as in a PyFlink chain, and no list is built between
two functions. Results are copied as if each function ran in a separate operator.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled.fused import LONGEST, FusedLoop
from flintstream.errors import shorten
from flintstream.runtime.copies import ATOMS, copy_mutable
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.functions import FILTER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.plan import ChainPlan
    from flintstream.runtime.task.channels import LocalChannel, NodeInput


class FusedOperators:
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
        self.loop = FusedLoop(self.methods, settled, copy_mutable)

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
            inputs[node.id, 0].process = FusedOperators(run).process
