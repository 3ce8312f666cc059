"""What statements can say: an example of each clause, which planning shows to be there or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.table.support_examples import EXAMPLES, MODES, TABLES

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._logical.nodes import Node
from flintstream.table._plan.translate import translate
from flintstream.table._session.inserts import Insert
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.table_environment import StreamTableEnvironment

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXAMPLES", "MODES", "TABLES", "Clause", "clauses", "environment", "planned"]


@dataclass(frozen=True)
class Clause:
    """An example of a clause, and what planning it gives in each mode."""

    subject: str
    name: str
    statement: str
    errors: dict[str, Exception | None]


def environment(mode: str) -> StreamTableEnvironment:
    """Return an environment that has the tables of the examples."""
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    builder = EnvironmentSettings.new_instance()
    settings = (builder.in_batch_mode() if mode == "BATCH" else builder.in_streaming_mode()).build()
    t_env = StreamTableEnvironment.create(env, settings)
    for item in TABLES:
        t_env.execute_sql(item)
    return t_env


def planned(statement: str, mode: str) -> Exception | None:
    """Plan a statement, and return the error if it cannot be; nothing runs."""
    t_env = environment(mode)
    try:
        found = t_env._executor.statements.run(statement)
        if isinstance(found, Insert):
            t_env._session.insert(found)
        elif isinstance(found, Node):
            translate(found, t_env._env)
    except (SqlError, UnsupportedClauseError) as error:
        return error
    return None


def clauses() -> Iterator[Clause]:
    """Plan the example of each clause in both modes."""
    for subject, examples in EXAMPLES.items():
        for name, statement in examples.items():
            yield Clause(subject, name, statement, {mode: planned(statement, mode) for mode in MODES})
