"""SQL in the cells of a notebook: ``%load_ext flintstream``, then ``%sql`` and ``%%sql``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from flintstream.sql_gateway.scripts import split_script
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.table_environment import TableEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table.table_result import TableResult

VARIABLE = "t_env"
"""The variable of the notebook with its table environment."""
NAMES = ("sql", "flink_execute_sql")
"""The names of the magic: the usual one, and that of notebooks for Flink."""
_TARGET = re.compile(r"\s*([A-Za-z_]\w*)\s*<<")


class Shell(Protocol):
    """What the magics need of IPython's shell."""

    user_ns: dict[str, object]

    def register_magic_function(self, func: Callable[..., object], magic_kind: str, magic_name: str) -> None:
        """Add a magic."""


def load_magics(shell: Shell) -> None:
    """Add ``%sql`` and ``%%sql`` to a shell of IPython; ``%load_ext flintstream`` calls this.

    The statements run in the environment of the variable ``t_env``, which the first one creates if there is none. The
    result of the last statement is that of the cell, and ``%%sql name <<`` puts it into a variable instead.

    >>> from types import SimpleNamespace
    >>> magics = {}
    >>> shell = SimpleNamespace(user_ns={}, register_magic_function=lambda run, kind, name: magics.update({name: run}))
    >>> load_magics(shell)
    >>> settings = "SET 'flintstream.engine' = 'inline'; SET 'execution.runtime-mode' = 'batch'"
    >>> magics["sql"]("", f"{settings}; SELECT 1 AS n").print()
    +-------------+
    |           n |
    +-------------+
    |           1 |
    +-------------+
    1 row in set
    """

    def sql(line: str, cell: str | None = None) -> TableResult | None:
        """Run statements of SQL, and show the result of the last one."""
        target = _TARGET.match(line)
        text = line[target.end() :] if target is not None else line
        result = run_statements(_environment(shell), text if cell is None else f"{text}\n{cell}")
        if target is None:
            return result
        shell.user_ns[target[1]] = result
        return None

    for name in NAMES:
        shell.register_magic_function(sql, "line_cell", name)


def run_statements(environment: TableEnvironment, text: str) -> TableResult | None:
    """Run statements one after the other, and return the result of the last one; None if there are none."""
    result = None
    for statement in split_script(text):
        result = environment.execute_sql(statement.text)
    return result


def _environment(shell: Shell) -> TableEnvironment:
    found = shell.user_ns.get(VARIABLE)
    if not isinstance(found, TableEnvironment):
        found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        shell.user_ns[VARIABLE] = found
    return found
