"""Statements of SQL that stand in a program as text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flintstream.cli.checking.finding import ERROR, NOTE, UNREAD, Finding
from flintstream.common.configuration import Configuration
from flintstream.errors import FlintstreamError, MissingDependencyError
from flintstream.options.tables import STRICT
from flintstream.table._errors import ObjectExistsError, StrictError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.cli.checking.finding import Found
    from flintstream.table._sql.statements import Statements

__all__ = ["check_statements"]

UNKNOWN = "flintstream_unknown"
RUN = {"execute_sql", "sql_query", "add_insert_sql", "explain_sql", "sql_update"}
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
    texts = _constants(tree)
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)),
        key=lambda call: (call.lineno, call.col_offset),
    )
    statements: Statements | None = None
    modes = _modes(tree)
    kind = NOTE if len(modes) > 1 else ERROR
    for call in calls:
        name = call.func.attr  # type: ignore[attr-defined]  # selected above
        if name in NAMED_IN_PYTHON:
            kind = NOTE
        if name not in RUN or not call.args:
            continue
        text = _text(call.args[0], texts)
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
            yield call, Finding(call.lineno, NOTE if unknown else ERROR, str(error))


def _set_strict(statements: Statements, value: str) -> None:
    statements.session.env.configure(Configuration.from_dict({STRICT.key: value}))


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


def _constants(tree: ast.Module) -> dict[str, str]:
    """Return the names to which a program assigns one text, and no other."""
    found: dict[str, list[str | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    known = {name: texts[0] for name, texts in found.items() if texts[0] is not None}
                    found.setdefault(target.id, []).append(_text(node.value, known))
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, []).append(None)
    return {name: texts[0] for name, texts in found.items() if len(texts) == 1 and texts[0] is not None}


def _text(node: ast.expr, texts: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return texts.get(node.id)
    if isinstance(node, ast.JoinedStr):
        return _text_of_parts(node, texts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, texts), _text(node.right, texts)
        return None if left is None or right is None else left + right
    return None


def _text_of_parts(node: ast.JoinedStr, texts: dict[str, str]) -> str | None:
    """Return the text of an f-string. Values that are not known may stand in literals of SQL only."""
    whole = ""
    for part in node.values:
        text = _text(part.value if isinstance(part, ast.FormattedValue) else part, texts)
        if text is None and whole.count("'") % 2 == 0:
            return None
        whole += UNKNOWN if text is None else text
    return whole
