"""Statements of SQL that stand in a program as text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, UNREAD, Finding
from flintstream.common.configuration import Configuration
from flintstream.errors import FlintstreamError, MissingDependencyError
from flintstream.options.tables import STRICT
from flintstream.table._errors import ColumnNotFoundError, ObjectExistsError, StrictError, TableNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.table._sql.statements import Statements

__all__ = ["check_statements"]

UNKNOWN = "flintstream_unknown"
RUN = {"execute_sql", "sql_query", "add_insert_sql", "explain_sql", "sql_update"}
INSERT = "execute_insert"
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


def check_statements(tree: ast.Module) -> Iterator[Found]:
    """Yield a finding for each statement that cannot be planned. Tables are declared in an environment of their own.

    Texts that the program builds while it runs are not checked; findings count them. After a table or function
    that Python code names, errors are notes: the check does not know what it is.
    """
    texts = _Texts(tree)
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)),
        key=lambda call: (call.lineno, call.col_offset),
    )
    statements: Statements | None = None
    modes = _modes(tree)
    kind = NOTE if len(modes) > 1 else ERROR
    made = [call.lineno for call in calls if call.args and str(texts.of(call.args[0])).lstrip()[:6].upper() == "CREATE"]
    created = max(made, default=0)
    for call in calls:
        name = call.func.attr  # type: ignore[attr-defined]  # selected above
        if name in NAMED_IN_PYTHON:
            kind = NOTE
        if name not in {*RUN, INSERT} or not call.args:
            continue
        text = _statement(call, texts)
        if text is None and name == INSERT:
            continue
        if text is None:
            kind = NOTE
            yield call, Finding(call.lineno, UNREAD, f"{name}() of SQL text that the program builds while it runs")
            continue
        try:
            statements = statements or _statements(batch=modes == {"BATCH"})
            try:
                _set_strict(statements, "true")
                statements.run(text)
            except StrictError as error:
                yield call, Finding(call.lineno, NOTE, f"works here, but not in Flink: {error}")
                _set_strict(statements, "false")
                statements.run(text)
        except ObjectExistsError:
            continue  # the other statement may be in a branch
        except MissingDependencyError as error:
            yield call, Finding(call.lineno, ERROR, str(error))
            return
        except (FlintstreamError, TypeError, ValueError) as error:
            unknown = UNKNOWN in str(error) or (kind == NOTE and not isinstance(error, NotImplementedError))
            unknown = unknown or (call.lineno < created and isinstance(error, NOT_FOUND))
            yield call, Finding(call.lineno, NOTE if unknown else ERROR, str(error))


def _set_strict(statements: Statements, value: str) -> None:
    statements.session.env.configure(Configuration.from_dict({STRICT.key: value}))


def _statement(call: ast.Call, texts: _Texts) -> str | None:
    """Return the text of the statement that a call runs, or None: ``execute_insert`` inserts the query before it."""
    text = texts.of(call.args[0])
    if not isinstance(call.func, ast.Attribute) or call.func.attr != INSERT:
        return text
    owner: ast.expr | None = call.func.value
    while isinstance(owner, ast.Name):
        owner = texts.value_of(owner)
    if text is None or not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute):
        return None
    query = texts.of(owner.args[0]) if owner.func.attr == "sql_query" and owner.args else None
    return None if query is None else f"INSERT INTO {text} {query}"


def _modes(tree: ast.Module) -> set[str]:
    """Return the execution modes that a program names."""
    named = {"in_batch_mode": "BATCH", "BATCH": "BATCH", "in_streaming_mode": "STREAMING", "STREAMING": "STREAMING"}
    return {named[node.attr] for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in named}


def _statements(*, batch: bool) -> Statements:
    from flintstream.datastream import (
        RuntimeExecutionMode,
        StreamExecutionEnvironment,
    )
    from flintstream.table._session.session import UnopenedSession
    from flintstream.table._sql.statements import Statements

    env = StreamExecutionEnvironment.get_execution_environment()
    if batch:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return Statements(UnopenedSession(env))


class _Texts:
    """The texts that a program gives to names, in each of its functions and at module level."""

    def __init__(self, tree: ast.Module) -> None:
        self._scopes: dict[int, list[int]] = {}
        """By the id of a node, the ids of the functions around it, innermost first."""
        self._named: dict[tuple[int, str], list[ast.expr | None]] = {}
        self._returned: dict[str, list[tuple[ast.expr | None, ast.AST]]] = {}
        self._enter(tree, [0], "")

    def _enter(self, node: ast.AST, scopes: list[int], function: str) -> None:
        for child in ast.iter_child_nodes(node):
            self._scopes[id(child)] = scopes
            if isinstance(child, ast.Assign):
                for target in child.targets:
                    if isinstance(target, ast.Name):
                        self._named.setdefault((scopes[0], target.id), []).append(child.value)
            elif isinstance(child, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For)):
                if isinstance(child.target, ast.Name):
                    self._named.setdefault((scopes[0], child.target.id), []).append(None)
            elif isinstance(child, ast.arg):
                self._named.setdefault((scopes[0], child.arg), []).append(None)
            elif isinstance(child, ast.Return):
                self._returned.setdefault(function, []).append((child.value, child))
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._enter(child, [id(child), *scopes], child.name)
            elif isinstance(child, ast.Lambda):
                self._enter(child, [id(child), *scopes], "")
            else:
                self._enter(child, scopes, function)

    def value_of(self, name: ast.Name) -> ast.expr | None:
        """Return the only expression that a name gets, or None."""
        for scope in self._scopes.get(id(name), [0]):
            values = self._named.get((scope, name.id))
            if values is not None:
                return values[0] if len(values) == 1 else None
        return None

    def of(self, node: ast.expr | None, depth: int = 8) -> str | None:
        """Return the text that an expression has whenever it runs, or None."""
        if node is None or depth == 0:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name):
            return self.of(self.value_of(node), depth - 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            returned = self._returned.get(node.func.id, [])
            return self.of(returned[0][0], depth - 1) if len(returned) == 1 else None
        if isinstance(node, ast.JoinedStr):
            return self._of_parts(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.of(node.left, depth), self.of(node.right, depth)
            return None if left is None or right is None else left + right
        return None

    def _of_parts(self, node: ast.JoinedStr, depth: int) -> str | None:
        """Return the text of an f-string. Values that are not known may stand in literals of SQL only."""
        whole = ""
        for part in node.values:
            text = self.of(part.value if isinstance(part, ast.FormattedValue) else part, depth)
            if text is None and whole.count("'") % 2 == 0:
                return None
            whole += UNKNOWN if text is None else text
        return whole
