# mypy: disable-error-code="import-not-found,import-untyped"
"""Record what real PyFlink gives for expressions over hostile values.

    python -m tests.table.hostile.record [TABLE ...]

The Python of PyFlink is found as that of :mod:`tests.table.conformance.record` is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.record import ROOT, python_with_pyflink
from tests.table.conformance.record import PyFlink, say
from tests.table.hostile import aggregates, running
from tests.table.hostile.tables import TABLES, Hostile

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOGETHER = 25
"""The expressions of a query."""


def main() -> int:
    """Record; the exit status is that of the process with PyFlink."""
    if find_spec("pyflink") is None:
        venv = Path(os.environ.get("FLINTSTREAM_ORACLE", ROOT / ".oracle-venv"))
        command = [str(python_with_pyflink(venv)), "-m", "tests.table.hostile.record", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    running.GOLDENS.mkdir(exist_ok=True)
    for hostile in TABLES:
        if not sys.argv[1:] or hostile.name in sys.argv[1:]:
            record(hostile)
    if not sys.argv[1:] or "aggregates" in sys.argv[1:]:
        aggregates.record(PyFlink())
    return 0


def record(hostile: Hostile) -> None:
    """Record one table."""
    start = time.monotonic()
    with running.table(hostile, PyFlink()) as t_env:
        planned, unplanned = {}, {}
        for expression in hostile.expressions:
            try:
                planned[expression] = running.wrapped(expression, t_env)
            except Exception as error:  # noqa: BLE001 - the error is the result
                unplanned[expression] = running.message(error)
        say(f"{hostile.name}: {len(planned)} expressions over {len(hostile.rows)} rows")
        for expression, why in unplanned.items():
            say(f"  not planned: {expression}: {why}")
        by_type: dict[str, list[str]] = {}
        for expression in planned.values():
            by_type.setdefault(running.type_of(expression, t_env), []).append(expression)
        found: dict[str, Any] = {}
        for kind, alike in by_type.items():
            for first in range(0, len(alike), _TOGETHER):
                found |= united(t_env, alike[first : first + _TOGETHER], len(hostile.rows))
            say(f"  {kind} after {time.monotonic() - start:.0f} s")
        results = {expression: found[expression] for expression in planned.values()}
    for expression, values in results.items():
        errors = sum(value == running.ERROR for value in values)
        if errors:
            say(f"  {errors} errors of {len(values)}: {expression}")
    lines = ",\n".join(
        f"{json.dumps(expression)}: {json.dumps(column)}" for expression, column in running.packed(results).items()
    )
    (running.GOLDENS / f"{hostile.name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def united(t_env: Any, expressions: Sequence[str], count: int) -> dict[str, list[Any]]:
    """Return the results of expressions of one type, from a union of a query for each of them.

    With ``FLINK_OMITS``, the generated code of this PyFlink leaves out the rows for which it fails.
    """
    parts = [f"SELECT id, {number} AS n, {expression} AS e FROM t" for number, expression in enumerate(expressions)]
    try:
        with t_env.sql_query(" UNION ALL ".join(parts)).execute().collect() as rows:
            found = {(row[1], row[0]): running.short(row[2]) for row in rows}
    except Exception as error:  # noqa: BLE001 - one of them fails
        say(f"  a union fails: {running.message(error)}")
        return running.columns(t_env, expressions, count)
    return {
        expression: [found.get((number, row), running.ERROR) for row in range(count)]
        for number, expression in enumerate(expressions)
    }


if __name__ == "__main__":
    sys.exit(main())
