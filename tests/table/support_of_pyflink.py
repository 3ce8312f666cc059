# mypy: disable-error-code="import-not-found,import-untyped"
"""``PYTHONPATH=. PYTHON_OF_PYFLINK -m tests.table.support_of_pyflink``: plan the examples of clauses on real PyFlink.

The answers are written to ``support_of_pyflink.json``. Nothing runs. PyFlink comes without the connector ``faker``, so
that lookups have no table there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.table.support_examples import EXAMPLES, MODES, TABLES

RESULTS = Path(__file__).with_suffix(".json")
PEOPLE = "CREATE TABLE people (id INT, name STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
PLANNED = ("SELECT", "WITH", "VALUES", "INSERT", "TABLE")


def environment(mode: str) -> Any:
    """Return an environment that has the tables of the examples."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = EnvironmentSettings.in_batch_mode() if mode == "BATCH" else EnvironmentSettings.in_streaming_mode()
    t_env = TableEnvironment.create(settings)
    for item in TABLES:
        t_env.execute_sql(PEOPLE if "'faker'" in item else item)
    return t_env


def answer(statement: str, mode: str) -> str:
    """Return whether a statement can be planned."""
    t_env = environment(mode)
    try:
        if statement.startswith(PLANNED):
            t_env.explain_sql(statement)
        elif statement.startswith("COMPILE PLAN"):
            t_env.compile_plan_sql(statement.partition(" FOR ")[2])
        else:
            t_env.execute_sql(statement)
    except Exception:  # noqa: BLE001 - any error says no
        return "no"
    return "yes"


def main() -> None:
    """Ask for each clause."""
    found = {
        name: {mode: answer(statement, mode) for mode in MODES}
        for examples in EXAMPLES.values()
        for name, statement in examples.items()
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
