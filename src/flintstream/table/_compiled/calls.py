"""Calls of the Table API in a compiled plan: from tables to JSON, and back by making the calls again.

A call is an object: ``{"sql": ...}`` for a query, ``{"columns": ..., "rows": ...}`` for rows that the program holds, or
``{"call": "where", "of": 0, ...}`` for a method of what an earlier call returned.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, cast

from flintstream.common._types.data_types import DataType
from flintstream.table._compiled.contents import PlanFileError
from flintstream.table._compiled.values import read_type, read_value, write_type, write_value
from flintstream.table._deep_stack import deep
from flintstream.table._expressions.expr import Column
from flintstream.table._functions.wrappers import FunctionWrapper
from flintstream.table._logical.planned import Elements, Planned, Step, Written
from flintstream.table._logical.recording import is_recorded
from flintstream.table._session.elements import scan_elements, type_in_plans
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.inserts import plan_query
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.queries import TableName
from flintstream.table.expression import Expression
from flintstream.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._compiled.contents import Call, Json
    from flintstream.table._logical.planned import Origin
    from flintstream.table._logical.recording import MakeTable, Recorded
    from flintstream.table._session.session import Session

_PARTS: tuple[type[s.Syntax | s.Query], ...] = (
    s.Name, s.Value, s.Apply, s.Convert, s.Invoke, s.Aggregate, s.Over, s.Star, s.Alias, s.Columns, s.Quantified,
    TableName,
)  # fmt: skip
_SYNTAX = {kind.__name__: kind for kind in _PARTS}
_WINDOWS: dict[str, type[GroupWindow | OverWindow]] = {"group": GroupWindow, "over": OverWindow}
_DAMAGE = (TypeError, ValueError, KeyError, IndexError, AttributeError)


class CallWriter:
    """Collects the calls that make tables."""

    def __init__(self, catalog: CatalogManager) -> None:
        """Take the catalog of the session, which has the names of functions."""
        self.calls: list[Call] = []
        self.functions: set[str] = set()
        """The names of those that the calls need."""
        self._catalog = catalog
        self._numbers: dict[object, int] = {}

    def add(self, origin: Origin | None) -> int:
        """Return the number of the call that makes a table, after those that it needs.

        Raises:
            PlanFileError: The table comes from a stream, or a value or function in a call cannot be stored.
        """
        waiting = [_require(origin)]
        while waiting:
            found = waiting[-1]
            below = [item for item in _tables_of(found) if item not in self._numbers]
            if below and found not in self._numbers:
                waiting += below
                continue
            waiting.pop()
            if found not in self._numbers:
                self.calls.append(self._write_origin(found))
                self._numbers[found] = len(self.calls) - 1
        return self._numbers[_require(origin)]

    @deep
    def _write_origin(self, origin: Origin) -> Call:
        if isinstance(origin, Written):
            names = cast("list[Json]", list(origin.columns))
            return {"sql": origin.sql, "catalog": origin.catalog, "database": origin.database, "columns": names}
        if isinstance(origin, Elements):
            pairs: list[Json] = [{"name": item.name, "type": write_type(item.type)} for item in origin.columns]
            return {"columns": pairs, "rows": [write_value(row) for row in origin.rows]}
        return {
            "call": origin.method,
            "of": self._numbers[_require(origin.of)],
            "arguments": [self._write(item) for item in origin.arguments],
            "named": {name: self._write(item) for name, item in origin.named.items()},
        }

    def _write(self, value: object) -> Json:
        """Return an argument, or a part of one."""
        if isinstance(value, Planned):
            return {"table": self._numbers[_require(value._origin)]}
        if isinstance(value, Expression):
            return {"expression": self._write(value._syntax)}
        if isinstance(value, DataType):
            return {"type": write_type(value)}
        if isinstance(value, FunctionWrapper):
            return {"function": self._name(value), "names": cast("list[Json]", list(value.alias_names))}
        if isinstance(value, tuple):
            return [self._write(item) for item in value]
        for kind, window in _WINDOWS.items():
            if isinstance(value, window):
                return {
                    "window": kind,
                    **{item.name: self._write(getattr(value, item.name)) for item in fields(window)},
                }
        if isinstance(value, TableName):
            value = replace(value, name=self._catalog.path(value.name))  # a view, which the plan stores, too
        if not isinstance(value, (s.Syntax, s.Query)):
            return write_value(value)
        kind = type(value).__name__
        if kind not in _SYNTAX:
            raise PlanFileError(f"a compiled plan cannot store an expression with the part {kind}")
        parts = {item.name: self._write(getattr(value, item.name)) for item in fields(value) if item.name != "place"}
        return {"syntax": kind, **parts}

    def _name(self, function: FunctionWrapper) -> str:
        """Return the name of a function in the session."""
        for name, known in self._catalog.functions.items():
            if isinstance(known, FunctionWrapper) and known.implementation is function.implementation:
                self.functions.add(name)
                return name
        raise PlanFileError(
            f"Anonymous function '{function.name}' is not serializable: a plan stores names of functions, so register "
            f"it, with create_temporary_system_function('{function.name}', ...)"
        )


def _require(origin: Origin | None) -> Origin:
    if origin is None:
        raise PlanFileError(
            "Cannot serialize the table as it's an external inline table: it comes from a DataStream or a DataFrame, "
            "and a plan stores tables. Declare it with CREATE TABLE"
        )
    return origin


def _tables_of(origin: Origin) -> list[Origin]:
    """Return where the tables come from that a call reads."""
    if not isinstance(origin, Step):
        return []
    given = [item._origin for item in (*origin.arguments, *origin.named.values()) if isinstance(item, Planned)]
    return [_require(item) for item in (origin.of, *given)]


class Replay:
    """Makes the calls of a plan again, in a session."""

    def __init__(self, session: Session, calls: Sequence[Call], make: MakeTable) -> None:
        """Take what makes a table of a plan."""
        self._session, self._calls, self._make_table = session, calls, make
        self._made: dict[int, Recorded] = {}

    @deep
    def table(self, number: int) -> Planned:
        """Return the table that a call makes. It calls only methods that :func:`recorded` marks.

        Raises:
            PlanFileError: The calls are damaged.
            SqlError: The session plans a call in another way, so that it is wrong.
        """
        for needed in self._list_needed(number):
            if needed not in self._made:
                try:
                    self._made[needed] = self._make(self._calls[needed])
                except _DAMAGE as error:
                    raise PlanFileError(f"the compiled plan is damaged: call {needed} fails with {error!r}") from error
        found = self._made[number]
        if not isinstance(found, Planned):
            raise PlanFileError(f"the compiled plan is damaged: call {number} makes a {type(found).__name__}, no table")
        return found

    def _list_needed(self, number: int) -> list[int]:
        """Return the numbers of the calls on which one depends, and its own, in order."""
        found: set[int] = set()
        waiting: list[tuple[int, Json]] = [(len(self._calls), number)]
        while waiting:
            above, below = waiting.pop()
            if not isinstance(below, int) or not 0 <= below < above:
                raise PlanFileError(
                    f"the compiled plan is damaged: a call reads call {below!r}, which is not before it"
                )
            if below not in found:
                found.add(below)
                waiting += [(below, item) for item in _numbers_in(self._calls[below])]
        return sorted(found)

    def _make(self, call: Call) -> Recorded:
        if "sql" in call:
            names = [str(name) for name in _list(call["columns"])]
            with self._session.catalog.within(str(call["catalog"]), str(call["database"])):
                return self._make_table(plan_query(self._session, Tokens(str(call["sql"])), names))
        if "rows" in call:
            pairs = [_object(item) for item in _list(call["columns"])]
            columns = tuple(Column(str(item["name"]), type_in_plans(read_type(item["type"]))) for item in pairs)
            rows = [cast("tuple[object, ...]", read_value(row)) for row in _list(call["rows"])]
            return self._make_table(scan_elements(Elements(columns, rows)))
        subject, method = self._made[cast("int", call["of"])], str(call["call"])
        if not is_recorded(type(subject), method):
            raise PlanFileError(f"the compiled plan is damaged: {type(subject).__name__} has no step '{method}'")
        arguments = [self._read(item) for item in _list(call["arguments"])]
        named = {name: self._read(item) for name, item in _object(call["named"]).items()}
        step: Callable[..., Recorded] = getattr(subject, method)
        return step(*arguments, **named)

    def _read(self, found: Json) -> object:
        """Return an argument, or a part of one."""
        if isinstance(found, list):
            return tuple(map(self._read, found))
        if not isinstance(found, dict):
            return found
        if "table" in found:
            return self._made[cast("int", found["table"])]
        if "expression" in found:
            return Expression(cast("s.Syntax", self._read(found["expression"])))
        if "type" in found and len(found) == 1:
            return read_type(found["type"])
        if "function" in found and "names" in found:
            return self._function(str(found["function"]), [str(name) for name in _list(found["names"])])
        if "window" in found:
            return self._build(_WINDOWS[str(found["window"])], found, "window")
        if "syntax" in found:
            return self._build(_SYNTAX[str(found["syntax"])], {"place": None, **found}, "syntax")
        return read_value(found)

    def _build(self, kind: Callable[..., object], found: Mapping[str, Json], key: str) -> object:
        return kind(**{name: self._read(item) for name, item in found.items() if name != key})

    def _function(self, name: str, names: Sequence[str]) -> FunctionWrapper:
        found: FunctionWrapper = self._session.catalog.functions[name]
        return found.alias(*names) if names else found


def _list(found: Json) -> list[Json]:
    if not isinstance(found, list):
        raise TypeError(f"{found!r} is not a list")
    return found


def _object(found: Json) -> dict[str, Json]:
    if not isinstance(found, dict):
        raise TypeError(f"{found!r} is not an object")
    return found


def _numbers_in(call: Call) -> list[Json]:
    """Return the numbers of the calls that one reads."""
    if "call" not in call:
        return []
    given = [*_list(call.get("arguments")), *_object(call.get("named")).values()]
    return [call.get("of"), *(item["table"] for item in given if isinstance(item, dict) and "table" in item)]
