"""From logical plans to transformations of streams."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import partial, singledispatch
from itertools import chain
from typing import TYPE_CHECKING, Any

from flintstream.common._types.columns import DataType
from flintstream.common._types.data_types import DataTypes
from flintstream.datastream._streams.steps import add_step, steps_to_run, transformation_of
from flintstream.datastream.data_stream import DataStream
from flintstream.graph.transformation import OperatorTransformation, UnionTransformation
from flintstream.options.tables import ARROW_BATCHES, BUNDLE_TIME
from flintstream.table._deep_stack import on_deep_stack
from flintstream.table._expressions.codegen import Generator, Source, compile_source, source
from flintstream.table._expressions.expr import Column, Const, Ref, calls_python
from flintstream.table._expressions.plain_values import Fields
from flintstream.table._expressions.python_values import converter_of
from flintstream.table._functions.awaiting import AsyncRows
from flintstream.table._logical.nodes import Calc, Correlate, Node, Scan, Union, Values
from flintstream.table._logical.sharing import active
from flintstream.table._operators.field_rows import with_fields
from flintstream.table._operators.generated import GeneratedOperator, awaiting_operator, with_picks
from flintstream.table._operators.partial_groups import PartialGroups
from flintstream.table._plan import edges
from flintstream.table._plan.batches import Batched, BatchOperator, in_batches
from flintstream.table._plan.columnar.lanes import Evaluation, lane_of
from flintstream.table._plan.columnar.limits import declarations, functions_of, limits_of
from flintstream.table._plan.columnar.operators import ColumnsOperator, RowsOperator, StoredOperator, operator_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.graph.transformation import Transformation
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._plan.columnar.lanes import Lane


SHALLOW = 20
"""How many steps a plan may have on top of each other so that any stack has room for its translation."""
READ_AT_ONCE = 8192
"""How many rows a batch has that no function takes."""
_LEFT_OUT = frozenset({"columns", "place", "ttl_ms", "ttls_ms", "by_block", "combines", "ends"})
"""Members that state does not depend on; the columns that matter are those of the inputs."""


def translate(node: Node, env: StreamExecutionEnvironment) -> DataStream:
    """Add the steps of a plan to the program, and return the stream of its tuples."""
    make, shared = partial(_translate, node, env), active.get(env)
    if shared is not None:
        make = partial(shared.stream, node, env, make)
    return on_deep_stack(make) if node.depth > SHALLOW else make()


def _translate(node: Node, env: StreamExecutionEnvironment) -> DataStream:
    steps = steps_to_run(env)
    known = len(steps)
    made = _steps_of(node, env)
    for step in steps[known:]:
        if isinstance(step, OperatorTransformation) and step.keyed and not step.layout:
            step.layout = _layout_of(node)
    return made


def _layout_of(node: Node) -> str:
    """Return what the state of a step depends on: its kind, the types of its inputs, and what it computes.

    It does not depend on names of columns, on what its inputs do, or on what becomes of its results.
    """
    try:
        inputs = [f"{_stored_columns(item)}{'*' if item.changelog else ''}" for item in node.inputs or (node,)]
        members = _members(node)
    except RecursionError:  # of an expression that is too deep to be compared
        inputs, members = [], ""
    return f"{type(node).__name__}({'; '.join(inputs)}){members}"


def _stored_columns(node: Node) -> str:
    """Return the columns of an input; rows in state lack those that no step reads."""
    missing = node.null_columns
    return ", ".join("-" if i in missing else _columns([column]) for i, column in enumerate(node.columns))


def _columns(columns: Iterable[Column]) -> str:
    return ", ".join(f"{column.type} {column.time}".rstrip() for column in columns)


def _members(value: object) -> str:
    names: Iterable[str] = getattr(value, "__dataclass_fields__", ())
    found = [(name, getattr(value, name)) for name in names]
    return "".join(f" {name}={_text(item)}" for name, item in found if name not in _LEFT_OUT and item is not None)


def _text(value: object) -> str:
    if isinstance(value, (Node, Column)):
        return _columns([value] if isinstance(value, Column) else value.columns)
    if value is None or isinstance(value, (str, bytes, int, float, DataType)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"[{', '.join(sorted(map(_text, value)))}]"
    if isinstance(value, partial):
        return f"{_text(value.func)}{_text(value.args)}"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({_members(value).strip()})"
    return getattr(value, "__qualname__", type(value).__qualname__)


def _steps_of(node: Node, env: StreamExecutionEnvironment) -> DataStream:
    if isinstance(node, Scan):
        return node.open(env)
    if isinstance(node, Values):
        return _values(node, False, env)
    if isinstance(node, Union):
        return _union([translate(_with_kinds(part, node), env) for part in node.parts], changelog=node.changelog)
    lane = _lane_with_calls(node, env)
    if lane is not None:
        return add_operator(_stream_of_lane(lane, env), "Rows", RowsOperator(lane.columns, lane.where))
    if isinstance(node, Calc):
        chosen = _columns_of_values(node)
        if chosen is not None:
            return _values(*chosen, env)
        if node.condition is None and _keeps_all(node):
            return translate(node.input, env)
        node = in_batches(node)
        below = translate(node.input if _runs_once(env) else node.untimed_input, env)
        changes = node.projection is not None and node.changelog
        projection = (*(node.projection or ()), _kind(node.input)) if changes else node.projection
        plain = [source(projection, node.condition, stamped=stamped) for stamped in (False, True)]
        codes = [with_picks(code, projection, node.condition) for code in plain]
        if projection is not None and any(isinstance(value, Fields) for value in codes[0].names.values()):
            codes = [with_fields(codes[s], projection, node.condition, stamped=s) for s in (False, True)]
        awaits = any(isinstance(function, AsyncRows) for function in codes[0].functions)
        operator = awaiting_operator(projection, node.condition) if awaits else GeneratedOperator(*codes)
        return _in_subtasks(add_operator(below, "Calc", operator), operator.function.functions, node)
    if isinstance(node, Batched):
        functions, limits = functions_of(node), (*limits_of(node, env), env._configuration.get(BUNDLE_TIME))
        batches = BatchOperator(node.calls, node.input.columns, len(node.columns) - len(node.calls), *limits)
        return _in_subtasks(add_operator(translate(node.input, env), "PythonCalc", batches), functions, node)
    if isinstance(node, Correlate):
        below = translate(node.input, env)
        return add_operator(below, "Correlate", GeneratedOperator(*(_join(node, stamped=s) for s in (False, True))))
    return translation(node, env)


def _runs_once(env: StreamExecutionEnvironment) -> bool:
    """Return whether several steps read the results of another one, so that it has one form for all of them."""
    return bool((shared := active.get(env)) and shared.repeats)


def stays_in_batches(node: Node, env: StreamExecutionEnvironment) -> bool:
    """Return whether all rows of a plan stay in batches of Arrow."""
    return _lane(node, env) is not None


def calls_functions_in_batches(node: Node, env: StreamExecutionEnvironment) -> bool:
    """Return whether a plan calls functions, and all its rows stay in batches of Arrow."""
    return _lane_with_calls(node, env) is not None


def stream_of_batches(node: Node, env: StreamExecutionEnvironment, *, stored: bool = False) -> DataStream:
    """Add the steps of a plan that stays in batches to the program, and return the stream of its batches.

    They are in the types that PyFlink has for results, or in those of files.

    Raises:
        TypeError: It needs rows.
    """
    lane = _lane(node, env)
    if lane is None:
        raise TypeError(f"{node.title()} needs rows")
    operator = (StoredOperator if stored else ColumnsOperator)(lane.columns, lane.where)
    return add_operator(_stream_of_lane(lane, env), "Columns", operator)


def _lane(node: Node, env: StreamExecutionEnvironment) -> Lane | None:
    """Return how a plan stays in batches; None if it needs rows, or if an option or a shared part of it does."""
    if not env._configuration.get(ARROW_BATCHES) or _runs_once(env):
        return None
    return lane_of(node)


def _lane_with_calls(node: Node, env: StreamExecutionEnvironment) -> Lane | None:
    """Return the same, if functions take batches: other plans become rows while they are read."""
    if not isinstance(node, (Calc, Batched)):
        return None
    lane = _lane(node, env)
    return lane if lane is not None and lane.calls_functions else None


def _stream_of_lane(lane: Lane, env: StreamExecutionEnvironment) -> DataStream:
    sizes = [READ_AT_ONCE if isinstance(step, Evaluation) else min(limits_of(step.node, env)) for step in lane.steps]
    stream = lane.open(sizes[0] if sizes else READ_AT_ONCE, env)
    for step, size in zip(lane.steps, sizes, strict=True):
        stream = add_operator(stream, *operator_of(step, size))
        stream = _in_subtasks(stream, () if isinstance(step, Evaluation) else functions_of(step.node), step.node)
    return stream


@singledispatch
def translation(node: Node, env: StreamExecutionEnvironment) -> DataStream:  # noqa: ARG001 - what others register
    """Translate a node that another module knows.

    Raises:
        TypeError: None does.
    """
    raise TypeError(f"no translation of {node!r}")


def add_operator(stream: DataStream, name: str, operator: Any, output_type: Any = None) -> DataStream:
    """Add an operator."""
    env = stream.get_execution_environment()
    above = transformation_of(stream)
    transformation = OperatorTransformation(
        name,
        (above,),
        output_type,
        operator=operator,
        kind="ENGINE",
        passing=isinstance(operator, (GeneratedOperator, PartialGroups)),
    )
    transformation.parallelism = _parallelism_of(above)  # in more subtasks, records could overtake each other
    add_step(env, transformation)
    return DataStream(env, transformation)


def _parallelism_of(step: Transformation) -> int | None:
    """Return the parallelism of a step, that of all its inputs if it is a union; None for that of the program."""
    if not isinstance(step, UnionTransformation):
        return step.parallelism
    found = {_parallelism_of(part) for part in step.inputs}
    return found.pop() if len(found) == 1 else None


def _union(parts: Sequence[DataStream], *, changelog: bool) -> DataStream:
    """Merge streams. Changes of parts with other parallelisms pass one subtask, or they could overtake each other."""
    made = parts[0].union(*parts[1:])
    if not changelog or len({_parallelism_of(transformation_of(part)) for part in parts}) == 1:
        return made
    return add_operator(made, "Union", GeneratedOperator(*edges.both("r"))).force_non_parallel()


def _in_subtasks(stream: DataStream, functions: Iterable[object], node: Node) -> DataStream:
    """Give an operator the parallelism that its functions declare; changes of a row must not overtake each other."""
    wanted = declarations(functions, "concurrency")
    if wanted and not node.changelog:
        transformation_of(stream).parallelism = max(wanted)
    return stream


def _keeps_all(node: Calc) -> bool:
    columns = node.projection
    return columns is None or (
        len(columns) == len(node.input.columns)
        and all(isinstance(item, Ref) and item.index == i for i, item in enumerate(columns))
    )


def _kind(node: Node) -> Expr:
    return Ref(DataTypes.TINYINT(), len(node.columns))


def _with_kinds(part: Node, union: Node) -> Node:
    """Return the part with a kind of change in each row, if other parts have one."""
    if part.changelog or not union.changelog:
        return part
    refs = tuple(Ref(item.type, i) for i, item in enumerate(part.columns))
    return Calc(part.columns, part, (*refs, Const(DataTypes.TINYINT(), 0)))


def _columns_of_values(node: Calc) -> tuple[Values, bool] | None:
    """Return the rows of VALUES with the columns that a projection keeps; None if it is another projection.

    And whether equal rows follow each other: in Flink, rows that are not literals are sources of their own, of which
    equal ones are one source.
    """
    below = node.input
    while isinstance(below, Calc) and below.projection is None and below.condition is None:
        below = below.input
    kept = [item.index for item in node.projection or () if isinstance(item, Ref)]
    if not isinstance(below, Values) or node.condition is not None or len(kept) != len(node.projection or (None,)):
        return None
    computed = any(not isinstance(item, Const) or item.value is None for row in below.rows for item in row)
    return Values(node.columns, tuple(tuple(row[i] for i in kept) for row in below.rows)), computed


def _values(node: Values, together: bool, env: StreamExecutionEnvironment) -> DataStream:
    """Evaluate the rows in the driver, as their expressions have no columns; equal ones perhaps ``together``.

    Rows that call Python functions are computed in tasks.
    """
    if any(map(calls_python, chain.from_iterable(node.rows))):
        nothing = Values((), ((),))
        parts = tuple(Calc(node.columns, nothing, row) for row in node.rows)
        return translate(Union(node.columns, parts) if len(parts) > 1 else parts[0], env)
    rows: list[Any] = []
    for row in node.rows:
        if all(isinstance(item, Const) for item in row):
            rows.append(tuple(item.value for item in row if isinstance(item, Const)))
        else:
            compile_source(source(row, None, stamped=False))([()], rows.append)
    if together:
        alike: dict[str, list[object]] = {}
        for row in rows:
            alike.setdefault(repr(row), []).append(row)
        rows = [row for group in alike.values() for row in group]
    stream = env.from_collection(rows)
    transformation_of(stream).name = "Values"
    return stream


def _join(node: Correlate, *, stamped: bool) -> Source:
    width = len(node.input.columns)
    produced = len(node.columns) - width
    generator = Generator()
    generator.load(node.arguments)
    names = [generator.value(argument) for argument in node.arguments]
    generator.functions.append(node.function.implementation)
    called = generator.known("u", node.function.implementation.eval)
    rows = generator.known("rows", Produced([column.type for column in node.columns[width:]]))
    generator.line(f"found = {rows}({called}({', '.join(names)}))")
    if node.outer:
        generator.line(f"if not found: found = [({'None, ' * produced})]")
    left, right = ("r[:-1]", " + r[-1:]") if node.changelog else ("r", "")
    generator.line("for row in found:")
    generator.line(f"    append({left} + row{right})")
    if stamped:
        generator.line("    stamp(t)")
    head = "def run(records, append, stamp):" if stamped else "def run(records, append):"
    loop = "    for r, t in records:" if stamped else "    for r in records:"
    return Source(
        "\n".join([*generator.parts, head, loop, *generator.lines]), generator.names, tuple(generator.functions)
    )


class Produced:
    """Turns what a table function returns into tuples: an iterable of rows, a single row, or None."""

    def __init__(self, types: list[Any]) -> None:
        self.converters = [converter_of(kind) for kind in types]

    def __call__(self, produced: Any) -> list[tuple[object, ...]]:
        if produced is None:
            return []
        single = isinstance(produced, (str, bytes, int, float, tuple)) or hasattr(produced, "get_row_kind")
        return [self.row(item) for item in ([produced] if single else produced)]

    def row(self, value: Any) -> tuple[Any, ...]:
        """Return the tuple of a row."""
        parts = tuple(value) if isinstance(value, (tuple, list)) or hasattr(value, "get_row_kind") else (value,)
        if len(parts) != len(self.converters):
            raise ValueError(f"a table function with {len(self.converters)} columns returned {value!r}")
        return tuple(
            [
                part if part is None or convert is None else convert(part)
                for part, convert in zip(parts, self.converters, strict=True)
            ]
        )
