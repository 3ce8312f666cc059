"""Statements of SQL that stand in a program as text, and tables that it makes of known values."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, UNREAD, Finding
from flintstream.cli.checking.texts import UNKNOWN, Texts
from flintstream.errors import FlintstreamError, MissingDependencyError
from flintstream.table._errors import ColumnNotFoundError, ObjectExistsError, StrictError, TableNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.cli.checking.inference import Names
    from flintstream.cli.checking.reach import Reach

__all__ = ["check_statements"]

RUN = {"execute_sql", "sql_query", "add_insert_sql", "explain_sql", "sql_update"}
INSERT = "execute_insert"
FUNCTIONS = {"create_temporary_function", "create_temporary_system_function", "register_function"}
NOT_FOUND = (ColumnNotFoundError, TableNotFoundError)
"""What a function may raise of a table that a function below it creates before."""
NAMED_IN_PYTHON = {
    "create_function",
    "create_java_temporary_function",
    "create_table",
    "create_temporary_function",
    "create_temporary_system_function",
    "create_temporary_table",
    "create_temporary_view",
    "create_view",
    "register_function",
    "register_table",
}
DROPS = re.compile(r"\bDROP\s", re.IGNORECASE)
ENVIRONMENTS = {"StreamTableEnvironment.create", "TableEnvironment.create"}


def check_statements(tree: ast.Module, names: Names, reach: Reach) -> Iterator[Found]:
    """Yield a finding for each statement that cannot be planned. Tables are declared in an environment of their own.

    Texts that the program builds while it runs are not checked; findings count them. After a table or function
    that Python code names, errors are notes, unless the check has made the same table.
    """
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)),
        key=lambda call: (call.lineno, call.col_offset),
    )
    named = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    if not named & {*RUN, *NAMED_IN_PYTHON} and not _imports_tables(tree):
        return
    try:
        checked = _Checked(tree, names, reach)
    except MissingDependencyError as error:
        for call in calls[:1]:
            yield call, Finding(call.lineno, ERROR, str(error))
        return
    for call in calls:
        yield from checked.findings(call)


def _imports_tables(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pyflink.table") for node in ast.walk(tree)
    )


class _Checked:
    """The statements of a program up to a call, in the order of lines."""

    def __init__(self, tree: ast.Module, names: Names, reach: Reach) -> None:
        from flintstream.cli.checking.tables import Tables
        from flintstream.table._unopened import UnopenedEnvironment

        modes = _modes(tree)
        self._reach = reach
        self._texts = Texts(tree)
        self._t_env = UnopenedEnvironment(batch=modes == {"BATCH"})
        self._tables = Tables(names, self._texts, self._t_env)
        self._has_modes = len(modes) > 1
        self._kind = NOTE if self._has_modes else ERROR
        self._one_catalog = _has_one_catalog(tree, names)
        self._created: set[str] = set()
        """The names of tables that each run of the program creates."""
        self._last_creation = max(
            (
                node.lineno
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and node.args and self._creates(node)
            ),
            default=0,
        )

    def _creates(self, call: ast.Call) -> bool:
        return str(self._texts.of(call.args[0])).lstrip()[:6].upper() == "CREATE"

    def findings(self, call: ast.Call) -> Iterator[Found]:
        """Yield the findings of a call of a method."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = [*self._findings(call)]
        texts = dict.fromkeys(str(one.message) for one in heard if one.category is UserWarning)
        yield from found
        yield from ((call, Finding(call.lineno, NOTE, text)) for text in texts)

    def _findings(self, call: ast.Call) -> Iterator[Found]:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        before = set(self._t_env.list_tables())
        declared = False
        try:
            if name in RUN and call.args:
                yield from self._statement(call, name)
            elif name == INSERT and call.args:
                self._insert(call)
            elif name in FUNCTIONS:
                declared = self._tables.declare_function(call)
            else:
                self._tables.value(call)
        except (FlintstreamError, TypeError, ValueError) as error:
            yield from self._find(call, error)
        for at, wrong in self._tables.take_errors():
            if isinstance(wrong, ColumnNotFoundError) and not self._has_modes:  # all of the table is known
                yield at, Finding(at.lineno, ERROR, str(wrong))
            else:
                yield from (found for found in self._find(at, wrong) if found[1].kind == ERROR)
        if self._t_env.has_foreign_catalogs:
            self._kind = NOTE
        added = set(self._t_env.list_tables()) - before
        if self._reach.certain(call):
            self._created |= added
        if name in NAMED_IN_PYTHON and not added and not declared:
            self._kind = NOTE

    def _statement(self, call: ast.Call, name: str) -> Iterator[Found]:
        text = self._texts.of(call.args[0])
        if text is None:
            self._kind = NOTE
            yield call, Finding(call.lineno, UNREAD, f"{name}() with SQL text that the program builds at run time")
            return
        try:
            self._t_env.set_strict(strict=True)
            self._t_env.plan(text)
        except StrictError as error:
            yield call, Finding(call.lineno, NOTE, f"works here, but not in Flink: {error}")
            self._t_env.set_strict(strict=False)
            self._t_env.plan(text)

    def _insert(self, call: ast.Call) -> None:
        """Plan what ``execute_insert`` inserts, if it is known."""
        owner = self._tables.value(call.func.value) if isinstance(call.func, ast.Attribute) else None
        target = self._texts.of(call.args[0])
        if target is not None and self._tables.is_table(owner):
            self._t_env.plan_insert(owner, target)

    def _find(self, call: ast.Call, error: Exception) -> Iterator[Found]:
        if isinstance(error, ObjectExistsError):
            # Otherwise, the other table may be in a branch or another catalog
            if error.name in self._created and self._one_catalog and call.args:
                yield call, Finding(call.lineno, ERROR, str(error))
            return
        if UNKNOWN in str(error):
            yield call, Finding(call.lineno, UNREAD, "SQL text with values that are known only at run time")
            return
        unknown = self._kind == NOTE and not isinstance(error, NotImplementedError)
        unknown = unknown or (call.lineno < self._last_creation and isinstance(error, NOT_FOUND))
        if isinstance(error, TableNotFoundError) and not self._t_env.list_tables():
            unknown = True  # another module may create all tables
        yield call, Finding(call.lineno, NOTE if unknown else ERROR, str(error))


def _has_one_catalog(tree: ast.Module, names: Names) -> bool:
    """Tell whether a program has one table environment, and drops nothing."""
    made = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("drop_"):
            return False
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and DROPS.search(node.value):
            return False
        if isinstance(node, ast.Call):
            called = names.resolve(node.func)
            title = getattr(called.value, "__qualname__", "") if called is not None else ""
            if title in ENVIRONMENTS:
                made += max(_uses(tree, node), 1)
    return made == 1


def _uses(tree: ast.Module, node: ast.AST) -> int:
    """Return how often the program names the functions and classes around a node."""
    around = [
        owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not owner.name.startswith("__")
        and any(inner is node for inner in ast.walk(owner))
    ]
    used = [inner.id for inner in ast.walk(tree) if isinstance(inner, ast.Name)]
    used += [inner.attr for inner in ast.walk(tree) if isinstance(inner, ast.Attribute)]
    return max((used.count(name) for name in around), default=1)


def _modes(tree: ast.Module) -> set[str]:
    """Return the execution modes that a program names."""
    named = {"in_batch_mode": "BATCH", "BATCH": "BATCH", "in_streaming_mode": "STREAMING", "STREAMING": "STREAMING"}
    return {named[node.attr] for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in named}
