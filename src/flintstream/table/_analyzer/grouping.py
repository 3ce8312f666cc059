"""Plans of GROUP BY, HAVING, DISTINCT and aggregates, for SQL and the Table API alike."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.over import FULL_NAMES, list_of, own_call, select_items
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.aggregates import AggregateCall, result_type
from flintstream.table._expressions.aggregation.percentiles import percentile_type
from flintstream.table._expressions.codegen import refs
from flintstream.table._expressions.expr import Call, Column, Const, Ref, calls_python, is_stable
from flintstream.table._expressions.functions.json import json_of_group
from flintstream.table._expressions.resolver import resolve, resolve_condition
from flintstream.table._logical.nodes import Calc
from flintstream.table._plan.build import add_filter
from flintstream.table._plan.expand import Copy, Expanded
from flintstream.table._plan.grouping import Windowed, group_rows
from flintstream.table._plan.window_columns import attach_windows, window_columns
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings

_OF_SETS = ("GROUPING", "GROUPING_ID", "GROUP_ID")


def aggregates_in(syntax: s.Syntax) -> bool:
    """Return whether an expression has an aggregate function."""
    if isinstance(syntax, s.Aggregate):
        return True
    if isinstance(syntax, s.Over) and isinstance(syntax.function, s.Aggregate):
        syntax = replace(syntax, function=s.Apply(None, "", tuple(s.parts(syntax.function))))
    return any(map(aggregates_in, s.parts(syntax)))


class Grouping:
    """Plans one grouping."""

    def __init__(
        self,
        settings: PlannerSettings,
        node: Node,
        scope: Scope,
        keys: Sequence[s.Syntax],
        condition: Expr | None = None,
        sets: Sequence[Sequence[s.Syntax]] = (),
    ) -> None:
        """Group the rows of ``node`` for which a condition holds; if there are ``sets`` of keys, by each of them."""
        self.settings, self.node, self.scope, self.condition = settings, node, scope, condition
        self._structures: dict[int, tuple[s.Syntax, object]] = {}
        """By the id of an expression: it, so that no other one gets the id, and its structure."""
        self._frame, self._times = self._windows()
        windows = [self._window(item) for item in sets or [keys]]
        self.window = windows[0] if all(windows) else None
        self.keys: list[s.Syntax] = []
        self.names: dict[object, str] = {}
        """What stands for a key, by its structure."""
        for key in keys:
            position = self._window_column(key)
            if self.window is not None and position is not None:
                self.names[self._structure(key)] = self.window.columns[position - 3].name
            elif self._structure(key) not in self.names:
                self.names[self._structure(key)] = f"$k{len(self.keys)}"
                self.keys.append(key)
        self.aggregates: list[s.Aggregate] = []
        self._numbers: dict[object, int] = {}
        """The positions of aggregates, by their structure."""
        self.sets = [{self.names[self._structure(key)] for key in item} for item in sets]
        self.constants: list[list[int]] = [list(range(len(sets)))] if sets else []
        """What follows the keys, for each set: its number, and then the results of GROUPING."""

    def _window_column(self, key: s.Syntax) -> int | None:
        """Return which of the window's columns a key is."""
        if self._frame is None or not isinstance(key, s.Name):
            return None
        index, rest = self.scope.find(key)
        return None if rest else self._times.get(index)

    def _windows(self) -> tuple[Windowed | None, dict[int | None, int]]:
        """Return the windows of the rows, and the positions of their start, end and time."""
        if isinstance(self.node, Windowed):
            return self.node, {len(self.node.input.columns) + i: i for i in range(3)}
        frame, found = attach_windows(self.node), window_columns(self.node)
        return frame, {} if found is None else {found.start: 0, found.end: 1, found.time: 2}

    def _window(self, keys: Sequence[s.Syntax]) -> Windowed | None:
        """Return the windows, if the keys have their start and end."""
        frame = self._frame
        if frame is None or not {0, 1} <= {self._window_column(key) for key in keys}:
            return None
        partition = frame.spec.partition
        if frame.spec.kind == "SESSION" and partition is not None:
            others = [key for key in keys if self._window_column(key) is None]
            columns = {self.scope.find(key)[0] if isinstance(key, s.Name) else -1 for key in others}
            if columns != set(partition):
                return None  # an ordinary grouping of rows that have their session
        return frame

    def _structure(self, syntax: object) -> object:
        """Return what two equal expressions have in common: all but their places and ways to name a column."""
        if isinstance(syntax, s.Name):
            index, rest = self.scope.find(syntax)
            return ("column", index, rest)
        if isinstance(syntax, s.Syntax):
            if id(syntax) not in self._structures:
                parts = [getattr(syntax, field.name) for field in fields(syntax) if field.name != "place"]
                self._structures[id(syntax)] = syntax, (type(syntax).__name__, *map(self._structure, parts))
            return self._structures[id(syntax)][1]
        if isinstance(syntax, tuple):
            return tuple(map(self._structure, syntax))
        return syntax.upper() if isinstance(syntax, str) else repr(syntax)

    def above(self, syntax: s.Syntax) -> s.Syntax:
        """Return an expression on the result of the grouping.

        Raises:
            SqlError: It names a column that is not a key.
        """
        if isinstance(syntax, s.Aggregate):
            number = self._numbers.setdefault(self._structure(syntax), len(self.aggregates))
            if number == len(self.aggregates):
                self.aggregates.append(syntax)
            return s.Name(syntax.place, (f"$a{number}",))
        if isinstance(syntax, s.Over) and isinstance(syntax.function, s.Aggregate):
            rows = s.map_syntax(syntax.function, self.above)
            return s.map_syntax(replace(syntax, function=rows), lambda part: part if part is rows else self.above(part))
        if isinstance(syntax, s.Apply) and syntax.function.upper() in _OF_SETS:
            return self._grouping(syntax)
        if isinstance(syntax, (s.Star, s.Columns)):
            return syntax
        known = self.names.get(self._structure(syntax))
        if known is not None:
            return s.Name(syntax.place, (known,))
        if isinstance(syntax, s.Name):
            raise SqlError(f"Expression '{'.'.join(syntax.parts)}'{at(syntax.place)} is not being grouped")
        return s.map_syntax(syntax, self.above)

    def _grouping(self, call: s.Apply) -> s.Syntax:
        """Return a column with a bit for each argument that is not a key of the row's set.

        For GROUP_ID, it has the number of equal sets before that one.
        """
        keys = [self.names.get(self._structure(argument)) for argument in call.arguments]
        equal = call.function.upper() == "GROUP_ID"
        if None in keys or bool(keys) == equal:
            raise SqlError(f"{call.function}{at(call.place)} takes {'no arguments' if equal else 'keys of GROUP BY'}")
        if not self.sets:
            return s.Value(call.place, 0, t.BigIntType(False))
        bits = [sum((key not in item) << i for i, key in enumerate(reversed(keys))) for item in self.sets]
        if equal:
            bits = [self.sets[:i].count(item) for i, item in enumerate(self.sets)]
        self.constants.append(bits)
        return s.Name(call.place, (f"$g{len(self.constants) - 1}",))

    def plan(
        self, items: Sequence[s.Syntax], having: s.Syntax | None, unnamed: str, qualify: s.Syntax | None = None
    ) -> Node:
        """Return the plan of the columns; ``qualify`` is a condition on functions OVER the rows of the groups.

        Raises:
            SqlError: An expression is neither grouped nor aggregated.
        """
        made = [self._with_name(item, f"{unnamed}{i}") for i, item in enumerate(self._list(items))]
        condition, qualified = (list(map(self.above, part)) for part in (list_of(having), list_of(qualify)))
        node = self._group()
        scope = self.scope.of(node.columns, ())
        for item in condition:
            node = add_filter(node, resolve_condition(item, scope, "HAVING", item.place))
        return select_items(self.settings, node, scope, made, qualify=next(iter(qualified), None))

    def _list(self, items: Sequence[s.Syntax]) -> list[s.Syntax]:
        found: list[s.Syntax] = []
        for item in items:
            if isinstance(item, s.Star):
                chosen = [
                    i
                    for i, column in enumerate(self.scope.columns)
                    if column.in_star and item.table in {None, *self.scope.tables[i : i + 1]}
                ]
                found += [s.Name(item.place, (self.scope.columns[i].name,)) for i in chosen]
            else:
                found.append(item)
        return found

    def _with_name(self, item: s.Syntax, unnamed: str) -> s.Syntax:
        if isinstance(item, s.Alias):
            return replace(item, argument=self.above(item.argument))
        return s.Alias(item.place, self.above(item), (item.parts[-1] if isinstance(item, s.Name) else unnamed,))

    def _group(self) -> Node:
        below = self.node if self.window is None else self.window.input
        parts = [resolve(item, self.scope) for item in self.keys]
        columns = [self._key(i, item) for i, item in enumerate(parts)]
        numbers = [Column(f"$g{i}", t.BigIntType(False)) for i in range(len(self.constants))]
        calls = []
        results = []
        for i, item in enumerate(self.aggregates):
            call = self._call(item, parts)
            calls.append(call)
            results.append(Column(f"$a{i}", call.type))
        read = [*parts, *([] if self.condition is None else [self.condition])]
        for expression in read:
            if any(ref.index >= len(below.columns) for ref in refs(expression)):
                raise unsupported("a key, aggregate or filter of the window's own columns", None, "filter with HAVING")
        inner = tuple(Column(f"$i{i}", item.type) for i, item in enumerate(parts))
        input_: Node = Calc(inner, below, tuple(parts), self.condition)
        if self.sets:
            copies = [
                Copy(tuple(i for i, key in enumerate(columns) if key.name in item), constants)
                for item, constants in zip(self.sets, zip(*self.constants, strict=True), strict=True)
            ]
            expanded = (*columns, *numbers, *inner[len(columns) :])
            input_ = Expanded(expanded, input_, len(columns), tuple(copies))
            calls = [item.after(len(numbers)) for item in calls]
            columns += numbers
        window = self.window
        times = () if window is None else window.columns[-3:]
        spec = None if window is None else window.spec
        return group_rows(self.settings, input_, len(columns), tuple(calls), (*columns, *results, *times), spec)

    def _key(self, index: int, key: Expr) -> Column:
        name = f"$k{index}"
        if all(name in item for item in self.sets):
            return Column(name, key.type, self._time_of(key))
        return Column(name, key.type.nullable())

    def _time_of(self, expression: Expr) -> str:
        return self.scope.columns[expression.index].time if isinstance(expression, Ref) and self.window is None else ""

    def _call(self, aggregate: s.Aggregate, parts: list[Expr]) -> AggregateCall:
        if not isinstance(aggregate.function, str):
            return self._own_call(aggregate, parts)
        argument = None if aggregate.argument is None else resolve(aggregate.argument, self.scope)
        if argument is not None and aggregate.function in {"JSON_ARRAYAGG", "JSON_OBJECTAGG"}:
            argument = self._json(aggregate, argument)
        kind = t.BigIntType(False) if argument is None else argument.type
        has_groups = bool(self.keys) or self.window is not None
        name = FULL_NAMES.get(aggregate.function, aggregate.function)
        more = [resolve(item, self.scope) for item in aggregate.more]
        if name == "PERCENTILE":
            share = more[0].value if isinstance(more[0], Const) else 0
            returned = percentile_type([kind, *(item.type for item in more)], share, aggregate.place)
        else:
            returned = result_type(name, kind, aggregate.place, grouped=has_groups)
        position = condition = None
        if argument is not None:
            position = self._position(argument, parts)
        others = tuple(range(len(parts), len(parts) + len(more)))
        parts += more
        if aggregate.condition is not None:
            condition = self._position(resolve(aggregate.condition, self.scope), parts)
            returned = returned if name == "COUNT" else returned.nullable()
        return AggregateCall(
            name, position, kind, returned, aggregate.distinct, condition, aggregate.option, more=others
        )

    def _position(self, item: Expr, parts: list[Expr]) -> int:
        """Return the position of an argument, which aggregates share. Grouping sets may empty keys: they are apart."""
        if is_stable(item) and not calls_python(item) and item in parts[len(self.keys) :]:
            return parts.index(item, len(self.keys))
        parts.append(item)
        return len(parts) - 1

    def _json(self, aggregate: s.Aggregate, argument: Expr) -> Expr:
        made = json_of_group(aggregate.function, argument, self.settings.zone)
        if made is None:
            values = argument.arguments if isinstance(argument, Call) and argument.name == "ROW" else (argument,)
            types = ", ".join(sql_name(item.type) for item in values)
            takes = "(any)" if aggregate.function == "JSON_ARRAYAGG" else "(KEY STRING VALUE any)"
            raise SqlError(
                f"{aggregate.function}({types}){at(aggregate.place)} has arguments of the wrong type: it takes {takes}"
            )
        return made

    def _own_call(self, aggregate: s.Aggregate, parts: list[Expr]) -> AggregateCall:
        made = own_call(aggregate, self.scope, self.settings.zone, partial(_position_in, parts))
        if self.node.changelog and not made.function.retracts:
            raise SqlError(
                f"{made.name}{at(aggregate.place)} has no method retract(), but the rows that it reads can be retracted"
            )
        return made


def _position_in(parts: list[Expr], item: Expr) -> int:
    parts.append(item)
    return len(parts) - 1


def distinct(settings: PlannerSettings, node: Node, scope: Scope) -> Node:
    """Return each row of a table once."""
    names = [s.Name(None, (column.name,)) for column in node.columns]
    return Grouping(settings, node, scope.of(node.columns, ()), names).plan(names, None, "")
