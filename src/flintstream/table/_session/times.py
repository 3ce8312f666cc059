"""The time of a table's rows: where it comes from, and the watermarks that follow it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from flintstream.table._connectors.times import ComputedTime, TimeOf
from flintstream.table._errors import SqlError
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Const, Ref
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.translate import add_operator, translate
from flintstream.table._session.sources import strategy_of
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType

if TYPE_CHECKING:
    from flintstream.common.watermark_strategy import TimestampAssigner
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._connectors.times import Watermarks
    from flintstream.table._expressions.codegen import Source
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node, Opener, Scan


def constant_delay(watermark: Expr, position: int) -> int | None:
    """Return the ms by which a watermark is behind the time column; None if it is not a constant."""
    if isinstance(watermark, Call) and watermark.name == "-":
        base, delay = watermark.arguments
        if (
            isinstance(base, Ref)
            and base.index == position
            and isinstance(delay, Const)
            and isinstance(delay.type, IntervalType)
            and not delay.type.months
        ):
            return int(delay.value)
    return None


def with_times(node: Scan, moment: Expr, code: Source, marks: Watermarks) -> Scan:
    """Return a table whose rows get their time as they are read, so that columns are computed only where needed."""
    read = frozenset(ref.index for ref in refs(moment))

    def open_columns(need: frozenset[int]) -> Opener:
        return partial(_with_strategy, narrow(node, need | read), ComputedTime(code), marks)

    opened = partial(_with_strategy, node, ComputedTime(code), marks)
    return replace(node, open=opened, narrowed=open_columns, filtered=None, batches=None)


def with_watermarks(node: Node, position: int, marks: Watermarks, env: StreamExecutionEnvironment) -> DataStream:
    """Open a table whose rows have the time of a column."""
    return _with_strategy(node, TimeOf(position), marks, env)


def columns_with_watermarks(node: Node, position: int, marks: Watermarks, need: frozenset[int]) -> Opener:
    """Return what opens only some columns of such a table, and the one with the time."""
    return partial(with_watermarks, narrow(node, need | {position}), position, marks)


def _with_strategy(
    node: Node, times: TimestampAssigner[Any], marks: Watermarks, env: StreamExecutionEnvironment
) -> DataStream:
    strategy = strategy_of(marks, env)
    strategy.timestamp_assigner = times
    stream = translate(node, env)
    return add_operator(stream, "WatermarkAssigner", TimestampsAndWatermarksOperator(strategy))


def is_of_source(syntax: s.Syntax) -> bool:
    """Return whether a watermark is ``SOURCE_WATERMARK()``."""
    return isinstance(syntax, s.Apply) and syntax.function.upper() == "SOURCE_WATERMARK"


def without_watermarks(node: Scan, table: DeclaredTable) -> Scan:
    """Return a table that cannot be read, because it asks for watermarks of a connector, and none has them."""
    connector = table.options.get("connector")
    if connector is None:
        return node
    error = (
        f"SOURCE_WATERMARK() stands for the watermarks of a stream, and the connector '{connector}' of table "
        f"'{node.name}' has none: write an expression after WATERMARK FOR"
    )
    return replace(node, open=partial(_refuse, error), narrowed=None, filtered=None)


def _refuse(error: str, *_: object, **__: object) -> DataStream:
    raise SqlError(error)
