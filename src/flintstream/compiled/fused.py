# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""The loop of fused functions; ``_fused.pxd`` has its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.compiled.base import Formula, Settled, apply_unary, settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.compiled.base import Function

LONGEST = 16
"""Most functions in one loop."""

MAP = 0
FILTER = 1
FLAT_MAP = 2

_NO_CALLS = [0] * LONGEST
_KINDS = {"map": MAP, "filter": FILTER, "flat_map": FLAT_MAP}


class FusedLoop:
    """Calls functions in sequence, each with the results of the previous one."""

    def __init__(self, methods: Sequence[str], settled: Sequence[frozenset[type] | None], copied: Function) -> None:
        """Call these methods; where ``settled`` has classes, results of others are copied."""
        self.size = len(methods)
        self.stage = 0
        """The function that was called last."""
        self.record: object = None
        """What it was called with."""
        self.kinds = list(_NO_CALLS)
        for stage in range(self.size):
            self.kinds[stage] = _KINDS[methods[stage]]
        self.settled = [None if classes is None else Settled(classes, copied) for classes in settled]

    def run(
        self,
        cursor: Iterator[object],
        timestamps: list[int] | None,
        calls: list[Function],
        formulas: Sequence[object],
        results: list[object],
        stamps: list[int] | None,
    ) -> list[int]:
        """Gather the results for the records at a cursor, and return how many records each function has received."""
        self.calls = calls
        self.results = results
        self.formulas = [Formula(formula) for formula in formulas]
        self.received = list(_NO_CALLS)
        position = 0
        for value in cursor:
            self.pass_on(0, value)
            if timestamps is not None and stamps is not None:
                while len(stamps) < len(results):
                    stamps.append(timestamps[position])
                position += 1
        self.record = None
        return [self.received[stage] for stage in range(self.size)]

    def pass_on(self, stage: int, record: object) -> None:
        """Pass a record to a function, and its results to those behind it."""
        ends = False
        while stage < self.size and not ends:
            self.received[stage] += 1
            self.stage = stage
            self.record = record
            kind = self.kinds[stage]
            if kind == MAP:
                record = apply_unary(self.formulas[stage], self.calls[stage], record)
                settled = self.settled[stage]
                if settled is not None:
                    record = settle(settled, record)
            elif kind == FILTER:
                ends = not self.calls[stage](record)
            else:
                ends = True
                settled = self.settled[stage]
                for result in self.calls[stage](record):
                    self.pass_on(stage + 1, result if settled is None else settle(settled, result))
                    self.stage = stage
                    self.record = record  # the next result is still to be produced
            stage += 1
        if not ends:
            self.results.append(record)
