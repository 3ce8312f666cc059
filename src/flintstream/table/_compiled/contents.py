"""What a compiled plan holds, and its JSON.

>>> insert = StoredInsert("INSERT INTO t SELECT 1", "default_catalog", "default_database", ("Calc(n INT)",))
>>> plan = StoredPlan((insert,))
>>> read_plan(plan.json()) == plan
True
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from flintstream.common._java_exceptions import TableException
from flintstream.common._text.secrets import hide_secrets, without_secrets
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

T = TypeVar("T")
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Call: TypeAlias = "dict[str, Json]"
"""A call of the Table API; :mod:`flintstream.table._compiled.calls` writes and makes them."""
FLINK_VERSION = "2.3"
"""The release whose statements a plan has."""
_FORMAT, _VERSION = "flintstream compiled plan", 1


class PlanFileError(PlanError, TableException):
    """A compiled plan cannot be read, stored or restored."""


@dataclass(frozen=True)
class StoredTable:
    """A table as it was declared."""

    identifier: tuple[str, ...]
    statement: str
    """``CREATE TABLE`` without options; empty if only the name is stored."""
    options: Mapping[str, str] | None
    """None if they are not stored."""


@dataclass(frozen=True)
class StoredView:
    """A view: plans have the queries of all of them."""

    identifier: tuple[str, ...]
    sql: str
    """Empty if a call makes its rows."""
    catalog: str
    database: str
    columns: tuple[str, ...] = ()
    call: int | None = None
    """The number of that call."""


@dataclass(frozen=True)
class StoredInsert:
    """A statement, and the steps that it is planned as: what it does and where state is, without its expressions."""

    sql: str
    """Empty if a call makes the rows."""
    catalog: str
    database: str
    steps: tuple[str, ...]
    call: int | None = None
    """The number of that call."""
    sink: tuple[str, ...] = ()
    """The full name of the table to which these rows go."""
    overwrite: bool = False


@dataclass(frozen=True)
class StoredPlan:
    """Statements that run in one job, and what they need."""

    inserts: tuple[StoredInsert, ...]
    tables: tuple[StoredTable, ...] = ()
    views: tuple[StoredView, ...] = ()
    """A view comes after those that it reads."""
    calls: tuple[Call, ...] = ()
    """Calls of the Table API, each after those whose results it reads."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """The Python functions by name, and where ``CREATE FUNCTION`` finds them; empty for those of the session."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options of the session that plans depend on."""

    def json(self) -> str:
        """Return the plan as JSON."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        whole = {"format": _FORMAT, "version": _VERSION, "flinkVersion": FLINK_VERSION, **parts}
        return json.dumps(whole, indent=2, default=asdict)

    def has_secrets(self) -> bool:
        """Return whether options of tables, or hints in statements, have passwords."""
        options = (table.options for table in self.tables if table.options is not None)
        texts = [*(insert.sql for insert in self.inserts), *(view.sql for view in self.views)]
        texts += [str(call["sql"]) for call in self.calls if "sql" in call]
        return any(hide_secrets(item) != item for item in options) or any(without_secrets(sql) != sql for sql in texts)


def read_plan(text: str) -> StoredPlan:
    """Return the plan that a JSON text holds.

    Raises:
        PlanFileError: It holds none, or one of Flink.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"the compiled plan is not JSON: {error}") from None
    if isinstance(found, dict) and "nodes" in found and "edges" in found:
        raise PlanFileError(
            "the compiled plan was made by Flink, whose operators are Java classes: compile it again here, with "
            "COMPILE PLAN or compile_plan_sql()"
        )
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise PlanFileError(f'the JSON is not a compiled plan: it has no "format": "{_FORMAT}"')
    if found.get("version") != _VERSION:
        raise PlanFileError(
            f"the compiled plan has version {found.get('version')!r}, but this release reads {_VERSION}: compile it "
            "again"
        )
    plan = StoredPlan(
        tuple(
            StoredInsert(
                *_texts_of(item),
                _texts(item, "steps"),
                _number(item),
                _texts(item, "sink"),
                _part(item, "overwrite", bool),
            )
            for item in _part(found, "inserts", list)
        ),
        tuple(
            StoredTable(
                _texts(item, "identifier"),
                _part(item, "statement", str),
                None if item.get("options") is None else _map(item, "options"),
            )
            for item in _part(found, "tables", list)
        ),
        tuple(
            StoredView(_texts(item, "identifier"), *_texts_of(item), _texts(item, "columns"), _number(item))
            for item in _part(found, "views", list)
        ),
        tuple(_calls(found)),
        _map(found, "functions"),
        _map(found, "options"),
    )
    if not plan.inserts:
        raise PlanFileError("the compiled plan has no statement")
    return plan


def _texts_of(item: object) -> tuple[str, str, str]:
    return _part(item, "sql", str), _part(item, "catalog", str), _part(item, "database", str)


def _number(item: object) -> int | None:
    found = item.get("call") if isinstance(item, dict) else None
    return None if found is None else _part(item, "call", int)


def _calls(found: object) -> Iterator[Call]:
    for call in _part(found, "calls", list):
        if not isinstance(call, dict):
            raise PlanFileError(f"the compiled plan is damaged: {call!r} is not a call")
        yield call


def _part(item: object, key: str, kind: type[T]) -> T:
    found = item.get(key) if isinstance(item, dict) else None
    if not isinstance(found, kind):
        raise PlanFileError(f"the compiled plan is damaged: '{key}' is {type(found).__name__}, not {kind.__name__}")
    return found


def _texts(item: object, key: str) -> tuple[str, ...]:
    found = _part(item, key, list)
    if not all(isinstance(part, str) for part in found):
        raise PlanFileError(f"the compiled plan is damaged: '{key}' contains something other than strings")
    return tuple(found)


def _map(item: object, key: str) -> dict[str, str]:
    found = _part(item, key, dict)
    if not all(isinstance(part, str) for part in found.values()):
        raise PlanFileError(f"the compiled plan is damaged: '{key}' contains something other than strings")
    return found
