# mypy: disable-error-code="import-not-found,import-untyped"
"""Compare random SELECT statements with DuckDB's results.

    python -m tests.table.random_selects --statements 500 [--seed 1]     # on flintstream's inline engine
    python -m tests.table.random_selects --pyflink 100 [--seed 1]        # on real PyFlink: is what both should share so?

With --pyflink, it runs in the Python that has PyFlink: --venv, or FLINTSTREAM_ORACLE, or .oracle-venv.
DuckDB's results then come from this Python.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.table.random_selects.expressions import Code, Table, table
from tests.table.random_selects.running import database, declare, difference, expected, found
from tests.table.random_selects.statements import statement

ROOT = Path(__file__).parents[3]
MODES = ("STREAMING", "BATCH")


class Dice:
    """Random choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """Return a number from 0 to below ``count``."""
        return self._random.randrange(count)


def case(seed: int) -> tuple[list[Table], Code]:
    """Return tables and a statement."""
    dice = Dice(seed)
    tables = [table(dice, name) for name in ("t", "u")]
    return tables, statement(dice, tables)


def outcome(seed: int, mode: str, make: Any) -> Any:
    """Return the rows of a statement, or its error."""
    tables, query = case(seed)
    with tempfile.TemporaryDirectory() as directory:
        t_env = make(mode)
        try:
            declare(t_env, tables, Path(directory))
            return found(t_env, query)
        except Exception as error:  # noqa: BLE001 - the error is the result
            return str(getattr(error, "java_exception", error)).strip()[:2000]


def main() -> int:
    """Run statements and print what differs; the exit status is 1 if something does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=200)
    parser.add_argument("--pyflink", type=int, metavar="N", help="run N statements on real PyFlink")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--venv", type=Path, default=Path(os.environ.get("FLINTSTREAM_ORACLE", ROOT / ".oracle-venv")))
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.pyflink or options.statements
    runs = [(seed, mode) for seed in range(options.seed, options.seed + count) for mode in MODES]
    if options.results:  # within the Python of PyFlink
        from tests.table.conformance.record import PyFlink

        side, theirs, config = PyFlink(), {}, {"table.local-time-zone": "UTC"}
        for seed, mode in runs:
            theirs[seed, mode] = outcome(seed, mode, lambda item: side.make(item, config, python=False)[1])
            options.results.write_bytes(pickle.dumps(theirs))
        return 0
    results = on_pyflink(options) if options.pyflink else {}
    differing = 0
    for seed, mode in runs:
        if options.pyflink and (seed, mode) not in results:
            continue
        rows = results[seed, mode] if options.pyflink else outcome(seed, mode, environment)
        tables, query = case(seed)
        text = f"{query.flink}\n{rows}" if isinstance(rows, str) else ""
        text = text or difference(query, expected(database(tables), query), rows)
        if text:
            differing += 1
            print(f"--- seed {seed}, {mode}\n{text}", flush=True)
    print(f"{differing} of {len(runs)} differ")
    return 1 if differing else 0


def on_pyflink(options: argparse.Namespace) -> dict[tuple[int, str], Any]:
    """Return the results of real PyFlink."""
    from tests.conformance.record import python_with_pyflink

    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "results")
        python = sys.executable if find_spec("pyflink") else str(python_with_pyflink(options.venv))
        command = [python, "-m", "tests.table.random_selects", "--results", str(file), "--pyflink"]
        subprocess.run([*command, str(options.pyflink), "--seed", str(options.seed)], cwd=ROOT, check=False)  # noqa: S603
        found: dict[tuple[int, str], Any] = pickle.loads(file.read_bytes())
    return found


def environment(mode: str) -> Any:
    """Return an environment of flintstream."""
    from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
    from flintstream.table import StreamTableEnvironment

    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode[mode])
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    return t_env


if __name__ == "__main__":
    sys.exit(main())
