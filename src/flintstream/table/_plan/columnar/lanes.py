"""Finds out which plans can stay in batches, and where their columns are in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.codegen import compile_source, refs, source
from flintstream.table._expressions.expr import Call, Ref, calls_python
from flintstream.table._logical.nodes import Calc, Scan
from flintstream.table._plan.batches import Batched, in_batches
from flintstream.table._plan.columnar.types import all_fit, is_precise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flintstream.common._types.data_types import DataType
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._logical.nodes import Node

    Path = tuple[int, ...]
    """The position of a column in a batch, and of the fields within it."""


@dataclass(frozen=True)
class Step:
    """Functions that take a batch and append their results as columns."""

    node: Batched
    where: tuple[Path, ...]
    """The columns of the input in the batches."""

    def read(self) -> Iterator[int]:
        """Yield the columns of the input that the functions read."""
        for made in self.node.calls:
            for call in made.calls():
                yield from (item.index for item in call.arguments if isinstance(item, Ref))

    def types(self) -> Iterator[DataType]:
        """Yield the types of the results, and of what functions give to each other."""
        return (call.type for item in self.node.calls for call in item.calls())


@dataclass(frozen=True)
class Evaluation:
    """A condition, and expressions whose values become columns, evaluated over the rows of the columns they read."""

    node: Calc
    expressions: tuple[Expr, ...]
    where: tuple[Path, ...]
    """The columns of the input in the batches."""

    @property
    def condition(self) -> Expr | None:
        """What holds for the rows that stay."""
        return self.node.condition

    def read(self) -> Iterator[int]:
        """Yield the columns of the input that are read."""
        parts = self.expressions if self.condition is None else (self.condition, *self.expressions)
        return (ref.index for part in parts for ref in refs(part))

    def types(self) -> Iterator[DataType]:
        """Yield the types of the results."""
        return (expression.type for expression in self.expressions)


@dataclass(frozen=True)
class Lane:
    """A plan whose rows come in batches."""

    columns: tuple[Column, ...]
    where: tuple[Path, ...]
    """The columns of the plan in the batches."""
    scan: Scan
    steps: tuple[Step | Evaluation, ...] = field(default=())
    width: int = 0
    """How many columns the batches have."""

    @property
    def calls_functions(self) -> bool:
        """Whether functions take the batches."""
        return any(isinstance(step, Step) for step in self.steps)

    def open(self, size: int, env: StreamExecutionEnvironment) -> DataStream:
        """Add the source to a program; its batches have up to ``size`` rows.

        Raises:
            TypeError: It has none.
        """
        if self.scan.batches is None or self.scan.need is None:
            raise TypeError(f"{self.scan.name} has no batches")
        return self.scan.batches(tuple(sorted(self.scan.need)), size)(env)

    def read(self) -> Lane:
        """Return the same plan with the columns of the source that it reads."""
        paths = [*self.where, *(step.where[i] for step in self.steps for i in step.read())]
        need = sorted({path[0] for path in paths if path[0] < len(self.scan.columns)})
        moved = {old: new for new, old in enumerate(need)}
        gone = len(self.scan.columns) - len(need)

        def move(paths: Iterable[Path]) -> tuple[Path, ...]:
            return tuple((moved.get(path[0], path[0] - gone), *path[1:]) for path in paths)

        steps = tuple(replace(step, where=move(step.where)) for step in self.steps)
        scan = replace(self.scan, columns=tuple(self.scan.columns[i] for i in need), key=(), need=frozenset(need))
        return replace(self, where=move(self.where), scan=scan, steps=steps, width=self.width - gone)


def lane_of(node: Node) -> Lane | None:
    """Return how a plan stays in batches; None if one of its steps needs rows.

    It can if it reads a source that has batches, filters and projects, and calls functions of pandas or Arrow.
    """
    found = _lane_of(node) if _reads_batches(node) else None
    if found is None:
        return None
    lane = found.read()
    kinds = [column.type for column in (*lane.columns, *lane.scan.columns)]
    for step in lane.steps:
        made = list(step.types())
        if isinstance(step, Evaluation) and any(map(is_precise, made)):
            return None
        kinds += made
    return lane if lane.scan.columns and all_fit(kinds) else None


def _reads_batches(node: Node) -> bool:
    while isinstance(node, (Calc, Batched)):
        node = node.input
    return isinstance(node, Scan) and node.batches is not None


def _lane_of(node: Node) -> Lane | None:
    if node.changelog or any(column.time for column in node.columns):
        return None
    if isinstance(node, Scan):
        if node.batches is None:
            return None
        return Lane(node.columns, tuple((i,) for i in range(len(node.columns))), node, width=len(node.columns))
    if isinstance(node, Batched):
        return _with_calls(node)
    if not isinstance(node, Calc):
        return None
    node = in_batches(node)
    below = _lane_of(node.input)
    return None if below is None else _with_values(node, below)


def _with_values(node: Calc, below: Lane) -> Lane | None:
    """Return how a filter and projection stays in batches; None if it calls a function that takes rows."""
    columns = tuple(Ref(column.type, i) for i, column in enumerate(below.columns))
    items = columns if node.projection is None else node.projection
    where = [_path(item, below) for item in items]
    made = tuple(item for item, path in zip(items, where, strict=True) if path is None)
    if any(map(calls_python, made if node.condition is None else (*made, node.condition))):
        return None
    places = count(below.width)
    found = tuple(path or (next(places),) for path in where)
    steps = below.steps
    if made or node.condition is not None:
        steps = (*steps, Evaluation(node, made, below.where))
    return replace(below, columns=node.columns, where=found, steps=steps, width=below.width + len(made))


def _with_calls(node: Batched) -> Lane | None:
    below = _lane_of(node.input)
    if below is None or any(call.function.names for item in node.calls for call in item.calls()):
        return None
    more = tuple((below.width + i,) for i in range(len(node.calls)))
    return replace(
        below,
        columns=node.columns,
        where=(*below.where, *more),
        steps=(*below.steps, Step(node, below.where)),
        width=below.width + len(more),
    )


def _path(expression: Expr, below: Lane) -> Path | None:
    """Return where the value of an expression is: a column, or a field of one."""
    if isinstance(expression, Ref):
        return below.where[expression.index]
    if not isinstance(expression, Call) or expression.name != "FIELD":
        return None
    (row,) = expression.arguments
    path = _path(row, below)
    return None if path is None or not isinstance(row.type, t.RowType) else (*path, _index(expression, row.type))


def _index(expression: Call, kind: t.RowType) -> int:
    """Return which field an expression takes: what it makes of a row with the positions of its fields."""
    found: list[tuple[object, ...]] = []
    taken = replace(expression, arguments=(Ref(kind, 0),))
    compile_source(source([taken], None, stamped=False))([(tuple(range(len(kind.names))),)], found.append)
    return int(str(found[0][0]))
